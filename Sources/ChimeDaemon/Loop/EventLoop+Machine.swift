import CLinux
import ChimeControl
import ChimeCore
import ChimeSchedule
import Dispatch
import Glibc

/// What schedules depend on, as it was last read.
struct ScheduleSources {
  fileprivate var calendarFiles = CalendarFiles()
  /// The calendars that reminders name but the configuration lacks, each with the number of such reminders.
  fileprivate var missingCalendars: [String: Int] = [:]
  /// The number of reminders that skip days of the public holiday calendar.
  fileprivate var holidayReminders = 0
  /// The release of the time zone database at the last check.
  fileprivate var zoneDatabase: String
  fileprivate var clockWatch: ClockWatch?

  init(_ zones: ZoneCatalog) { zoneDatabase = zones.fingerprint.database }

  /// Whether a reminder names a calendar that the configuration lacks.
  var lacksCalendars: Bool { !missingCalendars.isEmpty }
}

extension EventLoop {
  func watchClock(_ poller: Poller) {
    if let problem = zones.localProblem { log(.warning, problem) }
    do {
      let watch = try ClockWatch(localLink: paths.localLink)
      watched[try poller.add(watch.clock, .readable)] = .clock
      watched[try poller.add(watch.link, .readable)] = .link
      sources.clockWatch = watch
    } catch {
      log(
        .warning, "chimed cannot watch the clock, and notices clock steps late; ignoring \(error.call): \(error.reason)"
      )
    }
  }

  func clockIsReady() {
    guard let change = sources.clockWatch?.clockChange(), case .stepped(let step, let slept) = change else { return }
    // While the loop follows the database's clock, a step of the local clock does not matter.
    clockHasStepped(by: SystemClock.isFollowing ? .zero : step, slept: slept)
  }

  /// Handles a step of the reference clock, or a sleep of the machine.
  func clockHasStepped(by step: Milliseconds, slept: Milliseconds, ofDatabase: Bool = false) {
    if step > .seconds(1) || step < .seconds(-1) {
      clockEvents += 1
      let way = step > .zero ? "forward" : "back"
      let size = DurationText.format(whole(max(step, .zero - step)))
      let message =
        ofDatabase ? "the database's clock was set \(way) by \(size)" : "the clock was set \(way) by \(size)"
      publish([DaemonEvent(kind: .clock, message: message)])
      snapshots.timing.clockWasSet(at: SystemClock.now)
    }
    drive { $0.clockHasStepped(by: step, slept: slept) }
  }

  func whole(_ span: Milliseconds) -> Milliseconds { .seconds(span.rawValue / 1_000) }

  func linkIsReady() {
    guard sources.clockWatch?.linkChanged() == true else { return }
    recomputeDueTimes(refreshZones())
  }
}

/// The loop's state about sleep of the machine.
struct SleepState {
  /// The connection to logind; nil without a system bus.
  var watch: SleepWatch?
  fileprivate var token: Poller.Token?
  /// The number of reconnects since the bus was lost.
  fileprivate var tries = 0
  fileprivate var isWakeProblemReported = false
}

// Sleep and waking of the machine, and a stop of the daemon itself.
extension EventLoop {
  func watchSleep() {
    guard let poller, sleep.watch == nil else { return }
    do {
      let watch = try SleepWatch()
      let token = try poller.add(watch.descriptor, watch.interest)
      watched[token] = .bus
      sleep.watch = watch
      sleep.token = token
      watch.inhibit()
      poller.change(token, watch.interest)
    } catch {
      guard sleep.tries == 0 else { return }
      log(.info, "logind is not available (\(error.reason)); chimed detects resume from sleep by the clock alone")
    }
  }

  func busIsReady(_ token: Poller.Token) {
    guard let watch = sleep.watch else { return }
    do {
      for event in try watch.process() { hear(event) }
      poller?.change(token, watch.interest)
    } catch {
      log(
        .warning,
        "the connection to the system bus is lost (\(error.reason)); until it is back, chimed detects resume from sleep by the clock alone"
      )
      poller?.remove(token)
      watched[token] = nil
      sleep.watch = nil
      sleep.token = nil
      drive { $0.sleep(.lost) }
      arm(busAfter: Self.busWait(after: sleep.tries))
    }
  }

  private func hear(_ event: SleepWatch.Event) {
    switch event {
    case .sleeps: drive { $0.sleep(.sleeps) }
    case .wakes:
      // The clock tells how long the machine slept.
      clockIsReady()
      drive { $0.sleep(.wakes) }
    case .logindGone: drive { $0.sleep(.lost) }
    case .holds:
      busIsBack()
      log(.debug, "logind delays sleep until chimed is ready")
    case .refused(let reason):
      busIsBack()
      log(.info, "logind does not delay sleep for chimed: \(reason)")
    }
  }

