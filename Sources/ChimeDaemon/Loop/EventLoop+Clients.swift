import CLinux
import ChimeControl
import ChimeCore
import ChimeSchedule
import Dispatch
import Glibc
import Varlink

extension EventLoop {
  // MARK: Descriptors

  func pollerIsReady() {
    guard let poller else { return }
    for (token, readiness) in poller.ready() {
      switch watched[token] {
      case .listener: accept(token)
      case .client: clientIsReady(token, readiness)
      case .clock: clockIsReady()
      case .link: linkIsReady()
      case .folders: foldersAreReady()
      case .bus: busIsReady(token)
      case .signals: signalIsReady()
      // An earlier event of this batch removed the descriptor.
      case nil: continue
      }
    }
  }

  private func signalIsReady() {
    var information = signalfd_siginfo()
    while Glibc.read(signals, &information, MemoryLayout<signalfd_siginfo>.size) > 0 {
      switch Int32(information.ssi_signo) {
      case SIGHUP:
        // `reload` logs its errors.
        Task { await withTaskExecutorPreference(executor) { try? await reload() } }
      // A service manager sends SIGCONT after SIGTERM to continue a stopped process.
      case SIGCONT: if !isStopping { goesOn() }
      default: stop()
      }
    }
  }

  // MARK: Connections

