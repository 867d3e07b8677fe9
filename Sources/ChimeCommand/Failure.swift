import ChimeControl
import ChimeWords
import Glibc

/// How a run of the command ends, for scripts to tell apart (the numbers are those of sysexits.h).
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

/// Why a run fails, in words for the person who typed it: one sentence, lines that show the place, and a hint.
///
/// Texts may repeat what others wrote; they are made harmless when they are printed.
struct Failure: Error, Equatable {
  var status: ExitCode
  /// Without a full stop and without `chime: `.
  var message: String
  /// Lines beneath the message, such as a schedule with a caret under the column that is at fault.
  var detail: [String] = []
  /// What to do instead, one line each.
  var hints: [String] = []
  /// A text that was sent was not understood.
  var isInvalidText = false
  /// A value was taken for a slip, and may be forced.
  var isUnlikely = false
  /// Where in it, from 1.
  var line: Int?
  /// The message in English, for JSON and to be compared; empty where it is not needed.
  var said = ""
  /// What was probably meant, as it would be typed.
  var suggestion: String?
  /// Where a pack is wrong.
  var faults: [Wire.Fault] = []

  /// Which of many drafts are wrong.
  var drafts: [RemindersInterface.DraftFault] = []

  /// A name that fits more than one, and those that it fits: each its id, a space, and what tells it from the others.
  var ambiguity: Wire.Ambiguous?

  /// The same, with its message in English.
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

  /// A message for a system call that failed.
  static func system(_ message: String, errno code: Int32) -> Failure {
    let denied = code == EACCES || code == EPERM
    return Failure(status: denied ? .notPermitted : .failed, message: "\(message): \(describe(errno: code))")
  }
}

/// What the C library calls an error number.
func describe(errno code: Int32) -> String {
  strerror(code).map { String(cString: $0) } ?? localized("error %1", code)
}
