import ChimeControl
import ChimeSchedule
import ChimeWords

/// What the listings have in common.
enum Pagination {
  static func limit(_ noun: String, usually: Int) -> Verb.Option {
    .value("limit", "n", "N", localized("How many at most, or all (default %1)", String(usually)))
  }

  /// The number after `-n`; `nil` for all.
  static func limit(_ line: ParsedLine, usually: Int) throws -> Int? {
    if line.value("limit") == "all" { return nil }
    if let text = line.value("limit"), Int(text) == nil {
      throw Failure.usage("--limit needs a number from 1 to 1000000 or all, not \"\(text)\"")
    }
    return try line.count("limit", maximum: 1_000_000) ?? usually
  }

  /// Pages until there are `limit` or no more; of what comes only that which `keeping` takes, or all.
  static func pages<Item>(
    limit: Int?, keeping: ((Item) -> Bool)? = nil,
    page: (_ limit: Int, _ cursor: String?) throws -> (items: [Item], cursor: String?)
  ) throws -> (items: [Item], isCut: Bool) {
    var items: [Item] = []
    var cursor: String?
    repeat {
      // Where most may be left out, small pages would be many.
      let wanted = keeping == nil ? limit.map { min($0 - items.count, 500) } ?? 500 : 500
      let answer = try page(wanted, cursor)
      items += keeping.map { answer.items.filter($0) } ?? answer.items
      // A page may bring nothing, since a filter can leave out all of it; a cursor that stands still would be asked for
      // again without end.
      cursor = answer.cursor == cursor ? nil : answer.cursor
    } while cursor != nil && items.count < limit ?? .max
    guard let limit, items.count > limit else { return (items, cursor != nil) }
    return (Array(items.prefix(limit)), true)
  }

  /// `--since` and `--before` of what has passed.
  static let since: [Verb.Option] = [
    .value("since", nil, "TIME", "Only from this time on, such as \"3 days\" (ago), yesterday or 2026-12-01"),
    .value("before", nil, "TIME", "Only before this time"),
  ]

  /// The time after such an option, as the daemon takes it.
  static func moment(_ context: Context, _ option: String) throws -> String? {
    guard let text = context.line.value(option) else { return nil }
    let zone = try context.localZone()
    return RFC3339.format(
      try TimeArgument.parse(
        text, option: option, now: context.now, in: context.scheduleContext(in: zone, at: nil), toward: .past), in: zone
    )
  }
}
