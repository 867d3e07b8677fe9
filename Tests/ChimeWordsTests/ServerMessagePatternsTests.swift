import Foundation
import Testing

@testable import ChimeWords

/// The daemon's sentences, recognized by patterns.
@Suite struct ServerMessagePatternsTests {
  static let czech = ServerMessagePatterns([
    ("told\u{4}\"%1\"", "„%1“"), ("told\u{4}%1 has no items", "%1 nemá položky"),
    ("told\u{4}%1 has no items: leave the item out", "%1 nemá položky: vynechejte ji"),
    ("told\u{4}\"%1\" is done already", "„%1“ už je hotová"), ("told\u{4}it is done", "je hotova"),
    ("told\u{4}is no month", "není měsíc"), ("told\u{4}\"%1\" missed: %2%3", "„%1“ zmeškána: %2%3"),
    ("told\u{4}the goal of %1 is from %2 to %3", "cíl od %2 do %3 má %1"),
    ("told\u{4}a space is %%20, not %1", "mezera je %%20, ne %1"),
    ("told\u{4}%1 cannot be read: %2", "%1 nelze přečíst: %2"),
    ("told\u{4}the store is damaged (%1)", "úložiště je poškozeno (%1)"),
    ("told\u{4}it was moved to %1", "přesunuto do %1"),
    ("told\u{4}did you mean %1?", "mysleli jste %1?"), ("told\u{4}%1 or %2", "%1 nebo %2"), ("told\u{4}hour", "hodina"),
    ("told\u{4}a %1 is missing", "chybí %1"), ("told\u{4}not translated", ""), ("ordinary", "obyčejné"),
  ])

  @Test(arguments: [
    ("water has no items", "water nemá položky"),
    // The pattern with more fixed words wins.
    ("water has no items: leave the item out", "water nemá položky: vynechejte ji"),
    // A quoted title is not translated, even if it reads like a sentence.
    ("\"it is done\" is done already", "„it is done“ už je hotová"),
    ("\"it is done\" cannot be read: it is done", "„it is done“ nelze přečíst: je hotova"),
    ("\"fo\" is no month", "„fo“ není měsíc"), ("\"Tea\" missed: off", "„Tea“ zmeškána: off"),
    ("the goal of run is from 1 to 9", "cíl od 1 do 9 má run"), ("a space is %20, not  ", "mezera je %20, ne  "),
    ("the store is damaged (page 3); it was moved to /x", "úložiště je poškozeno (page 3); přesunuto do /x"),
    (
      "/x cannot be read: it is done; did you mean a, b or c?", "/x nelze přečíst: je hotova; mysleli jste a, b nebo c?"
    ),
    ("a hour is missing", "chybí hodina"),
    // If only a part is known, that part is translated.
    ("something else: it is done", "something else: je hotova"),
  ]) func knownSentencesAreTranslated(_ sentence: String, _ expected: String) {
    #expect(Self.czech.translated(sentence) == expected)
  }

  @Test(arguments: [
    "", "nothing of the kind", "No such file or directory", "ordinary", "not translated", "has no item",
    "\"open is no month", "(", "; ",
  ])
  func unknownSentencesAreNotTranslated(_ sentence: String) { #expect(Self.czech.translated(sentence) == nil) }

  @Test func valuesAreFormattedForTheLocale() {
    let said = Self.czech.translated("2026-03-29 has no items") { $0 == "2026-03-29" ? "29.3.2026" : $0 }
    #expect(said == "29.3.2026 nemá položky")
  }

  /// A text that is too long is no sentence, and nesting is followed only a few levels deep.
  @Test func longAndNestedTextsAreBounded() {
    #expect(Self.czech.translated(String(repeating: "x ", count: 5_000) + "has no items") == nil)
    let deep = String(repeating: "a cannot be read: ", count: 200) + "it is done"
    #expect(Self.czech.translated(deep)?.hasPrefix("a nelze přečíst: a nelze přečíst: ") == true)
    #expect(ServerMessagePatterns([]).translated("it is done") == nil)
  }

  // MARK: Files

  /// Returns a catalog as msgfmt writes it, in either byte order.
  static func file(_ texts: [(String, String)], isBig: Bool) -> [UInt8] {
    func four(_ number: Int) -> [UInt8] {
      let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
      return isBig ? bytes : bytes.reversed()
    }
    var at = 28 + 16 * texts.count
    var rows: [UInt8] = []
    var body: [UInt8] = []
    for text in texts.map(\.0) + texts.map(\.1) {
      rows += four(text.utf8.count) + four(at)
      body += Array(text.utf8) + [0]
      at += text.utf8.count + 1
    }
    let head = [0x9504_12de, 0, texts.count, 28, 28 + 8 * texts.count, 0, 0].flatMap(four)
    return head + rows + body
  }

  @Test(arguments: [true, false]) func catalogsAreRead(_ isBig: Bool) throws {
    let bytes = Self.file([("", "Language: cs\n"), ("told\u{4}it is done", "je hotova")], isBig: isBig)
    let read = try #require(MessageFile(bytes))
    #expect(read.texts.map(\.key) == ["", "told\u{4}it is done"])
    #expect(ServerMessagePatterns(read.texts).translated("it is done") == "je hotova")
  }

  @Test func invalidCatalogsAreRefused() {
    let sound = Self.file([("a", "b"), ("c", "d")], isBig: false)
    for count in 0..<sound.count - 1 { #expect(MessageFile(Array(sound.prefix(count))) == nil, "\(count) bytes") }
    for place in [8, 12, 16, 28, 32] {
      var broken = sound
      broken.replaceSubrange(place..<place + 4, with: [0xFF, 0xFF, 0xFF, 0x7F])
      #expect(MessageFile(broken) == nil, "byte \(place)")
    }
    #expect(MessageFile(path: "/nonexistent/chime.mo") == nil)
  }

  // MARK: The Czech catalog

  /// The Czech catalog, compiled as for the package.
  static let shipped: [(key: String, translation: String)] = {
    let root = URL(filePath: Package.folder)
    let folder = RunFolder.url.appending(path: "chime-words-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try? ChildProcess.run(root.appending(path: "Packaging/words").path, ["compile", folder.path], output: .nothing)
    return MessageFile(path: folder.appending(path: "cs/LC_MESSAGES/chime.mo").path)?.texts ?? []
  }()

  /// Each sentence, with its placeholders filled, matches its own pattern and no other.
  @Test func everySentenceMatchesItsOwnPatternOnly() {
    let sayings = ServerMessagePatterns(Self.shipped)
    let told = Self.shipped.filter { $0.key.hasPrefix("told\u{4}") }
    #expect(told.count > 1_000, "the catalog has \(told.count)")
    for (key, said) in told where key != "told\u{4}\"%1\"" {
      let filled = Self.filled(String(key.dropFirst(5)))
      #expect(sayings.translated(filled) == Self.filled(said), "\(key.dropFirst(5))")
    }
  }

  /// Returns the text with `v1` for %1 and so on.
  static func filled(_ text: String) -> String {
    text.split(separator: "%%", omittingEmptySubsequences: false)
      .map { part in (1...9).reduce(String(part)) { $0.replacing("%\($1)", with: "v\($1)") } }.joined(separator: "%")
  }
}
