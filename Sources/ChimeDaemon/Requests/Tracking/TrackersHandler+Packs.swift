import ChimeControl
import ChimeCore
import ChimeExchange
import ChimeSchedule
import ChimeTracking
import Varlink

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
    try need(
      request.sample != true || declared.samples?.isEmpty == false, "sample",
      "the pack \(declared.id) has no sample data")
    return try await changeTracking(dryRun: request.dryRun) { [self] work, generator in
      let before = try work.transaction.pack(declared.id, owner: caller.owner)
      try need(
        before != nil || work.transaction.packs(owner: caller.owner).count < TrackerFields.maxPacks,
        limit: "packs: at most \(TrackerFields.maxPacks); remove one first")
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
        try need(request.entries != true, "sample", "sample data is removed separately: leave entries out")
        let (items, outcome) = try work.removeSamples(of: installed.pack.id, using: &generator)
        try need(outcome.change != nil, conflict: "there is no sample data of \(installed.pack.id)")
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
        what: "pack", id: TrackerFields.shown(name), similar: SpellingSuggestions.to(name, among: ShippedPacks.names))
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
        what: "reminder", id: TrackerFields.shown(key), similar: SpellingSuggestions.to(key, among: keys))
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
      try need((1...35).contains(language.utf8.count), "language", "give the tag of a language, such as cs")
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

/// Answers the methods about items and milestones.
extension TrackersHandler {
  /// The most items of one tracker.
  private static let maxItems = 2_000
  private static let maxAttributes = 16

  func handle(_ request: Tracking.Items) async throws -> Tracking.Items.Reply {
    let (limit, offset) = try part(request.limit, request.offset)
    return try await store.read { [self] transaction in
      let one = try lookup(transaction).tracker(request.tracker)
      let wire = self.wire
      var items: [Tracking.Item] = []
      for tracker in try one.map({ [$0] }) ?? transaction.trackers(owner: caller.owner) where tracker.hasItems {
        let counts = Dictionary(
          try transaction.itemCounts(of: tracker.key, in: nil).map { ($0.item, $0) }
        ) { first, _ in first }
        items += try transaction.items(of: tracker.key).map { wire.item($0, count: counts[$0.id]) }
      }
      return Tracking.Items.Reply(items: fitting(Array(items.dropFirst(offset).prefix(limit))), total: items.count)
    }
  }

  func handle(_ request: Tracking.PutItem) async throws -> Tracking.PutItem.Reply {
    let photo = try photo(request.photo)
    return try await changeTracking { [self] work, generator in
      let tracker = try lookup(work.transaction).tracker(request.tracker)
      let known = try request.id.flatMap { try work.transaction.item(ItemID(rawValue: $0), of: tracker.key) }
      var item = try known ?? newItem(request, of: tracker, work.transaction)
      if let title = request.title { item.title = try ReminderFields.text(title, "title", maximum: 200) }
      if let attributes = request.attributes { item.attributes = try Self.attributes(attributes) }
      if let since = request.since { item.since = since.isEmpty ? nil : try TrackerFields.day(since, "since") }
      if let until = request.until { item.until = until.isEmpty ? nil : try TrackerFields.day(until, "until") }
      if let since = item.since, let until = item.until, since > until {
        throw ControlFailure.invalidValue(field: "until", "\(until) is before \(since), its first day")
      }
      if let note = request.note { item.note = try TrackerFields.note(note) }
      if let photo { item.photo = photo }
      let outcome = try work.put(item, using: &generator)
      let count = try work.transaction.itemCounts(of: tracker.key, in: nil).first { $0.item == item.id }
      let reply = Tracking.PutItem.Reply(
        item: wire.item(item, count: count), unlocked: try unlocked(outcome, work.transaction))
      return (reply, outcome, "\(tracker.id): item \(item.id) \(known == nil ? "added" : "changed")")
    }
  }

  private func newItem(
    _ request: Tracking.PutItem, of tracker: Tracker, _ transaction: any StoreTransaction
  ) throws -> Item {
    try need(tracker.hasItems, "tracker", "\(tracker.id) has no items: put the tracker with hasItems first")
    guard let title = request.title else {
      if let id = request.id { _ = try lookup(transaction).item(id, of: tracker) }
      throw ControlFailure.invalidValue(field: "title", "give a title")
    }
    let items = try transaction.items(of: tracker.key)
    try need(items.count < Self.maxItems, limit: "items: at most \(Self.maxItems) for each tracker; remove one first")
    let taken = Set(items.map(\.id.rawValue))
    let id: String
    if let wanted = request.id {
      try need(
        TrackerFields.isItemID(wanted), "id",
        "'\(TrackerFields.shown(wanted))' is not an id: give 1 to 64 of a-z, 0-9 and -")
      id = wanted
    } else {
      if let known = items.first(where: { $0.title.lowercased() == title.trimmed.lowercased() }) {
        throw ControlFailure.conflict(
          "there is an item \"\(known.title)\" already: to change it, give its id, \(known.id)")
      }
      let slug = slug(of: title, atMost: 44)
      let base = slug.isEmpty ? "item" : slug
      id = ([base] + (2...Self.maxItems + 2).map { "\(base)-\($0)" }).first { !taken.contains($0) } ?? base
    }
    return Item(id: ItemID(rawValue: id), tracker: tracker.id, owner: caller.owner, title: title, createdAt: now)
  }

