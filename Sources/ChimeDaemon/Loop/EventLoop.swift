import CLinux
import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch
import Glibc
import Varlink

/// An EventLoop owns the daemon's state and handles each wake-up as one event, to its end and without suspension.
///
/// It runs on one Dispatch queue. Timers and the poller's source belong to that queue and enter the actor by
/// `assumeIsolated`. The store, HTTP and subprocesses run elsewhere, hold no reference to this state, and report back as events.
actor EventLoop {
  /// The executor of the loop's own queue.
  let executor: DispatchExecutor
  /// The executor that reads requests and writes answers, so that a long listing does not delay the loop.
  let requestExecutor = DispatchExecutor(label: "io.chime.desk")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  let log: Log
  let store: any Store
  /// Takes snapshots of the store; nil if the store supports none.
  let snapshotManager: (any SnapshotManager)?
  let zones: ZoneCatalog
  let secrets: Secrets
  let endpoints: EndpointCache
  let uploads: Uploads
  let photos: Photos
  let paths: RuntimePaths
  let wakeupsReader = WakeupsReader()
  let startedAt: Instant
  /// Tells downtime from sleep. With several daemons on the store, `joinFleet` replaces it at the start.
  var uptime: Uptime
  /// The downtime that the first firing reports; nil if other daemons ran meanwhile or it has been reported.
  var downtime: Downtime?

  var configuration: Configuration
  /// The inputs of schedule evaluation besides the schedule; rebuilt when the configuration changes.
  var context: ReminderContext
  var calendarFiles = CalendarFiles()
  /// The calendars that reminders name but the configuration lacks, each with the number of such reminders.
  var missingCalendars: [String: Int] = [:]
  /// The number of reminders that skip days of the public holiday calendar.
  var holidayReminders = 0
  /// The release of the time zone database at the last check.
  var zoneDatabase: String
  let commands: CommandChannel
  var channels: Channels
  var scheduler: Scheduler
  let inbox = AttemptResultQueue()
  var outbox = OutboxState()
  /// The outbox transaction in flight.
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
  /// Resumed when the last client has disconnected.
  var farewellEnd: CheckedContinuation<Void, Never>?
  var clockWatch: ClockWatch?
  var sleep = SleepState()
  let wakeAlarm: WakeAlarm
  /// Counts late messages of the present downtime, so that they are spread.
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
  /// The decisions, outcomes and answers that are not in the store because it takes no changes.
  var degradedMode = DegradedMode()
  /// The transaction that records the buffered degraded-mode entries.
  var recordTask: Task<Void, Never>?
  var summary = "starting"
  var isReady = false
  var summaryIsStale = false
  /// The duration of the last summary query.
  var summaryTook = Milliseconds.zero
  var isStopping = false
  /// The record of visible popups as the store has it.
  var keptPopups = ""
  var attachments = AttachmentState()
  var streamReaders = StreamReaders()
  /// The number of streamed replies in flight, by owner.
  var streams: [UInt32: Int] = [:]
  /// The cached result of the search for reminders whose channels reach nobody.
  var hearingState = HearingState()
  /// The diagnostics runs in flight, by the owner whose secrets they may name.
  var examinations: [UInt32?: Task<DaemonInterface.Examination, Never>] = [:]
  var timers: LoopTimers?
  var fleet = FleetState()
  var replies = ReplyState()
  var tenants = Tenants()
  /// Keeps a running loop alive: its timers and descriptors refer to it unowned.
  private var running: EventLoop?

  /// The kind of a descriptor in the poller.
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

  /// Arms the timers, watches the descriptors, reads the pending work from the store, and reports READY to systemd.
  ///
  /// - Throws: `SystemError` or `StoreFailure` if the daemon cannot work.
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
    // If other daemons ran meanwhile, nothing was missed.
    if uptime.runningSince == startedAt {
      downtime = Downtime(after: trace, until: startedAt, channels: noticeChannels)
    }
    adopt(known)
    await adoptTenants(configuration.tenants)
    keptPopups = popups ?? ""
    listenToDesktop(remembering: keptPopups)
    if degradedMode.needsStart { handle(.kept) }
    perform(scheduler.handle(.wakeups(wakeups), now: SystemClock.now))
    for socket in sockets {
      let token = try poller.add(socket, .readable)
      watched[token] = .listener
      listeners[token] = socket
    }
    isReady = true
    // The summary follows READY: with a million reminders counting takes a moment, and nobody needs to wait for it.
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

  /// Reads the pending work from the store. A store that only allows reading is told later that a new daemon runs.
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
      degradedMode.needsStart = true
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
    // Arm one timer of each clock, so that libdispatch creates both timerfds before a client can use up the descriptors.
    timers.due.arm(at: startedAt + .days(366))
    timers.outbox.arm(after: .days(366))
    self.timers = timers
  }

  // MARK: The scheduler's effects

  func handle(_ event: Scheduler.Event) {
    guard !isStopping else { return }
    switch event {
    // These claims were made just now and belong to this daemon; the scheduler must learn of them.
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

  /// The channels for notices that belong to no reminder. Commands are excluded: they run for reminders only.
  private var noticeChannels: [ChannelName] {
    configuration.defaultChannels.filter { $0 == .desktop ? !paths.isSystem : configuration.commands[$0] == nil }
  }

  // MARK: The watchdog: only a working loop notifies systemd.

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

  // MARK: Reload and shutdown

  /// Reads the configuration again. After an error the old configuration stays in force.
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
      // Another program may show the popups now.
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

  /// Replaces the channels after a change of their settings. Attempts of the old channels are aborted and retried.
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

  /// Stops accepting clients, stops the channels, closes the store, and exits with `status` (sysexits(3)).
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
        // A store that has failed for good takes no changes.
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
