import ChimeControl
import ChimeCore
import ChimeTracking

/// A TrackerLookup finds the tracker, item or pack that a client named: by id, by title in any language, or by a unique
/// beginning of one of these.
///
/// Callers find only their own. This holds for root too: the id of a tracker is unique only among those of its owner.
struct TrackerLookup {
  let transaction: any StoreTransaction
  let owner: UInt32

  func tracker(_ text: String) throws -> Tracker {
    if let id = TrackerID(checking: text), let found = try transaction.tracker(TrackerKey(owner: owner, id: id)) {
      return found
    }
    let all = try transaction.trackers(owner: owner)
    let named = all.map { Named(value: $0, id: $0.id.rawValue, titles: Array($0.title.texts.values)) }
    return try find(text, among: named, what: "tracker")
  }

  func tracker(_ text: String?) throws -> Tracker? { try text.map { try tracker($0) } }

  func item(_ text: String, of tracker: Tracker) throws -> Item {
    try need(tracker.hasItems, "item", "\(tracker.id) has no items: leave the item out")
    let items = try transaction.items(of: tracker.key)
    return try find(
      text, among: items.map { Named(value: $0, id: $0.id.rawValue, titles: [$0.title]) }, what: "item")
  }

  func pack(_ text: String) throws -> InstalledPack {
    if let found = try transaction.pack(PackID(rawValue: text), owner: owner) { return found }
    let all = try transaction.packs(owner: owner)
    let named = all.map { Named(value: $0, id: $0.pack.id.rawValue, titles: Array($0.pack.title.texts.values)) }
    return try find(text, among: named, what: "pack")
  }

  private struct Named<Value> {
    var value: Value
    var id: String
    var titles: [String]
  }

  private func find<Value>(_ text: String, among all: [Named<Value>], what: String) throws -> Value {
    let wanted = String(text.prefix(200)).trimmed.lowercased()
    let tests: [(Named<Value>) -> Bool] = [
      { $0.id == wanted },
      { $0.titles.contains { $0.lowercased() == wanted } },
      { $0.id.hasPrefix(wanted) || $0.titles.contains { $0.lowercased().hasPrefix(wanted) } },
    ]
    for test in tests where !wanted.isEmpty {
      let found = all.filter(test)
      if found.count == 1 { return found[0].value }
      guard found.isEmpty else {
        throw ControlFailure.ambiguous(
          id: TrackerFields.shown(text),
          candidates: found.prefix(6).map { "\($0.id) \($0.titles.sorted().first ?? "")" })
      }
    }
    let ids = all.map(\.id)
    let titles = Set(all.flatMap(\.titles)).filter { !ids.contains($0.lowercased()) }
    let names = ids + titles.sorted()
    throw ControlFailure.notFound(
      what: what, id: TrackerFields.shown(text), similar: SpellingSuggestions.to(String(text.prefix(64)), among: names))
  }
}
