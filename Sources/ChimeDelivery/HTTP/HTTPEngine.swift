import ChimeCore
import ChimeSchedule

/// A request that waits for a free place in its queue.
struct HTTPJob: Sendable {
  /// The queue to wait in; nil to send at once.
  var queue: DeliveryQueue?
  /// Maximum requests of the queue in flight. The latest job's value applies.
  var capacity = 1
  /// Whether the result needs `details`.
  var isInspected = false
  /// Time limit for the exchange; nil for the default, which for a stream is none.
  var limit: Milliseconds?
  /// Receives an endless response; nil for an ordinary one.
  var stream: HTTPStream?
  /// The delivery whose draft `prepare` takes; nil if there is none.
  var delivery: DeliveryID?
  /// Builds the request on the HTTP thread as it is sent; nil if there is nothing to send.
  var prepare: @Sendable (HTTPDraft?) -> HTTPRequest?
  /// Called once on the HTTP thread, unless `prepare` returned nil.
  var finish: @Sendable (HTTPResult) -> Void
}

/// A request that was built a moment before its message may be sent.
struct HTTPDraft: Sendable {
  let message: OutboundMessage
  let access: EndpointAccess
  /// For when it was built and signed.
  let time: Instant
  let request: HTTPRequest

  /// Returns whether a request that is built now would be the same. Signatures count seconds.
  func fits(_ message: OutboundMessage, _ access: EndpointAccess, at now: Instant) -> Bool {
    time.seconds == now.seconds && message == self.message && access.endpoint == self.access.endpoint
      && access.secrets == self.access.secrets && access.token == self.access.token
  }
}

/// A response whose parts are consumed as they arrive, without an end.
struct HTTPStream: Sendable {
  /// Identifies the stream within its engine.
  var number: UInt64
  /// Time without input after which the stream is given up.
  var quiet: Milliseconds
  /// Consumes a part of a 2xx body on the HTTP thread and returns whether to continue. The first part is empty and
  /// marks the end of the headers.
  var take: @Sendable (UnsafeRawBufferPointer) -> Bool

  /// Average bytes per second that the connection may receive in addition to `HTTPLimits.wire`.
  static let wirePerSecond: Int64 = 16_384
}

/// An HTTPEngine runs all HTTP exchanges on one thread with libcurl's multi interface (libcurl-multi(3)).
final class HTTPEngine: Sendable {
  enum Command: Sendable {
    case prepare
    /// Builds a request for a message that may be sent at a time, in a moment.
    case draft(Instant, @Sendable () -> HTTPDraft?)
    case send(HTTPJob)
    /// Cancels a stream.
    case end(UInt64)
    case stop(@Sendable () -> Void)
  }

  private let worker: Worker<Command>

  /// - Parameters:
  ///   - name: Name of the thread.
  ///   - library: File name of libcurl, loaded by the thread.
  init(name: String = "chime-http", limits: HTTPLimits, route: HTTPRoute, library: String) {
    worker = Worker(name: name) { mailbox in
      // The callers of `stop` are notified after the loop has closed every connection.
      let loop = HTTPLoop(limits: limits, route: route, mailbox: mailbox, library: library)
      let stops = loop?.run() ?? []
      for done in stops { done() }
    }
  }

  /// Starts the thread and loads libcurl ahead of the first request.
  func prepare() { _ = try? worker.post(.prepare) }

  /// Builds a request on the thread, for a message that may be sent at `time`, in a moment.
  func draft(for time: Instant, _ build: @escaping @Sendable () -> HTTPDraft?) {
    _ = try? worker.post(.draft(time, build))
  }

  func send(_ job: HTTPJob) {
    do {
      if try !worker.post(.send(job)) { job.finish(HTTPResult(failure: HTTPLoop.stopping, isCutShort: true)) }
    } catch {
      job.finish(HTTPResult(failure: "cannot send now: \(error)", isStarved: error.isShortage))
    }
  }

  /// Cancels a stream, which then ends with `isCutShort`. A stream that has ended is ignored.
  func end(_ stream: UInt64) { _ = try? worker.post(.end(stream)) }

  /// Cancels all work and returns when the thread has ended.
  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }
}
