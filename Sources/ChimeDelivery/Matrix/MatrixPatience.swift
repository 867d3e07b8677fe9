import ChimeSchedule

/// A MatrixPatience adapts the timeout of long polls. It doubles the timeout as long as intermediaries allow. A poll of
/// ten minutes costs two wake-ups.
struct MatrixPatience: Hashable, Sendable {
  /// Proxies usually time out after a minute.
  static let first = Milliseconds.seconds(50)
  static let longest = Milliseconds.minutes(10)

  private(set) var wait = first
  /// Upper limit, lowered when a poll turns out to be too long.
  private var most = longest

  init() {}

  /// Records a response after `time`.
  mutating func answered(after time: Milliseconds) {
    guard time >= wait else { return }
    wait = min(.milliseconds(wait.rawValue * 2), most)
  }

  /// Records that the connection ended before the server responded.
  ///
  /// - Returns: Whether the poll was too long, so that a shorter one may succeed.
  mutating func wasCut(after time: Milliseconds) -> Bool {
    guard wait > Self.first, time >= Self.first else { return false }
    most = max(Self.first, .milliseconds(wait.rawValue / 2))
    wait = most
    return true
  }
}
