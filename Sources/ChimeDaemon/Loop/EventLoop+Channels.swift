import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch
import Glibc

// Policies of the delivery queues, from the endpoints' settings and the configuration.
extension EventLoop {
  /// Adopts the endpoints from the store. If there are any, HTTP is prepared now, so that the first message does not
  /// wait for its libraries.
  func adopt(_ known: [Endpoint]) {
    let now = SystemClock.now
    let review = endpoints.replace(with: known, now: now)
    changeContext { $0.subscriptions = review.subscriptions }
    for problem in review.problems { log(.warning, "\(problem); its messages wait") }
    if let end = review.nextEnd { arm(secretsAt: end) }
    // Requests change these files on the same executor, so that no two changes run at once.
    if review.hasOldSecrets {
      Task(executorPreference: requestExecutor) { [endpoints] in endpoints.forgetOldSecrets(now) }
    }
    for kind in Set(known.map(\.kind)) { channels.channel(for: kind).prepare() }
    let policies = policies(of: known)
    drive { $0.adopt(known, policies) }
    if !review.mended.isEmpty {
      for queue in review.mended { handle(.opened(queue)) }
      let mended = Set(review.mended)
      drive { $0.wakeQueues { mended.contains($0) } }
    }
    considerReplies()
    if fleet.store != nil, !policies.owners.isEmpty {
      spawn { [self] in await renewShares() }
    }
  }

  func reloadEndpoints() {
    spawn { [self] in await refreshEndpoints() }
  }

  /// Reads the endpoints again. A request that changed one awaits this before the loop learns what the change woke.
  func refreshEndpoints() async {
    do {
      adopt(try await store.read { try $0.endpoints(owner: nil) })
    } catch {
      log(.warning, "cannot reload the endpoints; ignoring: \(error)")
    }
  }

  /// Returns the queues that rest after repeated failures, with the end of the rest.
  func rests() -> [DeliveryQueue: Instant] { core.scheduler.rests(at: SystemClock.now) }

  /// Renews the policies after a change of the configuration.
  func renewPolicies() {
    handle(.policies(policies(of: core.outbox.endpoints.values), renewed: Set(core.outbox.endpoints.keys)))
  }

  /// Returns whether two endpoints are equal except for their failure history.
  static func isTheSame(_ one: Endpoint?, _ other: Endpoint?) -> Bool {
    var (one, other) = (one, other)
    one?.failingSince = nil
    other?.failingSince = nil
    return one == other
  }

  /// Returns the policies for these endpoints under the present configuration and tenants.
  func policies(of known: some Sequence<Endpoint>) -> DeliveryQueuePolicies {
    Self.policies(of: known, configuration.channels, commands.book, tenants)
  }

  /// The number of attempts of one owner that may run at once, over all endpoints. Each attempt is a connection, so
  /// many unresponsive endpoints would use up the process's descriptors. If the sum of the limits exceeds this number,
  /// each endpoint gets the same fraction of its own limit. A higher configured limit for one endpoint raises this number.
  static let attemptsOfOwner = 512

  static func policies(
    of known: some Sequence<Endpoint>, _ settings: Configuration.Channels, _ book: CommandRegistry, _ tenants: Tenants
  ) -> DeliveryQueuePolicies {
    // A channel ends its attempts itself; the work around an attempt takes milliseconds.
    let margin = Milliseconds.seconds(5)
    let webhookLimit = settings.webhookTimeout + margin
    let all = known.map {
      ($0.queue, DeliveryQueuePolicy($0, concurrency: settings.webhookConcurrency, attemptLimit: webhookLimit))
    }
    var queues = Dictionary(all) { _, last in last }
    let sums = queues.reduce(into: [:]) { $0[$1.key.owner, default: 0] += $1.value.concurrency }
    let most = max(Self.attemptsOfOwner, settings.webhookConcurrency)
    for (queue, policy) in queues {
      guard let sum = sums[queue.owner], sum > most else { continue }
      queues[queue]?.concurrency = max(1, policy.concurrency * most / sum)
    }
    return DeliveryQueuePolicies(
      queues: queues,
      channels: book.commands.mapValues {
        DeliveryQueuePolicy(concurrency: $0.concurrency, attemptLimit: $0.longestAttempt + margin)
      },
      desktop: DeliveryQueuePolicy(concurrency: Self.popupsAtOnce, attemptLimit: settings.desktopTimeout + margin),
      usual: DeliveryQueuePolicy(concurrency: settings.webhookConcurrency, attemptLimit: webhookLimit),
      owners: tenants.rates)
  }

