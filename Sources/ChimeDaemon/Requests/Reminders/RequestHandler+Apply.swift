import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking

// Sets of reminders, endpoints, packs and trackers that files declare.
extension RequestHandler {
  func handle(_ request: Interface.Apply) async throws -> Interface.Apply.Reply {
    let declared = try declared(request)
    let isDry = request.dryRun == true
    if isDry, request.packs == nil, !declared.packFiles.isEmpty {
      // Without the packs nothing can be said of what they bring.
      return Interface.Apply.Reply(
        set: declared.name, changes: [], unchanged: 0, leftOver: 0, secretFiles: declared.secretFiles,
        packFiles: declared.packFiles, plan: "", warnings: [])
    }
    let planner = ManifestPlanner(handler: self, request: request, declared: declared)
    guard !isDry else { return try await store.read { try planner.plan(in: $0).reply } }
    // Secrets are files of their own. Those of endpoints that are not there yet are written first, because one that exists
    // has a secret and what an endpoint that does not exist has left is nobody's; those of known endpoints last, so that a
    // refused set changes none, and a crash in between leaves what the next Apply finishes.
    let early = try await store.read { try planner.plan(in: $0).secrets.filter(\.isNew) }
    try await keep(early)
    let (reply, late, change) = try await commit(isLarge: true) { [self] transaction in
      let plan = try planner.plan(in: transaction)
      if let shown = request.plan, shown != plan.reply.plan {
        throw ControlFailure.conflict(
          "the planned changes are outdated: something has changed meanwhile")
      }
      if request.entries != true, let change = plan.reply.changes.first(where: { $0.records != nil }) {
        throw ControlFailure.conflict(
          "\(change.id ?? "") has \(change.records ?? 0) entries, items and milestones, which would be removed with "
            + "it: prune removes them only if asked to")
      }
      let written = Set(early.map(\.queue))
      let late = plan.secrets.filter { !($0.isNew && written.contains($0.queue)) }
      let (reply, change, effects) = try perform(plan, transaction)
      return ((reply, late, change), effects)
    }
    try await keep(late)
    if !late.isEmpty { await loop.refreshEndpoints() }
    let removed = try reply.changes.filter { $0.kind == .endpoint && $0.action == .remove }.compactMap(\.id).map(queue)
    try await onRequestExecutor { for queue in removed { secrets.layAside(queue, change: change) } }
    return reply
  }

  private func keep(_ changes: [ManifestPlan.SecretChange]) async throws {
    try await onRequestExecutor { [self] in
      for change in changes { try self.change(change.queue) { $0 = change.sheet } }
    }
  }

  /// Files of secrets are changed on the one queue where requests are answered that do not take long; this one is not.
  func onRequestExecutor(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await Task(executorPreference: loop.requestExecutor, operation: body).value
  }

  private func declared(_ request: Interface.Apply) throws -> Manifest {
    guard !request.files.isEmpty, request.files.count <= Manifest.mostFiles else {
      throw ControlFailure.invalidValue(field: "files", "give 1 to \(Manifest.mostFiles) files")
    }
    for name in [request.set, request.otherwise].compactMap({ $0 }) where !Manifest.isName(name) {
      throw ControlFailure.invalidValue(
        field: "set", "'\(TrackerFields.shown(name))' is not a name for a set: \(Manifest.nameSentence)")
    }
    let prototype = try draft(Interface.Draft(title: "prototype", when: "every 1h"))
    var declared = Manifest.read(request.files, prototype: prototype, fields: fields)
    declared.name = request.set ?? declared.name ?? request.otherwise
    if request.prune == true, declared.name == nil {
      throw ControlFailure.invalidValue(
        field: "set", "prune needs the name of the set: write set = \"NAME\" in the file")
    }
    return declared
  }

