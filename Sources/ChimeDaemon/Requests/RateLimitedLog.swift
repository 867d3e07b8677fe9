import Dispatch

/// A RateLimitedLog limits the log messages that a client can cause at will.
///
/// The first event is logged at once. Later ones are logged at most every `pause`, with the number that was left out. So no
/// client can fill the journal, or make journald drop other messages.
struct RateLimitedLog {
  private struct Subject: Hashable {
    var id: MessageID
    var uid: UInt32?
  }

  private var entries: [Subject: (at: DispatchTime, suppressed: Int)] = [:]
  static let pause = DispatchTimeInterval.seconds(10)
  /// The number of subjects that are remembered. Beyond it nothing more is logged.
  static let limit = 64

  /// - Returns: the number of events that were left out since the last log; nil: do not log now.
  mutating func next(_ id: MessageID, _ uid: UInt32?, at now: DispatchTime) -> Int? {
    let subject = Subject(id: id, uid: uid)
    if let last = entries[subject] {
      guard now >= last.at + Self.pause else {
        entries[subject]?.suppressed += 1
        return nil
      }
      entries[subject] = (now, 0)
      return last.suppressed
    }
    if entries.count >= Self.limit {
      entries = entries.filter { now < $0.value.at + Self.pause }
      guard entries.count < Self.limit else { return nil }
    }
    entries[subject] = (now, 0)
    return 0
  }
}