  private func busIsBack() {
    if sleep.tries > 0 { log(.info, "chimed is connected to the system bus again") }
    sleep.tries = 0
  }

  /// Reconnects to the lost bus, with growing intervals.
  func busIsDue() {
    watchSleep()
    sleep.tries += 1
    if sleep.watch == nil { arm(busAfter: Self.busWait(after: sleep.tries)) }
  }

  private static func busWait(after tries: Int) -> Milliseconds { .seconds(min(1 << min(tries, 9), 300)) }

  /// Delays sleep of the machine from now on.
  func inhibitSleep() {
    sleep.watch?.inhibit()
    if let token = sleep.token, let watch = sleep.watch { poller?.change(token, watch.interest) }
  }

  /// Goes on after a time in which no firing was possible.
  func resumed(_ resumption: LoopCore.Resumption) {
    clockEvents += 1
    let message: String? =
      switch resumption {
      case .slept(let length): "the machine slept for \(DurationText.format(whole(length)))"
      case .awake: "the machine is awake again"
      case .stopped(let length): length.map { "the daemon was stopped for \(DurationText.format(whole($0)))" }
      }
    if let message { publish([DaemonEvent(kind: .resumed, message: message)]) }
    reopenReplies()
    // The watches report changes during the gap; this covers changes that a watch has missed.
    recomputeDueTimes(refreshZones().union(refreshCalendars()))
  }

  /// Detects a stop of the daemon by a late timer. The monotonic clock stands still during sleep, so the cause is
  /// SIGSTOP, a debugger or the cgroup freezer.
  func noticeStop(_ late: Milliseconds?) {
    guard let late, late >= Self.stopTolerance, !stops.isRecent(.signal) else { return }
    stops.note(.timer)
    drive { $0.resume(.stopped(late)) }
  }

  /// Handles SIGCONT. A service manager also sends it with each SIGTERM, so the daemon may not have been stopped. The
  /// lateness of the armed timers tells for how long; if none is late, nothing came late.
  func goesOn() {
    guard !stops.isRecent(.timer) else { return }
    stops.note(.signal)
    clockIsReady()
    let late = [timers?.dueDeadline?.lateness, timers?.outboxAt?.lateness].compactMap { $0 }.max() ?? .zero
    drive { $0.resume(.stopped(late >= Self.stopTolerance ? late : nil)) }
  }

  /// The recent signs of a stop. A timer and SIGCONT may both show it; only one of them is reported.
  struct Stops {
    enum Sign { case timer, signal }

    private var seen: [Sign: UInt64] = [:]

    mutating func note(_ sign: Sign) { seen[sign] = SystemClock.monotonicMicroseconds }

    func isRecent(_ sign: Sign) -> Bool {
      seen[sign].map { SystemClock.monotonicMicroseconds - $0 < 5_000_000 } ?? false
    }
  }

  /// The lateness from which a stop is assumed; a loaded machine stays below it.
  private static let stopTolerance = Milliseconds.seconds(10)

  // MARK: Waking the machine

  func arm(wakeAt time: Instant?) {
    wakeAlarm.arm(at: time.map { SystemClock.machineTime(of: $0) })
    guard time != nil, let problem = wakeAlarm.problem, !sleep.isWakeProblemReported else { return }
    sleep.isWakeProblemReported = true
    log(.warning, "the machine cannot be woken for reminders that ask for it: \(problem)")
  }
}

// The context of schedules may change while a daemon runs: zone rules and calendar files on disk, and the configuration
// at a reload. It may also have changed while no daemon ran.

extension EventLoop {
  /// The quiet period of watched folders before files are read again. Package managers unpack file by file.
  private static let settling = Milliseconds.seconds(1)

  func watchFolders(_ poller: Poller) {
    guard let watch = zones.watch else {
      log(
        .warning, "chimed notices changed time zones and calendars only at the next reload: no inotify instance is left"
      )
      return
    }
    do {
      watched[try poller.add(watch.descriptor, .readable)] = .folders
    } catch {
      log(.warning, "chimed notices changed time zones and calendars only at the next reload: \(error.reason)")
    }
  }

  func foldersAreReady() {
    let changes = zones.watch?.changes() ?? []
    guard changes.contains(where: { concernsUs($0) }) else { return }
    arm(settleAfter: Self.settling)
  }