  private func accept(_ token: Poller.Token) {
    guard let listener = listeners[token] else { return }
    // The number is bounded, so that timers run in between.
    for _ in 0..<64 {
      let socket = chime_accept(listener)
      if socket >= 0 {
        welcome(socket)
      } else if errno == EMFILE || errno == ENFILE {
        shedClient(listener, errno)
        return
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR && errno != ECONNABORTED {
        // For example ENOMEM. The listener stays ready, and an immediate retry would fail the same way.
        restListeners()
        return
      }
    }
  }

  /// Logs a message that clients can provoke at will, at a limited rate.
  func complain(
    _ id: MessageID, _ uid: UInt32?, _ sentence: String, _ level: Configuration.LogLevel = .warning
  ) {
    guard let suppressed = rateLimitedLog.next(id, uid, at: .now()) else { return }
    let more = suppressed > 0 ? " (and \(suppressed) more times since the last such message)" : ""
    log(level, sentence + more, id: id, uid.map { [(.uid, String($0))] } ?? [])
  }

  func turnAway(_ socket: Int32, _ failure: ControlFailure) {
    let reply = failure.reply(interface: DaemonInterface.name).bytes
    _ = reply.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    close(socket)
  }

  private func welcome(_ socket: Int32) {
    var peer = chime_peer()
    guard chime_peer_credentials(socket, &peer) == 0 else {
      close(socket)
      return
    }
    guard clients.count < configuration.maxConnections,
      clients.count(of: peer.uid) < configuration.maxConnectionsPerUser
    else {
      turnAway(socket, .limitExceeded("connections"))
      complain(.connectionRejected, peer.uid, "a client of uid \(peer.uid) was turned away: too many connections")
      return
    }
    let caller = paths.caller(uid: peer.uid, gid: peer.gid)
    if caller == nil {
      complain(.clientRefused, peer.uid, "uid \(peer.uid) may not use this daemon and was refused")
    }
    let limits = VarlinkLimits(
      maxMessageBytes: configuration.maxMessageBytes, maxNesting: configuration.maxNesting,
      maxQueuedBytes: configuration.streamQueueBytes)
    let connection = ServerConnection(
      service: service, limits: limits, refusal: caller == nil ? ServiceError.permissionDenied : nil)
    do {
      guard let token = try poller?.add(socket, .readable) else { return }
      watched[token] = .client
      clients[token] = Clients.Client(
        socket: socket, caller: caller ?? Caller(uid: peer.uid, owner: peer.uid, sees: peer.uid),
        gid: peer.gid, connection: connection)
    } catch {
      close(socket)
      log(.warning, "cannot poll a client; ignoring \(error.call): \(error.reason)")
    }
  }

  private func clientIsReady(_ token: Poller.Token, _ readiness: Poller.Readiness) {
    if readiness.contains(.readable) || readiness.isHungUp { clients.change(token, Self.read) }
    if readiness.isHungUp { clients.change(token, Self.leave) }
    pump(token)
  }

  /// Notes that the client has closed both directions. Its calls get no answer; its `oneway` calls still run.
  private static func leave(_ client: inout Clients.Client) {
    client.isGone = true
    if client.life != nil { client.connection.disconnect() }
  }

  /// Reads at most 256 KiB, so that no client monopolizes the loop.
  private static func read(into client: inout Clients.Client) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 65_536) { buffer in
      for _ in 0..<4 where client.connection.wantsRead {
        let count = Glibc.read(client.socket, buffer.baseAddress, buffer.count)
        if count > 0 {
          client.connection.receive(UnsafeBufferPointer(rebasing: buffer[..<count]).span)
          if count < buffer.count { return }
        } else if count == 0 {
          client.connection.receiveEnd()
          // A watcher that is gone takes no more events, although its call is open.
          if client.watches != nil { client.connection.disconnect() }
          return
        } else if errno != EINTR {
          if errno != EAGAIN { client.connection.disconnect() }
          return
        }
      }
    }
  }

  /// Performs the connection's actions, writes its output, and updates its poll interest.
  func pump(_ token: Poller.Token) {
    guard var client = clients[token] else { return }
    var ends = false
    var turn = Self.messagesATurn
    repeat {
      flush(&client)
      while let action = client.connection.next(within: &turn) {
        switch action {
        case .perform(let call): perform(call, token, &client)
        case .upgrade(let call, _):
          // No method supports an upgrade, so the connection ends.
          log(.debug, "a client asked for an upgrade in call \(call)")
          ends = true
        case .close(let reason):
          logEnd(reason, client.caller)
          ends = true
        }
      }
    } while !ends && turn > 0 && client.connection.wantsWrite && flush(&client)
    if ends {
      drop(token)
      return
    }
    updateDeadlines(&client)
    var interest: Poller.Readiness = []
    if turn == 0 {
      clients.waitForTurn(token)
      if clients.waiting == 1 { callForTurns() }
    } else if client.connection.wantsRead {
      interest.insert(.readable)
    }
    if client.connection.wantsWrite { interest.insert(.writable) }
    poller?.change(token, interest)
    clients[token] = client
    if !client.connection.wantsWrite { streamReaders.end(token, true) }
    armClientTimer()
  }

  /// The number of messages that are read from one client before others get their turn.
  private static let messagesATurn = 64

  private func callForTurns() { executor.queue.async { self.assumeIsolated { $0.giveTurns() } } }

  /// Continues with clients that sent more than one turn's messages. Handles at most 16, so that timers and others run
  /// in between.
  private func giveTurns() {
    let first = clients.takeTurns(atMost: 16)
    // `pump` calls for turns when a client joins an empty line. This call covers a line that is not empty.
    if clients.waiting > 0 { callForTurns() }
    for token in first { pump(token) }
  }

  /// Writes pending output. Returns whether anything was written.
  @discardableResult
  private func flush(_ client: inout Clients.Client) -> Bool {
    let socket = client.socket
    var written = 0
    var isBroken = false
    client.connection.flush { bytes in
      let count = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno != EAGAIN, errno != EINTR { isBroken = true }
      written += max(0, count)
      return count
    }
    if isBroken { client.connection.disconnect() }
    return written > 0
  }

  private func perform(_ call: VarlinkCall, _ token: Poller.Token, _ client: inout Clients.Client) {
    guard !client.isGone || call.oneway else {
      client.connection.disconnect()
      return
    }
    let caller: Caller
    do throws(ControlFailure) {
      caller = try self.caller(of: call, from: &client)
    } catch {
      let interface = call.method.lastIndex(of: ".").map { String(call.method[..<$0]) } ?? ""
      refuse(call, error.reply(interface: interface), &client)
      return
    }
    if call.method == DaemonInterface.Monitor.method {
      client.watches = (call.id, caller)
      answer(DaemonInterface.Monitor.Reply(events: []), call.id, continues: true, &client)
      return
    }
    let life = RequestLife()
    client.life = call.oneway ? nil : life
    let request = QueuedRequest(call: call, token: token, caller: caller, life: life, wait: wait(for: call))
    let number = requests.add(request, owner: caller.owner, weight: RequestHandler.weight(of: call.method))
    watch(request, number)
    beginRequests()
  }

  /// A call that is queued or being answered.
  struct QueuedRequest: Sendable {
    let call: VarlinkCall
    let token: Poller.Token
    let caller: Caller
    let life: RequestLife
    /// The bounded wait for a shared store; nil if the request waits without limit.
    let wait: StoreWait?
  }

  /// Starts the requests whose turn has come.
  func beginRequests() {
    while let entry = requests.next() {
      let request = entry.request
      // Each long request gets its own queue, so that it delays no other. Only a few run at a time.
      let executor = entry.weight == .light ? requestExecutor : DispatchExecutor(label: "io.chime.requests.long")
      let handler = RequestHandler(
        requestContext: RequestContext(
          store: store(for: request, executor), wakeupsReader: wakeupsReader, context: context, secrets: secrets,
          channels: channels, commands: commands, loop: self, configuration: configuration, caller: request.caller,
          life: request.life, tenantNames: tenants.names, unrecorded: core.degradedMode.unrecordedOccurrences,
          uptime: core.uptime,
          now: SystemClock.now))
      let number = entry.number
      if RequestHandler.isStreamed(request.call) {
        Task(executorPreference: executor) { await self.stream(handler, request, number) }
      } else {
        Task(executorPreference: executor) {
          let reply = request.life.isOver ? nil : await handler.answer(request.call)
          await self.finished(number, reply, to: request)
        }
      }
    }
  }

  private func finished(_ number: Int, _ reply: VarlinkReply?, to request: QueuedRequest) {
    let isAwaited = finished(number)
    if let reply, isAwaited { replied(reply, to: request.call, request.token) }
  }

  /// Ends a request, starts the next, and returns whether the ended one still needs an answer.
  @discardableResult
  func finished(_ number: Int) -> Bool {
    requests.end(number)
    beginRequests()
    return waits.end(number)
  }

  private func refuse(_ call: VarlinkCall, _ reply: VarlinkReply, _ client: inout Clients.Client) {
    do {
      _ = try client.connection.send(reply, to: call.id)
    } catch {
      log(.error, "a reply to \(call.method) could not be sent: \(error)")
      client.connection.disconnect()
    }
  }

  func replied(_ reply: VarlinkReply, to call: VarlinkCall, _ token: Poller.Token) {
    do {
      try clients.change(token) { client in
        if try client.connection.send(reply, to: call.id) == .ended { client.life = nil }
      }
    } catch {
      log(.error, "a reply to \(call.method) could not be sent: \(error)")
      clients.change(token) { $0.connection.disconnect() }
    }
    pump(token)
  }

  private func answer(
    _ parameters: some JSONWritable, _ call: VarlinkCall.ID, continues: Bool, _ client: inout Clients.Client
  ) {
    do {
      try client.connection.reply(parameters, to: call, continues: continues)
    } catch {
      log(.error, "a reply could not be encoded: \(error)")
      client.connection.disconnect()
    }
  }

  private func logEnd(_ reason: ServerConnection.CloseReason, _ caller: Caller) {
    guard !isStopping else { return }
    switch reason {
    case .peerClosed, .refused: return
    case .slowReader:
      complain(.clientDisconnected, caller.uid, "a reader that did not keep up was disconnected", .notice)
    default: complain(.clientDisconnected, caller.uid, "a client was disconnected: \(reason)", .info)
    }
  }

  func drop(_ token: Poller.Token) {
    guard let client = clients[token] else { return }
    client.life?.end()
    if client.life != nil { requests.remove { $0.token == token } }
    streamReaders.end(token, false)
    poller?.remove(token)
    watched[token] = nil
    clients[token] = nil
    close(client.socket)
    armClientTimer()
    if clients.count == 0 { endFarewell() }
  }

  // MARK: Shutdown

  /// Answers the pending requests and reads no new ones. A later write by a client fails at once, so the client knows
  /// that its call was not taken and can retry it with the next daemon.
  func farewell() async {
    for token in clients.tokens {
      guard let client = clients[token] else { continue }
      shutdown(client.socket, Int32(SHUT_RD))
      clientIsReady(token, .readable)
    }
    guard clients.count > 0 else { return }
    await withCheckedContinuation { continuation in
      farewellEnd = continuation
      executor.queue.asyncAfter(deadline: .now() + .seconds(2)) { [unowned self] in
        assumeIsolated { $0.endFarewell() }
      }
    }
  }

  private func endFarewell() {
    farewellEnd?.resume()
    farewellEnd = nil
  }

  // MARK: Deadlines of clients

  private func updateDeadlines(_ client: inout Clients.Client) {
    let limit = DispatchTimeInterval.milliseconds(Int(configuration.messageTimeout.rawValue))
    if let message = client.connection.unfinishedMessage {
      if client.unfinished?.message != message { client.unfinished = (message, .now() + limit) }
    } else {
      client.unfinished = nil
    }
    if client.connection.isEnding {
      if client.drainsUntil == nil { client.drainsUntil = .now() + limit }
    } else {
      client.drainsUntil = nil
    }
  }

  /// Arms the timer for the earliest deadline. All deadlines have the same span, so an armed timer never needs an earlier time.
  private func armClientTimer() {
    guard clients.hasDeadlines != clients.timerIsArmed else { return }
    guard clients.hasDeadlines, let deadline = clients.earliestDeadline else {
      clients.timerIsArmed = false
      arm(clientsAfter: nil)
      return
    }
    clients.timerIsArmed = true
    let now = DispatchTime.now()
    let wait = deadline > now ? Int64((deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000) + 1 : 0
    // The 20 ms minimum groups clients whose deadlines follow closely.
    arm(clientsAfter: .milliseconds(max(20, wait)))
  }

  /// Drops the clients whose deadline has passed. After a standstill of the daemon the input may be older than the
  /// deadline, so it is read first. A check that itself comes more than `standstill` late grants the full span once more.
  func expireClients(at now: DispatchTime = .now()) {
    clients.timerIsArmed = false
    for token in clients.expired(at: now) {
      if clients[token]?.isGone == false {
        clients.change(token, Self.read)
        pump(token)
      }
      guard var client = clients[token], let deadline = client.deadline, deadline <= now else { continue }
      guard deadline + Self.standstill > now else {
        client.unfinished = nil
        client.drainsUntil = nil
        updateDeadlines(&client)
        clients[token] = client
        continue
      }
      let isReader = client.drainsUntil != nil
      complain(
        .clientDisconnected, client.caller.uid,
        isReader ? "a reader that did not keep up was disconnected" : "a slow client was disconnected",
        isReader ? .notice : .info)
      drop(token)
    }
    armClientTimer()
  }

  /// The lateness of a check from which the daemon is taken to have stood still.
  private static let standstill = DispatchTimeInterval.seconds(1)

  // MARK: The stream of events

  func streamToWatchers(_ daemonEvents: [DaemonEvent]) {
    let watchers = clients.watchers
    guard !watchers.isEmpty else { return }
    let time = WireMapper(context: context, now: SystemClock.now).time(SystemClock.now)
    // Watchers with the same visibility share one encoding.
    var replies: [UInt32?: VarlinkReply] = [:]
    for (token, call, caller) in watchers {
      if replies[caller.sees] == nil {
        let events = daemonEvents.filter { $0.owner == nil || caller.sees == nil || $0.owner == caller.sees }
          .map { $0.wire(at: time, tenants.names) }
        guard !events.isEmpty else { continue }
        replies[caller.sees] = try? VarlinkReply(DaemonInterface.Monitor.Reply(events: events), continues: true)
      }
      guard let reply = replies[caller.sees] else { continue }
      clients.change(token) { client in
        do {
          if try client.connection.send(reply, to: call) == .ended { client.watches = nil }
        } catch {
          client.connection.disconnect()
        }
      }
      pump(token)
    }
  }
}

