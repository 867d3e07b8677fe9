import CCurl
import ChimeCore
import ChimeSchedule

/// One request to be sent when its lane has room.
struct HTTPJob: Sendable {
  /// Whose queue it waits in; nil to be sent past all queues.
  var lane: Lane?
  /// Makes the request at the moment it leaves; nil when there is nothing to send after all. Called on the HTTP thread.
  var prepare: @Sendable () -> HTTPRequest?
  /// Called once on the HTTP thread if `prepare` gave a request or was never asked.
  var finish: @Sendable (HTTPResult) -> Void
}

/// All HTTP exchanges, on one thread around libcurl's multi interface (libcurl-multi(3)).
///
/// The thread sleeps in curl_multi_poll on its sockets and on the mailbox's eventfd. Every libcurl handle is local to
/// it: no pointer of libcurl is seen by another thread.
final class HTTPEngine: Sendable {
  enum Command: Sendable {
    case prepare
    case send(HTTPJob)
    case stop(@Sendable () -> Void)
  }

  private let worker: Worker<Command>

  /// - Parameters:
  ///   - perLane: exchanges of one lane that may be under way at once.
  ///   - library: what the thread loads as libcurl.
  init(limits: HTTPLimits, perLane: Int, library: String) {
    worker = Worker(name: "chime-http") { mailbox in
      // Told only after the loop's end has closed every connection.
      let loop = HTTPLoop(limits: limits, perLane: max(1, perLane), mailbox: mailbox, library: library)
      let stops = loop?.run() ?? []
      for done in stops { done() }
    }
  }

  /// Starts the thread, which loads libcurl, before there is something to send.
  func prepare() { _ = try? worker.post(.prepare) }

  func send(_ job: HTTPJob) {
    do {
      if try !worker.post(.send(job)) { job.finish(HTTPResult(failure: "the daemon stops")) }
    } catch {
      job.finish(HTTPResult(failure: "cannot send now: \(error)"))
    }
  }

  /// Gives up what is under way or waits, and returns when the thread has nothing left.
  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }
}

/// The HTTP thread's own state.
private struct HTTPLoop: ~Copyable {
  private let limits: HTTPLimits
  private let perLane: Int
  private let mailbox: Mailbox<HTTPEngine.Command>
  private let multi: UnsafeMutableRawPointer
  private var transfers: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
  private var lanes: [Lane: LaneQueue] = [:]
  private var stops: [@Sendable () -> Void] = []

  private struct LaneQueue {
    var underWay = 0
    var waiting: [HTTPJob] = []
  }

  /// curl_global_init, once for the process and after libcurl is loaded. It is thread-safe since libcurl 7.84 and this
  /// is its only caller.
  private static let isReady = chime_curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  /// Nil, with what was asked refused, when libcurl is not there or cannot start; the next command tries again.
  init?(limits: HTTPLimits, perLane: Int, mailbox: Mailbox<HTTPEngine.Command>, library: String) {
    do throws(LibcurlMissing) { try Libcurl.load(library) } catch {
      Self.refuse(mailbox, HTTPResult(failure: error.description, isImpossible: true))
      return nil
    }
    guard Self.isReady, let multi = chime_curl_multi_init() else {
      Self.refuse(mailbox, HTTPResult(failure: "libcurl cannot be started"))
      return nil
    }
    self.limits = limits
    self.perLane = perLane
    self.mailbox = mailbox
    self.multi = multi
  }

  deinit { chime_curl_multi_cleanup(multi) }

  private static func refuse(_ mailbox: Mailbox<HTTPEngine.Command>, _ result: HTTPResult) {
    for command in mailbox.close() {
      switch command {
      case .send(let job): job.finish(result)
      case .stop(let done): done()
      case .prepare: break
      }
    }
  }

  /// Returns, after the stop, whom to tell of it.
  consuming func run() -> [@Sendable () -> Void] {
    while true {
      obey(mailbox.take())
      if !stops.isEmpty { break }
      var running: Int32 = 0
      chime_curl_multi_perform(multi, &running)
      // What ended made room in its lane: what is begun there has to be driven before the thread sleeps.
      if !collect() {
        var doorbell = curl_waitfd(fd: mailbox.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        chime_curl_multi_poll(multi, &doorbell, 1, Int32.max, nil)
      }
    }
    abandon()
    return stops
  }

  private mutating func obey(_ commands: [HTTPEngine.Command]) {
    for command in commands {
      switch command {
      case .stop(let done): stops.append(done)
      case .prepare: break
      case .send(let job):
        guard let lane = job.lane else {
          _ = begin(job)
          continue
        }
        lanes[lane, default: LaneQueue()].waiting.append(job)
        _ = advance(lane)
      }
    }
  }

  /// Begins what the lane has room for. Returns whether anything was begun.
  private mutating func advance(_ lane: Lane) -> Bool {
    var begun = false
    while let queue = lanes[lane], queue.underWay < perLane, let job = queue.waiting.first {
      lanes[lane]?.waiting.removeFirst()
      if begin(job) {
        lanes[lane]?.underWay += 1
        begun = true
      }
    }
    if let queue = lanes[lane], queue.underWay == 0, queue.waiting.isEmpty { lanes[lane] = nil }
    return begun
  }

  private mutating func begin(_ job: HTTPJob) -> Bool {
    guard let request = job.prepare() else { return false }
    guard let transfer = HTTPTransfer(request, job: job, limits: limits),
      chime_curl_multi_add_handle(multi, transfer.handle) == CURLM_OK
    else {
      job.finish(HTTPResult(failure: "no memory to send with"))
      return false
    }
    transfers[transfer.handle] = transfer
    return true
  }

  /// Reports what has ended. Returns whether something new was begun in its place.
  private mutating func collect() -> Bool {
    var begun = false
    var left: Int32 = 0
    while let message = chime_curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      guard let transfer = transfers.removeValue(forKey: handle) else { continue }
      let result = transfer.result(code)
      chime_curl_multi_remove_handle(multi, handle)
      transfer.job.finish(result)
      if let lane = transfer.job.lane {
        lanes[lane]?.underWay -= 1
        if advance(lane) { begun = true }
      }
    }
    return begun
  }

  private mutating func abandon() {
    var refused: [HTTPJob] = lanes.values.flatMap(\.waiting)
    for command in mailbox.close() {
      switch command {
      case .send(let job): refused.append(job)
      case .stop(let done): stops.append(done)
      case .prepare: break
      }
    }
    for (handle, transfer) in transfers {
      chime_curl_multi_remove_handle(multi, handle)
      transfer.job.finish(transfer.abandoned())
    }
    transfers.removeAll()
    for job in refused { job.finish(HTTPResult(failure: "given up because the daemon stops")) }
  }
}
