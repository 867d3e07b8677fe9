import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// Packs with overrides of their trackers and reminders. A pack is one change; its fields are named as in the file, such
// as `reminder.drink.when`.
extension ManifestTransaction {
  mutating func packs() throws {
    let installed = try transaction.packs(owner: owner)
    known = try transaction.trackers(owner: owner)
    for bundle in declared.packs {
      if let path = bundle.path, !(plan.reply.packFiles ?? []).contains(path) {
        plan.reply.packFiles = (plan.reply.packFiles ?? []) + [path]
      }
      let before = installed.first { $0.pack.id.rawValue == bundle.name }
      if before == nil, installed.count + declared.packs.count > TrackerFields.maxPacks {
        declared.fault(bundle.place, "name", "is one pack too many: the limit is \(TrackerFields.maxPacks)")
        continue
      }
      if let pack = try pack(of: bundle, before) { try put(pack, bundle, before) }
    }
    guard let name = declared.name else { return }
    let named = Set(declared.packs.map(\.name))
    let left = installed.filter { $0.set == name && !named.contains($0.pack.id.rawValue) }
    for pack in left { for id in pack.reminders.values { bundled[id] = pack.pack.id } }
    guard planner.request.prune == true else {
      plan.reply.notPruned += left.count
      return
    }
    for pack in left {
      let trackers = known.filter { $0.pack == pack.pack.id }
      known.removeAll { $0.pack == pack.pack.id }
      plan.steps.append(.removePack(pack.pack.id))
      plan.reply.changes.append(
        .init(
          action: .remove, kind: .pack, id: pack.pack.id.rawValue, title: pack.pack.title.text(in: ["en"]), fields: [],
          records: try records(of: trackers)))
    }
  }

  /// Returns the declared pack; nil, after reporting a fault, if it does not exist.
  private mutating func pack(of bundle: Manifest.Bundle, _ installed: InstalledPack?) throws -> Pack? {
    guard let path = bundle.path else {
      if let pack = try ShippedPacks.pack(bundle.name) { return pack }
      let hint =
        SpellingSuggestions.to(bundle.name, among: ShippedPacks.names).first.map { "did you mean \($0)?" }
        ?? "Chime has these: \(ShippedPacks.names.joined(separator: ", ")); for one of your own write its path in file"
      declared.fault(bundle.place, "name", "does not come with Chime; \(hint)")
      return nil
    }
    guard let given = planner.request.packs?.first(where: { $0.path == path }) else {
      guard let installed else {
        declared.fault(bundle.place, "file", "names a file that does not exist: \(TOMLText.quoted(path))")
        return nil
      }
      plan.reply.warnings.append("\(path) does not exist: the pack \(bundle.name) stays as it is")
      var pack = installed.pack
      pack.trackers = known.filter { $0.pack == pack.id }
      return pack
    }
    if let problem = given.problem {
      declared.fault(bundle.place, "file", "names a file that cannot be used: \(problem)")
      return nil
    }
    do {
      let pack = try PackFile.read(Array((given.text ?? "").utf8), file: path)
      guard pack.id.rawValue == bundle.name else {
        declared.fault(bundle.place, "name", "is not the id of the pack in that file, which is \(pack.id)")
        return nil
      }
      return pack
    } catch {
      declared.packFaults += error.faults
      return nil
    }
  }

