import ChimeControl
import ChimeCore
import ChimeSchedule

// The context of schedules may change while a daemon runs: zone rules and calendar files on disk, and the configuration
// at a reload. It may also have changed while no daemon ran.

extension EventLoop {
  /// The quiet period of watched folders before files are read again. Package managers unpack file by file.
  private static let settling = Milliseconds.seconds(1)

  func watchFolders(_ poller: Poller) {
    guard let watch = zones.watch else {
      log(.warning, "changed time zones and calendars will be noticed at the next reload only: no inotify is left")
      return
    }
    do {
      watched[try poller.add(watch.descriptor, .readable)] = .folders
    } catch {
      log(.warning, "changed time zones and calendars will be noticed at the next reload only: \(error.reason)")
    }
  }

  func foldersAreReady() {
    let changes = zones.watch?.changes() ?? []
    guard changes.contains(where: { concernsUs($0) }) else { return }
    arm(settleAfter: Self.settling)
  }

  /// Returns whether a changed path matters. Watched folders, mostly those of calendars, also hold unrelated files.
  private func concernsUs(_ path: String) -> Bool {
    path.hasPrefix(zones.folder) || zones.isInUse(path) || calendarFiles.paths.contains(path)
      || calendarFiles.folders.contains(path)
  }

  /// Reads changed zones and calendars again, after the folders have been quiet.
  func foldersHaveSettled() {
    var reasons = refreshZones()
    reasons.formUnion(refreshCalendars())
    recomputeDueTimes(reasons)
  }

  /// Reads changed zone rules again.
  func refreshZones() -> Set<Recompute> {
    let problem = zones.localProblem
    let refreshed = zones.refresh()
    if let new = zones.localProblem, new != problem { publish([DaemonEvent(kind: .zone, message: new)]) }
    if zones.localProblem != problem { staleSummary() }
    let database = zones.fingerprint.database
    defer { zoneDatabase = database }
    var reasons: Set<Recompute> = []
    if refreshed.localChanged { reasons.insert(.localZone) }
    // Zones that were not loaded since the start may have changed together with loaded ones.
    if !refreshed.changed.isEmpty || database != zoneDatabase {
      reasons.insert(.zoneRules(unchanged: refreshed.unchanged))
    }
    guard !reasons.isEmpty else { return [] }
    context.version += 1
    clockEvents += 1
    let names = refreshed.changed.sorted()
    var message =
      refreshed.localChanged
      ? "the machine's zone is now \(zones.local.identifier)" : "the time zone database was replaced"
    if !names.isEmpty {
      let shown = names.prefix(8).joined(separator: ", ")
      message =
        names.count > 8
        ? "the rules of \(shown) and \(names.count - 8) more zones have changed" : "the rules of \(shown) have changed"
    }
    publish([DaemonEvent(kind: .zone, message: message)])
    return reasons
  }

  /// Reads calendars again whose file or list has changed.
  func refreshCalendars() -> Set<Recompute> {
    let before = calendarFiles.problems
    let country = HolidayCountry.code(configuration, environment: paths.environment)
    let changed = calendarFiles.update(configuration.calendars, country: country, zones: zones)
    if !changed.isEmpty { context.version += 1 }
    context.calendars = calendarFiles.days
    context.calendarProblems = calendarFiles.problems
    context.holidays = calendarFiles.holidays
    for folder in calendarFiles.folders { zones.watch?.add(folder) }
    for (name, problem) in calendarFiles.problems.sorted(by: { $0.key < $1.key }) where before[name] != problem {
      let days = calendarFiles.days[name] == nil ? "it has no days" : "the days read before stay in use"
      publish([DaemonEvent(kind: .calendar, message: "\(problem); \(days)")])
    }
    guard !changed.isEmpty else { return [] }
    // The first read is no change; `reviewScheduleContext` compares with the previous run.
    if isReady {
      let names = changed.sorted().joined(separator: ", ")
      publish([DaemonEvent(kind: .calendar, message: "the days of \(names) have changed")])
    }
    return [.calendars(changed)]
  }

  // MARK: Missing calendars

