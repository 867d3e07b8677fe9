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
    guard let untold = rateLimitedLog.next(id, uid, at: .now()) else { return }
    let more = untold > 0 ? " (and \(untold) times since this was said last)" : ""
    log(level, sentence + more, id: id, uid.map { [(.uid, String($0))] } ?? [])
  }

  func turnAway(_ socket: Int32, _ failure: ControlFailure) {
    let reply = failure.reply(interface: DaemonInterface.name).bytes
    _ = reply.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
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
      complain(.clientTurnedAway, peer.uid, "a client of uid \(peer.uid) was turned away: too many connections")
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
      log(.warning, "a client could not be watched; ignoring \(error.call): \(error.reason)")
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
      let executor = entry.weight == .light ? requestExecutor : DispatchExecutor(label: "io.chime.desk.long")
      let handler = RequestHandler(
        requestContext: RequestContext(
          store: store(for: request, executor), wakeupsReader: wakeupsReader, context: context, secrets: secrets,
          channels: channels, commands: commands, loop: self, configuration: configuration, caller: request.caller,
          life: request.life, tenantNames: tenants.names, heard: degradedMode.heard, uptime: uptime,
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
    case .slowReader: complain(.clientDropped, caller.uid, "a reader that did not keep up was disconnected", .notice)
    default: complain(.clientDropped, caller.uid, "a client was dropped: \(reason)", .info)
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
        .clientDropped, client.caller.uid,
        isReader ? "a reader that did not keep up was disconnected" : "a client took too long and was dropped",
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
