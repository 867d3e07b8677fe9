import ChimeControl
import ChimeWords

/// Which items of a collection were used on which days, each known by a letter: the most used of all time is A, so that month
/// and report call a watch alike.
struct WornDays {
  typealias T = TrackersInterface

  /// The ids of a day's items, in the order of their use.
  private(set) var days: [String: [String]] = [:]
  /// Those that were used in these days, in the order of their letters.
  private(set) var items: [(id: String, title: String, times: Int, letter: String)] = []

  /// The entries of these days, newest first, and the items that there are, with how often each was used at all.
  init(_ entries: [T.Entry], of collection: [T.Item]) {
    var times: [String: Int] = [:]
    for entry in entries.reversed() {
      guard let item = entry.item else { continue }
      times[item, default: 0] += 1
      days[entry.day, default: []].removeAll { $0 == item }
      days[entry.day, default: []].append(item)
    }
    let order = collection.sorted { ($1.entries, $0.id) < ($0.entries, $1.id) }
    // What is no item any more comes last.
    let known = Set(order.map(\.id))
    let removed = times.keys.filter { !known.contains($0) }.sorted()
    let letters = (order.map { ($0.id, $0.title) } + removed.map { ($0, $0) }).enumerated()
    items = letters.compactMap { index, item in
      times[item.0].map { (item.0, item.1, $0, Self.letter(index)) }
    }
  }

  /// `A` to `Z`, `a` to `z`; what is used more seldom shares a sign.
  private static func letter(_ index: Int) -> String {
    guard index < 52 else { return "*" }
    let first = index < 26 ? UInt8(ascii: "A") : UInt8(ascii: "a")
    return String(Character(Unicode.Scalar(first + UInt8(index % 26))))
  }

  /// The letters of a day's items: `AB`.
  func letters(_ day: String) -> String {
    (days[day] ?? []).compactMap { id in items.first { $0.id == id }?.letter }.joined()
  }

  /// `A Speedmaster ×9`, one for each item.
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
