import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Glibc
import Varlink

/// A RestoreRun restores an upload: it validates and stages all pieces, and then replaces the owner's data in one transaction.
///
/// It works in slices, between which other requests can write. After a fault in the file, the disconnection of the client
/// or the end of the daemon, the data is unchanged.
final class RestoreRun: ReplyParts {
  /// The stages of a restore, in their order.
  private enum Stage {
    case records
    /// The trackers whose days are still to be summed up.
    case sums([TrackerID])
    case photos(Int)
    case last
    case history(Int)
  }

  /// Limits of a slice in records, bytes and days. Others wait during a slice, which takes about ten milliseconds.
  private static let sliceRecords = 500
  private static let sliceBytes = 128 << 10
  private static let sliceDays = 2_000
  /// The number of slices between two replies.
  private static let slicesOfReply = 16

  private let handler: TrackersHandler
  private let request: TrackersInterface.Restore
  private let path: String
  private let size: Int
  /// The identity of the validated file; nil if there was none.
  private let judged: FileIdentity?
  private var reader: BackupReader
  private var plan: TrackingRestore.Plan?
  private var photos: [BackupPiece.Photo] = []
  /// The byte ranges of occurrences and pings in the file, one for each slice.
  private var history: [Range<Int>] = []
  private var names: [ReminderID: ReminderID] = [:]
  private var refusedTimes = 0
  private var secrets: [ChannelName: EndpointSecretFile]?
  private var configuration: [BackupFormat.ConfigurationText] = []
  private var misplaced: [TrackersInterface.ConfigurationFile] = []
  private var stage = Stage.records
  /// Warnings about what could not be restored, as sentences.
  private var notes: [String] = []

  private var isTrial: Bool { request.dryRun == true }

  init(_ request: TrackersInterface.Restore, _ handler: TrackersHandler) throws {
    (self.request, self.handler) = (request, handler)
    path = try handler.loop.uploads.path(of: request.upload, of: handler.caller.owner)
    let fields = handler.fields
    reader = try BackupReader(path) {
      let reminder = try fields.judged($0)
      try fields.requireBoundedSearch(reminder)
      return reminder
    }
    judged = FileIdentity(path)
    size = Int(judged?.size ?? 0)
  }

  /// A restore does work until its end, unlike an export.
  var keepsTurn: Bool { true }

  func next() async throws -> VarlinkReply {
    for _ in 0..<Self.slicesOfReply {
      try handler.life.goOn()
      guard let contents = try await step() else { continue }
      return try VarlinkReply(
        TrackersInterface.Restore.Reply(
          contents: contents, notes: notes.nilIfEmpty, configuration: misplaced.nilIfEmpty))
    }
    return try VarlinkReply(
      TrackersInterface.Restore.Reply(read: min(reader.position, size), size: size), continues: true)
  }

  /// Deletes staged data of an incomplete restore, in slices. After the end of the daemon, the next one deletes it within
  /// an hour of its start.
  func end() async {
    guard let plan else { return }
    self.plan = nil
    do {
      try await handler.store.write { try TrackingRestore.abandon(plan, in: $0) }
      while try await handler.store.write({
        try $0.clearStagingOwners(before: Instant(milliseconds: 1), limit: HistoryLimits.batch)
      }) {}
    } catch {
      handler.loop.log(
        .warning, "what a restore had put aside in vain is still in the store; it goes within the hour: \(error)")
    }
  }

  /// Does the next step. Returns the contents of the backup when all is done.
  private func step() async throws -> TrackersInterface.Contents? {
    switch stage {
    case .records:
      let (slice, isLast) = try await readSlice()
      if !isTrial { try await keep(slice) }
      // Enforce the limit early, so that a restore that exceeds it does not delay others.
      try handler.caller.requireRoom(for: reader.counts.reminders)
      guard isLast else { return nil }
      if isTrial { return contents }
      stage = .sums(plan?.trackers.keys.sorted() ?? [])
    case .sums(var trackers):
      guard let plan, !trackers.isEmpty else {
        stage = .photos(0)
        break
      }
      var (some, days) = ([TrackerID](), 0)
      while days < Self.sliceDays, let next = trackers.popLast() {
        some.append(next)
        days += plan.days[next] ?? 1
      }
      try await handler.store.write { [handler, some] in
        try TrackingRestore(handler.tracking($0)).sumUp(some, plan)
      }
      stage = .sums(trackers)
    case .photos(let index):
      guard index < photos.count else {
        stage = .last
        break
      }
      try keep(photos[index])
      stage = .photos(index + 1)
    case .last:
      try await finish()
      stage = .history(0)
    case .history(let index):
      guard index < history.count else {
        try await finishOutside()
        return contents
      }
      try await remember(history[index])
      stage = .history(index + 1)
    }
    return nil
  }

