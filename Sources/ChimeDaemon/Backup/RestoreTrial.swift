package import ChimeCore
package import ChimeSchedule
import ChimeTracking

/// Restores the lines of a backup into a transaction for tests: without a file, a checksum or a daemon.
package enum RestoreTrial {
  package enum Outcome {
    case refused(line: Int, String)
    /// The lines of a new backup after the restore.
    case restored([UInt8])
  }

  /// Restores the lines and returns a new backup.
  ///
  /// - Throws: errors that cannot occur for validated lines.
  package static func run(
    _ lines: [UInt8], now: Instant, context: ReminderContext, in transaction: any StoreTransaction
  ) throws -> Outcome {
    let fields = ReminderFields(context: context, configuration: Configuration(), now: now)
    let records: [BackupRecord]
    do {
      records = try BackupReader.judge(lines) { try fields.judged($0) }
        .compactMap { if case .record(let record) = $0 { record } else { nil } }
    } catch ControlFailure.invalidFile(let line, let message) {
      return .refused(line: line, message)
    }
    var random = PooledRandom()
    let work = TrackingOperations(in: transaction, owner: 1, context, now: now)
    let restore = TrackingRestore(work)
    var plan = try restore.begin()
    try restore.stage(records, &plan)
    try restore.sumUp(plan.trackers.keys.sorted(), plan)
    let names = try restore.finish(plan, using: &random).names
    let past = records.compactMap { if case .occurrence(let occurrence) = $0 { occurrence } else { nil } }
    _ = try restore.remember(past, names)
    try restore.remember(
      records.compactMap { if case .ping(let ping, let reminder) = $0 { (ping, reminder) } else { nil } }, names)
    // Format the results as for a client.
    let wire = WireMapper(context: context, now: now)
    for record in try transaction.reminders(ReminderFilter(owner: 1), page: Page(limit: 100)) {
      _ = wire.reminder(record)
      _ = NotificationTimes(record.reminder, context, now: now).all(of: record, before: now + .days(366), limit: 20)
    }
    for tracker in try transaction.trackers(owner: 1) {
      let summary = try transaction.summary(of: tracker.key) ?? .init()
      _ = try work.progress(of: tracker, on: tracker.day(at: now, in: context.zones.local).day, summary)
    }
    var written: [UInt8] = []
    var writer = BackupWriter { written += $0 }
    try BackupRecords(of: 1, in: transaction).each { try writer.put($0) }
    return .restored(written)
  }
}