  /// Returns whether a changed path matters. Watched folders, mostly those of calendars, also hold unrelated files.
  private func concernsUs(_ path: String) -> Bool {
    path.hasPrefix(zones.folder) || zones.isInUse(path) || sources.calendarFiles.paths.contains(path)
      || sources.calendarFiles.folders.contains(path)
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
    defer { sources.zoneDatabase = database }
    var reasons: Set<Recompute> = []
    if refreshed.localChanged { reasons.insert(.localZone) }
    // Zones that were not loaded since the start may have changed together with loaded ones.
    if !refreshed.changed.isEmpty || database != sources.zoneDatabase {
      reasons.insert(.zoneRules(unchanged: refreshed.unchanged))
    }
    guard !reasons.isEmpty else { return [] }
    changeContext { $0.version += 1 }
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
    let before = sources.calendarFiles.problems
    let country = HolidayCountry.code(configuration, environment: paths.environment)
    let changed = sources.calendarFiles.update(configuration.calendars, country: country, zones: zones)
    changeContext { context in
      if !changed.isEmpty { context.version += 1 }
      context.calendars = sources.calendarFiles.days
      context.calendarProblems = sources.calendarFiles.problems
      context.holidays = sources.calendarFiles.holidays
    }
    for folder in sources.calendarFiles.folders { zones.watch?.add(folder) }
    for (name, problem) in sources.calendarFiles.problems.sorted(by: { $0.key < $1.key }) where before[name] != problem
    {
      let days = sources.calendarFiles.days[name] == nil ? "it has no days" : "the last valid days stay in use"
      publish([DaemonEvent(kind: .calendar, message: "\(problem); \(days)")])
    }
    guard !changed.isEmpty else { return [] }
    // The first read is no change; `reviewContext` compares with the previous run.
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
      + sources.calendarFiles.problems.sorted { $0.key < $1.key }.map {
        DaemonInterface.Notice(kind: "calendarFile", about: $0.key, sentence: $0.value)
      }
      + sources.missingCalendars.sorted { $0.key < $1.key }.map {
        DaemonInterface.Notice(kind: "calendarMissing", about: $0.key, sentence: Self.missing($0.key, $0.value))
      }
      + notice("holidays", sources.calendarFiles.holidays?.ending(for: sources.holidayReminders, now: SystemClock.now))
      + notice(
        "wake",
        core.scheduler.wakesAt == nil
          ? nil : wakeAlarm.problem.map { "the machine cannot be woken for reminders that ask for it: \($0)" })
  }

  private static func missing(_ calendar: String, _ count: Int) -> String {
    "the calendar \(calendar) is no longer configured; "
      + (count == 1 ? "one reminder continues without it" : "\(count) reminders continue without it")
  }

  /// Finds the reminders whose skipped calendars are not configured, and publishes each such calendar once.
  func surveyCalendars() async {
    do {
      let known = Set(configuration.calendars.keys).union(sources.calendarFiles.days.keys)
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
      let before = sources.missingCalendars
      sources.missingCalendars = missing
      sources.holidayReminders = onHolidays
      if missing != before { staleSummary() }
      let new = missing.filter { before[$0.key] == nil }
      publish(
        new.sorted { $0.key < $1.key }.map { name, count in
          DaemonEvent(kind: .calendar, message: Self.missing(name, count))
        })
    } catch {
      drive { $0.storeIsUnreadable(error) }
    }
  }

  // MARK: The context of the stored due times

  /// The context that due times depend on besides their reminders, one item a line.
  var contextText: String {
    let zones = zones.fingerprint
    let place = context.place.map { "\($0.latitude) \($0.longitude)" } ?? "-"
    let quiet = "\(context.quiet.handling.rawValue) \(context.quiet.hours.texts.joined(separator: "; "))"
    return
      "local \(zones.local)\ndatabase \(zones.database)\nplace \(place)\ncalendars \(sources.calendarFiles.fingerprint)\nquiet \(quiet)"
  }
}

/// A DescriptorShortage handles a process or machine without free file descriptors (EMFILE, ENFILE).
///
/// It keeps one descriptor in reserve. If no descriptor is left to accept a client, it closes the reserve for a moment,
/// accepts the client and refuses it. Another thread may take the freed descriptor first. Then the listeners are
/// paused, because the epoll set would report them without end.
struct DescriptorShortage {
  fileprivate var reserve: Int32 = -1
  /// The number of clients turned away since the shortage began.
  fileprivate var turnedAway = 0
  fileprivate(set) var isOn = false
  /// Whether the machine's limit (fs.file-max) is reached rather than the process's own.
  fileprivate var isOfMachine = false
  fileprivate var listenersRest = false
  fileprivate var lastSeen = DispatchTime(uptimeNanoseconds: 0)
  fileprivate var timer: LoopTimer?

  /// The pause of the listeners.
  fileprivate static let rest = Milliseconds(rawValue: 100)
  /// The shortage is over after this time without a refused client, if descriptors are available.
  fileprivate static let calm = Milliseconds.seconds(2)

