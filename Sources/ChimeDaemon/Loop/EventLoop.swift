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
  let requestExecutor = DispatchExecutor(label: "io.chime.requests")
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
  /// Decides about reminders, deliveries and due times. Only `drive` and `changeContext` change it.
  private(set) var core: LoopCore
  /// When the continuation that runs now began, for the lateness of what it reports.
  private(set) var resumedAtMicroseconds: Int64 = 0
  /// Resumed with what the first read of the store found.
  private var starting: CheckedContinuation<LoopCore.Start, any Error>?
  /// Resumed when the store has been tried.
  private var storeTries: [CheckedContinuation<Void, Never>] = []
  /// Resumed when nothing is left to record.
  private var finishing: CheckedContinuation<Void, Never>?

  var configuration: Configuration
  var sources: ScheduleSources
  let commands: CommandChannel
  var channels: Channels
  let inbox = AttemptResultQueue()
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
  var sleep = SleepState()
  let wakeAlarm: WakeAlarm
  var signals: Int32 = -1
  var shortage = DescriptorShortage()
  var stops = Stops()
  var service: VarlinkService
  var clockEvents = 0
  var meters = Meters()
  var metricsState = MetricsState()
  var heartbeat = HeartbeatState()
  var summaryState = SummaryState()
  var isReady = false
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
  var diagnosticsTasks: [UInt32?: Task<DaemonInterface.Diagnostics, Never>] = [:]
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
    var context = ReminderContext(zones: zones, place: configuration.place, quiet: configuration.quiet)
    context.words = configuration.words
    context.channels = configuration.defaultChannels
    context.wording = SpokenWording()
    sources = ScheduleSources(zones)
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
    let book = configuration.commandBook(isSystem: paths.isSystem, file: paths.configurationPath)
    commands.adopt(book)
    core = LoopCore(
      startedAt: startedAt, context: context,
      policies: Self.policies(of: [], configuration.channels, book, Tenants()), leases: store as? any SharedStore,
      popupsNote: Self.popupsNote(of: store, paths), random: SystemRandomNumberGenerator())
    core.lateSpread = configuration.lateSpread
    core.historyLimits = configuration.history
    core.tellsDowntime = configuration.tellsDowntime
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

    let found = try await readStore()
    adopt(found.endpoints)
    await adoptTenants(configuration.tenants)
    keptPopups = found.popups ?? ""
    listenToDesktop(remembering: keptPopups)
    await withdrawAnsweredPopups()
    drive { $0.begin(found, noticeChannels: noticeChannels) }
    for socket in sockets {
      let token = try poller.add(socket, .readable)
      watched[token] = .listener
      listeners[token] = socket
    }
    isReady = true
    // The summary follows READY: with a million reminders counting takes a moment, and nobody needs to wait for it.
    summaryState = SummaryState(isStale: true)
    ServiceManager.ready(status: "ready")
    if let interval = ServiceManager.watchdogMicroseconds() {
      beatWatchdog(every: .milliseconds(Int64(interval / 2_000)))
    }
    await reviewRestoration()
    await refreshSummary()
    ServiceManager.status(summaryState.text)
    log(.notice, "ready: \(summaryState.text)", id: .ready)
    reviewContext()
    await surveyCalendars()
    considerSnapshot(atStart: true)
    renewMetricsFile()
    renewHeartbeat(from: Configuration.Heartbeat())
    considerReplies()
    chime_forget_code()
  }

  private func armTimers() throws {
    func timer(_ body: @escaping @Sendable (isolated EventLoop) -> Void) -> LoopTimer {
      LoopTimer(queue: executor.queue) { [unowned self] in assumeIsolated { body($0) } }
    }
    let timers = LoopTimers(
      due: timer { $0.dueHasCome() }, outbox: timer { $0.outboxHasCome() },
      clients: timer { $0.expireClients() }, summary: timer { $0.summaryIsDue() },
      settle: timer { $0.foldersHaveSettled() }, sleep: timer { $0.drive { $0.sleep(.timeUp) } },
      bus: timer { $0.busIsDue() }, secrets: timer { $0.reloadEndpoints() }, retry: timer { $0.drive { $0.retry() } },
      watchdog: timer { $0.watchdogIsDue() }, metrics: timer { $0.metricsAreDue() },
      heartbeat: timer { $0.heartbeatIsDue() },
      replies: timer { $0.repliesAreDue() },
      others: timer { $0.checkOtherDaemons() }, fleet: timer { $0.endDraining() },
      waits: timer { $0.lookAtWaits() })
    // Arm one timer of each clock, so that libdispatch creates both timerfds before a client can use up the descriptors.
    timers.due.arm(at: startedAt + .days(366))
    timers.outbox.arm(after: .days(366))
    self.timers = timers
  }

  // MARK: The core

  var context: ReminderContext { core.context }

  /// Lets the core decide, and performs its effects.
  ///
  /// - Parameter ahead: the due time that is the present for the core, although it is still to come.
  func drive(ahead: Instant? = nil, _ body: (inout LoopCore) -> Void) {
    for effect in core.run(at: ahead ?? SystemClock.now, body) {
      switch effect {
      case .armDue(let time): arm(dueAt: time, ahead: SystemClock.isFollowing ? .zero : Self.lead)
      case .armOutbox(let time):
        timers?.outboxAt = time.map { MonotonicDeadline(after: $0 - SystemClock.now) }
        if let time { timers?.outbox.arm(after: time - SystemClock.now) } else { timers?.outbox.disarm() }
      case .armWake(let time): arm(wakeAt: time)
      case .armRetry(let wait): timers?.retry.arm(after: wait)
      case .armOthers(let wait): arm(othersAfter: wait)
      case .armSleep(let wait): if let wait { timers?.sleep.arm(after: wait) } else { timers?.sleep.disarm() }
      case .inhibitSleep: inhibitSleep()
      case .releaseSleep: sleep.watch?.release()
      case .send(let message): begin(message)
      case .answer(let answer): record(answer)
      case .run(let job): run(job, ahead: ahead)
      case .dropMonths(let edge, let begunAt): dropMonths(edge, begunAt: begunAt)
      case .report(let report): hear(report)
      }
    }
  }

  func handle(_ event: Scheduler.Event) { drive { $0.handle(event) } }

  /// Changes the context of schedules. `recomputeDueTimes` makes the stored due times follow.
  func changeContext(_ change: (inout ReminderContext) -> Void) { change(&core.context) }

  /// Recomputes due times whose context has changed, and those that the store refused before.
  func recomputeDueTimes(_ reasons: Set<Recompute>) {
    core.contextText = contextText
    drive { $0.recomputeDueTimes(reasons) }
  }

  /// Recomputes due times that an earlier daemon computed with another context.
  func reviewContext() {
    core.contextText = contextText
    drive { $0.reviewContext() }
  }

  /// Runs work of the loop's own in a new task, on the loop's queue also where it awaits others.
  @discardableResult func spawn(_ work: @escaping () async -> Void) -> Task<Void, Never> {
    Task { await withTaskExecutorPreference(executor) { await work() } }
  }

  // MARK: Firing ahead

  /// How long before a due time its firing begins. Code and rows that nobody has used for hours come from memory, or from
  /// the disk. That takes up to a few milliseconds, which pass before the time and not after it.
  private static let lead = Milliseconds.milliseconds(3)

  private func arm(dueAt time: Instant?, ahead: Milliseconds) {
    timers?.dueAt = time
    timers?.dueDeadline = time.map { MonotonicDeadline(after: $0 - SystemClock.now) }
    if let time { timers?.due.arm(at: time - ahead) } else { timers?.due.disarm() }
  }

  /// Begins the firing, also if its time is still to come. While other work is in progress, it waits for the time.
  func dueHasCome() {
    noticeStop(timers?.dueDeadline?.lateness)
    let ahead = timers?.dueAt.flatMap { $0 > SystemClock.now ? $0 : nil }
    if let ahead, ahead - SystemClock.now > Self.lead || !core.mayBeginAhead { return arm(dueAt: ahead, ahead: .zero) }
    timers?.dueAt = nil
    timers?.dueDeadline = nil
    drive(ahead: ahead) { $0.handle(.awake) }
  }

  /// Builds the requests that will leave after the commit of a firing. A copy of the core tells what that will be. After a
  /// long transaction nothing is built.
  private func rehearse(_ next: StoreJob.Continuation, at time: Instant) {
    guard SystemClock.now < time else { return }
    var copy = core
    for case .send(let message) in copy.run(at: time, next) {
      channels.channel(for: message.delivery.queue).rehearse(message, at: time)
    }
  }

  private func run(_ job: StoreJob, ahead: Instant?) {
    let (store, wakeupsReader, popupsNote) = (store, wakeupsReader, popupsNote)
    let ahead: Instant? = if case .fire = job.kind { ahead } else { nil }
    let popups: String? = if case .outbox(let outcomes) = job.kind { popupsToKeep(with: outcomes) } else { nil }
    spawn { [self] in
      let next: StoreJob.Continuation
      do {
        let body: @Sendable (any StoreTransaction) throws -> StoreJob.Continuation = { transaction in
          let now = max(SystemClock.now, ahead ?? .earliest)
          var setting = StoreJob.Setting(now: now, random: PooledRandom()) { try wakeupsReader.read($0) }
          let next = try job.run(in: transaction, &setting)
          if let popups { try transaction.setNote(popupsNote, popups.isEmpty ? nil : popups) }
          if let ahead {
            try transaction.writeAhead()
            self.executor.queue.async { self.assumeIsolated { $0.rehearse(next, at: ahead) } }
            SystemClock.wait(until: ahead)
          }
          return next
        }
        next = try await job.writes ? store.write(body) : store.read(body)
        if let popups { keptPopups = popups }
      } catch {
        next = job.failed(error)
      }
      resumedAtMicroseconds = SystemClock.nowMicroseconds
      drive(next)
    }
  }

  /// Reads the pending work from the store.
  ///
  /// - Throws: the reason why the store cannot be read.
  func readStore() async throws -> LoopCore.Start {
    try await withCheckedThrowingContinuation { waiting in
      starting = waiting
      drive { $0.start() }
    }
  }

  /// Tries whether the store takes changes again. If it does, what is buffered is recorded.
  func tryStore() async {
    await withCheckedContinuation { waiting in
      storeTries.append(waiting)
      drive { $0.tryStore() }
    }
  }

  // MARK: Start and end

  private func finish() async {
    await withCheckedContinuation { waiting in
      finishing = waiting
      takeReports()
      drive { $0.finish() }
    }
  }

  private func hear(_ report: LoopCore.Report) {
    switch report {
    case .started(let found):
      guard let waiting = starting else { return resumeAfterRestoration(found) }
      starting = nil
      waiting.resume(returning: found)
    case .startFailed(let error):
      starting?.resume(throwing: error)
      starting = nil
    case .storeTried:
      let waiting = storeTries
      storeTries = []
      for waiting in waiting { waiting.resume() }
    case .finished(let unrecorded):
      if let unrecorded { warn(ofUnrecorded: unrecorded) }
      finishing?.resume()
      finishing = nil
    case .resumed(let resumption): resumed(resumption)
    case .answeredElsewhere(let occurrences): for occurrence in occurrences { channels.withdraw(occurrence) }
    case .drained: endDraining()
    case .endpointsChanged: reloadEndpoints()
    default: tell(report)
    }
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
    defer { ServiceManager.ready(status: summaryState.text) }
    do {
      let loaded = try paths.loadConfiguration().configuration
      let isRenewed = loaded.channels != configuration.channels
      if isRenewed { renewChannels(loaded) }
      var reasons: Set<Recompute> = []
      if loaded.place != configuration.place { reasons.insert(.place) }
      if loaded.quiet != configuration.quiet { reasons.insert(.quietHours) }
      let heartbeat = configuration.heartbeat
      configuration = loaded
      // Another program may show the popups now.
      hearingState = HearingState()
      core.lateSpread = loaded.lateSpread
      core.historyLimits = loaded.history
      core.tellsDowntime = loaded.tellsDowntime
      if isRenewed { renewPolicies() }
      drive { $0.pruneHistory(isAsked: true) }
      changeContext { context in
        if !reasons.isEmpty { context.version += 1 }
        context.place = loaded.place
        context.quiet = loaded.quiet
        context.words = loaded.words
        context.channels = loaded.defaultChannels
      }
      log.setLevel(configuration.logLevel)
      renewMetricsFile()
      renewHeartbeat(from: heartbeat)
      reasons.formUnion(refreshZones())
      reasons.formUnion(refreshCalendars())
      recomputeDueTimes(reasons)
      await refreshEndpoints()
      renewCommands(loaded)
      await adoptTenants(loaded.tenants)
      await surveyCalendars()
      publish([DaemonEvent(kind: .reloaded, message: "the configuration was reloaded")])
    } catch {
      log(.error, "the configuration was not reloaded: \(error)", id: .configurationRefused)
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
    spawn { await old.retire(for: new) }
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
    drive { $0.stop() }
    spawn { [self] in
      if status == EXIT_SUCCESS { await leaveFleet() }
      await channels.stop()
      await endMetricsFile()
      // A store that has failed for good takes no changes.
      if status == EXIT_SUCCESS {
        await finish()
        await rememberDesktop()
        try? await store.write { try Downtime.noteAlive(in: $0, now: SystemClock.now) }
      }
      await farewell()
      await store.close()
      paths.removeSocket()
      log.finish()
      // Threads may still be ending, and exit(3) would let OpenSSL take down what their ends use.
      _exit(status)
    }
  }
}
