import ChimeControl
import ChimeWords

/// Which items of a collection were used on which days, each known by a letter: the most used is A.
struct WornDays {
  typealias T = TrackersInterface

  /// The ids of a day's items, in the order of their use.
  private(set) var days: [String: [String]] = [:]
  /// By how often they were used in these days, with their letters.
  private(set) var items: [(id: String, title: String, times: Int, letter: String)] = []

  /// The entries of these days, newest first, and the items that there are.
  init(_ entries: [T.Entry], titles: [String: String]) {
    var times: [String: Int] = [:]
    for entry in entries.reversed() {
      guard let item = entry.item else { continue }
      times[item, default: 0] += 1
      days[entry.day, default: []].removeAll { $0 == item }
      days[entry.day, default: []].append(item)
    }
    let sorted = times.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    items = sorted.enumerated().map { index, item in
      (item.key, titles[item.key] ?? item.key, item.value, Self.letter(index))
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
    items.map { "\($0.letter) \(Harmless.line($0.title)) ×\(Figures.number(Double($0.times)))" }
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
    return WornDays(entries, titles: Dictionary(items.map { ($0.id, $0.title) }) { first, _ in first })
  }
}