  private static func attributes(_ attributes: [String: String]) throws -> [String: String] {
    try need(attributes.count <= maxAttributes, "attributes", "give at most \(maxAttributes) attributes")
    var result: [String: String] = [:]
    for (name, value) in attributes where !value.trimmed.isEmpty {
      result[try ReminderFields.text(name, "attributes", maximum: 32)] = try ReminderFields.text(
        value, "attributes", maximum: 200)
    }
    return result
  }

  func handle(_ request: Tracking.RemoveItem) async throws -> Tracking.RemoveItem.Reply {
    try await changeTracking { [self] work, generator in
      let lookup = lookup(work.transaction)
      let tracker = try lookup.tracker(request.tracker)
      let item = try lookup.item(request.id, of: tracker)
      let count = try work.transaction.itemCounts(of: tracker.key, in: nil).first { $0.item == item.id }
      let outcome = try work.removeItem(item.id, of: tracker.id, using: &generator)
      return (
        Tracking.RemoveItem.Reply(item: wire.item(item, count: count)), outcome,
        "\(tracker.id): item \(item.id) removed"
      )
    }
  }

  func handle(_ request: Tracking.Milestones) async throws -> Tracking.Milestones.Reply {
    let (limit, offset) = try part(request.limit, request.offset)
    return try await store.read { [self] transaction in
      let tracker = try lookup(transaction).tracker(request.tracker)
      let units = Dictionary(
        uniqueKeysWithValues: try transaction.trackers(owner: caller.owner).map { ($0.id, $0.unit) })
      let found = try transaction.milestones(owner: caller.owner, tracker: tracker?.id)
      let wire = self.wire
      let wired = found.dropFirst(offset).prefix(limit).map { wire.milestone($0, unit: units[$0.tracker] ?? nil) }
      return Tracking.Milestones.Reply(milestones: fitting(wired), total: found.count)
    }
  }

  func handle(_ request: Tracking.PutMilestone) async throws -> Tracking.PutMilestone.Reply {
    let photo = try photo(request.photo)
    return try await changeTracking { [self] work, _ in
      let tracker = try lookup(work.transaction).tracker(request.tracker)
      var milestone: Milestone
      if let id = request.id {
        let known = try work.transaction.milestones(owner: caller.owner, tracker: tracker.id).first { $0.id == id }
        guard let known else { throw TrackingRefused.noMilestone(Int64(id)) }
        milestone = known
      } else {
        try need(request.title != nil, "title", "give a title for the milestone")
        milestone = Milestone(
          id: 0, tracker: tracker.id, owner: caller.owner, day: today(of: tracker), title: "", createdAt: now)
      }
      if let day = request.day { milestone.day = try TrackerFields.day(day, "day") }
      try need(
        milestone.day <= max(today(of: tracker), localToday), "day",
        "\(milestone.day) is in the future: give today or a past day")
      if let title = request.title { milestone.title = try ReminderFields.text(title, "title", maximum: 200) }
      if let note = request.note { milestone.note = try TrackerFields.note(note) }
      if let photo { milestone.photo = photo }
      let outcome = try work.put(milestone)
      let reply = Tracking.PutMilestone.Reply(
        milestone: wire.milestone(outcome.milestones.first ?? milestone, unit: tracker.unit))
      return (
        reply, outcome, "\(tracker.id): milestone \"\(milestone.title)\" \(request.id == nil ? "added" : "changed")"
      )
    }
  }

  func handle(_ request: Tracking.RemoveMilestone) async throws -> Tracking.RemoveMilestone.Reply {
    try await changeTracking { [self] work, _ in
      let outcome = try work.removeMilestone(Int64(request.id))
      guard let milestone = outcome.milestones.first else { throw TrackingRefused.noMilestone(Int64(request.id)) }
      let reply = Tracking.RemoveMilestone.Reply(milestone: wire.milestone(milestone, unit: outcome.tracker?.unit))
      return (reply, outcome, "\(milestone.tracker): milestone \"\(milestone.title)\" removed")
    }
  }
}