// Streamed replies: a part is sent when the client has taken the previous one, so that a slow reader blocks only itself.

/// The waits for clients to take the part that was sent.
struct StreamReaders {
  private var waiting: [Poller.Token: (number: Int, done: CheckedContinuation<Bool, Never>)] = [:]
  private var count = 0

  /// Adds a wait and returns its number.
  mutating func add(_ token: Poller.Token, _ done: CheckedContinuation<Bool, Never>) -> Int {
    count += 1
    waiting[token] = (count, done)
    return count
  }

  /// Ends the wait for a client, if there is one.
  mutating func end(_ token: Poller.Token, _ isTaken: Bool) {
    waiting.removeValue(forKey: token)?.done.resume(returning: isTaken)
  }

  func isWaiting(_ number: Int, _ token: Poller.Token) -> Bool { waiting[token]?.number == number }
}

extension EventLoop {
  /// The time that a reader may take for one part.
  private static let patience = DispatchTimeInterval.seconds(60)

  /// The number of streamed replies that an owner may have in flight. Each holds a file, and a reader that takes a
  /// minute for each part holds it for days.
  static let mostStreams = 2

  /// Answers a call in parts until the last part is sent or the reader is gone.
  nonisolated func stream(_ handler: RequestHandler, _ request: QueuedRequest, _ number: Int) async {
    let (call, token) = (request.call, request.token)
    guard await beginStream(handler.caller.owner) else {
      await finished(number)
      let refusal = ControlFailure.limitExceeded(
        "\(Self.mostStreams) backups, restores and exports are running; end one of them, or wait until one has ended")
      await replied(refusal.reply(interface: TrackersInterface.name), to: call, token)
      return
    }
    await streamParts(handler, call, token, number)
    await endStream(handler.caller.owner)
  }

