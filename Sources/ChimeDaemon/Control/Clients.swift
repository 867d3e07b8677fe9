import ChimeCore
import Dispatch
import Varlink

/// The connections of the control socket, with what each may still cost.
struct Clients {
  struct Client {
    let socket: Int32
    let caller: Caller
    var connection: ServerConnection
    /// The stream it watches, if it does.
    var watches: VarlinkCall.ID?
    /// The message that is being waited for, and until when (monotonic).
    var unfinished: (message: Int, until: DispatchTime)?
    /// When a connection that only drains is closed all the same (monotonic).
    var drainsUntil: DispatchTime?

    var deadline: DispatchTime? { [unfinished?.until, drainsUntil].compactMap { $0 }.min() }
  }

  private var byToken: [Poller.Token: Client] = [:]
  private var byUser: [UInt32: Int] = [:]

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
    }
  }

  /// Those who watch the stream of events, and the call each watches by.
  var watchers: [(Poller.Token, VarlinkCall.ID, Caller)] {
    byToken.compactMap { token, client in client.watches.map { (token, $0, client.caller) } }
  }

  var earliestDeadline: DispatchTime? { byToken.values.compactMap(\.deadline).min() }

  func expired(at now: DispatchTime) -> [Poller.Token] {
    byToken.filter { ($0.value.deadline ?? .distantFuture) <= now }.map(\.key)
  }
}