  /// The number of popups that are handed over at once for one user. Popups that waited for a screen must arrive
  /// together to be combined.
  private static let popupsAtOnce = 64
}

// Commands: the programs that the configuration defines.
extension EventLoop {
  /// Adopts the command definitions of a new configuration. Running commands continue. Deliveries that waited for a
  /// missing program or for the enabling switch are retried at once.
  func renewCommands(_ configuration: Configuration) {
    let old = commands.book
    let new = configuration.commandBook(isSystem: paths.isSystem, file: paths.configurationPath)
    guard new != old else { return }
    commands.adopt(new)
    renewPolicies()
    let changed = Set(new.commands.keys).union(old.commands.keys).filter {
      new.commands[$0] != old.commands[$0] || new.isEnabled != old.isEnabled
    }
    drive { $0.wakeQueues { changed.contains($0.channel) } }
  }
}

// Desktop events apart from outcomes of deliveries.
extension EventLoop {
  /// The name of the store's note about visible popups. With a shared store each daemon has its own.
  static func popupsNote(of store: any Store, _ paths: RuntimePaths) -> String {
    store.isShared ? ["popups", ProcessFacts.machine, paths.stateFolder].joined(separator: ":") : "popups"
  }

  nonisolated var popupsNote: String { Self.popupsNote(of: store, paths) }

  /// Subscribes to desktop events. `memory` is the popup record of the previous channels.
  func listenToDesktop(remembering memory: String) {
    channels.listen(remembering: memory) { [weak self] event in
      guard let self else { return }
      Task(executorPreference: executor) { await self.received(event) }
    }
  }

  /// Closes popups of an earlier daemon that were answered before it could close them, as when it was killed just then.
  func withdrawAnsweredPopups() async {
    let shown = PopupMemory(keptPopups).occurrences
    guard !shown.isEmpty, let answered = try? await store.read({ try $0.answered(among: shown) }) else { return }
    for occurrence in answered { channels.withdraw(occurrence) }
  }

  /// Returns the record of visible popups to be stored; nil if the store already has it.
  ///
  /// It is stored together with the outcomes. The next daemon can therefore withdraw every popup that is recorded as
  /// shown, whatever ended this daemon.
  func popupsToKeep(with outcomes: [Outcome]) -> String? {
    guard outcomes.contains(where: { $0.queue.channel == .desktop }) else { return nil }
    let memory = channels.desktopMemory
    return memory == keptPopups ? nil : memory
  }

  /// Stores the record of visible popups at shutdown. After a failure these popups merely stay when they are answered elsewhere.
  func rememberDesktop() async {
    let (memory, note) = (channels.desktopMemory, popupsNote)
    guard memory != keptPopups else { return }
    do {
      try await store.write { try $0.setNote(note, memory.isEmpty ? nil : memory) }
    } catch {
      log(.info, "cannot store the list of open popups; ignoring: \(error)")
    }
  }

  private func received(_ event: DesktopEvent) {
    guard !isStopping else { return }
    switch event {
    case .answered(let occurrence, let answer, isOurs: true):
      drive { $0.take(OutboxTransaction.Answer(answer: answer, occurrence: occurrence, way: "desktop")) }
    // A popup from before a restart proves its occurrence only by its own text. Any program on the bus could send that,
    // but only to answer for this user, which it can do anyway. The answer therefore counts for this user only.
    case .answered(let occurrence, let answer, isOurs: false):
      let answer = OutboxTransaction.Answer(answer: answer, occurrence: occurrence, owner: geteuid(), way: "desktop")
      drive { $0.take(answer) }
    case .closed(let occurrence, let reason):
      var daemonEvent = DaemonEvent(
        kind: .closed, occurrence: occurrence, message: "the popup of \"\(occurrence.title)\" \(Self.words(reason))")
      daemonEvent.channel = .desktop
      publish([daemonEvent])
    case .opened: drive { $0.wakeQueues { $0.channel == .desktop } }
    }
  }

  private static func words(_ reason: PopupClosing) -> String {
    switch reason {
    case .expired: "expired without an answer"
    case .dismissed: "was closed by the user without an answer"
    case .closed: "was closed by a program"
    case .unknown: "went away without an answer"
    }
  }
}

