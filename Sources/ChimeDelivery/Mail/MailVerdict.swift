import ChimeCore
import ChimeSchedule

/// How far a session with a mail server had come.
enum MailStage: Hashable, Sendable {
  /// Greeting, TLS, and the log-in.
  case session
  /// The message itself: whom it is from, whom it is for, and its text.
  case message
}

extension WebhookVerdict {
  /// What the server's last reply means (RFC 5321, section 4.2.1).
  ///
  ///     250 → settled · 4xx → later · 5xx about the message → given up · all else → the retry schedule
  mutating func judge(reply status: Int, isAboutMessage: Bool) {
    switch status {
    case 200..<300: (outcome, next) = (.delivered, .settled)
    case 400..<500:
      next = .retryAfter(Self.pause)
      error = "answered \(status): try later"
    case _ where Self.logins.contains(status):
      error = "the server rejects the log-in (\(status)): give the name with --user and its password with --token-file"
    case 500... where isAboutMessage:
      next = .giveUp
      error = "answered \(status): the server rejects the message permanently"
    default: error = "answered \(status)"
    }
  }

  /// Who says *not now* means minutes (RFC 5321, section 4.5.4.1); who delays what is new to them (greylisting), too.
  private static let pause = Milliseconds.minutes(1)
  /// Replies that are about who asks, not about the message (RFC 4954, section 6).
  private static let logins: Set<Int> = [530, 534, 535, 538]
}
