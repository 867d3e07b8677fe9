import ChimeControl
import ChimeCore
import ChimeSchedule
import Varlink

/// The requests that wait for a database on the network, which may be cut off without a word.
struct RequestWaits {
  fileprivate var watched: [Int: (request: EventLoop.QueuedRequest, wait: StoreWait)] = [:]
  /// Those that have been answered before their change has come to its end.
  fileprivate var answered: Set<Int> = []
  /// Those that are to find out by themselves that their wait has ended.
  fileprivate var ended: Set<Int> = []
  fileprivate var isArmed = false
  fileprivate let stranded = StrandedCalls()

  /// - Returns: whether it is still to be answered.
  mutating func end(_ number: Int) -> Bool {
    watched[number] = nil
    return answered.remove(number) == nil
  }
}

// Whoever asks hears within 4 s that the database does not answer. A connection that is cut off tells of that by itself
// only after the time in which a network may come back (tcp_user_timeout), and the loop's own work waits for that: it
// has to know what has become of what it writes.
extension EventLoop {
  /// How often those that wait are looked at.
  private static let waitsEvery = Milliseconds.milliseconds(500)
  /// How long one whose wait has ended may take to have its turn.
  private static let turnAfterEnd = Milliseconds.milliseconds(200)
  /// From when on the database is asked whether it is there.
  private static let waitBeforeProbe = Milliseconds.seconds(1)
  /// How long a request waits for a database that does not answer, and for how long that has to have been so: one that is
  /// busy with what takes long answers the fleet's thread.
  private static let longestWait = Milliseconds.seconds(3)
  private static let longestSilence = Milliseconds.milliseconds(1_500)

  /// What a request waits by; nil: it waits as long as it takes, because it is long, or because nobody waits for it.
  func wait(for call: VarlinkCall) -> StoreWait? {
    guard fleet.store != nil, !call.oneway else { return nil }
    if RequestHandler.isStreamed(call) || call.method == TrackersInterface.Restore.method { return nil }
    let wait = StoreWait(waits.stranded)
    if waits.stranded.isFull { _ = wait.giveUp(Self.silence) }
    return wait
  }

  /// The store as a request has it.
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
        // Those that wait for their turn have it now, and find that the store does not answer; but for those before whom is
        // one that waits as long as it takes.
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

  /// Answers one whose turn has not come although it is over.
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