// Answers by an endpoint's reply address: which daemon reads which address, and how each message is handled.
extension EventLoop {
  /// Re-evaluates which reply addresses this daemon reads, after a change of endpoints, channels or queues.
  func considerReplies() {
    guard isReady, !isStopping else { return }
    guard !replies.sources.isEmpty || core.outbox.endpoints.values.contains(where: { $0.answersAddress != nil }) else {
      return
    }
    replies.needsCheck = true
    guard replies.task == nil else { return }
    replies.task = spawn { [self] in
      while replies.needsCheck, !isStopping {
        replies.needsCheck = false
        await lookAtReplies()
      }
      replies.task = nil
    }
  }

  private func lookAtReplies() async {
    var held: Set<DeliveryQueue>?
    if let shared = fleet.store {
      do {
        held = try await shared.heldQueues()
      } catch {
        // Keep reading the present addresses. An answer takes effect once, even if two daemons read it.
        timers?.replies.arm(after: .seconds(2))
        return
      }
    }
    guard !isStopping else { return }
    let wanted = core.outbox.endpoints.filter { queue, endpoint in
      endpoint.answersAddress != nil && endpoint.disabled == nil && held?.contains(queue) != false
    }
    for queue in replies.sources.keys where wanted[queue] == nil { leaveReplies(queue) }
    for (queue, endpoint) in wanted {
      guard let address = endpoint.answersAddress else { continue }
      if let known = replies.sources[queue] {
        guard !Self.isTheSame(known.endpoint, endpoint) else {
          // The missing precondition may be met by now.
          if case .waiting = known.phase { openReplies(queue) }
          continue
        }
        leaveReplies(queue)
      }
      replies.sources[queue] = ReplySource(endpoint, address: address, number: replies.nextNumber())
      openReplies(queue)
    }
  }

  private func leaveReplies(_ queue: DeliveryQueue) {
    guard let source = replies.sources.removeValue(forKey: queue) else { return }
    // The channel's state for a removed endpoint is useless to any other endpoint.
    let isGone = core.outbox.endpoints[queue]?.url != source.endpoint.url
    channels.answers(of: source.endpoint.kind).close(source.number, forgetting: isGone)
    staleSummary()
  }

  /// Stops reading for queues that another daemon has taken over.
  func leaveReplies(_ isGoing: (DeliveryQueue) -> Bool) {
    for queue in replies.sources.keys where isGoing(queue) { leaveReplies(queue) }
  }

  /// Reopens all reply streams after a change of channels or a sleep: the open connections may be dead.
  ///
  /// - Parameter former: the channels that hold the connections; nil for the present ones.
  func reopenReplies(from former: Channels? = nil) {
    for (queue, source) in replies.sources {
      (former ?? channels).answers(of: source.endpoint.kind).close(source.number, forgetting: false)
      openReplies(queue)
    }
  }

  /// Opens a reply stream after the last message that took effect.
  private func openReplies(_ queue: DeliveryQueue) {
    guard let source = replies.sources[queue], !isStopping else { return }
    let number = replies.nextNumber()
    replies.sources[queue]?.number = number
    replies.sources[queue]?.phase = .connecting
    replies.sources[queue]?.openedMicroseconds = nil
    // A message that is being recorded is recognized by its id when it is read again.
    replies.sources[queue]?.queue = []
    replies.sources[queue]?.isAnswered = false
    guard !source.isApplying else { return }
    let (store, address) = (store, source.address)
    spawn { [self] in
      do {
        let mark = try await store.read { try ReplyTransaction.mark(of: queue, at: address, in: $0) }
        guard var source = replies.sources[queue], source.number == number, !isStopping else { return }
        // Messages after the mark that changed nothing are skipped, unless another daemon has moved the mark.
        if source.mark != mark || source.last == nil { source.last = mark }
        source.mark = mark
        source.asked = (source.last, SystemClock.monotonicMicroseconds)
        replies.sources[queue] = source
        let reader = channels.answers(of: source.endpoint.kind)
        reader.open(queue, after: source.last, number: number) { [weak self] event in
          guard let self else { return }
          self.executor.queue.async { self.assumeIsolated { $0.receivedReplies(queue, number, event) } }
        }
      } catch {
        replyFailed(queue, number, "the store cannot be read: \((error as? StoreFailure)?.sentence ?? "\(error)")")
      }
    }
  }

