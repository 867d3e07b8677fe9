import ChimeSchedule
import Glibc

/// An MQTTLine is the state of one endpoint: its connection, its waiting messages and its subscriber.
struct MQTTLine {
  struct Sending {
    var job: MQTTJob
    var publications: [MQTTPublication]
    /// Packet ids of publications that are not acknowledged.
    var numbers: Set<Int> = []
    var refused: Int?
    /// Time limit for all acknowledgements.
    let deadline: ContinuousClock.Instant
    let begun = ContinuousClock.now

    init(job: MQTTJob, publications: [MQTTPublication], deadline: ContinuousClock.Instant) {
      (self.job, self.publications, self.deadline) = (job, publications, deadline)
    }
  }

  let target: MQTTTarget
  /// Distinguishes results of this line's name look-up from those of earlier lines.
  let serial: UInt64
  let begun = ContinuousClock.now
  /// Addresses not yet dialed.
  var addresses: ArraySlice<NetworkAddress> = []
  var connection: MQTTConnection?
  /// Whether the broker accepted the connection.
  var isOpen = false
  var isSubscribed = false
  /// Time limit of the current connection step; nil once the connection is open.
  var deadline: ContinuousClock.Instant?
  /// Time limit for opening the connection.
  var end: ContinuousClock.Instant { begun + Duration(limit) }
  /// Duration of that limit.
  let limit: Milliseconds
  /// Why a connection cannot even start.
  var doomed: MQTTConnection.Fault?
  var waiting: [Sending] = []
  var underWay: [Sending] = []
  var reading: MQTTReading?
  /// Received messages not yet passed to the subscriber.
  var arrived: [(id: String, payload: [UInt8])] = []
  /// Ids of received messages that are not recorded yet.
  var unsettled: Set<String> = []
  /// Random prefix of message ids, unique to this connection among all daemons.
  private let name: String
  private var count = 0

  init(_ target: MQTTTarget, serial: UInt64, limits: HTTPLimits) {
    (self.target, self.serial, limit) = (target, serial, limits.total)
    var random = SystemRandom()
    name = String(random.next(), radix: 36)
    deadline = end
  }

  /// Whether output may be sent. libmosquitto sends acknowledgements for all received messages or none, so output waits
  /// until all are recorded. If the daemon is killed first, the broker sends them again.
  var mayWrite: Bool { unsettled.isEmpty }

  /// Whether the line has neither messages nor a subscriber.
  var isForNobody: Bool { reading == nil && waiting.isEmpty && underWay.isEmpty }

  var polled: pollfd {
    guard let connection else { return pollfd(fd: -1, events: 0, revents: 0) }
    let writes = connection.wantsWrite && mayWrite
    // Nothing is read while received messages wait to be recorded.
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

  /// Records the broker's acknowledgement of a publication.
  mutating func published(_ number: Int, _ code: Int) {
    guard let index = underWay.firstIndex(where: { $0.numbers.contains(number) }) else { return }
    underWay[index].numbers.remove(number)
    if code >= 128 { underWay[index].refused = code }
    guard underWay[index].numbers.isEmpty else { return }
    let sending = underWay.remove(at: index)
    let refused = sending.refused
    finish(sending, MQTTResult(code: refused ?? 0, failure: refused.map { MQTTConnection.refusal($0) }))
  }

  /// Ends all messages of the line with one result.
  func finish(_ result: MQTTResult) { for sending in underWay + waiting { finish(sending, result) } }

  private func finish(_ sending: Sending, _ result: MQTTResult) {
    var result = result
    result.took = Milliseconds(sending.begun.duration(to: .now))
    result.address = connection.map { "\($0.dialled)" }
    sending.job.finish(result)
  }
}

/// A connection that sends its last publications before it closes. It waits for their acknowledgements, because closing
/// a socket with unread input also discards output that the broker has not read.
final class MQTTFarewell {
  private let connection: MQTTConnection
  private let endsSession: Bool
  /// Packet ids of unacknowledged publications.
  private var numbers: Set<Int>
  /// Time limit for the acknowledgements.
  let end = ContinuousClock.now + .seconds(2)

  init(_ connection: MQTTConnection, _ last: [MQTTPublication], endsSession: Bool) {
    (self.connection, self.endsSession) = (connection, endsSession)
    numbers = Set(last.compactMap { try? connection.publish($0) })
    try? connection.write()
  }

  var polled: pollfd {
    pollfd(fd: connection.socket, events: Int16(POLLIN | (connection.wantsWrite ? POLLOUT : 0)), revents: 0)
  }

  /// Processes available input. Returns false once the farewell is complete.
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
