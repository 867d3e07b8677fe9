import ChimeControl
import ChimeWords

/// Reminders that nobody hears, because each of their channels is missing or off.
enum MuteReminders {
  /// - Parameter name: only those that go to this channel; nil: all.
  static func among(
    _ reminders: [RemindersInterface.Reminder], to name: String? = nil, _ endpoints: [EndpointsInterface.Endpoint],
    _ commands: [CommandsInterface.Command]
  ) -> [RemindersInterface.Reminder] {
    let heard = Set(
      ["desktop"] + endpoints.filter { $0.disabled == nil && $0.fault == nil }.map(\.name)
        + commands.filter { $0.enabled && $0.problem == nil }.map(\.name))
    return reminders.filter { reminder in
      reminder.state != .finished && name.map(reminder.channels.contains) != false
        && !reminder.channels.contains(where: heard.contains)
    }
  }

  /// Says which there are. What was done is done: where they cannot be asked for, nothing is said.
  static func tell(_ context: Context, to name: String? = nil) {
    guard let daemon = try? context.daemon(), let mute = try? found(daemon, to: name), let first = mute.first else {
      return
    }
    let names = mute.prefix(5).map { "\($0.id) \"\($0.title)\"" }.joined(separator: ", ")
    let more = mute.count > 5 ? " …" : ""
    context.note(
      Words.say(
        count: mute.count, "Nobody hears %n reminder now, whose channels are missing or off: %1",
        "Nobody hears %n reminders now, whose channels are missing or off: %1", names + more), .caution)
    context.note(Words.say("`chime edit %1 --to desktop` sends one to another channel.", first.id))
  }

  private static func found(_ daemon: Daemon, to name: String?) throws -> [RemindersInterface.Reminder] {
    let endpoints = try daemon.call(EndpointsInterface.List()).endpoints
    let commands = try daemon.call(CommandsInterface.List()).commands
    return try Listings.pages(limit: nil, keeping: { !among([$0], to: name, endpoints, commands).isEmpty }) {
      limit, cursor in
      let reply: RemindersInterface.List.Reply = try daemon.call(RemindersInterface.List(limit: limit, cursor: cursor))
      return (reply.reminders, reply.cursor)
    }.items
  }
}
