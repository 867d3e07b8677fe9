import CCurl

/// libcurl, which is not linked but loaded by whoever is about to call it: with the 27 libraries that only it needs it is
/// 4.0 MB resident, in a daemon that may never send a webhook.
enum Libcurl {
  /// The library every libcurl of this interface is found by.
  static let name = CHIME_CURL_LIBRARY

  /// To be called before any function of CCurl; costs little when it is loaded already.
  ///
  /// A library that is not there is looked for again by the next call, so that installing it is enough.
  ///
  /// - Parameter name: another library's, for the tests of its absence.
  static func load(_ name: String = name) throws(LibcurlMissing) {
    var why = [CChar](repeating: 0, count: 512)
    guard chime_curl_load(name, &why, why.count) == 0 else { return }
    throw LibcurlMissing(String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }
}

/// Why libcurl cannot be had, and what to install.
struct LibcurlMissing: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ why: String) {
    description =
      "webhooks and emails need libcurl, which cannot be loaded: install it (Debian: libcurl4); \(PlainText.sentence(why))"
  }
}
