import ChimeControl
import ChimeWords

/// The items of a collection used on each day, as letters. A is the most used item of all time, so that month and
/// report use the same letters.
struct WornDays {
  typealias T = TrackersInterface

  /// The ids of a day's items, in order of use.
  private(set) var days: [String: [String]] = [:]
  /// The items used in these days, in the order of their letters.
  private(set) var items: [(id: String, title: String, times: Int, letter: String)] = []

  /// Takes the entries of the period, newest first, and all items with their total use.
  init(_ entries: [T.Entry], of collection: [T.Item]) {
    var times: [String: Int] = [:]
    for entry in entries.reversed() {
      guard let item = entry.item else { continue }
      times[item, default: 0] += 1
      days[entry.day, default: []].removeAll { $0 == item }
      days[entry.day, default: []].append(item)
    }
    let order = collection.sorted { ($1.entries, $0.id) < ($0.entries, $1.id) }
    // Removed items come last.
    let known = Set(order.map(\.id))
    let removed = times.keys.filter { !known.contains($0) }.sorted()
    let letters = (order.map { ($0.id, $0.title) } + removed.map { ($0, $0) }).enumerated()
    items = letters.compactMap { index, item in
      times[item.0].map { (item.0, item.1, $0, Self.letter(index)) }
    }
  }

  /// Returns `A` to `Z`, then `a` to `z`; rarer items share `*`.
  private static func letter(_ index: Int) -> String {
    guard index < 52 else { return "*" }
    let first = index < 26 ? UInt8(ascii: "A") : UInt8(ascii: "a")
    return String(Character(Unicode.Scalar(first + UInt8(index % 26))))
  }

  /// Returns the letters of a day's items: `AB`.
  func letters(_ day: String) -> String {
    (days[day] ?? []).compactMap { id in items.first { $0.id == id }?.letter }.joined()
  }

  /// Returns `A Speedmaster ×9` for each item.
  var legend: [String] {
    items.map { "\($0.letter) \(TerminalSanitizer.line($0.title)) ×\(LocalizedFormat.number(Double($0.times)))" }
  }

  static func read(_ context: Context, _ tracker: T.Tracker, _ range: T.Range) throws -> WornDays {
    let daemon = try context.daemon()
    let items = try daemon.call(
      T.Items(tracker: tracker.id)
    ).items
    var asked = T.Entries(tracker: tracker.id, range: range)
    var entries: [T.Entry] = []
    while entries.count < 10_000 {
      (asked.limit, asked.offset) = (1_000, entries.count)
      let reply: T.Entries.Reply = try daemon.call(asked)
      entries += reply.entries
      if reply.entries.isEmpty || entries.count >= reply.total { break }
    }
    return WornDays(entries, of: items)
  }
}