  private func receivedReplies(_ queue: DeliveryQueue, _ number: UInt64, _ event: ReplyReader.Event) {
    guard !isStopping, replies.sources[queue]?.number == number else { return }
    switch event {
    case .opened: repliesAreOpen(queue)
    case .came(let messages, let nonsense):
      if nonsense > 0 { refuse(.malformed, queue, count: nonsense) }
      replies.sources[queue]?.queue += messages
      readReplies(queue)
    case .ended(let end) where end.isAnswered:
      // A source that never sends data also counts as open once it answers.
      repliesAreOpen(queue)
      replies.sources[queue]?.backoff = ReplyBackoff()
      replies.sources[queue]?.hasAnswered = true
      replies.sources[queue]?.isAnswered = true
      readReplies(queue)
    case .ended(let end): replyFailed(queue, number, end.reason, asked: end.retryAfter)
    }
  }

  private func repliesAreOpen(_ queue: DeliveryQueue) {
    guard var source = replies.sources[queue] else { return }
    source.phase = .open
    source.openedMicroseconds = SystemClock.monotonicMicroseconds
    if source.isProblemReported {
      log(.notice, "chimed reads the answers of endpoint \"\(queue.channel)\" again", id: .repliesRead)
    }
    // Messages need not wait for the end of a rest once the server is there again.
    if source.problem != nil { handle(.opened(queue)) }
    (source.problem, source.isProblemReported) = (nil, false)
    replies.sources[queue] = source
  }

  /// Schedules a new attempt after the stream ended or could not be opened.
  private func replyFailed(_ queue: DeliveryQueue, _ number: UInt64, _ reason: String, asked: Milliseconds? = nil) {
    guard !isStopping, var source = replies.sources[queue], source.number == number else { return }
    channels.answers(of: source.endpoint.kind).close(number, forgetting: false)
    let now = SystemClock.monotonicMicroseconds
    let lasted = source.openedMicroseconds.map { Milliseconds.milliseconds(Int64((now - $0) / 1_000)) } ?? .zero
    var generator = PooledRandom()
    let wait = source.backoff.wait(lasted: lasted, asked: asked, using: &generator)
    source.number = replies.nextNumber()
    source.phase = .waiting(untilMicroseconds: now + UInt64(wait.rawValue) * 1_000)
    source.openedMicroseconds = nil
    source.queue = []
    source.hasAnswered = false
    source.problem = (reason, source.problem?.since ?? SystemClock.now)
    // Short outages of servers and networks are normal, so only the third failure in a row is logged.
    if source.backoff.failures >= 3, !source.isProblemReported {
      source.isProblemReported = true
      log(
        .warning, "chimed cannot read the answers of endpoint \"\(queue.channel)\": \(reason); it keeps retrying",
        id: .repliesLost, [(.owner, String(queue.owner)), (.endpoint, queue.channel.rawValue)])
    }
    replies.sources[queue] = source
    staleSummary()
    armReplies()
  }

  private func armReplies() {
    let next = replies.sources.values.compactMap { source -> UInt64? in
      if case .waiting(let until) = source.phase { until } else { nil }
    }.min()
    guard let next else { return }
    let now = SystemClock.monotonicMicroseconds
    timers?.replies.arm(after: .milliseconds(Int64((max(next, now) - now + 999) / 1_000)))
  }

  /// Opens a waiting reply stream when something is sent to the endpoint: where both share a connection, it is up now.
  func wakeReplies(_ queue: DeliveryQueue) {
    guard let source = replies.sources[queue], source.endpoint.kind.keepsState, case .waiting = source.phase else {
      return
    }
    openReplies(queue)
  }

  func repliesAreDue() {
    let now = SystemClock.monotonicMicroseconds
    for (queue, source) in replies.sources {
      if case .waiting(let until) = source.phase, until <= now { openReplies(queue) }
    }
    armReplies()
    if fleet.store != nil { considerReplies() }
  }

  // MARK: Answers

