import CMosquitto

/// Loads libmosquitto on first use, as `Libcurl` loads libcurl.
enum Libmosquitto {
  /// File name of the library with this interface.
  static let name = CHIME_MOSQUITTO_LIBRARY

  /// Loads the library. Call it before any function of CMosquitto; it is cheap once the library is loaded.
  ///
  /// A missing library is looked up again by the next call, so installing it suffices.
  ///
  /// - Parameter name: Another file name, for tests of a missing library.
  static func load(_ name: String = name) throws(DeliveryError) {
    var why = [CChar](repeating: 0, count: 512)
    guard chime_mosquitto_load(name, &why, why.count) == 0 else { return }
    let cause = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    throw DeliveryError(
      "MQTT needs libmosquitto 2.0, which cannot be loaded: install it (Debian: libmosquitto1); \(PlainText.sentence(cause))"
    )
  }
}
