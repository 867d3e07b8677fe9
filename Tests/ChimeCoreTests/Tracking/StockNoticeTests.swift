import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Stocks: entries reduce them, undo restores them, and notices report them.
struct StockNoticeTests {
  static let pills = TrackerID(rawValue: "pills")

  static func life(_ stock: Int = 9) async throws -> Life {
    let life = try Life("2026-06-01 08:00")
    try await life.put(
      Tracker(
        id: pills, owner: Life.owner, title: "Pills", kind: .check, stock: Stock(.ones(stock)),
        startedOn: try #require(CivilDate("2026-06-01")), createdAt: life.now))
    return life
  }

  private func take(_ life: Life) async throws -> TrackingOutcome {
    try await life.change { try $0.log(EntryDraft(tracker: Self.pills), using: &$1) }
  }

  private func level(_ life: Life) async throws -> StockLevel {
    let (context, now) = (life.context, life.now)
    return try await life.store.read { transaction in
      let work = TrackingOperations(in: transaction, owner: Life.owner, context, now: now)
      let tracker = try #require(try transaction.tracker(TrackerKey(owner: Life.owner, id: Self.pills)))
      return try #require(try work.stockLevel(of: tracker))
    }
  }

  private func told(_ life: Life) async throws -> [String] {
    try await life.fire()
    defer { life.shown = [] }
    return life.shown.map { "\($0.message.occurrence.title)|\($0.message.body ?? "")" }
  }

  @Test func itIsToldOnceAndAgainAfterARefill() async throws {
    let life = try await Self.life()
    var said: [String] = []
    for day in 1...9 {
      life.now = life.at("2026-06-0\(day) 09:00")
      let outcome = try await take(life)
      said += try await told(life)
      #expect((outcome.stock != nil) == (day == 3 || day == 9), "day \(day)")
    }
    #expect(said == ["Pills: 6 left|Enough until 2026-06-09", "Pills: used up|"])
    life.now = life.at("2026-06-10 09:00")
    #expect(try await take(life).stock == nil, "nothing new")
    #expect(try await level(life).short == .one)
    try await life.change { work, _ in try work.restock(Self.pills, .ones(8), isCount: false) }
    #expect(try await level(life).left == .ones(7), "what was taken without being there comes off")
    #expect(try await told(life) == [])
    life.now = life.at("2026-06-11 09:00")
    #expect(try await take(life).stock?.state == .low)
    #expect(try await told(life) == ["Pills: 6 left|Enough until 2026-06-17"])
  }

  @Test func whatIsTakenBackIsThereAgain() async throws {
    let life = try await Self.life(8)
    #expect(try await take(life).stock == nil)
    let second = try await take(life)
    #expect(second.stock?.state == .low)
    #expect(try await told(life).count == 1)
    try await life.change { try $0.undo(using: &$1).outcome }
    #expect(try await level(life).left == .ones(7))
    // The notice comes again, because the first was undone.
    #expect(try await take(life).stock?.state == .low)
    let id = try #require(try await take(life).entry?.id)
    try await life.change { try $0.remove(id, using: &$1) }
    #expect(try await level(life).left == .ones(6))
    try await life.change { try $0.removeEntries(of: Self.pills, using: &$1) }
    let whole = try await level(life)
    #expect(whole.left == .ones(8) && whole.state == .enough)
    try await life.change { try $0.undo(using: &$1).outcome }
    #expect(try await level(life).left == .ones(6))
  }

  /// A count replaces everything before it; an earlier entry does not reduce it.
  @Test func aCountIsWhatThereIs() async throws {
    let life = try await Self.life(3)
    for _ in 1...3 { _ = try await take(life) }
    life.now = life.at("10:00")
    try await life.change { work, _ in try work.restock(Self.pills, .ones(20), isCount: true, warnDays: 2) }
    #expect(try await level(life).left == .ones(20))
    let (before, after) = (life.at("09:30"), life.at("10:30"))
    life.now = life.at("11:00")
    try await life.change { try $0.log(EntryDraft(tracker: Self.pills, at: before), using: &$1) }
    #expect(try await level(life).left == .ones(20))
    try await life.change { try $0.log(EntryDraft(tracker: Self.pills, at: after), using: &$1) }
    #expect(try await level(life).left == .ones(19))
    for _ in 1...2 { try await life.change { try $0.undo(using: &$1).outcome } }
    // Undo the count itself.
    try await life.change { try $0.undo(using: &$1).outcome }
    #expect(try await level(life).left == .zero)
  }

  /// An amount reduces the stock by what was logged, in any unit; an edit changes only the difference.
  @Test func anAmountUsesWhatItIs() async throws {
    let life = try Life("2026-06-01 08:00")
    var tracker = try Life.waterTracker()
    tracker.stock = Stock(try Life.ml(5_000), warnDays: 1)
    try await life.put(tracker)
    let entry = try #require(try await life.log(1_500).entry)
    func left() async throws -> Quantity? {
      let (context, now) = (life.context, life.now)
      return try await life.store.read { transaction in
        let kept = try #require(try transaction.tracker(TrackerKey(owner: Life.owner, id: Life.water)))
        return try TrackingOperations(in: transaction, owner: Life.owner, context, now: now).stockLevel(of: kept)?.left
      }
    }
    #expect(try await left() == Life.ml(3_500))
    let less = try Life.ml(500)
    try await life.change { try $0.edit(entry.id, using: &$1) { $0.quantity = less } }
    #expect(try await left() == Life.ml(4_500))
    // Days later, the days' totals are summed up.
    life.now = life.at("2026-06-09 08:00")
    try await life.log(100)
    #expect(try await left() == Life.ml(4_400))
  }
}
