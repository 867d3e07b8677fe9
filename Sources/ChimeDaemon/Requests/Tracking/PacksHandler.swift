import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Lists, installs and removes packs, shipped or written by users.
extension TrackersHandler {
  func handle(_: Tracking.Packs) async throws -> Tracking.Packs.Reply {
    let shipped = try ShippedPacks.names.compactMap { try ShippedPacks.pack($0) }
    return try await store.read { [self] transaction in
      let installed = try transaction.packs(owner: caller.owner)
      let known = Set(installed.map(\.pack.id))
      let packs =
        try installed.map { try wired($0, transaction) }
        + shipped.filter { !known.contains($0.id) }.map {
          wire.pack($0, nil, trackers: $0.trackers, reminders: [:], hasPlace: context.place != nil)
        }
      return Tracking.Packs.Reply(packs: packs)
    }
  }

  func handle(_ request: Tracking.InstallPack) async throws -> Tracking.InstallPack.Reply {
    let declared = try pack(request)
    let choices = request.choices ?? Tracking.PackChoices()
    let wishes = try wishes(choices, of: declared)
    guard request.sample != true || declared.samples?.isEmpty == false else {
      throw ControlFailure.invalidValue(field: "sample", "the pack \(declared.id) has no sample data")
    }
    return try await changeTracking(dryRun: request.dryRun) { [self] work, generator in
      let before = try work.transaction.pack(declared.id, owner: caller.owner)
      guard try before != nil || work.transaction.packs(owner: caller.owner).count < TrackerFields.maxPacks else {
        throw ControlFailure.limitExceeded("packs: at most \(TrackerFields.maxPacks); remove one first")
      }
      var pack = declared
      pack.samples = nil
      pack.trackers = try declared.trackers.map { tracker in
        let known = try work.transaction.tracker(TrackerKey(owner: caller.owner, id: tracker.id))
        return try PackChosen(pack: declared, choices: choices).tracker(tracker, known: known)
      }
      var outcome = try work.install(pack, wishes, using: &generator)
      if request.sample == true {
        let sample = try work.addSamples(of: declared, using: &generator)
        outcome.moved += sample.moved
        outcome.closed += sample.closed
        outcome.unlocked += sample.unlocked
      }
      guard let installed = try work.transaction.pack(pack.id, owner: caller.owner) else {
        throw TrackingRefused.noPack(pack.id)
      }
      let reply = Tracking.InstallPack.Reply(
        pack: try wired(installed, work.transaction), created: before == nil,
        unlocked: try unlocked(outcome, work.transaction))
      return (reply, outcome, "pack \(pack.id) \(before == nil ? "added" : "updated")")
    }
  }

  func handle(_ request: Tracking.RemovePack) async throws -> Tracking.RemovePack.Reply {
    try await changeTracking { [self] work, generator in
      let installed = try lookup(work.transaction).pack(request.id)
      if request.sample == true {
        guard request.entries != true else {
          throw ControlFailure.invalidValue(field: "sample", "sample data is removed separately: leave entries out")
        }
        let (items, outcome) = try work.removeSamples(of: installed.pack.id, using: &generator)
        guard outcome.change != nil else {
          throw ControlFailure.conflict("there is no sample data of \(installed.pack.id)")
        }
        let reply = Tracking.RemovePack.Reply(
          pack: try wired(installed, work.transaction), items: items, removed: outcome.removed)
        return (reply, outcome, "sample data of \(installed.pack.id) removed")
      }
      let reply = Tracking.RemovePack.Reply(pack: try wired(installed, work.transaction))
      let outcome = try work.removePack(
        installed.pack.id, withEntries: request.entries ?? false, using: &generator)
      return (reply, outcome, "pack \(installed.pack.id) removed")
    }
  }

  private func pack(_ request: Tracking.InstallPack) throws -> Pack {
    switch (request.name, request.text) {
    case (let name?, nil):
      if let pack = try ShippedPacks.pack(name) { return pack }
      throw ControlFailure.notFound(
        what: "pack", id: TrackerFields.shown(name), near: SpellingSuggestions.to(name, among: ShippedPacks.names))
    case (nil, let text?):
      // This is PATH_MAX. A shortened path would name another file.
      let file = request.file.map { TrackerFields.shown($0, longest: 4_096) }
      return try PackFile.read(Array(text.utf8), file: file ?? "pack.toml")
    default:
      throw ControlFailure.invalidValue(
        field: "name", "give either the name of a pack that comes with Chime, or the text of one")
    }
  }

  private func wishes(_ choices: Tracking.PackChoices, of pack: Pack) throws -> PackWishes {
    let keys = pack.reminders.map(\.key)
    for key in Set((choices.reminders ?? [:]).keys).union((choices.when ?? [:]).keys).sorted()
    where !keys.contains(key) {
      throw ControlFailure.notFound(
        what: "reminder", id: TrackerFields.shown(key), near: SpellingSuggestions.to(key, among: keys))
    }
    var wishes = PackWishes(
      reminders: choices.reminders ?? [:],
      prototype: try writer.draft(RemindersInterface.Draft(title: pack.id.rawValue, when: "daily at 09:00")))
    for (key, when) in choices.when ?? [:] {
      do {
        wishes.schedules[key] = try fields.schedule(when, in: configuration.timezone, at: nil)
      } catch let error as ScheduleError {
        throw ControlFailure.invalidValue(field: "when", "reminder \(key): \(error.message)")
      }
      // A schedule implies the reminder.
      if wishes.reminders[key] == nil { wishes.reminders[key] = true }
    }
    if let language = choices.language {
      guard (1...35).contains(language.utf8.count) else {
        throw ControlFailure.invalidValue(field: "language", "give the tag of a language, such as cs")
      }
      wishes.languages = [language, "en"]
    }
    return wishes
  }

  /// Returns an installed pack with its current trackers.
  private func wired(_ installed: InstalledPack, _ transaction: any StoreTransaction) throws -> Tracking.Pack {
    let trackers = try installed.pack.trackers.map {
      try transaction.tracker(TrackerKey(owner: caller.owner, id: $0.id)) ?? $0
    }
    let work = tracking(transaction)
    var reminders: [String: (id: ReminderID, when: String?)] = [:]
    for declared in installed.pack.reminders {
      guard let id = installed.reminders[declared.key],
        let reminder = try transaction.readableReminder(id)?.reminder
      else { continue }
      let isPlain = (try? work.schedule(declared, in: reminder)) == reminder.schedule
      reminders[declared.key] = (id, isPlain ? nil : reminder.schedule.canonical)
    }
    return wire.pack(
      installed.pack, installed, trackers: trackers, reminders: reminders, hasPlace: context.place != nil)
  }
}
