import ChimeControl
import ChimeSchedule
import Testing

@testable import ChimeCommand

/// How the screen of `chime watch` reacts to keys, replies and the time.
@Suite struct WatchModelTests {
  static func occurrence(
    _ id: String, _ title: String, minutesAgo: Int64, _ state: OccurrencesInterface.Occurrence.State = .delivered,
    snoozedFor: Int64? = nil, repeatIn: Int64? = nil
  ) -> OccurrencesInterface.Occurrence {
    let at = Samples.now.seconds - minutesAgo * 60
    return OccurrencesInterface.Occurrence(
      id: "\(id)@\(at)", reminder: id, title: title, state: state, scheduledAt: Samples.time(at),
      firedAt: Samples.time(at),
      snoozedUntil: snoozedFor.map { Samples.time(Samples.now.seconds + $0 * 60) }, rounds: 1,
      repeatAt: repeatIn.map { Samples.time(Samples.now.seconds + $0 * 60) })
  }

  static let three = [
    occurrence("a", "A", minutesAgo: 1), occurrence("b", "B", minutesAgo: 2), occurrence("c", "C", minutesAgo: 3),
  ]

  private func model(_ open: [OccurrencesInterface.Occurrence] = three) -> WatchModel {
    var model = WatchModel(now: Samples.now)
    model.health = Samples.health()
    model.take(open: open)
    return model
  }

  private func chosen(_ model: WatchModel) -> String { model.chosen.map { String($0.prefix(1)) } ?? "-" }

