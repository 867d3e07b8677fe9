import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A ManifestPlanner computes the changes that bring the store to the declared state. It only reads the store.
struct ManifestPlanner: Sendable {
  let handler: RemindersHandler
  let request: RemindersInterface.Apply
  let declared: Manifest

  typealias Interface = RemindersInterface

  /// Plans the changes.
  ///
  /// - Throws: `InvalidSet` with all faults.
  func plan(in transaction: any StoreTransaction) throws -> ManifestPlan {
    var work = ManifestTransaction(
      planner: self, transaction: transaction, declared: declared,
      plan: ManifestPlan(
        reply: .init(
          set: declared.name, changes: [], unchanged: 0, notPruned: 0, secretFiles: [], plan: "", warnings: [])))
    try work.endpoints()
    try work.packs()
    try work.trackers()
    try work.reminders()
    let faults = work.declared.faults
    guard faults.isEmpty else { throw ControlFailure.invalidSet(PackFaults(faults)) }
    work.plan.reply.plan = Self.digest(work.plan.reply.changes)
    return work.plan
  }

  /// Identifies a plan by an FNV-1a hash. Nobody gains from a collision.
  private static func digest(_ changes: [Interface.SetChange]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func take(_ text: String?) {
      for byte in (text.map { $0 + "\u{1}" } ?? "\u{2}").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    for change in changes {
      for text in [change.action.rawValue, change.kind.rawValue, change.id, change.title] { take(text) }
      // The new values come from the caller; those of "every 90m" depend on the time of reading.
      for field in change.fields { for text in [field.name, field.old] { take(text) } }
    }
    return String(hash, radix: 16)
  }
}

/// One run of the planner.
struct ManifestTransaction {
  let planner: ManifestPlanner
  let transaction: any StoreTransaction
  var declared: Manifest
  var plan: ManifestPlan
  /// The trackers after the change.
  var known: [Tracker] = []
  /// Reminders of packs that the set adds or removes, with their pack. The pack's own plan handles them.
  var bundled: [ReminderID: PackID] = [:]

  var handler: RemindersHandler { planner.handler }
  var owner: UInt32 { handler.caller.owner }

  typealias Interface = RemindersInterface

  // MARK: Reminders

  mutating func reminders() throws {
    var known: [ReminderRecord] = []
    try transaction.eachPage(of: ReminderFilter(owner: owner)) { known += $0 }
    let named = Set(declared.reminders.compactMap(\.id))
    var taken: Set<ReminderID> = []
    let matched = try declared.reminders.map { try match($0, in: known, named: named) }
    let chains = ManifestChains(declared.reminders, matched: matched)
    for index in inOrder(of: chains) {
      var item = declared.reminders[index]
      let record = matched[index]
      if let pack = record.flatMap({ bundled[$0.reminder.id] }) ?? item.id.flatMap({ bundled[$0] }) {
        declared.fault(
          item.place, "id",
          "is the id of a reminder of the pack \(pack); write changes of it into [pack.reminder.…]")
        continue
      }
      item.reminder.set = declared.name ?? record?.reminder.set
      guard try chain(&item, at: index, chains) else { continue }
      do {
        if let link = item.link { try handler.links.link(&item.reminder, link, among: self.known, in: transaction) }
      } catch ControlFailure.invalidValue(_, let message) {
        declared.fault(
          item.place, "tracker",
          bringing(item.link).map { "was rejected: \(message); \($0)" } ?? "was rejected: \(message)")
        continue
      }
      if let record {
        taken.insert(record.reminder.id)
        try change(record, to: item)
      } else {
        try add(item)
      }
    }
    guard let name = declared.name else { return }
    let others = bundled.keys
    known.removeAll { record in
      let id = record.reminder.id
      return taken.contains(id) || record.reminder.set != name || others.contains(id)
    }
    guard planner.request.prune == true else {
      plan.reply.notPruned += known.count
      return
    }
    for record in known.sorted(by: { $0.reminder.id < $1.reminder.id }) {
      plan.steps.append(.remove(record.reminder))
      plan.reply.changes.append(
        .init(
          action: .remove, kind: .reminder, id: record.reminder.id.rawValue, title: record.reminder.title,
          fields: [.init(name: "when", old: TOMLText.quoted(record.reminder.schedule.canonical))]))
    }
  }

  /// Finds the reminder that an item means: by id; else by title in this set; else the only one with the title outside of
  /// all sets.
  private mutating func match(
    _ item: Manifest.Item, in known: [ReminderRecord], named: Set<ReminderID>
  ) throws -> ReminderRecord? {
    if let id = item.id { return known.first { $0.reminder.id == id } }
    let titled = known.filter { $0.reminder.title == item.reminder.title && !named.contains($0.reminder.id) }
    for set in declared.name.map({ [$0, nil] }) ?? [nil] {
      let found = titled.filter { $0.reminder.set == set }
      guard found.count < 2 else {
        let ids = found.map(\.reminder.id.rawValue).sorted().joined(separator: ", ")
        declared.fault(
          item.place, "title",
          "is the title of several reminders, \(ids); choose one by its id, id = \"\(found[0].reminder.id)\"")
        return nil
      }
      if let only = found.first { return only }
    }
    return nil
  }

