import Foundation
import Testing

@testable import ChimeDelivery

@Suite struct JSONTextTests {
  /// The bytes are identical to those of Foundation's encoder.
  @Test(arguments: [
    "", "Tea", "\"quoted\" \\ back/slash", "Tè 日本 🫖", "\u{7F}\u{80}\u{2028}\u{FEFF}", "e\u{301}",
    String(String.UnicodeScalarView((0...0x7F).compactMap(Unicode.Scalar.init))),
  ])
  func textIsEncodedLikeFoundation(_ text: String) throws {
    var json = JSONText()
    json.object { $0.member("text", text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    #expect(json.bytes == Array(try encoder.encode(["text": text])))
    #expect(try JSONDecoder().decode([String: String].self, from: Data(json.bytes)) == ["text": text])
  }

  @Test func membersAreSeparatedByCommas() {
    var json = JSONText()
    json.object { json in
      json.object("a") { _ in }
      json.member("b", [])
      json.member("c", ["x", "y"])
      json.object("d") { inner in
        inner.member("e", Int64.min)
        inner.member("f", nil as Int64?)
      }
      json.member("g", nil as String?)
    }
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"a":{},"b":[],"c":["x","y"],"d":{"e":-9223372036854775808,"f":null},"g":null}"#)
  }
}
