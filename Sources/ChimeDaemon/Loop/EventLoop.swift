import CLinux
import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch
import Glibc
import Varlink

/// The one owner of the daemon's state: every wake-up becomes one event here, handled to its end without suspension.
///
/// Runs on one Dispatch queue. Timers and the poller's source are of that queue and enter by `assumeIsolated`; the
/// store, HTTP and subprocesses live outside, hold no reference to this state, and come back as events.
actor EventLoop {
  /// The loop's own queue.
  let executor: DispatchExecutor
  /// Where requests are read and answers written, so that a long listing does not hold up the loop.
  let requestExecutor = DispatchExecutor(label: "io.chime.desk")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let log: Log
  let store: any Store
  /// Who takes snapshots of the store; nil: nobody does.
  let snapshotManager: (any SnapshotManager)?
  let zones: ZoneCatalog
  let secrets: Secrets
  let endpoints: EndpointCache
  let uploads: Uploads
  let photos: Photos
  let paths: RuntimePaths
  let wakeupsReader = WakeupsReader()
  let startedAt: Instant
  /// When nobody could fire; with several daemons on the store, learned at the start.
  var uptime: Uptime
  /// What the first that fires is told with; nil: others ran before, or it has been told.
  var downtime: Downtime?

  var configuration: Configuration
  /// What schedules are read against; made anew when the configuration is.
  var context: ReminderContext
  var calendarFiles = CalendarFiles()
  /// Calendars that reminders name and that are not configured, with how many do.
  var missingCalendars: [String: Int] = [:]
  /// How many reminders leave out the calendar of public holidays.
  var holidayReminders = 0
  /// The release of the database of zones that was last seen.
  var zoneDatabase: String
  let commands: CommandChannel
  var channels: Channels
  var scheduler: Scheduler
  let inbox = AttemptResultQueue()
  var outbox = OutboxState()
  /// The outbox transaction that is under way.
  var outboxTask: Task<Void, Never>?
  var history = HistoryState()
  var snapshots = SnapshotState()
  var poller: Poller?
  var watched: [Poller.Token: Watched] = [:]
  var listeners: [Poller.Token: Int32] = [:]
  var clients = Clients()
  var requests = RequestQueue<QueuedRequest>()
  var waits = RequestWaits()
  var rateLimitedLog = RateLimitedLog()
  /// Who waits for the last client to have gone.
  var farewellEnd: CheckedContinuation<Void, Never>?
  var clockWatch: ClockWatch?
  var sleep = SleepState()
  let wakeAlarm: WakeAlarm
  /// Counts what was late in the present absence, so that it is spread.
  var catchUpSpread: CatchUpSpread
  var signals: Int32 = -1
  var shortage = DescriptorShortage()
  var stops = Stops()
  var service: VarlinkService
  var clockEvents = 0
  var meters = Meters()
  var metricsState = MetricsState()
  var heartbeat = HeartbeatState()
  var trouble = StoreTrouble()
  var renewal = Renewal()
  /// What is known and not in the store, while that takes no changes.
  var degradedMode = DegradedMode()
  /// The transaction that records what was kept.
  var recordTask: Task<Void, Never>?
  var summary = "starting"
  var isReady = false
  var summaryIsStale = false
  /// How long it took to count last.
  var summaryTook = Milliseconds.zero
  var isStopping = false
  /// What the store knows of the popups on the screen.
  var keptPopups = ""
  var attachments = AttachmentState()
  var streamReaders = StreamReaders()
  /// How many answers in parts each owner has under way.
  var streams: [UInt32: Int] = [:]
  /// What was found out about channels that nobody hears.
  var hearingState = HearingState()
  /// Looks at what the daemon stands on that are under way, by whose secrets may be named.
  var examinations: [UInt32?: Task<DaemonInterface.Examination, Never>] = [:]
  var timers: LoopTimers?
  var fleet = FleetState()
  var replies = ReplyState()
  var tenants = Tenants()
  /// A loop that runs holds itself: its timers and descriptors know it without owning it, and nobody else need.
  private var running: EventLoop?

  /// What a descriptor of the poller is.
  enum Watched { case listener, client, clock, link, folders, bus, signals }

  init(
    paths: RuntimePaths, configuration: Configuration, log: Log, store: any Store,
    snapshotManager: (any SnapshotManager)? = nil,
    zones: ZoneCatalog, secrets: Secrets, service: VarlinkService
  ) {
    executor = DispatchExecutor(label: "io.chime.loop")
    self.paths = paths
    self.configuration = configuration
    self.log = log
    self.store = store
    self.snapshotManager = snapshotManager
    self.zones = zones
    context = ReminderContext(zones: zones, place: configuration.place, quiet: configuration.quiet)
    context.words = configuration.words
    context.channels = configuration.defaultChannels
    context.wording = SpokenWording()
    zoneDatabase = zones.fingerprint.database
    self.secrets = secrets
    self.service = service
    endpoints = EndpointCache(secrets: secrets)
    uploads = Uploads(folder: paths.stateFolder + "/uploads")
    photos = Photos(folder: paths.stateFolder + "/photos")
    commands = CommandChannel(environment: CommandEnvironment(paths.environment, isSystem: paths.isSystem))
    channels = Channels(
      configuration: configuration, isSystem: paths.isSystem, environment: paths.environment, zones: zones,
      endpoints: endpoints, commands: commands)
    startedAt = SystemClock.now
    wakeAlarm = WakeAlarm(isSystem: paths.isSystem)
    catchUpSpread = CatchUpSpread(span: configuration.lateSpread)
    uptime = Uptime(runningSince: startedAt)
    let book = configuration.commandBook(isSystem: paths.isSystem, file: paths.configurationPath)
    commands.adopt(book)
    scheduler = Scheduler(
      policies: Self.policies(of: [], configuration.channels, book, Tenants()), seed: UInt64.random(in: .min ... .max))
  }

  /// Arms the timers, watches the descriptors, reads what the store owes, and says READY.
  ///
  /// - Throws: `SystemError` or `StoreFailure` when the daemon cannot do its work.
  func start(listening sockets: [Int32], signals: Int32) async throws {
    running = self
    uploads.removeLeftovers()
    try armTimers()
    let poller = try Poller(queue: executor.queue) { [unowned self] in assumeIsolated { $0.pollerIsReady() } }
    self.poller = poller
    self.signals = signals
    prepareForShortage()
    watched[try poller.add(signals, .readable)] = .signals
    watchClock(poller)
    watchFolders(poller)
    watchSleep()
    _ = refreshCalendars()
    watchStore()
    await joinFleet()

    let (wakeups, known, popups, trace) = try await firstLook()
    // Where other daemons have run, nothing was missed for want of one.
    if uptime.runningSince == startedAt {
      downtime = Downtime(after: trace, until: startedAt, channels: noticeChannels)
    }
    adopt(known)
    await adoptTenants(configuration.tenants)
    keptPopups = popups ?? ""
    listenToDesktop(remembering: keptPopups)
    if degradedMode.owesStart { handle(.kept) }
    perform(scheduler.handle(.wakeups(wakeups), now: SystemClock.now))
    for socket in sockets {
      let token = try poller.add(socket, .readable)
      watched[token] = .listener
      listeners[token] = socket
    }
    isReady = true
    // What there is to say is counted afterwards: with a million reminders that takes a moment which nobody need wait.
    summaryIsStale = true
    ServiceManager.ready(status: "ready")
    if let interval = ServiceManager.watchdogMicroseconds() {
      beatWatchdog(every: .milliseconds(Int64(interval / 2_000)))
    }
    await reviewRestoration()
    await refreshSummary()
    ServiceManager.status(summary)
    log(.notice, "ready: \(summary)", id: .ready)
    await reviewScheduleContext()
    await surveyCalendars()
    considerSnapshot(atStart: true)
    renewMetricsFile()
    renewHeartbeat(from: Configuration.Heartbeat())
    lookAtOthers()
    considerReplies()
    chime_forget_code()
  }

  /// What the store owes. One that can only be read is asked all the same, and told later that a new daemon runs.
  func firstLook() async throws -> (NextWakeups, [Endpoint], String?, Downtime.Trace?) {
    let look: @Sendable (any StoreTransaction) throws -> (NextWakeups, [Endpoint], String?, Downtime.Trace?) = {
      [wakeupsReader, popupsNote] transaction in
      (
        try wakeupsReader.read(transaction), try transaction.endpoints(owner: nil), try transaction.note(popupsNote),
        try Downtime.trace(in: transaction)
      )
    }
    do {
      return try await store.write { transaction in
        try transaction.releaseClaims()
        return try look(transaction)
      }
    } catch let failure as StoreFailure where failure.isPassing {
      let found = try await store.read(look)
      degradedMode.owesStart = true
      storeFailed(failure, meanwhile)
      return found
    }
  }

  private func armTimers() throws {
    func timer(_ body: @escaping @Sendable (isolated EventLoop) -> Void) -> LoopTimer {
      LoopTimer(queue: executor.queue) { [unowned self] in assumeIsolated { body($0) } }
    }
    let timers = LoopTimers(
      due: timer { $0.dueHasCome() }, outbox: timer { $0.outboxHasCome() },
      clients: timer { $0.expireClients() }, summary: timer { $0.summaryIsDue() },
      settle: timer { $0.foldersHaveSettled() }, sleep: timer { $0.sleepIsDue() },
      bus: timer { $0.busIsDue() }, secrets: timer { $0.reloadEndpoints() }, arrears: timer { $0.makeUp() },
      watchdog: timer { $0.watchdogIsDue() }, metrics: timer { $0.metricsAreDue() },
      heartbeat: timer { $0.heartbeatIsDue() },
      replies: timer { $0.repliesAreDue() },
      others: timer { $0.lookAtOthers() }, fleet: timer { $0.endDraining() },
      waits: timer { $0.lookAtWaits() })
    // One of each clock, so that libdispatch has both its timerfds before any client is let in.
    timers.due.arm(at: startedAt + .days(366))
    timers.outbox.arm(after: .days(366))
    self.timers = timers
  }

  // MARK: The scheduler's effects

  func handle(_ event: Scheduler.Event) {
    guard !isStopping else { return }
    switch event {
    // What has been claimed just now is ours, and the scheduler is to hear of it.
    case .claimed, .fired, .stoodIn, .dropped: break
    default: noticeLapse()
    }
    perform(scheduler.handle(event, now: SystemClock.now))
  }

  private func perform(_ effects: [Scheduler.Effect]) {
    for effect in effects {
      switch effect {
      case .armDue(let time):
        timers?.dueAt = time.map { MonotonicDeadline(after: $0 - SystemClock.now) }
        if let time { timers?.due.arm(at: time) } else { timers?.due.disarm() }
      case .armOutbox(let time):
        timers?.outboxAt = time.map { MonotonicDeadline(after: $0 - SystemClock.now) }
        if let time { timers?.outbox.arm(after: time - SystemClock.now) } else { timers?.outbox.disarm() }
      case .armWake(let time): arm(wakeAt: time)
      case .fire(let limit, let capacity): fire(limit: limit, capacity: capacity)
      case .claim(let queue, let limit): outbox.work.claims.append((queue, limit))
      case .send(let claim): begin(claim)
      case .release(let claim): giveBack(claim)
      case .fireDegraded(let limit): fireDegraded(limit: limit)
      case .record: record()
      }
    }
    workOutbox()
  }

  /// Where owners are told what no reminder of theirs says. A command is run for reminders alone.
  private var noticeChannels: [ChannelName] {
    configuration.defaultChannels.filter { $0 == .desktop ? !paths.isSystem : configuration.commands[$0] == nil }
  }

  // MARK: The watchdog: only a loop that turns tells systemd so.

  private var watchdogInterval: Milliseconds?

  private func beatWatchdog(every interval: Milliseconds) {
    watchdogInterval = interval
    watchdogIsDue()
  }

  private func watchdogIsDue() {
    guard let watchdogInterval else { return }
    ServiceManager.watchdog()
    timers?.watchdog.arm(after: watchdogInterval)
  }

  // MARK: Configuration and the end

  /// Reads the configuration again; after an error what was in force stays.
  func reload() async throws {
    ServiceManager.reloading()
    defer { ServiceManager.ready(status: summary) }
    do {
      let loaded = try paths.loadConfiguration().configuration
      let isRenewed = loaded.channels != configuration.channels
      if isRenewed { renewChannels(loaded) }
      var reasons: Set<Recompute> = []
      if loaded.place != configuration.place {
        reasons.insert(.place)
        context.version += 1
      }
      if loaded.quiet != configuration.quiet {
        reasons.insert(.quietHours)
        context.version += 1
      }
      let heartbeat = configuration.heartbeat
      configuration = loaded
      // Who is heard is found out anew: what shows popups may be another program now.
      hearingState = HearingState()
      catchUpSpread.span = loaded.lateSpread
      if isRenewed { renewPolicies() }
      pruneHistory(isAsked: true)
      context.place = loaded.place
      context.quiet = loaded.quiet
      context.words = loaded.words
      context.channels = loaded.defaultChannels
      log.setLevel(configuration.logLevel)
      renewMetricsFile()
      renewHeartbeat(from: heartbeat)
      reasons.formUnion(refreshZones())
      reasons.formUnion(refreshCalendars())
      recomputeDueTimes(reasons)
      await refreshEndpoints()
      await renewCommands(loaded)
      await adoptTenants(loaded.tenants)
      await surveyCalendars()
      publish([DaemonEvent(kind: .reloaded, message: "the configuration was reloaded")])
    } catch {
      log(.error, "the configuration stays as it was: \(error)", id: .configurationRefused)
      throw error
    }
  }

  /// Channels with other settings take over; what the old ones had under way is cut short and tried again.
  private func renewChannels(_ configuration: Configuration) {
    let old = channels
    channels = Channels(
      configuration: configuration, isSystem: paths.isSystem, environment: paths.environment, zones: zones,
      endpoints: endpoints, commands: commands, keeping: old)
    let new = channels
    if !new.hasDesktop(of: old) { listenToDesktop(remembering: old.desktopMemory) }
    if !new.hasEndpoints(of: old) { reopenReplies(from: old) }
    Task {
      await withTaskExecutorPreference(executor) {
        await old.retire(for: new)
      }
    }
  }

  /// Ends cleanly: no new clients, channels stopped, the store closed.
  ///
  /// - Parameter status: for who started it (sysexits(3)).
  func stop(status: Int32 = EXIT_SUCCESS) {
    guard !isStopping else { return }
    isStopping = true
    ServiceManager.stopping()
    if status == EXIT_SUCCESS { log(.notice, "stopping", id: .stopping) }
    for (token, socket) in listeners {
      poller?.remove(token)
      close(socket)
    }
    listeners = [:]
    timers?.due.disarm()
    timers?.outbox.disarm()
    Task {
      await withTaskExecutorPreference(executor) {
        if status == EXIT_SUCCESS { await leaveFleet() }
        await channels.stop()
        await endMetricsFile()
        // A store that has ended takes nothing any more.
        if status == EXIT_SUCCESS {
          await settleOutbox()
          await recordBeforeTheEnd()
          await rememberDesktop()
          try? await store.write { try Downtime.noteAlive(in: $0, now: SystemClock.now) }
        }
        await farewell()
        await store.close()
        paths.removeSocket()
        log.finish()
        exit(status)
      }
    }
  }
}
