import ChimeControl
import ChimeCore
import ChimeExchange
import ChimeSchedule
import ChimeTracking

/// Writes reminders into a file: an iCalendar file, or a manifest for `Apply`.
extension RemindersHandler {
  /// The most reminders of one file.
  private static let maxExported = 10_000

  func handle(_ request: Interface.Export) async throws -> Interface.Export.Reply {
    if let format = request.format, Interface.ExportFormat(rawValue: format) == nil {
      let known = Interface.ExportFormat.allCases.map(\.rawValue).joined(separator: " or ")
      throw ControlFailure.invalidValue(field: "format", "give \(known)")
    }
    let filter = request.filter
    let query = try ReminderQuery(filter, of: requestContext)
    let records = try await store.read { [self] transaction in
      if let ids = request.ids {
        try need(ids.count <= Self.maxExported, limit: "\(Self.maxExported) ids")
        let lookup = reminders(in: transaction)
        return try ids.map { try lookup.reminder($0) }
      }
      let wire = self.wire
      let found = try transaction.reminders(query.stored, page: Page(limit: Self.maxExported))
      try need(found.count < Self.maxExported, limit: "\(Self.maxExported) reminders in one file; give a filter")
      return found.filter { query.isWanted(wire.reminder($0)) }
    }
    if request.format == Interface.ExportFormat.toml.rawValue {
      return try await exportSet(records, withEndpoints: request.ids == nil && filter == nil)
    }
    let items = records.map { record in
      let zone = context.zone(of: record.reminder) ?? .utc
      return CalendarExport.Item(
        reminder: record.reminder, scheduleContext: context.scheduleContext(in: zone, at: record.reminder.place))
    }
    let export = CalendarExport(items, now: now)
    return Interface.Export.Reply(text: export.text, count: export.count, warnings: export.warnings)
  }

  // MARK: Manifests

  /// Writes a manifest. Reminders are in the order of their ids, so that the same reminders give the same text.
  private func exportSet(
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

  /// Writes packs and trackers, in the order of their ids.
  ///
  /// - Parameter bundled: receives the reminders that are written below their packs.
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
