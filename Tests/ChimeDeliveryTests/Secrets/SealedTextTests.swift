import Foundation
import Testing

@testable import ChimeDelivery

/// Texts encrypted with a passphrase.
@Suite struct SealedTextTests {
  @Test func sealedTextOpensOnlyWithItsPassphrase() throws {
    let plain = Array("token tk_1".utf8)
    let sealed = try SealedText(sealing: plain, with: "correct horse")
    #expect(try sealed.open(with: "correct horse") == plain)
    #expect(throws: SealedText.Failure.anotherPassphrase) { try sealed.open(with: "correct horse ") }
    #expect(try SealedText(sealing: plain, with: "correct horse") != sealed, "each has a salt of its own")
    let text = String(decoding: try JSONEncoder().encode(sealed), as: UTF8.self)
    #expect(!text.contains("tk_1"))
    #expect(try JSONDecoder().decode(SealedText.self, from: Data(text.utf8)).open(with: "correct horse") == plain)
    #expect(try SealedText(sealing: [], with: "correct horse").open(with: "correct horse").isEmpty)
  }

  /// Each member, changed or truncated.
  @Test func changedSealedTextIsRefused() throws {
    let sealed = try SealedText(sealing: Array("token tk_1".utf8), with: "correct horse")
    let members = try JSONDecoder().decode([String: String].self, from: JSONEncoder().encode(sealed))
    #expect(members.keys.sorted() == ["data", "nonce", "salt", "sealing"])
    for (name, text) in members {
      for other in [(text.first == "A" ? "B" : "A") + text.dropFirst(), "", String(text.dropLast(4)), "!" + text] {
        var changed = members
        changed[name] = other
        let read = try JSONDecoder().decode(SealedText.self, from: JSONEncoder().encode(changed))
        #expect(throws: SealedText.Failure.self, "\(name): \(other)") { try read.open(with: "correct horse") }
      }
    }
  }
}
