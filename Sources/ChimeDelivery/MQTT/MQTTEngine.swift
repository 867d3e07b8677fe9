import ChimeCore

/// An MQTTEngine runs all broker connections on one thread around poll(2).
final class MQTTEngine: Sendable {
  enum Command: Sendable {
    case send(MQTTJob)
    case open(MQTTReading)
    /// A received message is recorded, so its acknowledgement may be sent.
    case settle(id: String, number: UInt64)
    case close(number: UInt64, forgetting: Bool)
    case found(MQTTLoop.Key, serial: UInt64, Result<[NetworkAddress], DeliveryError>)
    case stop(@Sendable () -> Void)
  }

  private let worker: Worker<Command>

  /// - Parameter library: File name of libmosquitto, loaded by the thread.
  init(limits: HTTPLimits, route: HTTPRoute, library: String) {
    worker = Worker(name: "chime-mqtt") { mailbox in
      do throws(DeliveryError) { try Libmosquitto.load(library) } catch {
        return Self.refuse(mailbox, error.description)
      }
      var loop = MQTTLoop(limits: limits, route: route, mailbox: mailbox)
      for done in loop.run() { done() }
    }
  }

  private static func refuse(_ mailbox: Mailbox<Command>, _ reason: String) {
    for command in mailbox.close() {
      switch command {
      case .send(let job): job.finish(MQTTResult(failure: reason, isImpossible: true))
      case .open(let reading): reading.hear(.ended(.init(reason: reason)))
      case .stop(let done): done()
      case .settle, .close, .found: break
      }
    }
  }

  func send(_ job: MQTTJob) {
    do {
      if try !worker.post(.send(job)) { job.finish(MQTTResult(failure: HTTPLoop.stopping, isCutShort: true)) }
    } catch {
      job.finish(MQTTResult(failure: "cannot send now: \(error)", isStarved: error.isShortage))
    }
  }

  func open(_ reading: MQTTReading) {
    do {
      if try !worker.post(.open(reading)) { reading.hear(.ended(.init(reason: HTTPLoop.stopping))) }
    } catch {
      reading.hear(.ended(.init(reason: "cannot connect now: \(error)")))
    }
  }

  func settle(_ id: String, of number: UInt64) { _ = try? worker.post(.settle(id: id, number: number)) }

  func close(_ number: UInt64, forgetting: Bool) {
    _ = try? worker.post(.close(number: number, forgetting: forgetting))
  }

  /// Cancels all work in progress and returns when the thread has ended.
  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }
}

/// A subscriber to the answers of one endpoint.
struct MQTTReading: Sendable {
  var queue: DeliveryQueue
  var number: UInt64
  /// Returns the connection's target; called on the MQTT thread when it connects.
  var target: @Sendable () throws(EndpointUnavailable) -> MQTTTarget
  /// Parses a payload.
  var read: @Sendable ([UInt8]) -> Result<ActionToken, TokenFault>
  var hear: @Sendable (ReplyReader.Event) -> Void
}