  @Test(
    arguments: [
      ([], "a"), ([.down], "b"), ([.character("j"), .down, .down, .down], "c"), ([.down, .character("k"), .up], "a"),
      ([.end], "c"), ([.character("G"), .home], "a"), ([.pageDown, .up], "b"),
      ([.character("z"), .enter, .paste("jjd")], "a"),
    ] as [([KeyReader.Key], String)])
  func keysMoveTheSelection(_ keys: [KeyReader.Key], _ expected: String) {
    var model = model()
    for key in keys { #expect(model.press(key) == nil) }
    #expect(chosen(model) == expected)
  }

  /// An occurrence is selected, not a line: one that fires meanwhile does not move the selection.
  @Test func selectionStaysOnItsOccurrence() {
    var model = model()
    _ = model.press(.down)
    model.take(open: [Self.occurrence("n", "New", minutesAgo: 0)] + Self.three)
    #expect(chosen(model) == "b")
    model.take(open: [Self.three[0], Self.three[2]])
    #expect(chosen(model) == "c", "what came in its place")
    model.take(open: [Self.three[0]])
    #expect(chosen(model) == "a")
    model.take(open: [])
    #expect(chosen(model) == "-")
  }

  @Test func oneAnswerIsSentAtATime() {
    var model = model()
    #expect(model.press(.character("d")) == .done(Self.three[0].id))
    #expect(model.press(.character("d")) == nil, "the first is on its way")
    #expect(model.press(.character("x")) == nil)
    model.answered("done", .good)
    #expect(model.notice?.text == "done")
    #expect(model.press(.character("x")) == .dismiss(Self.three[0].id))
    model.answered("gone", .good)
    #expect(model.press(.character("s")) == .snooze(Self.three[0].id, nil))
  }

  @Test func answerKeysDoNothingWithoutAnOccurrenceOrADaemon() {
    var model = model([])
    #expect(model.press(.character("d")) == nil)
    #expect(model.notice?.text == "nothing waits for an answer")
    model = self.model()
    model.lost(attempts: 0, retry: Samples.now + .seconds(1))
    #expect(model.press(.character("d")) == nil)
    #expect(model.notice?.text.contains("not available") == true)
    // An answer in flight is forgotten when the connection is lost.
    model = self.model()
    _ = model.press(.character("d"))
    model.lost(attempts: 0, retry: Samples.now + .seconds(1))
    model.link = .connected
    #expect(model.press(.character("d")) == .done(Self.three[0].id))
  }

  @Test func snoozeLengthCanBeTyped() {
    var model = model()
    #expect(model.press(.character("S")) == nil)
    for letter in "1h x" { #expect(model.press(.character(letter)) == nil) }
    #expect(model.press(.enter) == nil, "that is no length")
    guard case .asking("1h x", .some) = model.mode else { return #expect(Bool(false), "\(model.mode)") }
    #expect(model.press(.backspace) == nil)
    #expect(model.press(.backspace) == nil)
    #expect(model.press(.paste("30m")) == nil)
    #expect(model.press(.enter) == .snooze(Self.three[0].id, "PT1H30M"))
    #expect(model.mode == .watching)
    // Ctrl-U deletes everything typed.
    model.answered("", .plain)
    var keys = KeyReader()
    for key in keys.read(Array("S1h30m\u{15}5m\r".utf8)).dropLast() { #expect(model.press(key) == nil) }
    guard case .asking("5m", nil) = model.mode else { return #expect(Bool(false), "\(model.mode)") }
    #expect(model.press(.enter) == .snooze(Self.three[0].id, "PT5M"))
    // Esc goes back, and then leaves.
    model.answered("", .plain)
    _ = model.press(.character("S"))
    #expect(model.press(.escape) == nil && model.mode == .watching)
    #expect(model.press(.escape) == .leave)
    // Empty input asks for nothing.
    _ = model.press(.character("S"))
    #expect(model.press(.enter) == nil && model.mode == .watching)
    // The selected occurrence is gone.
    _ = model.press(.character("S"))
    model.take(open: [])
    #expect(model.mode == .watching)
  }

  @Test func anyKeyClosesTheHelp() {
    var model = model()
    #expect(model.press(.character("?")) == nil && model.mode == .help)
    #expect(model.press(.character("d")) == nil && model.mode == .watching, "it answers nothing")
    _ = model.press(.character("?"))
    #expect(model.press(.character("q")) == .leave)
    #expect(model.press(.redraw) == .redraw)
  }

  /// The state has its own column, so the sentence does not repeat it; a title may contain anything.
  @Test(arguments: [
    ("\"Tea\" fired", "Tea", "fired", "\"Tea\""),
    ("\"Tea\" delivered to desktop", "Tea", "delivered", "\"Tea\" to desktop"),
    ("added \"Tea\"", "Tea", "added", "\"Tea\""), ("added \"Teas\"", "Tea", "added", "added \"Teas\""),
    ("\"Tea\" not delivered to team", "Tea", "failed", "\"Tea\" not delivered to team"),
    ("\"Tea\" firedup", "Tea", "fired", "\"Tea\" firedup"), ("\"Tea\" fired", nil, "fired", "\"Tea\" fired"),
    ("\"A\" fired\" fired", "A\" fired", "fired", "\"A\" fired\""), ("", "", "fired", ""),
  ])
  func stateIsPrintedOnce(_ message: String, _ title: String?, _ kind: String, _ expected: String) {
    #expect(WatchModel.withoutState(message, title: title, kind: kind) == expected)
  }

  @Test func eventLinesAreOrderedAndBounded() {
    var model = model()
    model.take(history: [Samples.occurrence(.missed), Samples.occurrence(.done)])
    #expect(model.lines.map(\.kind).sorted() == ["done", "missed"])
    model.take(events: (0..<600).map { _ in Samples.event("fired") })
    #expect(model.lines.count == WatchModel.longest)
    // After a reconnection only new lines are added.
    model.take(history: [Samples.occurrence(.done)])
    #expect(model.lines.last?.kind == "fired")
  }

  // MARK: Time

  /// Once a second during a countdown in seconds, otherwise once a minute.
  @Test(
    arguments: [
      ([], 20), ([60], 1), ([599], 1), ([600], 1), ([601], 2), ([610], 11), ([630], 20), ([-5], 20),
      ([3_600, 90_000], 20),
    ] as [([Int64], Int64)])
  func screenRefreshesEachSecondOrMinute(_ ahead: [Int64], _ seconds: Int64) {
    // 09:26:40: twenty seconds before a full minute.
    let model = model()
    let next = model.nextChange(ahead.map { Samples.now + .seconds($0) })
    #expect((next - Samples.now).rawValue == seconds * 1_000)
  }

  @Test func noticesExpireAndReconnectionIsRetried() {
    var model = model()
    model.say("hello", .plain)
    #expect(model.nextChange([]) == Samples.now + .seconds(6))
    model.tick(Samples.now + .milliseconds(6_300))
    #expect(model.notice == nil)
    model.lost(attempts: 0, retry: model.now + .seconds(1))
    #expect(model.nextChange([]) == model.now + .seconds(1))
    model.lost(attempts: 1, retry: model.now + .seconds(5))
    guard case .away(let since, _, 1) = model.link else { return #expect(Bool(false), "\(model.link)") }
    #expect(since == Samples.now + .seconds(6), "since it went, not since it was last looked for")
  }

  @Test(
    arguments: [
      // Enough room for all.
      ([(3, 4), (5, 5), (0, 2)], 20, 1, [3, 5, 0]),
      // Two for each first, then the minimum of each.
      ([(9, 4), (9, 5), (9, 2), (9, 3)], 12, 0, [2, 2, 2, 2]),
      ([(9, 4), (9, 5), (9, 2), (9, 3)], 15, 0, [4, 3, 2, 2]),
      // The remainder is shared out in turn.
      ([(9, 2), (9, 2)], 11, 0, [5, 4]), ([(9, 2), (3, 2)], 13, 1, [7, 3]),
      // No room at all.
      ([(9, 4), (9, 5)], 1, 0, [0, 0]), ([(9, 4), (9, 5)], 3, 0, [2, 0]), ([(9, 4)], 0, 0, [0]),
    ] as [([(Int, Int)], Int, Int, [Int])])
  func spaceIsSharedBetweenSections(_ wanted: [(Int, Int)], _ room: Int, _ gap: Int, _ expected: [Int]) {
    #expect(WatchView.shares(wanted.map { (wanted: $0.0, least: $0.1) }, room: room, gap: gap) == expected)
  }
}
