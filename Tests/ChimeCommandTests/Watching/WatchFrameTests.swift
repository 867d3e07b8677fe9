import ChimeSchedule
import Testing

@testable import ChimeCommand

/// The screen as a value: the output turns one picture into the next with few bytes.
@Suite struct WatchFrameTests {
  private static let texts = [
    "Tea", "Drink water", "日本語のテスト", "👩‍👩‍👧‍👦 family", "🍵", "cafe\u{301}", "a", "", "in 12 s", "in 11 s",
    "long " + String(repeating: "x", count: 90),
  ]

  private func random(_ generator: inout some RandomNumberGenerator, width: Int, height: Int) -> Frame {
    var frame = Frame(width: width, height: height)
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      let tones: [Style.Tone] = [.plain, .strong, .faint, .good, .bad]
      frame.put(
        Self.texts.randomElement(using: &generator) ?? "", Int.random(in: 0..<width, using: &generator),
        Int.random(in: 0..<height, using: &generator), tones.randomElement(using: &generator) ?? .plain,
        room: Int.random(in: 0...40, using: &generator))
    }
    return frame
  }

  /// The output draws the new picture whatever was shown before, with and without color.
  @Test(arguments: [true, false])
  func outputDrawsTheNewPicture(_ isColored: Bool) {
    var generator = Seeded(state: 7)
    for (width, height) in [(80, 24), (40, 12), (7, 3), (1, 1)] {
      var shown: Frame?
      var screen = ScreenReader(width: width, height: height)
      for _ in 0..<150 {
        let next = random(&generator, width: width, height: height)
        screen.read(next.changes(after: shown, style: Style(isColored: isColored)))
        #expect(screen.rows == next.rows, "after \(shown?.rows ?? [])")
        #expect(screen.unknown.isEmpty, "\(screen.unknown)")
        shown = next
      }
    }
  }

  @Test func unchangedCellsAreNotWritten() {
    var frame = Frame(width: 80, height: 24)
    frame.put("日本語 in 12 s", 0, 3)
    #expect(frame.changes(after: frame, style: Style(isColored: true)) == "")
    var next = Frame(width: 80, height: 24)
    next.put("日本語 in 11 s", 0, 3)
    #expect(next.changes(after: frame, style: Style(isColored: false)) == "\u{1B}[4;12H1")
    // A smaller screen is redrawn completely.
    #expect(
      Frame(width: 40, height: 24).changes(after: frame, style: Style(isColored: false)).hasPrefix("\u{1B}[0m\u{1B}[2J")
    )
  }

  @Test func removedTextIsErasedWithOneSequence() {
    var frame = Frame(width: 80, height: 2)
    frame.put("a long line that goes away but for its beginning", 0, 1)
    var next = Frame(width: 80, height: 2)
    next.put("a", 0, 1)
    #expect(next.changes(after: frame, style: Style(isColored: true)) == "\u{1B}[2;2H\u{1B}[K")
  }

  @Test func colorChangesAreWrittenAndReset() {
    var frame = Frame(width: 20, height: 1)
    frame.put("Tea", 0, 0, .good)
    let text = frame.changes(after: Frame(width: 20, height: 1), style: Style(isColored: true))
    #expect(text == "\u{1B}[1;1H\u{1B}[0;32mTea\u{1B}[0m")
  }

  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  // MARK: Keys

  @Test(
    arguments: [
      ("d", [.character("d")]), ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA\u{1B}OB\u{1B}OM", [.up, .down, .enter]),
      ("\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[F\u{1B}[1~", [.pageUp, .pageDown, .home, .end, .home]),
      ("\r\n", [.enter, .enter]),
      ("\u{7F}\u{8}", [.backspace, .backspace]),
      ("čaj🍵", [.character("č"), .character("a"), .character("j"), .character("🍵")]),
      // Everything else is ignored: other sequences, Alt, control characters, invalid UTF-8.
      ("\u{1B}[15~\u{1B}[1;5A\u{1B}d\u{1}q", [.character("q")]), ("\u{C}", [.redraw]),
      ("\u{1B}\u{1B}[A", [.escape, .up]),
      // A paste never triggers an answer.
      ("\u{1B}[200~ddd\u{1B}[A\r\u{1B}[201~x", [.paste("ddd\u{1B}[A\r"), .character("x")]),
    ] as [(String, [KeyReader.Key])])
  func keysAreParsed(_ text: String, _ keys: [KeyReader.Key]) {
    let bytes = Array(text.utf8)
    var whole = KeyReader()
    #expect(whole.read(bytes) == keys)
    #expect(!whole.isWaiting)
    // The bytes may arrive split anywhere.
    for cut in 1..<max(2, bytes.count) {
      var reader = KeyReader()
      #expect(
        reader.read(bytes[..<min(cut, bytes.count)]) + reader.read(bytes[min(cut, bytes.count)...]) == keys,
        "cut at \(cut)")
    }
  }

  @Test func loneEscapeIsAKey() {
    var reader = KeyReader()
    #expect(reader.read([0x1B]) == [] && reader.isWaiting)
    #expect(reader.flush() == [.escape])
    #expect(!reader.isWaiting && reader.flush() == [])
    #expect(reader.read([0xC3]) == [], "half a letter")
    #expect(reader.flush() == [], "which no Esc began")
    #expect(reader.read([0xA1]) == [.character("á")])
    // Noise does not accumulate.
    #expect(reader.read(Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "0"), count: 100)) == [])
    #expect(reader.read(Array("d".utf8)) == [.character("d")])
  }
}
