import ChimeCore
import ChimeSchedule

/// One request to be sent when its queue has room.
struct HTTPJob: Sendable {
  /// Whose queue it waits in; nil to be sent past all queues.
  var queue: DeliveryQueue?
  /// How many of its queue may be under way at once; what the latest job of a queue says counts.
  var capacity = 1
  /// Whether `HTTPResult.details` are wanted.
  var isInspected = false
  /// How long the exchange may take; nil: as long as any, and a stream without end.
  var limit: Milliseconds?
  /// For an answer that has no end; nil for one that has.
  var stream: HTTPStream?
  /// Makes the request at the moment it leaves; nil when there is nothing to send after all. Called on the HTTP thread.
  var prepare: @Sendable () -> HTTPRequest?
  /// Called once on the HTTP thread if `prepare` gave a request or was never asked.
  var finish: @Sendable (HTTPResult) -> Void
}

/// An answer that goes on for as long as both sides want: its parts are taken as they come.
struct HTTPStream: Sendable {
  /// Tells it from all others of its engine.
  var number: UInt64
  /// After how long without a byte it is given up.
  var quiet: Milliseconds
  /// Takes a part of the body of an answer of 2xx, on the HTTP thread, and says whether more is wanted. The first part is
  /// empty: the headers are over.
  var take: @Sendable (UnsafeRawBufferPointer) -> Bool

  /// Bytes that may come over its connection in a second on the average, beside `HTTPLimits.wire`.
  static let wirePerSecond: Int64 = 16_384
}

/// All HTTP exchanges, on one thread around libcurl's multi interface (libcurl-multi(3)).
final class HTTPEngine: Sendable {
  enum Command: Sendable {
    case prepare
    case send(HTTPJob)
    /// Gives up the stream of this number.
    case end(UInt64)
    case stop(@Sendable () -> Void)
  }

  private let worker: Worker<Command>

  /// - Parameters:
  ///   - name: of its thread.
  ///   - library: what the thread loads as libcurl.
  init(name: String = "chime-http", limits: HTTPLimits, route: HTTPRoute, library: String) {
    worker = Worker(name: name) { mailbox in
      // Told only after the loop's end has closed every connection.
      let loop = HTTPLoop(limits: limits, route: route, mailbox: mailbox, library: library)
      let stops = loop?.run() ?? []
      for done in stops { done() }
    }
  }

  /// Starts the thread, which loads libcurl, before there is something to send.
  func prepare() { _ = try? worker.post(.prepare) }

  func send(_ job: HTTPJob) {
    do {
      if try !worker.post(.send(job)) { job.finish(HTTPResult(failure: HTTPLoop.stopping, isCutShort: true)) }
    } catch {
      job.finish(HTTPResult(failure: "cannot send now: \(error)", isStarved: error.isShortage))
    }
  }

  /// Gives up a stream, which then ends as cut short. One that is over already is passed over.
  func end(_ stream: UInt64) { _ = try? worker.post(.end(stream)) }

  /// Gives up what is under way or waits, and returns when the thread has nothing left.
  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }
}