  /// Handles the received messages one after another.
  private func readReplies(_ queue: DeliveryQueue) {
    while var source = replies.sources[queue], !source.isApplying, let message = source.queue.popFirst() {
      // A repeated message has been handled already.
      guard message.id != source.last else {
        replies.sources[queue] = source
        channels.answers(of: source.endpoint.kind).settle(message.id, of: source.number)
        continue
      }
      switch message.said {
      case .failure(let fault):
        source.last = message.id
        replies.sources[queue] = source
        refuse(fault, queue)
        channels.answers(of: source.endpoint.kind).settle(message.id, of: source.number)
      case .success(let said):
        guard !core.scheduler.isBuffered, core.degradedMode.isEmpty else {
          return replyFailed(queue, source.number, "the store rejects changes, and answers wait")
        }
        source.isApplying = true
        replies.sources[queue] = source
        apply(said, message, of: queue, source)
      }
    }
    askAgain(queue)
  }

  /// The minimum interval in microseconds between two polls of a server that has nothing new and does not hold the request.
  private static let pollPause: UInt64 = 5_000_000

  /// Polls for the next messages when all received ones are handled.
  private func askAgain(_ queue: DeliveryQueue) {
    guard let source = replies.sources[queue], source.isAnswered, !source.isApplying, source.queue.isEmpty else {
      return
    }
    replies.sources[queue]?.isAnswered = false
    let now = SystemClock.monotonicMicroseconds
    guard let asked = source.asked, asked.after == source.last, now < asked.microseconds + Self.pollPause else {
      return openReplies(queue)
    }
    replies.sources[queue]?.phase = .waiting(untilMicroseconds: asked.microseconds + Self.pollPause)
    armReplies()
  }

  private func apply(
    _ said: ReplyReader.Said, _ message: ReplyReader.Reply, of queue: DeliveryQueue, _ source: ReplySource
  ) {
    let (store, context, wakeupsReader, uptime) = (store, context, wakeupsReader, core.uptime)
    let (id, address, mark, number) = (message.id, source.address, source.mark, source.number)
    spawn { [self] in
      do {
        let (fault, effects, wakeups) = try await store.write { transaction in
          let (fault, effects) = try ReplyTransaction.run(
            said, message: id, of: queue, at: address, after: mark, in: transaction, context, uptime,
            now: SystemClock.now)
          return (fault, effects, try wakeupsReader.read(transaction))
        }
        committed(wakeups, effects, with: context)
        replies.sources[queue]?.mark = id
        didRead(fault, message, queue, number)
      } catch let failure as StoreFailure where failure.isPassing {
        drive { $0.storeFailed(failure, .answersWait) }
        replies.sources[queue]?.isApplying = false
        if replies.sources[queue]?.number == number {
          replyFailed(queue, number, "the store rejects changes, and answers wait")
        } else if replies.sources[queue]?.phase == .connecting {
          openReplies(queue)
        }
      } catch is ReplyTransaction.Superseded {
        leaveReplies(queue)
        considerReplies()
      } catch {
        log(.info, "an answer by endpoint \"\(queue.channel)\" cannot be applied: \(error)")
        didRead(.impossible, message, queue, number)
      }
    }
  }

  private func didRead(
    _ fault: TokenFault?, _ message: ReplyReader.Reply, _ queue: DeliveryQueue, _ number: UInt64
  ) {
    let id = message.id
    if let fault {
      refuse(fault, queue)
      if fault == .malformed || fault == .impossible, let source = replies.sources[queue] {
        channels.answers(of: source.endpoint.kind).explain(message, of: queue, isImpossible: fault == .impossible)
      }
    } else if case .success(.nothing) = message.said {
      // The message only marks how far the source was read.
    } else {
      meters.replies[nil, default: 0] += 1
      replies.sources[queue]?.answers += 1
      replies.sources[queue]?.lastAnswerAt = SystemClock.now
    }
    replies.sources[queue]?.last = id
    replies.sources[queue]?.isApplying = false
    if let source = replies.sources[queue] { channels.answers(of: source.endpoint.kind).settle(id, of: number) }
    guard replies.sources[queue]?.number == number else {
      // A reopen was requested meanwhile and waited for this result.
      if replies.sources[queue]?.phase == .connecting { openReplies(queue) }
      return
    }
    readReplies(queue)
  }

  /// Counts a rejected answer, and logs it at a limited rate.
  private func refuse(_ fault: TokenFault, _ queue: DeliveryQueue, count: Int = 1) {
    meters.replies[fault, default: 0] += count
    replies.sources[queue]?.refused += count
    complain(
      .replyRefused, queue.owner, "an answer by endpoint \"\(queue.channel)\" changes nothing: \(Self.words(fault))",
      .notice)
  }

