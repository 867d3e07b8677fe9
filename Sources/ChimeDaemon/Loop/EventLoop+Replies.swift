import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch

// Answers by an endpoint's reply address: which daemon reads which address, and how each message is handled.
extension EventLoop {
  /// Re-evaluates which reply addresses this daemon reads, after a change of endpoints, channels or queues.
  func considerReplies() {
    guard isReady, !isStopping else { return }
    guard !replies.sources.isEmpty || outbox.endpoints.values.contains(where: { $0.answersAddress != nil }) else {
      return
    }
    replies.needsLook = true
    guard replies.task == nil else { return }
    replies.task = Task {
      await withTaskExecutorPreference(executor) {
        while replies.needsLook, !isStopping {
          replies.needsLook = false
          await lookAtReplies()
        }
        replies.task = nil
      }
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
    let wanted = outbox.endpoints.filter { queue, endpoint in
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
    let isGone = outbox.endpoints[queue]?.url != source.endpoint.url
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
    Task {
      await withTaskExecutorPreference(executor) {
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
            self.executor.queue.async { self.assumeIsolated { $0.heardReplies(queue, number, event) } }
          }
        } catch {
          replyFailed(queue, number, "the store cannot be read: \((error as? StoreFailure)?.sentence ?? "\(error)")")
        }
      }
    }
  }

  private func heardReplies(_ queue: DeliveryQueue, _ number: UInt64, _ event: ReplyReader.Event) {
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
    if source.isProblemTold {
      log(.notice, "answers by endpoint \"\(queue.channel)\" are read again", id: .repliesRead)
    }
    (source.problem, source.isProblemTold) = (nil, false)
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
    if source.backoff.failures >= 3, !source.isProblemTold {
      source.isProblemTold = true
      log(
        .warning, "answers by endpoint \"\(queue.channel)\" cannot be read: \(reason); it is tried again and again",
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
        guard !scheduler.keepsForStore, degradedMode.isEmpty else {
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
    let (store, context, wakeupsReader, uptime) = (store, context, wakeupsReader, uptime)
    let (id, address, mark, number) = (message.id, source.address, source.mark, source.number)
    Task {
      await withTaskExecutorPreference(executor) {
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
          storeFailed(failure, "answers wait at the server to which they were sent")
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
          log(.info, "an answer by endpoint \"\(queue.channel)\" cannot be given: \(error)")
          didRead(.impossible, message, queue, number)
        }
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
      replies.sources[queue]?.answeredAt = SystemClock.now
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
  func replyStatuses() -> [DeliveryQueue: ReplySource.Status] { replies.sources.mapValues(\.standing) }
}
