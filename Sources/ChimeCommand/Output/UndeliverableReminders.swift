import ChimeControl
import ChimeWords

/// Reminders that notify nobody, because each of their channels is missing or disabled.
enum UndeliverableReminders {
  /// Prints a warning about them. It ignores errors, because the verb itself has already succeeded.
  static func tell(_ context: Context, to name: String? = nil) {
    guard let daemon = try? context.daemon(), let unreachable = try? found(daemon, to: name),
      let first = unreachable.first
    else {
      return
    }
    let names = unreachable.prefix(5).map { "\($0.id) \"\($0.title)\"" }.joined(separator: ", ")
    let more = unreachable.count > 5 ? " …" : ""
    context.note(
      localized(
        count: unreachable.count, "%n reminder reaches nobody, because its channels are missing or off: %1",
        "%n reminders reach nobody, because their channels are missing or off: %1", names + more), .caution)
    context.note(localized("`chime edit %1 --to desktop` sends one to another channel.", first.id))
  }

  private static func found(_ daemon: Daemon, to name: String?) throws -> [RemindersInterface.Reminder] {
    return try Pagination.pages(
      limit: nil, keeping: { $0.undeliverable != nil && name.map($0.channels.contains) != false }
    ) {
      limit, cursor in
      let reply: RemindersInterface.List.Reply = try daemon.call(RemindersInterface.List(limit: limit, cursor: cursor))
      return (reply.reminders, reply.cursor)
    }.items
  }
}
