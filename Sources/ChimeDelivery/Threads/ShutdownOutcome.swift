import ChimeCore
import ChimeSchedule

/// The outcome of an attempt that a stop or a reload of the daemon interrupts. No one failed, so it uses up no attempt
/// of the retry schedule, and the message is sent again as soon as possible.
enum ShutdownOutcome {
  static let outcome = Attempt.Outcome.refused
  static let next = ChannelReport.NextStep.blocked(.seconds(1))
  static let sentence = "cancelled because the daemon is stopping"
}
