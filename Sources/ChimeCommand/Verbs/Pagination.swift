import ChimeSchedule
import ChimeWords

/// The common part of listings: limits and pages.
enum Pagination {
  static func limit(_ noun: String, usually: Int) -> Verb.Option {
    .value("limit", "n", "N", localized("How many at most, or all (default %1)", String(usually)))
  }

  /// Returns the number of `-n`; `nil` for all.
  static func limit(_ line: ParsedLine, usually: Int) throws -> Int? {
    if line.value("limit") == "all" { return nil }
    if let text = line.value("limit"), Int(text) == nil {
      throw Failure.usage("--limit needs a number from 1 to 1000000 or all, not \"\(text)\"")
    }
    return try line.count("limit", maximum: 1_000_000) ?? usually
  }

  /// The number of items that are asked for at once. The daemon ends a page earlier where it becomes too large.
  private static let largest = 2_000

  /// Reads pages until there are `limit` items or no more; `keeping` filters them.
  static func pages<Item>(
    limit: Int?, keeping: ((Item) -> Bool)? = nil,
    page: (_ limit: Int, _ cursor: String?) throws -> (items: [Item], cursor: String?)
  ) throws -> (items: [Item], isCut: Bool) {
    var items: [Item] = []
    var cursor: String?
    repeat {
      // With a filter, small pages would mean many requests.
      let wanted = keeping == nil ? limit.map { min($0 - items.count, largest) } ?? largest : largest
      let answer = try page(wanted, cursor)
      let kept = keeping.map { answer.items.filter($0) } ?? answer.items
      // A list of a single page is not copied: a thousand reminders are a megabyte and a half.
      if items.isEmpty { items = kept } else { items += kept }
      // A filter may empty a whole page, so continue. Stop at a repeated cursor, which would loop forever.
      cursor = answer.cursor == cursor ? nil : answer.cursor
    } while cursor != nil && items.count < limit ?? .max
    guard let limit, items.count > limit else { return (items, cursor != nil) }
    return (Array(items.prefix(limit)), true)
  }

  /// `--since` and `--before` for past times.
  static let since: [Verb.Option] = [
    .value("since", nil, "TIME", "Only from this time on, such as \"3 days\" (ago), yesterday or 2026-12-01"),
    .value("before", nil, "TIME", "Only before this time"),
  ]

  /// Returns an option's time in the daemon's format.
  static func moment(_ context: Context, _ option: String) throws -> String? {
    guard let text = context.line.value(option) else { return nil }
    let zone = try context.localZone()
    return RFC3339.format(
      try TimeArgument.parse(
        text, option: option, now: context.now, in: context.scheduleContext(in: zone, at: nil), toward: .past), in: zone
    )
  }
}
