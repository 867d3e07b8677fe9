import ChimeSchedule

/// How long a server is asked to hold a request open for which nothing has come yet: longer and longer, as long as whoever stands
/// between lets it. A rest of ten minutes costs two wake-ups.
struct MatrixPatience: Hashable, Sendable {
  /// Proxies give up after a minute, as a rule.
  static let first = Milliseconds.seconds(50)
  static let longest = Milliseconds.minutes(10)

  private(set) var wait = first
  /// What is known to be too long.
  private var most = longest

  init() {}

  /// An answer came, after so long.
  mutating func answered(after time: Milliseconds) {
    guard time >= wait else { return }
    wait = min(.milliseconds(wait.rawValue * 2), most)
  }

  /// Somebody has ended it before the server answered.
  ///
  /// - Returns: whether that was for its length, so that a shorter one may do.
  mutating func wasCut(after time: Milliseconds) -> Bool {
    guard wait > Self.first, time >= Self.first else { return false }
    most = max(Self.first, .milliseconds(wait.rawValue / 2))
    wait = most
    return true
  }
}
