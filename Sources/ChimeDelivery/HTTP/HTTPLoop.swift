import CCurl
import ChimeCore
import ChimeSchedule

/// An HTTPLoop is the state of the HTTP thread.
///
/// The thread sleeps in curl_multi_poll on its sockets and the mailbox's eventfd. It owns all libcurl handles; no other
/// thread sees a libcurl pointer.
struct HTTPLoop: ~Copyable {
  private let limits: HTTPLimits
  private let route: HTTPRoute
  private let mailbox: Mailbox<HTTPEngine.Command>
  private var multi: UnsafeMutableRawPointer
  private var transfers: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
  /// Idle handles for reuse, at most `mostIdle`.
  private var idle: [HTTPTransfer] = []
  private var queues: [DeliveryQueue: EndpointJobs] = [:]
  /// Requests of the present moment that were built ahead, at most `mostDrafts`. Those that nobody sends stay until the next.
  private var drafts: [DeliveryID: HTTPDraft] = [:]
  private let sockets = DialledSockets()
  private var stops: [@Sendable () -> Void] = []
  private var begun: UInt = 0
  /// Whether connections may be open without a transfer in progress.
  private var keepsConnections = false

  static let stopping = "cancelled because the daemon is stopping"
  private static let mostIdle = 64
  /// The number of transfers up to which each one is begun at once. libcurl goes through all of them each time.
  private static let fewTransfers = 16
  /// The number of requests that are built ahead: while the first are sent, the others can be built.
  private static let mostDrafts = 16
  /// Maximum idle connections of all endpoints together.
  private static let mostIdleConnections = 64

  private struct EndpointJobs {
    var underWay = 0
    private var capacity = 1
    /// The first `taken` slots are empty. Removing each from the front would move the whole array.
    private var waiting: [HTTPJob?] = []
    private var taken = 0

    var isIdle: Bool { underWay == 0 && taken == waiting.count }
    var rest: [HTTPJob] { waiting[taken...].compactMap(\.self) }

    mutating func append(_ job: HTTPJob) {
      capacity = max(1, job.capacity)
      waiting.append(job)
    }

    /// Removes and returns the next job if the capacity allows it.
    mutating func next() -> HTTPJob? {
      guard underWay < capacity, taken < waiting.count else { return nil }
      defer {
        waiting[taken] = nil
        taken += 1
        if taken == waiting.count || taken >= 1_024 {
          waiting.removeFirst(taken)
          taken = 0
        }
      }
      return waiting[taken]
    }
  }

  /// Result of curl_global_init, called once per process after libcurl is loaded. It is thread-safe since libcurl 7.84,
  /// and this is its only caller.
  private static let isReady = chime_curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Returns nil and refuses the waiting commands if libcurl is missing or cannot start. The next command tries again.
  init?(
    limits: HTTPLimits, route: HTTPRoute, mailbox: Mailbox<HTTPEngine.Command>, library: String
  ) {
    do throws(DeliveryError) { try Libcurl.load(library) } catch {
      Self.refuse(mailbox, HTTPResult(failure: error.description, isImpossible: true))
      return nil
    }
    guard let multi = Self.makeMulti() else {
      Self.refuse(mailbox, HTTPResult(failure: "libcurl cannot be started"))
      return nil
    }
    self.limits = limits
    self.route = route
    self.mailbox = mailbox
    self.multi = multi
  }

  deinit { chime_curl_multi_cleanup(multi) }

