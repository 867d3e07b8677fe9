import CCurl

/// Loads libcurl on first use instead of linking it. With the 27 libraries that only it needs, it takes 4.0 MB of
/// resident memory, and many daemons never send a webhook.
enum Libcurl {
  /// File name of the library with this interface.
  static let name = CHIME_CURL_LIBRARY

  /// Loads the library. Call it before any function of CCurl; it is cheap once the library is loaded.
  ///
  /// A missing library is looked up again by the next call, so installing it suffices.
  ///
  /// - Parameter name: Another file name, for tests of a missing library.
  static func load(_ name: String = name) throws(DeliveryError) {
    var why = [CChar](repeating: 0, count: 512)
    guard chime_curl_load(name, &why, why.count) == 0 else { return }
    let cause = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    throw DeliveryError(
      "webhooks and emails need libcurl, which cannot be loaded: install it (Debian: libcurl4); \(PlainText.sentence(cause))"
    )
  }
}
