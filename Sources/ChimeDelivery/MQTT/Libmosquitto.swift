import CMosquitto

/// libmosquitto, which is loaded by whoever is about to call it, as libcurl is (`Libcurl`).
enum Libmosquitto {
  /// The library every libmosquitto of this interface is found by.
  static let name = CHIME_MOSQUITTO_LIBRARY

  /// To be called before any function of CMosquitto; costs little when it is loaded already.
  ///
  /// A library that is not there is looked for again by the next call, so that installing it is enough.
  ///
  /// - Parameter name: another library's, for the tests of its absence.
  static func load(_ name: String = name) throws(LibmosquittoMissing) {
    var why = [CChar](repeating: 0, count: 512)
    guard chime_mosquitto_load(name, &why, why.count) == 0 else { return }
    throw LibmosquittoMissing(String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}

/// Why libmosquitto cannot be had, and what to install.
struct LibmosquittoMissing: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ why: String) {
    description =
      "MQTT needs libmosquitto 2.0, which cannot be loaded: install it (Debian: libmosquitto1); \(PlainText.sentence(why))"
  }
}
