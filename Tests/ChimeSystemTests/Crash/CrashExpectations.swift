import Foundation
import Synchronization

/// The knowledge of the clients of a daemon that is killed: requests and acknowledgments.
///
/// Each reminder has one client that writes to it, so that client's last acknowledged state must exist. A request
/// without a reply is in doubt: it may or may not have been executed, and the client checks after the restart.
final class CrashExpectations: Sendable {
  /// A reminder as its client has set it.
  struct ExpectedReminder: Sendable {
    var client: Int
    var title: String
    var body: String?
    var urgency = "normal"
    var when: String
    var channels: [String]
    var isPaused = false
    /// Whether it fires once, about a second after it was added.
    var isSoon: Bool
    /// The state that an unanswered request may have produced: a change, or a removal.
    var doubt: Uncertainty?
  }

  enum Uncertainty: Sendable {
    case change(title: String, body: String?, urgency: String)
    case pause(Bool)
    case removal
  }

  /// An answer to an occurrence.
  enum Answer: String, Sendable { case done, dismissed, snoozed }

  struct State: Sendable {
    /// By id; removed ones are in `removed`.
    var reminders: [String: ExpectedReminder] = [:]
    var removed: Set<String> = []
    /// Tokens without a reply, with their requests.
    var unanswered: [String: JSON] = [:]
    /// The number of reminders requested with tokens.
    var tokens = 0
    var answers: [String: Answer] = [:]
    /// The occurrences whose answers got no reply.
    var answeredInDoubt: Set<String> = []
    /// The imported ids with their titles.
    var imported: [String: String] = [:]
    /// The header's acknowledged value, and a value in doubt.
    var header: (known: String, doubt: String?) = ("", nil)
    /// The endpoint secret's acknowledged value, and a value in doubt.
    var secret: (known: String, doubt: String?) = ("", nil)
    var acknowledged = 0
    var doubts = 0
    var doubtsDone = 0
  }

  private let state = Mutex(State())

  func change<Value: Sendable>(_ body: (inout sending State) -> Value) -> Value { state.withLock { body(&$0) } }
  var now: State { state.withLock { $0 } }
}
