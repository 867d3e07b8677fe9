import ChimeCore
import ChimeSchedule

/// All connections to brokers, on one thread around poll(2).
final class MQTTEngine: Sendable {
  enum Command: Sendable {
    case send(MQTTJob)
    case open(MQTTReading)
    /// What came is dealt with: its acknowledgement may leave.
    case settle(id: String, number: UInt64)
    case close(number: UInt64, forgetting: Bool)
    case found(MQTTLoop.Key, serial: UInt64, Result<[NetworkAddress], NameLookupFault>)
    case stop(@Sendable () -> Void)
  }

  private let worker: Worker<Command>

  /// - Parameter library: what the thread loads as libmosquitto.
  init(limits: HTTPLimits, route: HTTPRoute, library: String) {
    worker = Worker(name: "chime-mqtt") { mailbox in
      do throws(LibmosquittoMissing) { try Libmosquitto.load(library) } catch {
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

  /// Gives up what is under way or waits, and returns when the thread has nothing left.
  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }
}

/// Whoever reads the answers that come to an endpoint.
struct MQTTReading: Sendable {
  var queue: DeliveryQueue
  var number: UInt64
  /// Asked for at the moment it connects, on the MQTT thread.
  var target: @Sendable () throws(Shut) -> MQTTTarget
  /// What a payload says.
  var read: @Sendable ([UInt8]) -> Result<ActionToken, TokenFault>
  var hear: @Sendable (ReplyReader.Event) -> Void
}
