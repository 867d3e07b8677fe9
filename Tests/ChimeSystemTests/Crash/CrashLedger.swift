import Foundation
import Synchronization

/// What the clients of a daemon that is killed know: what they asked for, and what was acknowledged.
///
/// One client writes about a reminder, so what it knows last is what has to be there. A request whose answer never came
/// is in doubt: it may have been done or not, and the client looks when there is a daemon again.
final class CrashLedger: Sendable {
  /// A reminder as its client wants it.
  struct Wanted: Sendable {
    var client: Int
    var title: String
    var body: String?
    var urgency = "normal"
    var when: String
    var channels: [String]
    var isPaused = false
    /// Whether it comes once, a second or so after it was added.
    var isSoon: Bool
    /// What a request would make of it whose answer never came: a change, or nothing at all for a removal.
    var doubt: Doubt?
  }

  enum Doubt: Sendable {
    case change(title: String, body: String?, urgency: String)
    case pause(Bool)
    case removal
  }

  /// What was said to an occurrence.
  enum Answer: String, Sendable { case done, dismissed, snoozed }

  struct State: Sendable {
    /// By id. Removed ones are in `removed`.
    var reminders: [String: Wanted] = [:]
    var removed: Set<String> = []
    /// Tokens without an answer, with the request they belong to.
    var unanswered: [String: JSON] = [:]
    /// How many reminders have been asked for with tokens.
    var tokens = 0
    var answers: [String: Answer] = [:]
    /// Occurrences that were answered without a word back.
    var answeredInDoubt: Set<String> = []
    /// Imported ids and their titles.
    var imported: [String: String] = [:]
    /// The value of the header that the endpoint was given last, and one that it may have.
    var header: (known: String, doubt: String?) = ("", nil)
    /// The same of the secret of an endpoint.
    var secret: (known: String, doubt: String?) = ("", nil)
    var acknowledged = 0
    var doubts = 0
    var doubtsDone = 0
  }

  private let state = Mutex(State())

  func change<Value: Sendable>(_ body: (inout sending State) -> Value) -> Value { state.withLock { body(&$0) } }
  var now: State { state.withLock { $0 } }
}
