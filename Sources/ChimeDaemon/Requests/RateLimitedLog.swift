import Dispatch

/// How often is said what a client can bring about as often as it likes: at once, and then once in a while with the
/// number of times that went untold, so that nobody can fill the journal, or have journald drop what else is logged.
struct RateLimitedLog {
  private struct Subject: Hashable {
    var id: MessageID
    var uid: UInt32?
  }

  private var told: [Subject: (at: DispatchTime, untold: Int)] = [:]
  static let pause = DispatchTimeInterval.seconds(10)
  /// Of how many users it is known when they were complained of last; beyond these nothing is said.
  static let limit = 64

  /// - Returns: how often it happened without being told; nil when nothing is to be said now.
  mutating func next(_ id: MessageID, _ uid: UInt32?, at now: DispatchTime) -> Int? {
    let subject = Subject(id: id, uid: uid)
    if let last = told[subject] {
      guard now >= last.at + Self.pause else {
        told[subject]?.untold += 1
        return nil
      }
      told[subject] = (now, 0)
      return last.untold
    }
    if told.count >= Self.limit {
      told = told.filter { now < $0.value.at + Self.pause }
      guard told.count < Self.limit else { return nil }
    }
    told[subject] = (now, 0)
    return 0
  }
}