  private mutating func put(_ pack: Pack, _ bundle: Manifest.Bundle, _ before: InstalledPack?) throws {
    var wanted = pack
    let chosen = read(bundle) { $0.trackers(of: pack, bundle) }
    wanted.trackers = chosen.map(\.tracker)
    guard check(wanted, bundle) else { return }
    let languages =
      bundle.language.map { $0 == "en" ? ["en"] : [$0, "en"] } ?? before?.languages ?? context.wording.languages
    var fields: [Interface.SetField] = []
    if let before {
      fields += head(before, wanted, bundle)
    } else if let language = bundle.language {
      fields.append(quotedField("language", nil, language))
    }

    var coming: [Tracker] = []
    for (tracker, saysStart) in chosen {
      let found = known.first { $0.id == tracker.id }
      var tracker = tracker
      if !saysStart { tracker.startedOn = found?.startedOn ?? Pack.unbegun }
      if let found { tracker.keepStock(of: found) }
      let plain = found ?? pack.trackers.first { $0.id == tracker.id }
      fields += changes(of: tracker, plain, isNew: found == nil || found?.pack != pack.id, inNew: before == nil)
      tracker.owner = owner
      coming.append(tracker)
    }
    wanted.trackers = coming.map { tracker in
      var tracker = tracker
      tracker.owner = 0
      return tracker
    }
    known.removeAll { tracker in coming.contains { $0.id == tracker.id } }
    known += coming

    var wishes = PackWishes(languages: languages, set: declared.name)
    fields += try reminders(of: wanted, bundle, before, languages, &wishes)
    if let before, let name = declared.name, before.set != name { fields.append(quotedField("set", before.set, name)) }
    if before != nil, fields.isEmpty {
      plan.reply.unchanged += 1
      return
    }
    plan.steps.append(.pack(wanted, wishes))
    plan.reply.changes.append(
      .init(
        action: before == nil ? .add : .change, kind: .pack, id: bundle.name, title: pack.title.text(in: ["en"]),
        fields: fields))
  }

  private var context: ReminderContext { handler.context }

  /// Passes the reader of the file, which collects its faults, to `body`.
  private mutating func read<Result>(
    _ bundle: Manifest.Bundle, _ body: (inout ManifestReader) throws -> Result
  ) rethrows -> Result {
    var reader = ManifestReader(
      faults: declared.readers[bundle.place.file], file: bundle.place.file, fields: handler.fields)
    defer { declared.readers[bundle.place.file] = reader.faults }
    return try body(&reader)
  }

  /// Returns whether the pack's trackers are compatible with the others, and reports a fault if not.
  private mutating func check(_ pack: Pack, _ bundle: Manifest.Bundle) -> Bool {
    for tracker in pack.trackers {
      guard let found = known.first(where: { $0.id == tracker.id }), found.pack != pack.id else { continue }
      if let other = found.pack {
        declared.fault(
          bundle.place, "name",
          "has a tracker \(tracker.id), which the pack \(other) has too: only one of them is possible")
        return false
      }
      let fits =
        found.kind == tracker.kind
        && (found.unit == tracker.unit || found.unit.flatMap { old in tracker.unit.map(old.converts) } ?? false)
      guard fits else {
        declared.fault(
          bundle.place, "name",
          "has a tracker \(tracker.id), but a tracker of that name has another kind or unit: remove that first")
        return false
      }
    }
    return true
  }

  /// Returns the differences of the pack itself.
  private func head(
    _ before: InstalledPack, _ wanted: Pack, _ bundle: Manifest.Bundle
  ) -> [Interface.SetField] {
    var fields: [Interface.SetField] = []
    var (old, new) = (before.pack, wanted)
    (old.trackers, new.trackers) = ([], [])
    // Sample data is not stored.
    (old.samples, new.samples) = (nil, nil)
    if old.version != new.version {
      fields.append(.init(name: "version", old: String(old.version), new: String(new.version)))
    } else if old != new {
      fields.append(.init(name: "content"))
    }
    let known = ManifestWriter.language(before.languages)
    if let language = bundle.language, known != language {
      fields.append(quotedField("language", known, language))
    }
    return fields
  }

  private func changes(
    of tracker: Tracker, _ plain: Tracker?, isNew: Bool, inNew: Bool
  ) -> [Interface.SetField] {
    let name = "tracker.\(tracker.id)"
    if isNew, !inNew { return [quotedField(name, nil, title(tracker))] }
    guard let plain else { return [] }
    return Self.differences(ManifestWriter.fields(of: plain), ManifestWriter.fields(of: tracker)).map { field in
      .init(name: "\(name).\(field.name)", old: inNew ? nil : field.old, new: field.new)
    }
  }

  // MARK: Reminders

