import Dispatch
import Varlink

/// The connections of the control socket, and the deadlines of each.
struct Clients {
  struct Client {
    let socket: Int32
    let caller: Caller
    /// The group of the client process when it connected.
    var gid: UInt32 = .max
    /// All groups of its user; nil: not looked up yet.
    var groups: Set<UInt32>?
    var connection: ServerConnection
    /// Whether the peer can neither send nor read any more.
    var isGone = false
    /// The life of the call that is being answered, if the client waits for its answer.
    var life: RequestLife?
    /// The call that watches the stream of events, and the caller for whom it does; nil: none.
    var watches: (call: VarlinkCall.ID, caller: Caller)?
    /// The message that is half received, and the deadline for the rest (monotonic).
    var unfinished: (message: Int, until: DispatchTime)?
    /// The deadline after which a draining connection is closed (monotonic).
    var drainsUntil: DispatchTime?

    var deadline: DispatchTime? { [unfinished?.until, drainsUntil].compactMap { $0 }.min() }
  }

  private var byToken: [Poller.Token: Client] = [:]
  private var byUser: [UInt32: Int] = [:]
  /// The clients with a deadline. Only these are searched when the timer fires: thousands of clients have none.
  private var expiring: Set<Poller.Token> = []

  var count: Int { byToken.count }
  var tokens: [Poller.Token] { Array(byToken.keys) }

  func count(of uid: UInt32) -> Int { byUser[uid] ?? 0 }

  subscript(token: Poller.Token) -> Client? {
    get { byToken[token] }
    set {
      if let old = byToken[token], newValue == nil {
        byUser[old.caller.uid] = count(of: old.caller.uid) - 1
        if byUser[old.caller.uid] == 0 { byUser[old.caller.uid] = nil }
      } else if let newValue, byToken[token] == nil {
        byUser[newValue.caller.uid] = count(of: newValue.caller.uid) + 1
      }
      byToken[token] = newValue
      if newValue?.deadline == nil { expiring.remove(token) } else { expiring.insert(token) }
    }
  }

  /// Changes a client in place. A copy would copy its receive buffer with each byte that follows.
  mutating func change<Result>(
    _ token: Poller.Token, _ body: (inout Client) throws -> Result
  ) rethrows -> Result? {
    guard let index = byToken.index(forKey: token) else { return nil }
    return try body(&byToken.values[index])
  }

  /// The clients that have sent more than one turn reads, in order.
  private var line: [Poller.Token] = []
  private var inLine: Set<Poller.Token> = []

  /// The number of clients that wait for their next turn.
  var waiting: Int { line.count }

  /// Adds a client to the end of the line, unless it is in it.
  mutating func waitForTurn(_ token: Poller.Token) {
    if inLine.insert(token).inserted { line.append(token) }
  }

  /// Removes the first clients from the line, and returns them.
  mutating func takeTurns(atMost count: Int) -> [Poller.Token] {
    let first = Array(line.prefix(count))
    line.removeFirst(first.count)
    inLine.subtract(first)
    return first
  }

  /// Whether the timer is armed that drops clients at their deadlines.
  var timerIsArmed = false

  var hasDeadlines: Bool { !expiring.isEmpty }

  /// The clients that watch the stream of events: the call and the caller of each.
  var watchers: [(Poller.Token, VarlinkCall.ID, Caller)] {
    byToken.compactMap { token, client in client.watches.map { (token, $0.call, $0.caller) } }
  }

  var earliestDeadline: DispatchTime? { expiring.compactMap { byToken[$0]?.deadline }.min() }

  func expired(at now: DispatchTime) -> [Poller.Token] {
    expiring.filter { (byToken[$0]?.deadline ?? .distantFuture) <= now }
  }
}