  private static func makeMulti() -> UnsafeMutableRawPointer? {
    guard isReady, let multi = chime_curl_multi_init() else { return nil }
    chime_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, mostIdleConnections)
    return multi
  }

  /// Closes all idle connections. libcurl checks the age of connections only when it makes a request, so without
  /// requests it would keep them open.
  private mutating func closeConnections() {
    guard let other = Self.makeMulti() else { return }
    chime_curl_multi_cleanup(multi)
    (multi, keepsConnections) = (other, false)
  }

  private static func refuse(_ mailbox: Mailbox<HTTPEngine.Command>, _ result: HTTPResult) {
    for command in mailbox.close() {
      switch command {
      case .send(let job): job.finish(result)
      case .stop(let done): done()
      case .prepare, .draft, .end: break
      }
    }
  }

  /// Runs until the stop and returns the callers to notify of it.
  consuming func run() -> [@Sendable () -> Void] {
    var doorbell = curl_waitfd(fd: mailbox.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 1)
    while true {
      if doorbell.revents != 0 { obey(mailbox.take()) }
      if !stops.isEmpty { break }
      perform()
      collect()
      // libcurl does not block here for transfers just started by `collect`.
      doorbell.revents = 0
      let isResting = transfers.isEmpty && keepsConnections
      let begin = ContinuousClock.now
      let wait = isResting ? limits.idle : giveUpQuietStreams()
      chime_curl_multi_poll(multi, &doorbell, 1, wait.map { Int32(clamping: $0.rawValue) } ?? Int32.max, nil)
      // curl_multi_poll may wake early for its own reasons.
      let rested = ContinuousClock.now - begin
      if isResting, doorbell.revents == 0, rested >= .milliseconds(limits.idle.rawValue) { closeConnections() }
    }
    abandon()
    return stops
  }

  private func perform() {
    var running: Int32 = 0
    chime_curl_multi_perform(multi, &running)
  }

  private mutating func obey(_ commands: [HTTPEngine.Command]) {
    for command in commands {
      switch command {
      case .stop(let done): stops.append(done)
      case .prepare: break
      case .draft(let time, let build): draft(for: time, build)
      case .end(let number):
        for (handle, transfer) in transfers where transfer.job?.stream?.number == number {
          giveUp(handle, transfer, transfer.abandoned())
        }
      case .send(let job):
        guard let queue = job.queue else {
          _ = begin(job)
          continue
        }
        queues[queue, default: EndpointJobs()].append(job)
        advance(queue)
      }
    }
  }

  /// Keeps a request that may be sent in a moment, and has a handle for it.
  private mutating func draft(for time: Instant, _ build: () -> HTTPDraft?) {
    if drafts.values.contains(where: { $0.time != time }) { drafts = [:] }
    guard drafts.count < Self.mostDrafts, let draft = build() else { return }
    drafts[draft.message.delivery.id] = draft
    guard idle.count < drafts.count else { return }
    if let transfer = HTTPTransfer(limits: limits, route: route, sockets: sockets) { idle.append(transfer) }
  }

  /// Starts jobs of a queue up to its capacity.
  private mutating func advance(_ queue: DeliveryQueue) {
    while let job = queues[queue]?.next() {
      if begin(job) { queues[queue]?.underWay += 1 }
    }
    if queues[queue]?.isIdle == true { queues[queue] = nil }
  }

  private mutating func begin(_ job: HTTPJob) -> Bool {
    let draft = job.delivery.flatMap { drafts.removeValue(forKey: $0) }
    guard let request = job.prepare(draft) else { return false }
    // Emails use a fresh handle, so that no option carries over in either direction.
    let kept = request.envelope == nil ? idle.popLast() : nil
    guard let transfer = kept ?? HTTPTransfer(limits: limits, route: route, sockets: sockets) else {
      job.finish(HTTPResult(failure: "there is not enough memory to send"))
      return false
    }
    begun &+= 1
    guard transfer.begin(request, job: job, number: begun),
      chime_curl_multi_add_handle(multi, transfer.handle) == CURLM_OK
    else {
      job.finish(transfer.unbegun())
      return false
    }
    transfers[transfer.handle] = transfer
    keepsConnections = true
    // A request takes as long to build as to send, so the first of several leaves before the others are built.
    if transfers.count <= Self.fewTransfers { perform() }
    return true
  }

  /// Reports finished transfers and starts waiting jobs in their place.
  private mutating func collect() {
    var left: Int32 = 0
    while let message = chime_curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      guard let transfer = transfers.removeValue(forKey: handle), let job = transfer.job else { continue }
      let result = transfer.result(code)
      chime_curl_multi_remove_handle(multi, handle)
      transfer.end()
      if transfer.isReusable, idle.count < Self.mostIdle { idle.append(transfer) }
      job.finish(result)
      if let queue = job.queue {
        queues[queue]?.underWay -= 1
        advance(queue)
      }
    }
  }

  /// Ends streams that were silent for too long.
  ///
  /// - Returns: The time until the next stream is due; nil if there is none.
  private mutating func giveUpQuietStreams() -> Milliseconds? {
    var next: Milliseconds?
    for (handle, transfer) in transfers {
      guard let rest = transfer.quietRest else { continue }
      guard rest <= .zero else {
        next = min(next ?? rest, rest)
        continue
      }
      giveUp(handle, transfer, transfer.quiet())
    }
    return next
  }

  private mutating func giveUp(_ handle: UnsafeMutableRawPointer, _ transfer: HTTPTransfer, _ result: HTTPResult) {
    let job = transfer.job
    chime_curl_multi_remove_handle(multi, handle)
    transfers[handle] = nil
    transfer.end()
    job?.finish(result)
  }

  private mutating func abandon() {
    var refused: [HTTPJob] = queues.values.flatMap(\.rest)
    for command in mailbox.close() {
      switch command {
      case .send(let job): refused.append(job)
      case .stop(let done): stops.append(done)
      case .prepare, .draft, .end: break
      }
    }
    for (handle, transfer) in transfers {
      chime_curl_multi_remove_handle(multi, handle)
      transfer.job?.finish(transfer.abandoned())
    }
    transfers.removeAll()
    for job in refused { job.finish(HTTPResult(failure: Self.stopping, isCutShort: true)) }
  }
}
