import ChimeControl
import ChimeCore
import ChimeTracking

// The user's own trackers. Entries are data and are never changed, except by pruning their tracker.
extension ManifestTransaction {
  mutating func trackers() throws {
    for item in declared.trackers { try put(item) }
    guard let name = declared.name else { return }
    let named = Set(declared.trackers.map(\.tracker.id))
    let left = known.filter { $0.set == name && $0.pack == nil && !named.contains($0.id) }
    guard planner.request.prune == true else {
      plan.reply.notPruned += left.count
      return
    }
    for tracker in left {
      plan.steps.append(.removeTracker(tracker.id))
      known.removeAll { $0.id == tracker.id }
      plan.reply.changes.append(
        .init(
          action: .remove, kind: .tracker, id: tracker.id.rawValue, title: title(tracker),
          fields: [], records: try records(of: [tracker])))
    }
  }

  /// Returns the number of records that would be removed with trackers; nil if there are none.
  func records(of trackers: [Tracker]) throws -> Int? {
    var count = 0
    for tracker in trackers {
      count += try transaction.entryCount(EntryFilter(owner: owner, tracker: tracker.id))
      count += try transaction.items(of: tracker.key).count
      count += try transaction.milestones(owner: owner, tracker: tracker.id).count
    }
    return count == 0 ? nil : count
  }

  func title(_ tracker: Tracker) -> String { tracker.title.text(in: ["en"]) }

  private mutating func put(_ item: Manifest.Counted) throws {
    var tracker = item.tracker
    tracker.owner = owner
    guard let before = known.first(where: { $0.id == tracker.id }) else {
      if !item.saysStart { tracker.startedOn = handler.today(of: tracker) }
      tracker.set = declared.name
      guard known.count < TrackerFields.maxTrackers else {
        declared.fault(item.place, "id", "is one tracker too many: the limit is \(TrackerFields.maxTrackers)")
        return
      }
      known.append(tracker)
      plan.steps.append(.tracker(tracker))
      let fields = ManifestWriter.fields(of: tracker).filter { $0.text != nil && !$0.isUsual }
      plan.reply.changes.append(
        .init(
          action: .add, kind: .tracker, id: tracker.id.rawValue, title: title(tracker),
          fields: fields.map { .init(name: $0.name, new: $0.text) }))
      return
    }
    if let pack = before.pack {
      declared.fault(
        item.place, "id",
        "is a tracker of the pack \(pack); write changes of it into [pack.tracker.\(tracker.id)]")
      return
    }
    guard before.kind == tracker.kind else {
      declared.fault(
        item.place, "kind",
        "cannot change: the tracker is of the kind \(before.kind.rawValue)")
      return
    }
    if let old = before.unit, tracker.unit.map({ !$0.converts(to: old) }) ?? false,
      try transaction.entryCount(EntryFilter(owner: owner, tracker: tracker.id)) > 0
    {
      declared.fault(item.place, "unit", "must convert to \(old.symbol), the unit of the existing entries")
      return
    }
    // Fields that the manifest does not manage keep their values.
    (tracker.pauses, tracker.skips) = (before.pauses, before.skips)
    tracker.formerWeekdays = before.formerWeekdays
    tracker.keepStock(of: before)
    (tracker.createdAt, tracker.generation) = (before.createdAt, before.generation)
    if !item.saysStart { tracker.startedOn = before.startedOn }
    tracker.set = declared.name ?? before.set
    var fields = Self.differences(ManifestWriter.fields(of: before), ManifestWriter.fields(of: tracker))
    if before.set != tracker.set { fields.append(quotedField("set", before.set, tracker.set)) }
    guard !fields.isEmpty else {
      plan.reply.unchanged += 1
      return
    }
    known.removeAll { $0.id == tracker.id }
    known.append(tracker)
    plan.steps.append(.tracker(tracker))
    plan.reply.changes.append(
      .init(action: .change, kind: .tracker, id: tracker.id.rawValue, title: title(tracker), fields: fields))
  }
}