  private mutating func reminders(
    of pack: Pack, _ bundle: Manifest.Bundle, _ before: InstalledPack?, _ languages: [String],
    _ wishes: inout PackWishes
  ) throws -> [Interface.SetField] {
    let work = handler.tracking(transaction)
    func made(_ declared: PackReminder, _ prototype: Reminder) throws -> Reminder {
      let unit = pack.trackers.first { $0.id == declared.tracker }?.unit
      return try work.reminder(declared, over: prototype, languages: languages, unit: unit)
    }
    let read = self.read(bundle) { $0.reminders(of: pack, bundle, made: made) }
    var fields: [Interface.SetField] = []
    for declared in pack.reminders {
      guard var wish = read[declared.key] else { continue }
      let id = before?.reminders[declared.key]
      let record = try id.flatMap { try transaction.readableReminder($0) }
      if let id { bundled[id] = pack.id }
      guard wish.isWanted ?? (record != nil || !declared.isOptional) else {
        wishes.reminders[declared.key] = false
        if let record { fields.append(quotedField("reminder.\(declared.key)", when(record.reminder), nil)) }
        continue
      }
      wishes.reminders[declared.key] = true
      wish.item.reminder.set = self.declared.name ?? record?.reminder.set
      fields += try changes(of: &wish.item, declared, record, try made(declared, bundle.prototype), before)
      wishes.whole[declared.key] = wish.item.reminder
    }
    for (key, id) in before?.reminders ?? [:] where !pack.reminders.contains(where: { $0.key == key }) {
      bundled[id] = pack.id
    }
    return fields
  }

  private func when(_ reminder: Reminder) -> String { reminder.schedule.canonical }

  /// Completes a reminder of a pack, and returns the differences.
  private mutating func changes(
    of item: inout Manifest.Item, _ declared: PackReminder, _ record: ReminderRecord?, _ plain: Reminder,
    _ installed: InstalledPack?
  ) throws -> [Interface.SetField] {
    let name = "reminder.\(declared.key)"
    do {
      if let link = item.link { try handler.links.link(&item.reminder, link, among: known, in: transaction) }
    } catch ControlFailure.invalidValue(_, let message) {
      self.declared.fault(item.place, "when", "was rejected: \(message)")
      return []
    }
    var fields: [Interface.SetField] = []
    if let before = record?.reminder {
      if let id = item.id, id != before.id {
        // The history is stored under the old id.
        plan.reply.warnings.append("\(place(item)): the reminder \(declared.key) keeps its id, \(before.id)")
      }
      item.reminder.pause = item.pause ?? before.pause
      if try isSame(before, item) { item.reminder.schedule = before.schedule }
      fields = Self.differences(
        ManifestWriter.fields(of: before, now: handler.now), ManifestWriter.fields(of: item.reminder, now: handler.now))
      if before.set != item.reminder.set, installed?.set == item.reminder.set {
        fields.append(quotedField("set", before.set, item.reminder.set))
      }
      bundled[before.id] = installed?.pack.id
    } else {
      item.reminder.pause = item.pause ?? .none
      if let id = item.id {
        guard try transaction.isFree(id, for: owner) else {
          self.declared.fault(item.place, "id", "belongs to another reminder, or to another user; choose another one")
          return []
        }
        item.reminder.id = id
      }
      fields = Self.differences(
        ManifestWriter.fields(of: plain, now: handler.now), ManifestWriter.fields(of: item.reminder, now: handler.now)
      ).filter { $0.name != "when" }.map { .init(name: $0.name, new: $0.new) }
    }
    do {
      if record == nil || fields.contains(where: { ["when", "timezone"].contains($0.name) }) {
        _ = try handler.writer.firstTime(of: &item.reminder, in: transaction)
      }
    } catch let failure as ControlFailure {
      self.declared.fault(item.place, "when", "never comes: \(failure.sentence)")
      return []
    }
    try warn(about: item.reminder)
    let own = record == nil ? [quotedField(name, nil, when(item.reminder))] : []
    return own + fields.map { .init(name: "\(name).\($0.name)", old: $0.old, new: $0.new) }
  }
}