  private func readSlice() async throws -> (records: [BackupRecord], isLast: Bool) {
    let begin = reader.position
    var records: [BackupRecord] = []
    while records.count < Self.sliceRecords, reader.position - begin < Self.sliceBytes {
      guard let piece = try reader.next() else { return (records, true) }
      switch piece {
      case .photo(let photo): photos.append(photo)
      case .configuration(let file): configuration.append(file)
      case .secrets(let sealed, let line): try await open(sealed, line)
      case .record(.occurrence), .record(.ping): noteHistory(reader.place)
      case .record(let record): records.append(record)
      }
    }
    return (records, false)
  }

  private func keep(_ records: [BackupRecord]) async throws {
    plan = try await handler.store.write { [handler, plan] transaction in
      let restore = TrackingRestore(handler.tracking(transaction))
      var plan = try plan ?? restore.begin()
      try restore.stage(records, &plan)
      return plan
    }
  }

  /// Notes the place of a line. Adjacent lines are read together, up to the size of a slice.
  private func noteHistory(_ place: Range<Int>) {
    if let last = history.last, last.upperBound == place.lowerBound, last.count < Self.sliceBytes {
      history[history.count - 1] = last.lowerBound..<place.upperBound
    } else {
      history.append(place)
    }
  }

  private func remember(_ place: Range<Int>) async throws {
    let lines = try read([place])[0].split(separator: UInt8(ascii: "\n"))
    let decoder = JSONDecoder()
    let past = try lines.map { try decoder.decode(BackupFormat.Line.self, from: Data($0)) }
    let times = past.compactMap(\.occurrence)
    let pings = past.compactMap(\.ping).map { ($0.ping, $0.reminder) }
    refusedTimes += try await handler.commit { [handler, names] transaction in
      let restore = TrackingRestore(handler.tracking(transaction))
      try restore.remember(pings, names)
      return (try restore.remember(times, names), [])
    }
  }

  /// Decrypts and validates the secrets if there is a passphrase.
  private func open(_ sealed: SealedText, _ line: Int) async throws {
    guard let passphrase = request.passphrase else { return }
    secrets = try await Task(executorPreference: handler.loop.requestExecutor) {
      do {
        let opened = try sealed.open(with: passphrase)
        let sheets = try JSONDecoder().decode([BackupFormat.EndpointSecrets].self, from: Data(opened))
        return try Dictionary(sheets.map { ($0.endpoint, try EndpointSecretFile(parsing: $0.text)) }) { $1 }
      } catch SealedText.Failure.anotherPassphrase {
        throw ControlFailure.invalidValue(
          field: "passphrase", "the passphrase does not open the secrets of the backup")
      } catch {
        throw ControlFailure.invalidFile(
          line: line,
          "this version of Chime does not know the encryption of the secrets")
      }
    }.value
  }

  private func finish() async throws {
    guard let plan else { return }
    let present = try await handler.store.read { [owner = handler.caller.owner] in
      try BackupRecords.reminderRecords(owner, $0)
    }
    let drafts = try Dictionary(present.map { ($0.reminder.id, try ChangeDetail.Draft($0.reminder.unowned)) }) { $1 }
    names = try await handler.commit(isLarge: true) { [handler] transaction in
      var generator = PooledRandom()
      let done = try TrackingRestore(handler.tracking(transaction)).finish(plan, using: &generator)
      try handler.caller.requireRoomForEndpoints(in: transaction)
      let effects = try done.effects(
        owner: handler.caller.owner, ChangeDetail(), from: drafts, in: transaction,
        saying: "restored: \(plan.trackers.count) trackers, \(plan.entries) entries")
      return (done.names, effects)
    }
    self.plan = nil
    if !plan.endpoints.isEmpty {
      let endpoints = plan.endpoints.map { $0.owned(by: handler.caller.owner) }
      notes = try await Task(executorPreference: handler.loop.requestExecutor) { [handler, secrets] in
        try endpoints.flatMap { endpoint in
          let kept = try handler.endpointSecrets.take(secrets?[endpoint.queue.channel], of: endpoint.queue)
          return [kept, try handler.endpointSecrets.lacking(endpoint)].compactMap { $0 }
        }
      }.value
      await handler.loop.refreshEndpoints()
    }
  }

