import ChimeCore
import ChimeSchedule

/// The progress of a session with a mail server.
enum MailStage: Hashable, Sendable {
  /// Greeting, TLS and login.
  case session
  /// Sender, recipients and text of the message.
  case message
}

extension WebhookVerdict {
  /// Maps the server's last reply to the delivery's next step (RFC 5321, section 4.2.1).
  ///
  ///     250 → settled · 4xx → in a minute · 5xx about the message → given up · all else → the retry schedule
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

  /// Delay after a 4xx reply: busy servers (RFC 5321, section 4.5.4.1) and greylisting need minutes.
  private static let pause = Milliseconds.minutes(1)
  /// Replies that concern the login rather than the message (RFC 4954, section 6).
  private static let logins: Set<Int> = [530, 534, 535, 538]
}
