import ChimeControl
import ChimeSchedule
import ChimeWords

/// Selects and sorts the items of a listing.
struct ItemChoice {
  typealias Item = TrackersInterface.Item

  private enum Order {
    case used, last, title, since
    case attribute(String)
  }

  private var order = Order.used
  private var search: String?
  private var filters: [(key: String, value: String)] = []
  private var isOwned = false
  private var isGone = false
  private let today: String

  init(_ context: Context) throws {
    let line = context.line
    today = try context.today().description
    (isOwned, isGone) = (line.has("owned"), line.has("gone"))
    if isOwned, isGone { throw Failure.usage(localized("--owned and --gone cannot be used together")) }
    search = line.value("search").map { trimmed($0).lowercased() }
    if search?.isEmpty == true { throw Failure.usage(localized("--search needs some text")) }
    filters = try line.values("filter").map { text in
      let (key, value) = try Pairs.split(text, option: "filter")
      return (key.lowercased(), value.lowercased())
    }
    switch line.value("sort").map({ trimmed($0).lowercased() }) {
    case nil, "used", "times": order = .used
    case "last": order = .last
    case "title", "name": order = .title
    case "since": order = .since
    case .some(let name):
      try need(!name.isEmpty, localized("--sort needs used, last, title, since or an attribute"))
      order = .attribute(name)
    }
  }

  /// Whether the item's last day has passed.
  func isGone(_ item: Item) -> Bool { item.until.map { $0 <= today } ?? false }

  func chosen(of items: [Item]) throws -> [Item] {
    if case .attribute(let name) = order, !items.isEmpty {
      let known = Set(items.flatMap { $0.attributes.keys.map { $0.lowercased() } })
      try need(
        known.contains(name), localized("--sort needs used, last, title, since or an attribute, not \"%1\"", name),
        hint: SpellingSuggestions.question(name, among: ["used", "last", "title", "since"] + known.sorted())
          ?? (known.isEmpty ? nil : localized("there are: %1", known.sorted().joined(separator: ", "))))
    }
    let fitting = items.filter { item in
      (!isOwned || !isGone(item)) && (!isGone || isGone(item)) && isFound(item) && filters.allSatisfy { fits(item, $0) }
    }
    return fitting.sorted { isBefore($0, $1) }
  }

  private func isFound(_ item: Item) -> Bool {
    guard let search else { return true }
    return ([item.title, item.id, item.note ?? ""] + item.attributes.values).contains {
      $0.lowercased().contains(search)
    }
  }

  private func fits(_ item: Item, _ filter: (key: String, value: String)) -> Bool {
    item.attributes.contains { $0.key.lowercased() == filter.key && $0.value.lowercased() == filter.value }
  }

  /// Sorts by tracker, then present items before gone ones, then by the requested order, then by title.
  private func isBefore(_ left: Item, _ right: Item) -> Bool {
    if left.tracker != right.tracker { return left.tracker < right.tracker }
    if isGone(left) != isGone(right) { return isGone(right) }
    switch order {
    case .used: if left.entries != right.entries { return left.entries > right.entries }
    case .last: if left.lastDay != right.lastDay { return left.lastDay ?? "" > right.lastDay ?? "" }
    case .since: if left.since != right.since { return left.since ?? "" > right.since ?? "" }
    case .title: break
    case .attribute(let name):
      let (a, b) = (value(left, name), value(right, name))
      // Items without the attribute come last.
      if a != b { return a.map { a in b.map { a < $0 } ?? true } ?? false }
    }
    return (left.title.lowercased(), left.id) < (right.title.lowercased(), right.id)
  }

  private func value(_ item: Item, _ name: String) -> String? {
    item.attributes.first { $0.key.lowercased() == name }?.value.lowercased()
  }
}