  /// Finishes what remains after the store has all data.
  private func finishOutside() async throws {
    if secrets == nil, reader.counts.secrets > 0 {
      notes.append(
        "the secrets of endpoints in the backup (\(reader.counts.secrets)) stay encrypted: no passphrase was given")
    }
    if refusedTimes > 0 {
      notes.append(
        "\(refusedTimes) times of removed reminders are not in the history, because another user's reminders have "
          + "their ids here"
      )
    }
    misplaced = await handler.misplaced(configuration)
    handler.loop.uploads.remove(request.upload, of: handler.caller.owner)
  }

  private var contents: TrackersInterface.Contents {
    let counts = reader.counts
    return TrackersInterface.Contents(
      trackers: counts.trackers, entries: counts.entries, items: counts.items, milestones: counts.milestones,
      packs: counts.packs, unlocks: counts.unlocks, photos: counts.photos, reminders: counts.reminders,
      endpoints: counts.endpoints, occurrences: counts.occurrences, pings: counts.pings, secrets: counts.secrets,
      configuration: counts.configuration,
      madeAt: reader.madeAt.map { handler.wire.time($0) })
  }

  private func keep(_ photo: BackupPiece.Photo) throws {
    let (photoFiles, owner) = (handler.loop.photos, handler.caller.owner)
    guard photoFiles.size(photo.name, of: owner) != photo.bytes else { return }
    let bytes = try read(photo.lines).flatMap { try BackupReader.photoPart($0) }
    try need(
      photoFiles.keep(bytes, of: owner) == photo.name, conflict: "the upload has changed since the check: send it again"
    )
  }

  /// Reads lines of the upload a second time, after validation, so the file must be unchanged.
  private func read(_ places: [Range<Int>]) throws -> [[UInt8]] {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw ControlFailure.storeUnavailable("the upload is gone: send it again") }
    defer { close(descriptor) }
    try need(FileIdentity(path) == judged, conflict: "the upload has changed since the check: send it again")
    return try places.map { place in
      var bytes = [UInt8](repeating: 0, count: place.count)
      var have = 0
      while have < bytes.count {
        let count = bytes[have...].withUnsafeMutableBytes {
          pread(descriptor, $0.baseAddress, $0.count, off_t(place.lowerBound + have))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw ControlFailure.storeUnavailable("the upload cannot be read: send it again") }
        have += count
      }
      return bytes
    }
  }
}

extension TrackingRestore.Finished {
  /// Records the change with what it has replaced, and with other things that it exchanged, so that it can be undone.
  ///
  /// - Parameter drafts: Reminders as they were before the transaction, if that is known.
  func effects(
    owner: UInt32, _ detail: ChangeDetail, from drafts: [ReminderID: ChangeDetail.Draft],
    in transaction: any StoreTransaction, saying words: String
  ) throws -> [PostCommitEffect] {
    var detail = detail
    detail.all = try before.map { try ChangeDetail.Encoded($0, from: drafts[$0.id]) }
    detail.endpoints += endpoints.map { .init(before: $0.before, after: $0.after) }
    if let change = outcome.change { try transaction.setDetail(detail.text(), of: change) }
    return TrackingNotices.of(outcome, owner: owner, saying: words) + reminders.map(\.effect)
      + (detail.endpoints.isEmpty ? [] : [.endpointsChanged])
  }
}

extension TrackingRestore.ChangedReminder {
  var effect: PostCommitEffect {
    switch kind {
    case .added: .reminder(.added, reminder, "added \"\(reminder.title)\"")
    case .changed: .reminder(.changed, reminder, "changed \"\(reminder.title)\"")
    case .removed: .reminder(.removed, reminder, "removed \"\(reminder.title)\"")
    }
  }
}