  private static func words(_ fault: TokenFault) -> String {
    switch fault {
    case .malformed: "it is not an action token, and its words are not understood"
    case .forged: "it is not signed by a secret of the endpoint"
    case .expired: "it has expired"
    case .over: "the reminder was answered already, or has fired again since"
    case .replayed: "it was used before"
    case .foreign: "it refers to nothing of the endpoint's owner"
    case .impossible: "its action is not possible"
    }
  }

  /// Returns the status of each reply source of this daemon.
  func replyStatuses() -> [DeliveryQueue: ReplySource.Status] { replies.sources.mapValues(\.status) }
}

/// The loop's state about other daemons on the same store.
struct FleetState {
  /// The shared store; nil if no other daemon can use it.
  var store: (any SharedStore)?
  /// Resumed at shutdown when nothing is in flight.
  fileprivate var drained: CheckedContinuation<Void, Never>?

  /// The limit for waiting at shutdown; the service manager kills after 15 s (TimeoutStopSec=).
  static let drainLimit = Milliseconds.seconds(8)
}

// Several daemons on one store: leases of queues come and go, and other daemons write into queues of this one.
extension EventLoop {
  /// Subscribes to fleet events. Runs before the first read of the store.
  func joinFleet() async {
    guard let shared = store as? any SharedStore else { return }
    fleet.store = shared
    shared.listen { [weak self] event in
      guard let self else { return }
      self.executor.queue.async { self.assumeIsolated { $0.take(event) } }
    }
    if let members = try? await shared.members() { drive { $0.join(members) } }
  }

  private func take(_ event: FleetEvent) {
    drive { $0.take(event) }
    switch event {
    case .leave(let queues):
      leaveReplies { queues.contains($0) }
      tenants.sharedAt = 0
      considerShares()
      considerReplies()
    case .taken:
      tenants.sharedAt = 0
      considerShares()
      considerReplies()
    case .leaseExpired:
      tell(event)
      considerReplies()
    case .endedSessions, .sessionsStay: tell(event)
    case .outboxChanged, .endpointsChanged: break
    }
  }

  /// Logs an event for the operators of the fleet.
  private func tell(_ event: FleetEvent) {
    switch event {
    case .leaseExpired(let span):
      log(
        .warning,
        "this daemon sent the database no heartbeat for \(span.rawValue / 1_000) s: other daemons may have taken over its "
          + "leases and ended its sessions; it takes new leases", id: .leaseExpired)
    case .endedSessions(let count, let process, let name):
      log(
        .warning,
        "the lease of chimed on \(name) (process \(process)) has expired: this daemon ended \(count) of its database "
          + "\(count == 1 ? "session" : "sessions"), so that nothing waits for its claims",
        id: .sessionsEnded)
    case .sessionsStay(let failure):
      log(
        .warning,
        "cannot end the database sessions of a lost daemon: \(failure.sentence); give all daemons the same user of the "
          + "database", id: .sessionsEnded)
    default: break
    }
  }

  // MARK: Shutdown

  /// Releases all leases. Other daemons take them over as soon as no delivery is in flight, so this waits for that.
  func leaveFleet() async {
    guard let shared = fleet.store else { return }
    shared.retire()
    leaveReplies { _ in true }
    drive { $0.drain() }
    guard await (try? shared.members())?.contains(where: { $0.isLiving && !$0.isSelf }) ?? false else { return }
    timers?.fleet.arm(after: FleetState.drainLimit)
    await withCheckedContinuation { waiting in
      fleet.drained = waiting
      if core.outbox.isNothingUnderWay { endDraining() }
    }
    timers?.fleet.disarm()
  }

  /// Ends the wait at shutdown, because nothing is in flight or the time is up.
  func endDraining() {
    fleet.drained?.resume()
    fleet.drained = nil
  }

  // MARK: Changes by other daemons

  /// Polls for changes by other daemons.
  func checkOtherDaemons() {
    considerShares()
    drive { $0.checkOtherDaemons(shown: channels.unanswered) }
  }

  /// Schedules the next poll.
  func arm(othersAfter wait: Milliseconds) {
    databaseClockHasStepped()
    timers?.others.arm(after: wait)
  }

  /// Handles a step of the database's clock, which is the reference clock.
  private func databaseClockHasStepped() {
    let step = SystemClock.takeStep()
    if step != .zero { clockHasStepped(by: step, slept: .zero, ofDatabase: true) }
  }
}