  private func beginStream(_ owner: UInt32) -> Bool {
    guard streams[owner, default: 0] < Self.mostStreams else { return false }
    streams[owner, default: 0] += 1
    return true
  }

  private func endStream(_ owner: UInt32) {
    streams[owner] = streams[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  private nonisolated func streamParts(
    _ handler: RequestHandler, _ call: VarlinkCall, _ token: Poller.Token, _ number: Int
  ) async {
    do {
      let made: (any ReplyParts)?
      do {
        made = try handler.life.isOver ? nil : await handler.parts(of: call)
      } catch {
        await finished(number)
        throw error
      }
      // The remaining work depends on the reader and blocks nobody.
      if made?.keepsTurn != true { await finished(number) }
      guard let parts = made else { return }
      var fault: (any Error)?
      do {
        try await send(parts, to: call, token)
      } catch {
        fault = error
      }
      await parts.end()
      if parts.keepsTurn { await finished(number) }
      if let fault { throw fault }
    } catch {
      await replied(ControlFailure(error).reply(interface: TrackersInterface.name), to: call, token)
    }
  }

  private nonisolated func send(_ parts: any ReplyParts, to call: VarlinkCall, _ token: Poller.Token) async throws {
    while true {
      let reply = try await parts.next()
      guard await sendPart(reply, to: call, token), reply.continues else { return }
    }
  }

  /// Sends a part and waits until the client has taken it. Returns false after the last part or if the reader is gone.
  private func sendPart(_ reply: VarlinkReply, to call: VarlinkCall, _ token: Poller.Token) async -> Bool {
    replied(reply, to: call, token)
    guard reply.continues, let client = clients[token], client.connection.activeCall == call.id else { return false }
    guard client.connection.wantsWrite else { return true }
    return await withCheckedContinuation { continuation in
      let number = streamReaders.add(token, continuation)
      executor.queue.asyncAfter(deadline: .now() + Self.patience) { [unowned self] in
        assumeIsolated { $0.giveUp(number, token) }
      }
    }
  }

  private func giveUp(_ number: Int, _ token: Poller.Token) {
    // After a standstill of the daemon the client may have read meanwhile.
    pump(token)
    guard streamReaders.isWaiting(number, token), let client = clients[token] else { return }
    complain(.clientDisconnected, client.caller.uid, "a reader that did not keep up was disconnected", .notice)
    drop(token)
  }
}

/// The requests that wait for a database on the network, whose connection may be lost without notice.
struct RequestWaits {
  fileprivate var watched: [Int: (request: EventLoop.QueuedRequest, wait: StoreWait)] = [:]
  /// Requests that were answered before their change ended.
  fileprivate var answered: Set<Int> = []
  /// Requests whose wait has ended and that still have to notice it.
  fileprivate var ended: Set<Int> = []
  fileprivate var isArmed = false
  fileprivate let stranded = StrandedCalls()

  /// Ends the wait of a request, and returns whether the request still needs an answer.
  mutating func end(_ number: Int) -> Bool {
    watched[number] = nil
    return answered.remove(number) == nil
  }
}

// A client learns within 4 s that the database does not answer. A lost connection reports an error only after
// tcp_user_timeout, which allows for short network outages. The loop's own writes wait for that, because the loop must
// know their result.
extension EventLoop {
  /// The interval between checks of the waiting requests.
  private static let waitsEvery = Milliseconds.milliseconds(500)
  /// The time that a request has to run after its wait has ended.
  private static let turnAfterEnd = Milliseconds.milliseconds(200)
  /// The wait after which the database is probed.
  private static let waitBeforeProbe = Milliseconds.seconds(1)
  /// The longest wait of a request, and the minimum silence of the database for it to apply. A database that is merely
  /// busy still answers the fleet's thread.
  private static let longestWait = Milliseconds.seconds(3)
  private static let longestSilence = Milliseconds.milliseconds(1_500)

  /// Returns the bounded wait of a request. Returns nil if it may wait without limit, because it is long or `oneway`.
  func wait(for call: VarlinkCall) -> StoreWait? {
    guard fleet.store != nil, !call.oneway else { return nil }
    if RequestHandler.isStreamed(call) || call.method == TrackersInterface.Restore.method { return nil }
    let wait = StoreWait(waits.stranded)
    if waits.stranded.isFull { _ = wait.giveUp(Self.silence) }
    return wait
  }

  /// Returns the store that a request uses.
  func store(for request: QueuedRequest, _ executor: DispatchExecutor) -> any Store {
    guard let shared = fleet.store, let wait = request.wait else { return store }
    wait.begin()
    return RequestStore(base: shared, wait: wait, executor: executor)
  }

  func watch(_ request: QueuedRequest, _ number: Int) {
    guard let wait = request.wait else { return }
    waits.watched[number] = (request, wait)
    armWaits()
  }

  private func armWaits() {
    guard !waits.isArmed, !waits.watched.isEmpty else { return }
    waits.isArmed = true
    timers?.waits.arm(after: waits.ended.isEmpty ? Self.waitsEvery : Self.turnAfterEnd)
  }

  func lookAtWaits() {
    waits.isArmed = false
    guard let shared = fleet.store else { return }
    waits.watched = waits.watched.filter { !$0.value.request.life.isOver }
    let times = waits.watched.compactMapValues { $0.wait.time }
    if let longest = times.values.max(), longest >= Self.waitBeforeProbe { shared.probe() }
    if let silence = shared.unansweredFor, silence >= Self.longestSilence {
      for number in times.filter({ $0.value >= Self.longestWait }).keys.sorted() {
        // A queued request gets its turn and finds that the store does not answer. A request behind one with an
        // unlimited wait is refused here.
        if waits.ended.contains(number) { refuse(number) } else { giveUp(number) }
      }
      beginRequests()
    }
    waits.ended.formIntersection(waits.watched.keys)
    armWaits()
  }

  private func giveUp(_ number: Int) {
    guard let (request, wait) = waits.watched[number] else { return }
    waits.ended.insert(number)
    guard case .unknown = wait.giveUp(Self.silence) else { return }
    waits.watched[number] = nil
    waits.answered.insert(number)
    requests.end(number)
    reply("\(Self.silence.sentence); it is unknown whether the change was made", to: request)
  }

  /// Refuses a request that is still queued after its wait has ended.
  private func refuse(_ number: Int) {
    guard requests.remove(number), let (request, _) = waits.watched.removeValue(forKey: number) else { return }
    reply(Self.silence.sentence, to: request)
  }

  private static let silence = StoreFailure.unavailable(
    "the database does not answer: check that PostgreSQL runs and can be reached; chimed reconnects by itself")

  private func reply(_ reason: String, to request: QueuedRequest) {
    let call = request.call
    let interface = call.method.lastIndex(of: ".").map { String(call.method[..<$0]) } ?? ""
    replied(ControlFailure.storeUnavailable(reason).reply(interface: interface), to: call, request.token)
  }
}

// Tracker files beside the store: uploads, which expire after ten minutes, and photos without a reference.

/// The state of the cleanup.
struct AttachmentState {
  fileprivate var sweepIsPlanned = false
  fileprivate var photosCleanedAt: Instant?
}

extension EventLoop {
  /// Schedules the removal of unused uploads, some time after the last part arrived.
  func sweepUploadsLater() {
    guard !attachments.sweepIsPlanned else { return }
    attachments.sweepIsPlanned = true
    executor.queue.asyncAfter(deadline: .now() + .seconds(605)) { [unowned self] in
      assumeIsolated { $0.sweepUploads() }
    }
  }

  private func sweepUploads() {
    attachments.sweepIsPlanned = false
    if uploads.sweep() > 0 { sweepUploadsLater() }
  }

  /// Removes photos that nothing has referred to for a month, at most once a day.
  func cleanPhotos(now: Instant) async throws {
    if let last = attachments.photosCleanedAt, last <= now, now - last < .days(1) { return }
    attachments.photosCleanedAt = now
    for owner in photos.owners where !isStopping {
      let used = try await store.read { try BackupRecords.photos(of: owner, $0) }
      let count = photos.clean(owner, keeping: used, now: now)
      if count > 0 { log(.info, "\(count) unused \(count == 1 ? "photo was" : "photos were") removed") }
    }
  }
}

// Tenants: for whom a client acts, and at which rate it may make requests.
extension EventLoop {
  /// Adopts the configured tenants. Lookups in the system's user database run on another thread. Requests of a new
  /// tenant are refused until the store has given it a number.
  func adoptTenants(_ definitions: [String: TenantDefinition]) async {
    let members = await Task(executorPreference: requestExecutor) { Tenants.Members(of: definitions) }.value
    for problem in members.problems { log(.warning, problem) }
    tenants.adopt(definitions, members)
    await learnTenants()
  }

  /// Reads the tenants' numbers from the store, which assigns numbers to new tenants.
  func learnTenants() async {
    do {
      tenants.know(try await store.read { try $0.tenants() })
      let unknown = tenants.unknown
      if !unknown.isEmpty {
        tenants.know(
          try await store.write { transaction in try unknown.map { try transaction.enrol(tenant: $0) } })
      }
      await renewShares()
    } catch {
      log(.warning, "the tenants could not be read from the store; the next request retries: \(error)")
    }
  }

  // MARK: Deliveries

  /// Reads which share of the tenants' delivery rate belongs to this daemon, and applies it to the queues.
  func renewShares() async {
    let limited = tenants.seats.values.filter { $0.definition.deliveriesPerSecond != nil }.compactMap(\.number)
    if let shared = fleet.store, !limited.isEmpty {
      tenants.sharedAt = SystemClock.monotonicMicroseconds
      do {
        tenants.share(try await shared.shares(of: limited))
      } catch {
        // The old share stays in force: queues only move when the database is reachable.
        log(.debug, "this daemon's parts of the tenants' delivery limits could not be read; ignoring: \(error)")
      }
    }
    renewOwners()
  }

  /// Refreshes the shares if the last refresh is old enough. Any daemon may have written for a tenant into a queue that
  /// had nothing pending. Called with each poll of other daemons' changes.
  func considerShares() {
    let isLately = SystemClock.monotonicMicroseconds - tenants.sharedAt < Tenants.sharingPause
    guard fleet.store != nil, !isLately, !core.scheduler.policies.owners.isEmpty else { return }
    spawn { [self] in await renewShares() }
  }

  private func renewOwners() {
    let policies = policies(of: core.outbox.endpoints.values)
    if policies != core.scheduler.policies { handle(.policies(policies, renewed: [])) }
  }

  // MARK: Requests

  /// Returns the caller of a request: the client itself, or the tenant for which it acts.
  ///
  /// - Throws: the reason why the call is refused.
  func caller(of call: VarlinkCall, from client: inout Clients.Client) throws(ControlFailure) -> Caller {
    guard let name = call.text("tenant") else { return client.caller }
    guard let seat = tenants.seats[name], mayAct(&client, for: seat) else {
      let shown = TOMLText.harmless(String(name.prefix(64)))
      complain(
        .tenantRefused, client.caller.uid,
        "uid \(client.caller.uid) was refused: it may not act for tenant \"\(shown)\", or there is no such tenant")
      throw .tenantAccessDenied(String(name.prefix(64)))
    }
    if let wait = tenants.seats[name]?.requests?.take(at: SystemClock.monotonicMicroseconds * 1_000) {
      tenants.seats[name]?.refused += 1
      let rate = seat.definition.requestsPerSecond ?? 0
      complain(
        .tenantLimited, client.caller.uid, "tenant \(name) has exceeded its \(rate) requests per second", .notice)
      throw .tooMany(
        "tenant \"\(name)\" may make \(rate) requests per second: send fewer, or ask for a higher requestsPerSecond "
          + "in [tenants.\(name)] of the configuration",
        retryAfter: Milliseconds(rawValue: max(1, Int64((wait + 999_999) / 1_000_000))))
    }
    tenants.seats[name]?.taken += 1
    guard let number = seat.number else {
      spawn { [self] in await learnTenants() }
      throw .storeUnavailable("tenant \"\(name)\" has no number in the store yet: try again")
    }
    return Caller(uid: client.caller.uid, owner: number, sees: number, tenant: seat.definition)
  }

  /// Returns whether the client may act for a tenant. A client that sees everyone's data may act for every tenant.
  private func mayAct(_ client: inout Clients.Client, for seat: Tenants.TenantState) -> Bool {
    if client.caller.sees == nil || seat.users.contains(client.caller.uid) { return true }
    guard !seat.groups.isEmpty else { return false }
    let groups = client.groups ?? SystemUsers.groups(of: client.caller.uid, gid: client.gid)
    client.groups = groups
    return !groups.isDisjoint(with: seat.groups)
  }

  /// Returns the tenants that a caller may see: the one for which it acts, else all for which it may act.
  func seats(for caller: Caller) -> [Tenants.TenantState] {
    let seats: [Tenants.TenantState]
    if let tenant = caller.tenant {
      seats = [tenants.seats[tenant.name]].compactMap { $0 }
    } else if caller.sees == nil {
      seats = Array(tenants.seats.values)
    } else {
      let groups = tenants.seats.isEmpty ? [] : SystemUsers.groups(of: caller.uid, gid: .max)
      seats = tenants.seats.values.filter {
        $0.users.contains(caller.uid) || !$0.groups.isDisjoint(with: groups)
      }
    }
    return seats.sorted { $0.definition.name < $1.definition.name }
  }
}

extension EventLoop {
  /// Runs diagnostics on another thread. Concurrent calls with the same argument share one run.
  ///
  /// - Parameter sees: the owner whose secrets may be named; nil for all.
  func diagnose(for sees: UInt32?) async -> DaemonInterface.Diagnostics {
    if let task = diagnosticsTasks[sees] { return await task.value }
    let wantsWake = (try? await store.read { try $0.wakeups().nextWake != nil })
    let needsDesktop = paths.isSystem ? false : await needsDesktop()
    // Another call may have started a run while the store was read.
    if let task = diagnosticsTasks[sees] { return await task.value }
    let collector = DiagnosticsCollector(paths: paths, inForce: configuration, zones: zones, sees: sees)
    let problem = wakeAlarm.problem
    let task = Task {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "io.chime.diagnostics").async {
          continuation.resume(
            returning:
              collector.run(wakeProblem: problem, wantsWake: wantsWake, needsDesktop: needsDesktop))
        }
      }
    }
    diagnosticsTasks[sees] = task
    let diagnostics = await task.value
    diagnosticsTasks[sees] = nil
    return diagnostics
  }

  /// Returns whether an active reminder uses the desktop; nil if the search stopped before it was certain.
  ///
  /// On most machines the first reminder decides. The search reads the next due ones first, at most 10,000, because a
  /// person waits for it.
  private func needsDesktop() async -> Bool? {
    var filter = ReminderFilter(includesFinished: false)
    for _ in 0..<20 {
      let found = try? await store.read { [filter] transaction in
        let records = try transaction.reminders(filter, page: Page(limit: 500))
        return (
          isNeeded: records.contains { $0.reminder.channels(atRepeat: .max).contains(.desktop) },
          next: records.count + transaction.unreadable.count < 500 ? nil : transaction.listedThrough
        )
      }
      guard let found else { return nil }
      if found.isNeeded { return true }
      guard let next = found.next else { return false }
      filter.after = next
    }
    return nil
  }
}