  private mutating func add(_ item: Manifest.Item) throws {
    var reminder = item.reminder
    reminder.pause = item.pause ?? .none
    if item.hasPassed {
      plan.reply.warnings.append("\(place(item)): \"\(reminder.title)\" is in the past and is left out")
      return
    }
    if let id = item.id {
      guard try transaction.isFree(id, for: owner) else {
        declared.fault(item.place, "id", "belongs to another user; choose another one")
        return
      }
      reminder.id = id
    }
    let next: Instant?
    do {
      next = try handler.writer.firstTime(of: &reminder, in: transaction)
    } catch let failure as ControlFailure {
      declared.fault(item.place, "when", "never comes: \(failure.sentence)")
      return
    }
    plan.steps.append(.add(reminder, next: next, change: plan.reply.changes.count))
    let fields = ManifestWriter.fields(of: reminder, now: handler.now).filter { $0.text != nil && !$0.isUsual }
    plan.reply.changes.append(
      .init(
        action: .add, kind: .reminder, id: item.id?.rawValue, title: reminder.title,
        fields: fields.map { .init(name: $0.name, new: $0.text) }))
    try warn(about: reminder)
  }

  private mutating func change(_ record: ReminderRecord, to item: Manifest.Item) throws {
    let before = record.reminder
    var after = item.reminder
    (after.id, after.owner, after.createdAt) = (before.id, before.owner, before.createdAt)
    (after.generation, after.skipNext, after.lastDone) = (before.generation, before.skipNext, before.lastDone)
    after.chainedTimes = before.chainedTimes
    after.pause = item.pause ?? before.pause
    if try isSame(before, item) { after.schedule = before.schedule }
    let fields =
      Self.differences(
        ManifestWriter.fields(of: before, now: handler.now), ManifestWriter.fields(of: after, now: handler.now))
      + (before.set == after.set ? [] : [quotedField("set", before.set, after.set)])
    guard !fields.isEmpty else {
      plan.reply.unchanged += 1
      return
    }
    if fields.contains(where: { ["when", "timezone", "gap", "fold", "latitude", "longitude"].contains($0.name) }) {
      do {
        _ = try handler.writer.firstTime(of: &after, in: transaction)
      } catch let failure as ControlFailure {
        declared.fault(item.place, "when", failure.sentence)
        return
      }
    }
    var changed = record
    changed.reminder = after
    plan.steps.append(.change(changed, from: before))
    plan.reply.changes.append(
      .init(action: .change, kind: .reminder, id: before.id.rawValue, title: after.title, fields: fields))
    try warn(about: after)
  }

  /// Returns advice on how to declare a missing tracker; nil if it exists.
  private func bringing(_ link: Interface.TrackerLink?) -> String? {
    guard let name = link?.tracker, !known.contains(where: { $0.id.rawValue == name }) else { return nil }
    let pack = ShippedPacks.names.first { name in
      (try? ShippedPacks.pack(name))?.trackers.contains { $0.id.rawValue == link?.tracker } == true
    }
    guard let pack else { return "or declare it in the file, [[tracker]]" }
    return "[[pack]] name = \"\(pack)\" in the file adds it"
  }

  /// Returns whether a reminder's schedule is what the file means. A schedule without a start, such as "every 90m", got
  /// its start when it was set.
  func isSame(_ known: Reminder, _ item: Manifest.Item) throws -> Bool {
    if known.schedule == item.reminder.schedule { return true }
    let fields = handler.fields.read(at: handler.now - Manifest.aWhile)
    guard let earlier = try? fields.schedule(item.when, in: item.reminder.timezone, at: item.reminder.place) else {
      return false
    }
    func words(_ schedule: Schedule) -> [Substring] { schedule.canonical.split(separator: " ") }
    let (now, then, found) = (words(item.reminder.schedule), words(earlier), words(known.schedule))
    guard now != then, now.count == then.count, now.count == found.count else { return false }
    return now.indices.allSatisfy { now[$0] != then[$0] || now[$0] == found[$0] }
  }

  mutating func warn(about reminder: Reminder) throws {
    // The set's endpoints do not exist yet, so they cause no warning.
    let coming = Set(declared.endpoints.map(\.name))
    var known = reminder
    known.channels.removeAll { coming.contains($0.rawValue) }
    let steps = reminder.nag?.escalation ?? []
    known.nag?.escalation = steps.map { step in
      .init(from: step.from, channels: step.channels.filter { !coming.contains($0.rawValue) })
    }
    for warning in try handler.warnings.about(known, transaction) where !plan.reply.warnings.contains(warning) {
      plan.reply.warnings.append(warning)
    }
  }

  func place(_ item: Manifest.Item) -> String {
    let entry = item.place.table.node.entry
    return "\(declared.readers[item.place.file].file):\(entry.line)"
  }

  // MARK: Differences

  func quotedField(_ name: String, _ old: String?, _ new: String?) -> Interface.SetField {
    .init(name: name, old: old.map(TOMLText.quoted), new: new.map(TOMLText.quoted))
  }

  static func differences(_ old: [ManifestWriter.Field], _ new: [ManifestWriter.Field]) -> [Interface.SetField] {
    var names = old.map(\.name)
    names += new.map(\.name).filter { !names.contains($0) }
    return names.compactMap { name in
      let before = old.first { $0.name == name }?.text
      let after = new.first { $0.name == name }?.text
      return before == after ? nil : Interface.SetField(name: name, old: before, new: after)
    }
  }
}
