import ChimeControl
import ChimeWords
import Glibc

/// The exit statuses, which scripts can tell apart. Numbers from 64 on are those of sysexits.h.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case failed = 1
  case usage = 64
  case unavailable = 69
  case tryAgain = 75
  case notPermitted = 77

  var meaning: String {
    switch self {
    case .success: localized("It was done.")
    case .failed:
      localized(
        """
        The request was valid but failed: no such reminder, a refused value, a failed test. From `chime status`: \
        something needs attention.
        """)
    case .usage: localized("The command line is invalid: a verb, an option, a schedule or a time.")
    case .unavailable: localized("No daemon answers; the message names the command that starts one.")
    case .tryAgain: localized("Try again later: the store cannot be written, or the daemon did not answer in time.")
    case .notPermitted: localized("This user has no permission.")
    }
  }
}

/// The reason why a run fails, for the person who typed it: one sentence, lines that quote the input, and hints.
///
/// Texts may quote untrusted input; they are sanitized when they are printed.
struct Failure: Error, Equatable {
  var status: ExitCode
  /// One sentence, without a full stop and without `chime: `.
  var message: String
  /// Lines under the message, such as a schedule with a caret under the faulty column.
  var detail: [String] = []
  /// What to do instead, one line each.
  var hints: [String] = []
  /// Whether the daemon could not understand a text that the command sent.
  var isInvalidText = false
  /// Whether a value looks like a typing error and can be forced.
  var isUnlikely = false
  /// The line of the text that is at fault, from 1.
  var line: Int?
  /// The message in English, for JSON and for comparisons; empty if nobody needs it.
  var said = ""
  /// The probable intention, as the user would type it.
  var suggestion: String?
  /// The faults of a pack.
  var faults: [Wire.Fault] = []

  /// The faulty drafts among several.
  var drafts: [RemindersInterface.DraftFault] = []

  /// A name that matches more than one item, and the items: each an id, a space, and a distinguishing text.
  var ambiguity: Wire.Ambiguous?

  /// Returns a copy with the message in English.
  func saying(_ said: String) -> Failure {
    var failure = self
    failure.said = said
    return failure
  }

  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(status: .usage, message: message, hints: hint.map { [$0] } ?? [])
  }

  static func failed(_ message: String, hint: String? = nil) -> Failure {
    Failure(status: .failed, message: message, hints: hint.map { [$0] } ?? [])
  }

  /// Returns the failure of a system call.
  static func system(_ message: String, errno code: Int32) -> Failure {
    let denied = code == EACCES || code == EPERM
    return Failure(status: denied ? .notPermitted : .failed, message: "\(message): \(describe(errno: code))")
  }
}

/// Returns the C library's text for an error number.
func describe(errno code: Int32) -> String {
  strerror(code).map { String(cString: $0) } ?? localized("error %1", code)
}

/// Refuses the command line unless it follows a rule.
func need(
  _ rule: Bool, _ message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil
) throws(Failure) {
  guard rule else { throw .usage(message(), hint: hint()) }
}

/// Refuses a valid command line unless what it asks for can be done.
func need(
  _ rule: Bool, failed message: @autoclosure () -> String, hint: @autoclosure () -> String? = nil
) throws(Failure) {
  guard rule else { throw .failed(message(), hint: hint()) }
}
