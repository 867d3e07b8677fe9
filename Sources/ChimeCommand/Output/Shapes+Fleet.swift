import ChimeControl

// The daemons that share a store, for programs.
extension Shapes {
  static let daemon = Shape<DaemonInterface.Daemon>(
    list: "daemons", item: "daemon",
    fields: [
      .init("id", "its number, which is given once") { .int($0.id) },
      .init("host", "the name of its machine") { .string($0.host) },
      .init("pid", "its process id there") { .int($0.pid) },
      .init("version", "its version") { .string($0.version) },
      .init("startedAt", "when it came") { .time($0.startedAt) },
      .init(
        "state",
        "`running`; `leaving`: about to end; `lost`: not heard of for six seconds or more; `replaced`: so too, and another "
          + "of its machine has come since"
      ) { .string($0.state.rawValue) },
      .init("unheardMs", "how long ago it was last heard of, in milliseconds") { .int($0.unheardMs) },
      .init("isAsked", "whether it is the one that answered") { .bool($0.isAsked) },
      .init("shares", "how many of the parts of the outbox it has") { .int($0.shares) },
    ])

  static let share = Shape<DaemonInterface.Share>(
    list: "outbox", item: "share",
    fields: [
      .init("daemon", "the daemon's number") { .int($0.daemon) },
      .init("channels", "how many channels of its own owe something") { .int($0.channels) },
      .init("owed", "how many messages they owe") { .int($0.owed) },
      .init("oldestOwedMs", "the age of the oldest of them, in milliseconds") { .optional($0.oldestOwedMs) },
    ])

  static let owedChannel = Shape<DaemonInterface.OwedChannel>(
    list: "channels", item: "owedChannel",
    fields: [
      .init("channel", "its name") { .string($0.channel) },
      .init("uid", "whose it is, of the system's daemon; else null") { .optional($0.uid) },
      .init("daemon", "the number of the daemon that sends to it; null: none at this moment") { .optional($0.daemon) },
      .init("owed", "how many messages are owed to it") { .int($0.owed) },
      .init("oldestOwedMs", "the age of the oldest of them, in milliseconds") { .optional($0.oldestOwedMs) },
    ])

  static let fleet = Shape<DaemonInterface.Fleet>(
    list: "fleets", item: "fleet",
    fields: [
      .init("isShared", "whether others can share the store") { .bool($0.isShared) },
      .init("store", "where it is") { .string($0.store) },
      .init("daemons", "those that have it, in the order in which they came; one where no other can") {
        .list($0.daemons.map { daemon.json($0) })
      },
      .init("shares", "how many parts the outbox has, each of which is one daemon's") { .int($0.shares) },
      .init("freeShares", "those of them that no daemon has that runs") { .int($0.freeShares) },
      .init("outbox", "what each daemon owes, those that owe something") { .list($0.outbox.map { share.json($0) }) },
      .init("channels", "the channels that are owed most, 64 at most") {
        .list($0.channels.map { owedChannel.json($0) })
      },
      .init("owed", "messages that are still to be delivered") { .int($0.owed) },
      .init("oldestOwedMs", "the age of the oldest of them, in milliseconds; null when none is owed") {
        .optional($0.oldestOwedMs)
      },
      .init("overdue", "times that have come and have not fired yet") { .int($0.overdue) },
      .init("oldestOverdueMs", "for how long the oldest of them has waited, in milliseconds; null without any") {
        .optional($0.oldestOverdueMs)
      },
    ])
}