  private func perform(
    _ plan: ManifestPlan, _ transaction: any StoreTransaction
  ) throws -> (Interface.Apply.Reply, change: Int64?, [PostCommitEffect]) {
    var reply = plan.reply
    var effects: [PostCommitEffect] = []
    var detail = ChangeDetail()
    var generator = PooledRandom()
    let work = tracking(transaction)
    var chains = AppliedChains()
    try transaction.lockTrackers()
    func track(_ outcome: TrackingOutcome, _ words: String) {
      detail.parts += outcome.change.map { [$0] } ?? []
      effects += TrackingNotices.of(outcome, owner: caller.owner, saying: outcome.change == nil ? nil : words)
    }
    for step in plan.steps {
      switch step {
      case .pack(let pack, let wishes):
        let isNew = try transaction.pack(pack.id, owner: caller.owner) == nil
        track(
          try work.install(pack, wishes, using: &generator),
          isNew ? "pack \(pack.id) added" : "pack \(pack.id) updated")
      case .removePack(let id):
        track(try work.removePack(id, withEntries: true, using: &generator), "pack \(id) removed")
      case .tracker(let tracker):
        let isNew = try transaction.tracker(tracker.key) == nil
        track(try work.put(tracker, using: &generator), "\(tracker.id) \(isNew ? "added" : "changed")")
      case .removeTracker(let id):
        track(try work.removeTracker(id, using: &generator), "\(id) removed")
      case .add(var reminder, var next, let index):
        // Its tracker may have come just now.
        try chain(&reminder, chains, in: transaction)
        if reminder.tracker != nil { next = try firstTime(of: &reminder, in: transaction) }
        if reminder.id.rawValue.isEmpty {
          reminder.id = try insert(reminder, next: next, into: transaction)
          reply.changes[index].id = reminder.id.rawValue
        } else {
          // It goes on under its name, with what is left of its history.
          reminder.generation = 1
          try transaction.upsert(reminder, next: next, since: now)
        }
        chains.ids[reminder.title] = reminder.id
        if !reminder.dependsOn.isEmpty { chains.chained.append(reminder) }
        detail.reminders.append(.init(before: nil, after: reminder))
        effects.append(.reminder(.added, reminder, "added \"\(reminder.title)\""))
      case .change(var record, let before):
        let next = record.next
        try chain(&record.reminder, chains, in: transaction)
        try rewrite(&record, from: before, in: transaction)
        if !record.reminder.dependsOn.isEmpty { chains.chained.append(record.reminder) }
        detail.reminders.append(.init(before: before, after: record.reminder, next: next))
        effects.append(.reminder(.changed, record.reminder, "changed \"\(record.reminder.title)\""))
      case .remove(let reminder):
        let open = try transaction.occurrences(
          OccurrenceFilter(reminder: reminder.id, openOnly: true), page: Page(limit: 100))
        let record = try transaction.readableReminder(reminder.id) ?? ReminderRecord(reminder: reminder)
        try Announcing.removal(of: reminder, in: transaction, context, now: now, using: &generator)
        try transaction.remove(reminder.id, now: now)
        if record.isAlive { chains.removed.append(reminder) }
        detail.add(ChangeDetail(removing: record, open))
        effects.append(.reminder(.removed, reminder, "removed \"\(reminder.title)\""))
        effects += open.map { .withdraw($0.id) }
      case .put(let endpoint):
        let known = try transaction.endpoint(endpoint.queue)
        let isNew = known == nil
        detail.endpoints.append(.init(before: known, after: endpoint))
        try transaction.put(endpoint)
        if isNew { try requireRoomForEndpoints(transaction) }
        if endpoint.disabled == nil { try transaction.wake(queue: endpoint.queue, now: now) }
        effects.append(.endpointsChanged)
      case .take(let queue):
        if let endpoint = try transaction.endpoint(queue) {
          try detail.remove(endpoint, in: transaction, now: now)
        }
        effects.append(.endpointsChanged)
      }
    }
    try check(chains, in: transaction)
    var change: Int64?
    if !plan.steps.isEmpty { change = try record(.setApplied, plan.reply.set ?? "", detail, in: transaction) }
    return (reply, change, effects)
  }
}

