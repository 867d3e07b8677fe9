import ChimeControl
import ChimeCore
import ChimeSchedule
import Varlink

/// The requests that wait for a database on the network, whose connection may be lost without notice.
struct RequestWaits {
  fileprivate var watched: [Int: (request: EventLoop.QueuedRequest, wait: StoreWait)] = [:]
  /// Requests that were answered before their change ended.
  fileprivate var answered: Set<Int> = []
  /// Requests whose wait has ended and that still have to notice it.
  fileprivate var ended: Set<Int> = []
  fileprivate var isArmed = false
  fileprivate let stranded = StrandedCalls()

  /// Ends the wait of a request, and returns whether the request still needs an answer.
  mutating func end(_ number: Int) -> Bool {
    watched[number] = nil
    return answered.remove(number) == nil
  }
}

// A client learns within 4 s that the database does not answer. A lost connection reports an error only after
// tcp_user_timeout, which allows for short network outages. The loop's own writes wait for that, because the loop must
// know their result.
extension EventLoop {
  /// The interval between checks of the waiting requests.
  private static let waitsEvery = Milliseconds.milliseconds(500)
  /// The time that a request has to run after its wait has ended.
  private static let turnAfterEnd = Milliseconds.milliseconds(200)
  /// The wait after which the database is probed.
  private static let waitBeforeProbe = Milliseconds.seconds(1)
  /// The longest wait of a request, and the minimum silence of the database for it to apply. A database that is merely
  /// busy still answers the fleet's thread.
  private static let longestWait = Milliseconds.seconds(3)
  private static let longestSilence = Milliseconds.milliseconds(1_500)

  /// Returns the bounded wait of a request. Returns nil if it may wait without limit, because it is long or `oneway`.
  func wait(for call: VarlinkCall) -> StoreWait? {
    guard fleet.store != nil, !call.oneway else { return nil }
    if RequestHandler.isStreamed(call) || call.method == TrackersInterface.Restore.method { return nil }
    let wait = StoreWait(waits.stranded)
    if waits.stranded.isFull { _ = wait.giveUp(Self.silence) }
    return wait
  }

  /// Returns the store that a request uses.
  func store(for request: QueuedRequest, _ executor: DispatchExecutor) -> any Store {
    guard let shared = fleet.store, let wait = request.wait else { return store }
    wait.begin()
    return RequestStore(base: shared, wait: wait, executor: executor)
  }

  func watch(_ request: QueuedRequest, _ number: Int) {
    guard let wait = request.wait else { return }
    waits.watched[number] = (request, wait)
    armWaits()
  }

  private func armWaits() {
    guard !waits.isArmed, !waits.watched.isEmpty else { return }
    waits.isArmed = true
    timers?.waits.arm(after: waits.ended.isEmpty ? Self.waitsEvery : Self.turnAfterEnd)
  }

  func lookAtWaits() {
    waits.isArmed = false
    guard let shared = fleet.store else { return }
    waits.watched = waits.watched.filter { !$0.value.request.life.isOver }
    let times = waits.watched.compactMapValues { $0.wait.time }
    if let longest = times.values.max(), longest >= Self.waitBeforeProbe { shared.probe() }
    if let silence = shared.unansweredFor, silence >= Self.longestSilence {
      for number in times.filter({ $0.value >= Self.longestWait }).keys.sorted() {
        // A queued request gets its turn and finds that the store does not answer. A request behind one with an
        // unlimited wait is refused here.
        if waits.ended.contains(number) { refuse(number) } else { giveUp(number) }
      }
      beginRequests()
    }
    waits.ended.formIntersection(waits.watched.keys)
    armWaits()
  }

  private func giveUp(_ number: Int) {
    guard let (request, wait) = waits.watched[number] else { return }
    waits.ended.insert(number)
    guard case .unknown = wait.giveUp(Self.silence) else { return }
    waits.watched[number] = nil
    waits.answered.insert(number)
    requests.end(number)
    reply("\(Self.silence.sentence); it is unknown whether the change was made", to: request)
  }

  /// Refuses a request that is still queued after its wait has ended.
  private func refuse(_ number: Int) {
    guard requests.remove(number), let (request, _) = waits.watched.removeValue(forKey: number) else { return }
    reply(Self.silence.sentence, to: request)
  }

  private static let silence = StoreFailure.unavailable(
    "the database does not answer: check that PostgreSQL runs and can be reached; chimed reconnects by itself")

  private func reply(_ reason: String, to request: QueuedRequest) {
    let call = request.call
    let interface = call.method.lastIndex(of: ".").map { String(call.method[..<$0]) } ?? ""
    replied(ControlFailure.storeUnavailable(reason).reply(interface: interface), to: call, request.token)
  }
}