  /// The notices for the user in `chime status`.
  var notices: [DaemonInterface.Notice] {
    func notice(_ kind: String, _ sentence: String?) -> [DaemonInterface.Notice] {
      sentence.map { [DaemonInterface.Notice(kind: kind, sentence: $0)] } ?? []
    }
    return notice("descriptors", shortage.sentence) + notice("zone", zones.localProblem)
      + notice("metrics", metricsState.problem) + notice("heartbeat", heartbeat.value.sentence)
      + snapshotAttention.flatMap { notice("snapshots", $0) }
      + calendarFiles.problems.sorted { $0.key < $1.key }.map {
        DaemonInterface.Notice(kind: "calendarFile", about: $0.key, sentence: $0.value)
      }
      + missingCalendars.sorted { $0.key < $1.key }.map {
        DaemonInterface.Notice(kind: "calendarGone", about: $0.key, sentence: Self.missing($0.key, $0.value))
      }
      + notice("holidays", calendarFiles.holidays?.ending(for: holidayReminders, now: SystemClock.now))
      + notice(
        "wake",
        scheduler.wakesAt == nil
          ? nil : wakeAlarm.problem.map { "the machine cannot be woken for reminders that ask for it: \($0)" })
  }

  private static func missing(_ calendar: String, _ count: Int) -> String {
    "the calendar \(calendar) is no longer configured; "
      + (count == 1 ? "one reminder continues without it" : "\(count) reminders continue without it")
  }

  /// Finds the reminders whose skipped calendars are not configured, and publishes each such calendar once.
  func surveyCalendars() async {
    do {
      let known = Set(configuration.calendars.keys).union(calendarFiles.days.keys)
      var missing: [String: Int] = [:]
      var onHolidays = 0
      var last: ReminderID?
      repeat {
        let (names, end) = try await store.read { [last] transaction in
          let ids = try transaction.reminderIDs(.withExceptions, after: last, limit: 1_000)
          let names = try ids.flatMap { id -> [String] in
            guard let record = try transaction.readableReminder(id), record.coming != nil || record.open > 0 else {
              return []
            }
            return record.reminder.schedule.calendarNames
          }
          return (names, ids.last)
        }
        for name in names where !known.contains(name) { missing[name, default: 0] += 1 }
        onHolidays += names.count { $0 == PublicHolidays.calendarName }
        last = end
      } while last != nil
      let before = missingCalendars
      missingCalendars = missing
      holidayReminders = onHolidays
      if missing != before { staleSummary() }
      let new = missing.filter { before[$0.key] == nil }
      publish(
        new.sorted { $0.key < $1.key }.map { name, count in
          DaemonEvent(kind: .calendar, message: Self.missing(name, count))
        })
    } catch {
      storeFailed(error, "the state of calendars is unknown")
    }
  }

  // MARK: The context of the stored due times

  /// The context that due times depend on besides their reminders, one item a line.
  var surroundingsText: String {
    let zones = zones.fingerprint
    let place = context.place.map { "\($0.latitude) \($0.longitude)" } ?? "-"
    let quiet = "\(context.quiet.handling.rawValue) \(context.quiet.hours.texts.joined(separator: "; "))"
    return
      "local \(zones.local)\ndatabase \(zones.database)\nplace \(place)\ncalendars \(calendarFiles.fingerprint)\nquiet \(quiet)"
  }

  /// Recomputes due times that an earlier daemon computed with another context.
  func reviewScheduleContext() async {
    do {
      let text = surroundingsText
      let (known, wentBack) = try await store.read {
        (try Renewal.known(in: $0), try Recompute.clockWentBack($0, now: SystemClock.now))
      }
      if wentBack {
        log(.notice, "the clock went back since the last run; due times are computed anew", id: .dueTimesRenewed)
        recomputeDueTimes([.backwardStep])
        wakeQueues { _ in true }
      } else {
        // A full disk that refuses this note must not prevent the comparison below.
        rememberClock()
      }
      guard known != text else { return }
      // A store without the note is new, or comes from a version that wrote none.
      guard let known else { return try await noteScheduleContext() }
      let (before, after) = (known.split(separator: "\n"), text.split(separator: "\n"))
      let changed = Set(after.filter { !before.contains($0) }.compactMap { $0.split(separator: " ").first })
      var reasons: Set<Recompute> = []
      if changed.contains("local") { reasons.insert(.localZone) }
      if changed.contains("database") { reasons.insert(.zoneRules(unchanged: [])) }
      if changed.contains("place") { reasons.insert(.place) }
      if changed.contains("calendars") { reasons.insert(.calendars(nil)) }
      if changed.contains("quiet") { reasons.insert(.quietHours) }
      let what =
        renewal.goOn(from: known)
        ? "the last run ended while it recomputed due times; all are recomputed"
        : "changed since the last run: \(changed.sorted().joined(separator: ", ")); due times are recomputed"
      log(.notice, what, id: .dueTimesRenewed)
      recomputeDueTimes(reasons)
    } catch {
      // The read failed, or the note for the next daemon could not be written.
      renewal.owe(Recompute.all.union([.backwardStep]), now: SystemClock.now)
      arm(arrearsAfter: Scheduler.storeRetry)
      storeFailed(error, "due times may be outdated")
    }
  }
}
