import ChimeCore
import ChimeSchedule

/// What becomes of an attempt that a stop or a reload of the daemon cuts short: nobody's failure, so it uses up no attempt
/// of the retry schedule, and the message comes again as soon as somebody can send it.
enum ShutdownOutcome {
  static let outcome = Attempt.Outcome.refused
  static let next = ChannelReport.NextStep.blocked(.seconds(1))
  static let sentence = "cancelled because the daemon is stopping"
}