  fileprivate mutating func takeReserve() {
    if reserve < 0 { reserve = open("/dev/null", O_RDONLY | O_CLOEXEC) }
  }

  /// Returns whether the reserve is held and one more descriptor is available.
  fileprivate mutating func canHaveOne() -> Bool {
    takeReserve()
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return false }
    close(probe)
    return reserve >= 0
  }

  /// The sentence for the user; nil without a shortage.
  var sentence: String? {
    guard isOn else { return nil }
    if isOfMachine { return "the machine has no file descriptor left and clients are turned away: see fs.file-max" }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return "all \(limit.rlim_cur) file descriptors are in use and clients are turned away: end some of the clients, or "
      + "raise LimitNOFILE= of the service"
  }
}

extension EventLoop {
  /// Opens the reserve descriptor at the start.
  func prepareForShortage() {
    shortage.takeReserve()
    shortage.timer = LoopTimer(queue: executor.queue) { [unowned self] in assumeIsolated { $0.reviewShortage() } }
  }

  /// Turns one client away after accept(2) failed for lack of a descriptor, so that the listener does not stay ready.
  func shedClient(_ listener: Int32, _ code: Int32) {
    shortage.isOfMachine = code == ENFILE
    shortage.takeReserve()
    var socket: Int32 = -1
    if shortage.reserve >= 0 {
      close(shortage.reserve)
      shortage.reserve = -1
      socket = chime_accept(listener)
      if socket >= 0 {
        turnAway(socket, .limitExceeded("descriptors"))
        shortage.turnedAway += 1
      }
      shortage.takeReserve()
    }
    if socket < 0 || shortage.reserve < 0 { restListeners() }
    shortage.lastSeen = .now()
    complain(.connectionRejected, nil, "no file descriptor is left: a client was turned away")
    guard !shortage.isOn else { return }
    shortage.isOn = true
    if !shortage.listenersRest { shortage.timer?.arm(after: DescriptorShortage.calm) }
    staleSummary()
  }

  /// Pauses the listeners. Clients wait in the backlog, because they can neither be accepted nor refused now.
  func restListeners() {
    shortage.listenersRest = true
    for token in listeners.keys { poller?.change(token, []) }
    shortage.timer?.arm(after: DescriptorShortage.rest)
  }

  private func reviewShortage() {
    if shortage.listenersRest {
      shortage.listenersRest = false
      for token in listeners.keys { poller?.change(token, .readable) }
    }
    guard shortage.isOn else { return }
    let calmFor = DispatchTime.now().uptimeNanoseconds - shortage.lastSeen.uptimeNanoseconds
    guard calmFor >= UInt64(DescriptorShortage.calm.rawValue) * 1_000_000, shortage.canHaveOne() else {
      shortage.timer?.arm(after: DescriptorShortage.calm)
      return
    }
    let count = shortage.turnedAway
    shortage.isOn = false
    shortage.turnedAway = 0
    log(
      .notice,
      "file descriptors are available again; \(count) \(count == 1 ? "client was" : "clients were") turned away meanwhile"
    )
    staleSummary()
    // Deliveries may have failed for lack of a descriptor; retry them now.
    drive { $0.wakeQueues { _ in true } }
  }
}

/// The timers of the event loop.
struct LoopTimers {
  let due: LoopTimer
  let outbox: LoopTimer
  let clients: LoopTimer
  let summary: LoopTimer
  let settle: LoopTimer
  let sleep: LoopTimer
  let bus: LoopTimer
  let secrets: LoopTimer
  let retry: LoopTimer
  let watchdog: LoopTimer
  let metrics: LoopTimer
  let heartbeat: LoopTimer
  let replies: LoopTimer
  let others: LoopTimer
  let fleet: LoopTimer
  let waits: LoopTimer
  /// The monotonic deadlines of the two wall-clock timers; their lateness reveals a stop of the daemon.
  var dueDeadline: MonotonicDeadline?
  var outboxAt: MonotonicDeadline?
  /// The next due time, which the timer precedes by a moment.
  var dueAt: Instant?
}

extension EventLoop {
  func outboxHasCome() {
    noticeStop(timers?.outboxAt?.lateness)
    timers?.outboxAt = nil
    handle(.awake)
  }

  func arm(busAfter wait: Milliseconds) { timers?.bus.arm(after: wait) }

  func arm(clientsAfter wait: Milliseconds?) {
    if let wait { timers?.clients.arm(after: wait) } else { timers?.clients.disarm() }
  }

  func arm(summaryAfter wait: Milliseconds) { timers?.summary.arm(after: wait) }

  func arm(secretsAt time: Instant) { timers?.secrets.arm(at: time) }

  func arm(settleAfter wait: Milliseconds) { timers?.settle.arm(after: wait) }
}
