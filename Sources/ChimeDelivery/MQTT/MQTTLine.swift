import ChimeCore
import ChimeSchedule
import Glibc

/// One endpoint's connection with all that waits for it, and whoever reads what comes by it.
struct MQTTLine {
  struct Sending {
    var job: MQTTJob
    var publications: [MQTTPublication]
    /// Of its publications, those that are not acknowledged.
    var numbers: Set<Int> = []
    var refused: Int?
    /// Until when all of it has to be acknowledged.
    let deadline: ContinuousClock.Instant
    let begun = ContinuousClock.now

    init(job: MQTTJob, publications: [MQTTPublication], deadline: ContinuousClock.Instant) {
      (self.job, self.publications, self.deadline) = (job, publications, deadline)
    }
  }

  let target: MQTTTarget
  /// Tells its look-up of a name from earlier ones.
  let serial: UInt64
  let begun = ContinuousClock.now
  /// The addresses that have not been dialled.
  var addresses: ArraySlice<NetworkAddress> = []
  var connection: MQTTConnection?
  /// Whether the broker has let it in.
  var isOpen = false
  var isSubscribed = false
  /// Until when it has to have come further; nil once it is let in.
  var deadline: ContinuousClock.Instant?
  /// Until when it has to be let in.
  var end: ContinuousClock.Instant { begun + Duration(limit) }
  /// How long that is in all.
  let limit: Milliseconds
  /// Why it cannot even begin.
  var doomed: MQTTConnection.Fault?
  var waiting: [Sending] = []
  var underWay: [Sending] = []
  var reading: MQTTReading?
  /// What came and nobody has been given yet.
  var arrived: [(id: String, payload: [UInt8])] = []
  /// What was given to whoever reads and is not recorded yet.
  var unsettled: Set<String> = []
  /// Names what comes by this connection and no other, of whichever daemon.
  private let name: String
  private var count = 0

  init(_ target: MQTTTarget, serial: UInt64, limits: HTTPLimits) {
    (self.target, self.serial, limit) = (target, serial, limits.total)
    var random = SystemRandom()
    name = String(random.next(), radix: 36)
    deadline = end
  }

  /// Whether its acknowledgements may leave: they do for all that came, or for none of it. A daemon that is killed meanwhile is
  /// sent it again.
  var mayWrite: Bool { unsettled.isEmpty }

  /// Whether nothing needs it.
  var isForNobody: Bool { reading == nil && waiting.isEmpty && underWay.isEmpty }

  var polled: pollfd {
    guard let connection else { return pollfd(fd: -1, events: 0, revents: 0) }
    let writes = connection.wantsWrite && mayWrite
    // What came before is dealt with first: as long as it waits, nothing more is read.
    let reads = unsettled.isEmpty
    return pollfd(
      fd: connection.socket, events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0)
  }

  var nextMoment: ContinuousClock.Instant {
    var moments = underWay.map(\.deadline)
    if let deadline { moments.append(deadline) }
    if isOpen, mayWrite, let connection { moments.append(connection.tendAt) }
    if isOpen, mayWrite, isForNobody { moments.append(begun + .seconds(60)) }
    return moments.min() ?? .now + .seconds(86_400)
  }

  mutating func came(_ payload: [UInt8]) {
    count += 1
    let id = "\(name).\(count)"
    arrived.append((id, payload))
    unsettled.insert(id)
  }

  /// The broker has said what becomes of a publication.
  mutating func published(_ number: Int, _ code: Int) {
    guard let index = underWay.firstIndex(where: { $0.numbers.contains(number) }) else { return }
    underWay[index].numbers.remove(number)
    if code >= 128 { underWay[index].refused = code }
    guard underWay[index].numbers.isEmpty else { return }
    let sending = underWay.remove(at: index)
    let refused = sending.refused
    finish(sending, MQTTResult(code: refused ?? 0, failure: refused.map { MQTTConnection.refusal($0) }))
  }

  /// Ends all that waits for it.
  func finish(_ result: MQTTResult) { for sending in underWay + waiting { finish(sending, result) } }

  private func finish(_ sending: Sending, _ result: MQTTResult) {
    var result = result
    result.took = Milliseconds(sending.begun.duration(to: .now))
    result.address = connection.map { "\($0.dialled)" }
    sending.job.finish(result)
  }
}

/// A connection that has something to say yet before it ends. The broker is let acknowledge it: a socket that is closed with something
/// unread takes with it what the broker has not read either.
final class MQTTFarewell {
  private let connection: MQTTConnection
  private let endsSession: Bool
  /// What is not acknowledged.
  private var numbers: Set<Int>
  /// Until when it is waited for.
  let end = ContinuousClock.now + .seconds(2)

  init(_ connection: MQTTConnection, _ last: [MQTTPublication], endsSession: Bool) {
    (self.connection, self.endsSession) = (connection, endsSession)
    numbers = Set(last.compactMap { try? connection.publish($0) })
    try? connection.write()
  }

  var polled: pollfd {
    pollfd(fd: connection.socket, events: Int16(POLLIN | (connection.wantsWrite ? POLLOUT : 0)), revents: 0)
  }

  /// Takes what has come; false when that was all.
  func goesOn() -> Bool {
    do throws(MQTTConnection.Fault) {
      try connection.read()
      try connection.write()
    } catch { return false }
    for case .published(let number, _) in connection.take() { numbers.remove(number) }
    guard numbers.isEmpty || .now >= end else { return true }
    connection.disconnect(endingSession: endsSession)
    return false
  }
}
