import ChimeCore
import Dispatch
import Varlink

/// The connections of the control socket, with what each may still cost.
struct Clients {
  struct Client {
    let socket: Int32
    let caller: Caller
    /// The group that its process was in when it connected.
    var gid: UInt32 = .max
    /// All groups of its user; nil while nobody has asked.
    var groups: Set<UInt32>?
    var connection: ServerConnection
    /// Whether the other side can neither send nor read any more.
    var isGone = false
    /// Of the call that is being answered, where an answer is waited for.
    var life: RequestLife?
    /// The stream it watches, if it does, and as whom.
    var watches: (call: VarlinkCall.ID, caller: Caller)?
    /// The message that is being waited for, and until when (monotonic).
    var unfinished: (message: Int, until: DispatchTime)?
    /// When a connection that only drains is closed all the same (monotonic).
    var drainsUntil: DispatchTime?

    var deadline: DispatchTime? { [unfinished?.until, drainsUntil].compactMap { $0 }.min() }
  }

  private var byToken: [Poller.Token: Client] = [:]
  private var byUser: [UInt32: Int] = [:]
  /// Those that are waited for with a deadline. Looked through when one has passed, not with every request: among
  /// thousands of clients that would be most of the work.
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

  /// Works on a client where it is kept: on a copy, what it has sent so far would be copied with each byte that follows.
  mutating func change<Result>(
    _ token: Poller.Token, _ body: (inout Client) throws -> Result
  ) rethrows -> Result? {
    guard let index = byToken.index(forKey: token) else { return nil }
    return try body(&byToken.values[index])
  }

  /// Those who have sent more than is read in one turn.
  private var line: [Poller.Token] = []
  private var inLine: Set<Poller.Token> = []

  /// How many wait for their next turn.
  var waiting: Int { line.count }

  /// At the end of the line, unless it is in it.
  mutating func waitForTurn(_ token: Poller.Token) {
    if inLine.insert(token).inserted { line.append(token) }
  }

  /// The first in the line, who leave it.
  mutating func takeTurns(atMost count: Int) -> [Poller.Token] {
    let first = Array(line.prefix(count))
    line.removeFirst(first.count)
    inLine.subtract(first)
    return first
  }

  /// Whether the timer is armed that drops those whose time is up.
  var timerIsArmed = false

  /// Whether anyone is waited for with a deadline.
  var hasDeadlines: Bool { !expiring.isEmpty }

  /// Those who watch the stream of events, and the call each watches by.
  var watchers: [(Poller.Token, VarlinkCall.ID, Caller)] {
    byToken.compactMap { token, client in client.watches.map { (token, $0.call, $0.caller) } }
  }

  var earliestDeadline: DispatchTime? { expiring.compactMap { byToken[$0]?.deadline }.min() }

  func expired(at now: DispatchTime) -> [Poller.Token] {
    expiring.filter { (byToken[$0]?.deadline ?? .distantFuture) <= now }
  }
}
