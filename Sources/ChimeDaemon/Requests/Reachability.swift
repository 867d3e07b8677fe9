import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A Reachability knows which channels can notify a person at this moment.
struct Reachability: Sendable {
  /// Why popups cannot be shown; nil: they can.
  var desktopProblem: String?
  let endpoints: EndpointCache
  let commands: CommandChannel

  /// Returns why a reminder reaches nobody: each of its channels is missing or off. Nil: one of them works.
  func problem(of reminder: Reminder) -> String? {
    let channels = reminder.channels(atRepeat: .max)
    let problems = channels.compactMap { problem(of: $0, owner: reminder.owner) }
    return problems.count == channels.count ? problems.joined(separator: "; ") : nil
  }

  private func problem(of channel: ChannelName, owner: UInt32) -> String? {
    if channel == .desktop { return desktopProblem.map { "the daemon cannot show popups: \($0)" } }
    if let command = commands.book.commands[channel] {
      guard commands.book.isEnabled else { return "the command \(channel) is switched off" }
      return commands.problem(of: command).map { "the command \(channel) cannot be run: \($0)" }
    }
    guard let access = endpoints.access(DeliveryQueue(owner: owner, channel: channel)) else {
      return "there is no endpoint or command \(channel)"
    }
    if let reason = access.endpoint.disabled?.reason { return "the endpoint \(channel) is disabled: \(reason)" }
    if access.lacksSecrets { return "the endpoint \(channel) has no secret" }
    if let events = access.endpoint.settings.events, !events.contains(.fired) {
      return "the endpoint \(channel) does not receive the event fired"
    }
    return access.fault.map { "Chime cannot send to the endpoint \(channel): \($0)" }
  }
}

/// The reminders with a future time that reach nobody.
struct UndeliverableReminders: Sendable {
  var count = 0
  /// The reminder of these that comes first, and why it reaches nobody.
  var first: (id: ReminderID, title: String, problem: String)?

  static let kind = "undeliverable"

  /// The notice for `status`, `doctor` and the metrics; nil: every reminder reaches somebody.
  var notice: DaemonInterface.Notice? {
    guard let first else { return nil }
    return DaemonInterface.Notice(
      kind: Self.kind, about: first.id.rawValue,
      sentence: count == 1
        ? "\"\(first.title)\" (\(first.id)) reaches nobody: \(first.problem)"
        : "\(count) reminders reach nobody, the first of them \"\(first.title)\" (\(first.id)): \(first.problem)")
  }
}