extension RequestHandler {
  /// What `Apply` takes: reminders by their id, so that the same ones are the same text.
  func exportSet(
    _ records: [ReminderRecord], withEndpoints: Bool
  ) async throws -> Interface.Export.Reply {
    var text = ManifestWriter.head
    var warnings: [String] = []
    if withEndpoints {
      for endpoint in try await store.read({ [owner = caller.owner] in try $0.endpoints(owner: owner) }) {
        let kept = secrets.read(endpoint.queue)
        let hasSecret =
          !kept.isCredential && !kept.sheet.secrets.isEmpty && endpoint.settings.template == nil
          && endpoint.kind.secretUse == .signing
        let hasToken = kept.sheet.token != nil
        text += ManifestWriter.table(endpoint, hasSecret: hasSecret, hasToken: hasToken)
        let files = [hasSecret ? "secret" : nil, hasToken ? "token" : nil].compactMap { $0 }
        if !files.isEmpty {
          let names = files.map { "\(endpoint.queue.channel).\($0)" }.joined(separator: " and ")
          warnings.append(
            "the file has no secret: apply looks for that of \(endpoint.queue.channel) in \(names)")
        }
      }
    }
    var bundled: Set<ReminderID> = []
    if withEndpoints { text += try await exportTracking(&bundled, &warnings) }
    for reminder in records.map(\.reminder).sorted(by: { $0.id < $1.id }) where !bundled.contains(reminder.id) {
      text += ManifestWriter.table(reminder, now: now)
      if reminder.skipNext > 0 {
        warnings.append("\"\(reminder.title)\" skips its next times, which a file cannot express")
      }
    }
    return Interface.Export.Reply(text: text, count: records.count, warnings: warnings)
  }
}

extension RequestHandler {
  /// Packs and trackers, each by its id.
  ///
  /// - Parameter bundled: is given the reminders that stand below their packs.
  private func exportTracking(
    _ bundled: inout Set<ReminderID>, _ warnings: inout [String]
  ) async throws -> String {
    let export = try await store.read { [self] transaction in try trackingTables(transaction) }
    bundled = export.bundled
    warnings += export.warnings
    return export.text
  }

  private struct TrackingTables: Sendable {
    var text = ""
    var bundled: Set<ReminderID> = []
    var warnings: [String] = []
  }

  private func trackingTables(_ transaction: any StoreTransaction) throws -> TrackingTables {
    var tables = TrackingTables()
    let trackers = try transaction.trackers(owner: caller.owner).sorted { $0.id < $1.id }
    let work = tracking(transaction)
    let plain = Reminder(
      id: ReminderID(rawValue: ""), owner: caller.owner, title: "", schedule: try Schedule(canonical: "daily at 09:00"),
      grace: ManifestWriter.usualGrace, snoozeLengths: ManifestWriter.usualSnooze, createdAt: now)
    for installed in try transaction.packs(owner: caller.owner).sorted(by: { $0.pack.id < $1.pack.id }) {
      let id = installed.pack.id
      let base = try ShippedPacks.pack(id.rawValue)
      if base == nil {
        tables.warnings.append(
          "the pack \(id) is your own and not in the file: apply looks for it in \(id).toml")
      }
      var reminders: [ReminderID: Reminder] = [:]
      for name in installed.reminders.values {
        guard let record = try transaction.readableReminder(name) else { continue }
        reminders[name] = record.reminder
      }
      tables.bundled.formUnion(reminders.keys)
      tables.text += try ManifestWriter.table(
        installed, base: base, trackers: trackers, reminders: reminders, now: now
      ) { declared in
        let unit = trackers.first { $0.id == declared.tracker }?.unit
        return try work.reminder(declared, over: plain, languages: installed.languages, unit: unit)
      }
    }
    for tracker in trackers where tracker.pack == nil { tables.text += ManifestWriter.table(tracker) }
    return tables
  }
}

/// What is to be done that things are as a set says.
struct ManifestPlan: Sendable {
  enum Step: Sendable {
    /// Without an id it is given one, which the change of that index tells.
    case add(Reminder, next: Instant?, change: Int)
    case change(ReminderRecord, from: Reminder)
    case remove(Reminder)
    case put(Endpoint)
    case take(DeliveryQueue)
    case pack(Pack, PackWishes)
    case removePack(PackID)
    case tracker(Tracker)
    case removeTracker(TrackerID)
  }

  /// What the file of an endpoint's secrets is to hold.
  struct SecretChange: Sendable {
    var queue: DeliveryQueue
    var sheet: EndpointSecretFile
    var isNew: Bool
  }

  var steps: [Step] = []
  var secrets: [SecretChange] = []
  var reply: RemindersInterface.Apply.Reply
}
