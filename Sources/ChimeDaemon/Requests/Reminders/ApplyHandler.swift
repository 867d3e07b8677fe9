import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Brings reminders, endpoints, packs and trackers to what the files of a manifest declare.
extension RemindersHandler {
  func handle(_ request: Interface.Apply) async throws -> Interface.Apply.Reply {
    let declared = try declared(request)
    let isDry = request.dryRun == true
    if isDry, request.packs == nil, !declared.packFiles.isEmpty {
      // Without the files of the packs, nothing can be planned.
      return Interface.Apply.Reply(
        set: declared.name, changes: [], unchanged: 0, notPruned: 0, secretFiles: declared.secretFiles,
        packFiles: declared.packFiles, plan: "", warnings: [])
    }
    let planner = ManifestPlanner(handler: self, request: request, declared: declared)
    guard !isDry else { return try await store.read { try planner.plan(in: $0).reply } }
    // Secrets are files outside the store. Secrets of new endpoints are written first, because an endpoint that exists must have
    // one. Secrets of known endpoints are written last, so that a refused manifest changes none. After a crash in between, the
    // next Apply finishes.
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
    let removed = try reply.changes.filter { $0.kind == .endpoint && $0.action == .remove }.compactMap(\.id).map {
      try EndpointLookup.queue($0, of: caller.owner)
    }
    try await onRequestExecutor { for queue in removed { secrets.layAside(queue, change: change) } }
    return reply
  }

  private func keep(_ changes: [ManifestPlan.SecretChange]) async throws {
    try await onRequestExecutor { [self] in
      for change in changes { try endpointSecrets.change(change.queue) { $0 = change.sheet } }
    }
  }

  private func declared(_ request: Interface.Apply) throws -> Manifest {
    try need(
      !request.files.isEmpty && request.files.count <= Manifest.mostFiles, "files",
      "give 1 to \(Manifest.mostFiles) files")
    for name in [request.set, request.defaultSet].compactMap({ $0 }) where !Manifest.isName(name) {
      throw ControlFailure.invalidValue(
        field: "set", "'\(TrackerFields.shown(name))' is not a name for a set: \(Manifest.nameSentence)")
    }
    let prototype = try writer.draft(Interface.Draft(title: "prototype", when: "every 1h"))
    var declared = Manifest.read(request.files, prototype: prototype, fields: fields)
    declared.name = request.set ?? declared.name ?? request.defaultSet
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
    var applied = ReminderChains.AppliedChains()
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
        // An earlier step may have added its tracker.
        try chains.resolve(&reminder, applied, in: transaction)
        if reminder.tracker != nil { next = try writer.firstTime(of: &reminder, in: transaction) }
        if reminder.id.rawValue.isEmpty {
          reminder.id = try writer.insert(reminder, next: next, into: transaction)
          reply.changes[index].id = reminder.id.rawValue
        } else {
          // It keeps its id, and what is left of its history.
          reminder.generation = 1
          try transaction.upsert(reminder, next: next, since: now)
        }
        applied.ids[reminder.title] = reminder.id
        if !reminder.dependsOn.isEmpty { applied.chained.append(reminder) }
        detail.reminders.append(.init(before: nil, after: reminder))
        effects.append(.reminder(.added, reminder, "added \"\(reminder.title)\""))
      case .change(var record, let before):
        let next = record.next
        try chains.resolve(&record.reminder, applied, in: transaction)
        try writer.rewrite(&record, from: before, in: transaction)
        if !record.reminder.dependsOn.isEmpty { applied.chained.append(record.reminder) }
        detail.reminders.append(.init(before: before, after: record.reminder, next: next))
        effects.append(.reminder(.changed, record.reminder, "changed \"\(record.reminder.title)\""))
      case .remove(let reminder):
        let open = try transaction.openOccurrences(of: reminder.id)
        let record = try transaction.readableReminder(reminder.id) ?? ReminderRecord(reminder: reminder)
        try Announcing.removal(of: reminder, in: transaction, context, now: now, using: &generator)
        try transaction.remove(reminder.id, now: now)
        if record.isAlive { applied.removed.append(reminder) }
        detail.add(ChangeDetail(removing: record, open))
        effects.append(.reminder(.removed, reminder, "removed \"\(reminder.title)\""))
        effects += open.map { .withdraw($0.id) }
      case .put(let endpoint):
        let known = try transaction.endpoint(endpoint.queue)
        let isNew = known == nil
        detail.endpoints.append(.init(before: known, after: endpoint))
        try transaction.put(endpoint)
        if isNew { try caller.requireRoomForEndpoints(in: transaction) }
        if endpoint.disabled == nil { try transaction.wake(queue: endpoint.queue, now: now) }
        effects.append(.endpointsChanged)
      case .take(let queue):
        if let endpoint = try transaction.endpoint(queue) {
          try detail.remove(endpoint, in: transaction, now: now)
        }
        effects.append(.endpointsChanged)
      }
    }
    try chains.check(applied, in: transaction)
    var change: Int64?
    if !plan.steps.isEmpty { change = try record(.setApplied, plan.reply.set ?? "", detail, in: transaction) }
    return (reply, change, effects)
  }
}

/// A ManifestPlan lists the steps that bring things to what a manifest declares.
struct ManifestPlan: Sendable {
  enum Step: Sendable {
    /// A reminder without an id gets one, which is put into the change at that index.
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

  /// The new content of the file of an endpoint's secrets.
  struct SecretChange: Sendable {
    var queue: DeliveryQueue
    var sheet: EndpointSecretFile
    var isNew: Bool
  }

  var steps: [Step] = []
  var secrets: [SecretChange] = []
  var reply: RemindersInterface.Apply.Reply
}
