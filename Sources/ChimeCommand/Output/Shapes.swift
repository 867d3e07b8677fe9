import ChimeControl

/// The shapes of what the daemon tells.
enum Shapes {
  static let reminder = Shape<RemindersInterface.Reminder>(
    list: "reminders", item: "reminder",
    fields: [
      .init("id", "its id") { .string($0.id) },
      .init("title", "its title") { .string($0.title) },
      .init("body", "its text") { .optional($0.body) },
      .init("when", "its schedule in canonical form") { .string($0.when) },
      .init("timezone", "an IANA name, or `local`") { .string($0.timezone) },
      .init("gap", "`shift`, `skip`, or null for the schedule's own rule") { .optional($0.gap?.rawValue) },
      .init("fold", "`first`, `last`, `both`, or null for the schedule's own rule") { .optional($0.fold?.rawValue) },
      .init("latitude", "where its sun is watched from, in degrees north; null for the configured place") {
        .optional($0.latitude)
      },
      .init("longitude", "the same in degrees east") { .optional($0.longitude) },
      .init("channels", "where it goes, in order") { .strings($0.channels) },
      .init("tags", "its tags") { .strings($0.tags) },
      .init("urgency", "`low`, `normal` or `critical`") { .string($0.urgency.rawValue) },
      .init("icon", "its icon") { .optional($0.icon) },
      .init("sound", "its sound") { .optional($0.sound) },
      .init("url", "its link") { .optional($0.url) },
      .init("category", "its category") { .optional($0.category) },
      .init("catchUp", "`suspend` and `downtime`, each `latest`, `all` or `skip`") {
        .members([
          "suspend": .string($0.catchUp.suspend.rawValue), "downtime": .string($0.catchUp.downtime.rawValue),
        ])
      },
      .init("grace", "how late is still useful (ISO 8601)") { .string($0.grace) },
      .init("jitter", "up to how much after each of its times it comes (ISO 8601); null for not at all") {
        .optional($0.jitter)
      },
      .init("nag", "`every` (ISO 8601), `max` and `escalation`: a list of `from` and `channels`; null when it has none")
      {
        nag($0.nag)
      },
      .init("quiet", "`rule` (`hold`, `drop`, `off`) and `hours`, each null for the configured; null for both") {
        quiet($0.quiet)
      },
      .init("wake", "whether the machine is woken for it from its sleep") { .bool($0.wake ?? false) },
      .init("stay", "whether its popup stays on the screen until it is answered") { .bool($0.stay ?? false) },
      .init("wakeProblem", "why it is not woken although it is to be; null when it is, and when it is not to be") {
        .optional($0.wakeProblem)
      },
      .init("snooze", "the lengths of a snooze (ISO 8601), the default first") { .strings($0.snooze) },
      .init("state", "`active`, `paused`, `waiting` (fired and unanswered) or `finished`") {
        .string($0.state.rawValue)
      },
      .init("pausedUntil", "when its pause ends") { .time($0.pausedUntil) },
      .init("skipNext", "how many of the next times are passed over") { .int($0.skipNext) },
      .init("next", "when it next comes") { .time($0.next) },
      .init("held", "the time of its schedule that quiet hours hold until then") { .time($0.held) },
      .init("repeatAt", "when it is repeated, unless someone answers") { .time($0.repeatAt) },
      .init("last", "when it last came due") { .time($0.last) },
      .init("lastDone", "when it was last done, where its schedule counts from there") { .time($0.lastDone) },
      .init("createdAt", "when it was added") { .time($0.createdAt) },
      .init(
        "tracker",
        "`tracker`, `logs`, `amount`, `unit`, `quietWhenDone`, `followsEntries` and `pace`; null when it is linked to none"
      ) { link($0.tracker) },
      .init(
        "passedOver",
        "why its next time will be passed over, as things stand: `doneAlready`, `paused` or `skipped` by its tracker; from "
          + "`list` and `show`"
      ) { .optional($0.passedOver?.rawValue) },
      .init("set", "the set of files that declares it (`chime apply`); null for one that was set by hand") {
        .optional($0.set)
      },
      .init("tenant", "the tenant whose it is; null for a user's") { .optional($0.tenant) },
      .init(
        "unheard",
        "why nobody hears it, each of its channels being missing or off; null when it is heard; from `list` and `show`"
      ) { .optional($0.unheard) },
    ])

  static let imported = Shape<RemindersInterface.Imported>(
    list: "imported", item: "imported",
    fields: [
      .init("line", "where it stands in the file, from 1") { .int($0.line) },
      .init("id", "its id; null in a dry run") { .optional($0.id) },
      .init("title", "its title") { .string($0.title) },
      .init("when", "its schedule in canonical form") { .string($0.when) },
      .init("timezone", "an IANA name, or `local`") { .string($0.timezone) },
      .init("next", "its next time") { .time($0.next) },
    ])

  static let addedLine = Shape<AddedLine>(
    list: "added", item: "added",
    fields: [
      .init("line", "where it stands in the file, from 1") { .int($0.line) },
      .init("id", "its id") { .string($0.id) },
    ])

  static let importRemark = Shape<RemindersInterface.ImportRemark>(
    list: "remarks", item: "remark",
    fields: [
      .init("line", "a line of the file, from 1; null when it is about no one line") { .optional($0.line) },
      .init("title", "what it is called, where it has a name") { .optional($0.title) },
      .init(
        "kind",
        "why it was left out: `passed`, `closed` (cancelled or done), `present` (there already), `refused`; or `note`, when "
          + "it was taken but not all of it"
      ) { .string($0.kind.rawValue) },
      .init("message", "the reason as a sentence") { .string($0.message) },
    ])

  static let setChange = Shape<RemindersInterface.SetChange>(
    list: "changes", item: "change",
    fields: [
      .init("action", "`add`, `change` or `remove`") { .string($0.action.rawValue) },
      .init("kind", "`reminder`, `endpoint`, `pack` or `tracker`") { .string($0.kind.rawValue) },
      .init("id", "its id, or the endpoint's name; null for a reminder that has none yet") {
        .optional($0.id)
      },
      .init("title", "its title; null for an endpoint") { .optional($0.title) },
      .init("fields", "what is set or changes: objects with `name`, `old` and `new`, the values as TOML or null") {
        .list(
          $0.fields.map {
            .members(["name": .string($0.name), "old": .optional($0.old), "new": .optional($0.new)])
          })
      },
      .init("records", "how many entries, items and milestones go with a tracker or a pack that is removed") {
        .optional($0.records)
      },
    ])

  static let setFile = Shape<RemindersInterface.SetFileUse>(
    list: "files", item: "file",
    fields: [
      .init("endpoint", "the endpoint that is given it") { .string($0.endpoint) },
      .init("key", "`secretFile` or `tokenFile`") { .string($0.key.rawValue) },
      .init("path", "as the set names it; null for the token that the endpoint has already") { .optional($0.path) },
      .init("url", "where it goes") { .string($0.url) },
    ])

  static let coming = Shape<OccurrencesInterface.Coming>(
    list: "upcoming", item: "coming",
    fields: [
      .init("reminder", "the reminder's id") { .string($0.reminder) },
      .init("title", "the reminder's title") { .string($0.title) },
      .init("at", "when it comes") { .time($0.at) },
      .init("timezone", "the zone of `at`") { .string($0.at.zone) },
      .init("snoozed", "whether that is the end of a snooze") { .bool($0.snoozed) },
      .init("last", "when it last came due") { .time($0.last) },
      .init("paused", "whether the reminder is paused") { .bool($0.paused) },
      .init("when", "the schedule in canonical form") { .string($0.when) },
      .init("held", "the time of its schedule that quiet hours hold until `at`") { .time($0.held) },
      .init("repeats", "whether it is a repeat of what nobody has answered") { .bool($0.repeats ?? false) },
      .init(
        "passedOver",
        "why it will be passed over, as things stand: `doneAlready`, `paused` or `skipped` by its tracker; null when it is heard"
      ) { .optional($0.passedOver?.rawValue) },
      .init(
        "leftOut",
        "the days before `at` that a calendar takes from its schedule: each with `date`, `calendar` and `name`, in English, or null; of a reminder's next time only"
      ) { LeftOutDays.json($0.leftOut) },
    ])

  static let occurrence = Shape<OccurrencesInterface.Occurrence>(
    list: "occurrences", item: "occurrence",
    fields: [
      .init("id", "its id, such as `r7k2@1774852200`") { .string($0.id) },
      .init("reminder", "the reminder's id") { .string($0.reminder) },
      .init("title", "the reminder's title when it fired") { .string($0.title) },
      .init("state", "`fired`, `delivered`, `snoozed`, `done`, `dismissed` or `missed`") { .string($0.state.rawValue) },
      .init("scheduledAt", "when it was due") { .time($0.scheduledAt) },
      .init("firedAt", "when it fired") { .time($0.firedAt) },
      .init("deliveredAt", "when it first arrived") { .time($0.deliveredAt) },
      .init("endedAt", "when it was done, dismissed, or found to be missed") { .time($0.endedAt) },
      .init("snoozedUntil", "when its snooze ends") { .time($0.snoozedUntil) },
      .init("late", "why it came late: `suspend`, `downtime` or `quiet`") { .optional($0.late?.rawValue) },
      .init("latenessMs", "scheduled time to firing, in milliseconds") { .optional($0.latenessMs) },
      .init(
        "missed", "why it was missed: `suspend`, `downtime`, `paused`, `skipped`, `overCap`, `quiet` or `doneAlready`"
      ) {
        .optional($0.missed?.rawValue)
      },
      .init("missedCount", "for a run of missed times recorded as one: how many") { .optional($0.missedCount) },
      .init("rounds", "how often it has fired: 1, and one more after each snooze and with each repeat") {
        .int($0.rounds)
      },
      .init("repeats", "how often it has been repeated since it fired, or since its last snooze") {
        .int($0.repeats ?? 0)
      },
      .init("repeatAt", "when it is repeated next, unless someone answers") { .time($0.repeatAt) },
    ])

  static let delivery = Shape<DeliveriesInterface.Delivery>(
    list: "deliveries", item: "delivery",
    fields: [
      .init("id", "its id, the same for all attempts (`webhook-id`)") { .string($0.id) },
      .init("reminder", "the reminder's id") { .string($0.reminder) },
      .init("occurrence", "the occurrence's id") { .string($0.occurrence) },
      .init("title", "the reminder's title") { .string($0.title) },
      .init("channel", "where it goes") { .string($0.channel) },
      .init("state", "`pending`, `waiting`, `delivered`, `dead` or `cancelled`") { .string($0.state.rawValue) },
      .init("round", "which firing of the occurrence") { .int($0.round) },
      .init("attempts", "how often it was tried") { .int($0.attempts) },
      .init("createdAt", "when it was due to leave") { .time($0.createdAt) },
      .init("nextAttempt", "when it is tried again") { .time($0.nextAttempt) },
      .init("endedAt", "when it arrived, was given up or cancelled") { .time($0.endedAt) },
      .init("lastResult", "what the latest attempt came to") { .optional($0.lastResult) },
    ])

  static let attempt = Shape<DeliveriesInterface.Attempt>(
    list: "attempts", item: "attempt",
    fields: [
      .init("number", "from 1") { .int($0.number) },
      .init("startedAt", "when it began") { .time($0.startedAt) },
      .init("tookMs", "how long it took, in milliseconds") { .int($0.tookMs) },
      .init("outcome", "`delivered`, `failed` or `refused`") { .string($0.outcome.rawValue) },
      .init("status", "the HTTP status, or a program's exit status") { .optional($0.status) },
      .init("answer", "the first 1 KiB of what came back") { .optional($0.answer) },
      .init("error", "what went wrong") { .optional($0.error) },
    ])

  static let command = Shape<CommandsInterface.Command>(
    list: "commands", item: "command",
    fields: [
      .init("name", "its name, for `--to`") { .string($0.name) },
      .init("program", "the program, as it is configured") { .string($0.program) },
      .init("arguments", "its arguments") { .strings($0.arguments) },
      .init("enabled", "whether commands are run at all") { .bool($0.enabled) },
      .init("timeLimit", "how long a run may take (ISO 8601)") { .string($0.timeLimit) },
      .init("overlap", "`queue`, `skip` or `parallel`: what a message does that comes while it still runs") {
        .string($0.overlap.rawValue)
      },
      .init("problem", "why it could not be run now; null when it could") { .optional($0.problem) },
      .init("owed", "messages that it still has to take") { .int($0.owed) },
      .init("running", "runs under way") { .int($0.running) },
    ])

  static let commandTest = Shape<CommandsInterface.TestResult>(
    list: "results", item: "result",
    fields: [
      .init("ok", "whether it ended with a status that means delivered") { .bool($0.ok) },
      .init("program", "what was run") { .string($0.program) },
      .init("arguments", "its arguments") { .strings($0.arguments) },
      .init("input", "its standard input") { .string($0.input) },
      .init("variables", "its variables that tell of the reminder, as NAME=value") { .strings($0.variables) },
      .init("status", "its exit status") { .optional($0.status) },
      .init("output", "what it wrote, at most 64 KiB") { .string($0.output) },
      .init("cut", "whether it wrote more than that") { .bool($0.cut) },
      .init("error", "what went wrong") { .optional($0.error) },
      .init("tookMs", "how long it took, in milliseconds") { .int($0.tookMs) },
    ])

  static let snapshot = Shape<DaemonInterface.StoreSnapshot>(
    list: "snapshots", item: "snapshot",
    fields: [
      .init("takenAt", "when it was taken") { .time($0.takenAt) },
      .init("path", "its file") { .string($0.path) },
      .init("bytes", "its size") { .int($0.bytes) },
      .init("beforeUpgradeFrom", "the store's layout that a newer chimed was about to change; null for a plain one") {
        .optional($0.beforeUpgradeFrom)
      },
    ])

  static let health = Shape<DaemonInterface.Health>(
    list: "daemons", item: "status",
    fields: [
      .init("version", "the daemon's version") { .string($0.version) },
      .init("pid", "its process id") { .int($0.pid) },
      .init("instance", "`user` or `system`") { .string($0.instance.rawValue) },
      .init("startedAt", "when it started") { .time($0.startedAt) },
      .init("zone", "the machine's zone") { .string($0.zone) },
      .init("store", "where reminders are kept") { .string($0.store) },
      .init("storeProblem", "what is wrong with the store; null while it works") { .optional($0.storeProblem) },
      .init("unrecorded", "times that have fired from memory and are not in the store yet") {
        .int($0.unrecorded ?? 0)
      },
      .init("lastSnapshot", "the newest snapshot of the store, as an object; null when there is none yet") {
        $0.lastSnapshot.map { snapshot.json($0) } ?? .null
      },
      .init("reminders", "how many there are") { .int($0.reminders) },
      .init("trackers", "how many trackers there are") { .int($0.trackers ?? 0) },
      .init("openOccurrences", "how many wait for an answer") { .int($0.openOccurrences) },
      .init("owedDeliveries", "messages that are still to be delivered") { .int($0.owedDeliveries) },
      .init("deadDeliveries", "messages that were given up") { .int($0.deadDeliveries) },
      .init("nextDue", "the earliest next time") { .time($0.nextDue) },
      .init("nextTitle", "the title of that reminder") { .optional($0.nextTitle) },
      .init("connections", "clients that are connected") { .int($0.connections) },
      .init("clockEvents", "clock steps, zone changes and resumes noticed since the start") { .int($0.clockEvents) },
      .init("residentBytes", "its memory") { .int($0.residentBytes) },
      .init("summary", "the line that `systemctl status` shows") { .string($0.summary) },
      .init("attention", "what should be seen to, as sentences") { .strings($0.attention ?? []) },
      .init("daemons", "the daemons that share the store, as in `fleet`; null where no other can") {
        $0.daemons.map { .list($0.map { daemon.json($0) }) } ?? .null
      },
      .init("tenants", "the tenants that one may act for, as objects with what each has and may have") {
        .list(($0.tenants ?? []).map { tenant.json($0) })
      },
      .init("silence", "until when everything is silent, and whether `critical` reminders are too; null when it is not")
      {
        $0.silence.map { silence.json($0) } ?? .null
      },
      .init("unheard", "how many reminders nobody hears, each of their channels being missing or off") {
        .optional($0.unheard)
      },
    ])

  static let silence = Shape<Wire.Silence>(
    list: "silences", item: "silence",
    fields: [
      .init("until", "when it ends") { .time($0.until) },
      .init("critical", "whether what is critical is silent too") { .bool($0.critical) },
    ])

  static let tenant = Shape<DaemonInterface.Tenant>(
    list: "tenants", item: "tenant",
    fields: [
      .init("name", "its name") { .string($0.name) },
      .init("reminders", "how many have a time to come") { .int($0.reminders) },
      .init("reminderLimit", "how many may have; null: any number") { .optional($0.reminderLimit) },
      .init("requestsPerSecond", "how many requests a second are taken; null: any number") {
        .optional($0.requestsPerSecond)
      },
      .init("requests", "how many the daemon has taken since its start") { .int($0.requests) },
      .init("requestsRefused", "how many it has refused because there were too many") { .int($0.requestsRefused) },
      .init("deliveriesPerSecond", "how many messages a second are begun; null: any number") {
        .optional($0.deliveriesPerSecond)
      },
      .init("deliveriesHere", "what of that is this daemon's, of several with one database") {
        $0.deliveriesHere.map { .number($0) } ?? .null
      },
      .init("owedDeliveries", "messages that are still to be sent") { .int($0.owedDeliveries) },
    ])

  static let event = Shape<DaemonInterface.Event>(
    list: "events", item: "event",
    fields: [
      .init("at", "when it happened") { .time($0.at) },
      .init(
        "event",
        "`added`, `changed`, `removed`, `fired`, `missed`, `delivered`, `failed`, `done`, `dismissed`, `snoozed`, "
          + "`closed`, `logged`, `goal`, `unlocked`, `level`, `milestone`, `clock`, `zone`, `calendar`, `resumed`, "
          + "`reloaded`, `store`; more may come"
      ) { .string($0.event) },
      .init("reminder", "the reminder's id") { .optional($0.reminder) },
      .init("title", "the reminder's title") { .optional($0.title) },
      .init("occurrence", "the occurrence's id") { .optional($0.occurrence) },
      .init("delivery", "the delivery's id") { .optional($0.delivery) },
      .init("channel", "where it went") { .optional($0.channel) },
      .init("latenessMs", "scheduled time to firing, in milliseconds") { .optional($0.latenessMs) },
      .init("message", "the event as a sentence") { .string($0.message) },
      .init("tracker", "the tracker's id, of events of trackers") { .optional($0.tracker) },
      .init("tenant", "the tenant whose it is; null for a user's") { .optional($0.tenant) },
    ])

  private static func nag(_ nag: RemindersInterface.Nag?) -> JSONText {
    guard let nag else { return .null }
    return .members([
      "every": .optional(nag.every), "max": .optional(nag.max),
      "escalation": .list(
        (nag.escalation ?? []).map { .members(["from": .int($0.from), "channels": .strings($0.channels)]) }),
    ])
  }

  private static func link(_ link: RemindersInterface.TrackerLink?) -> JSONText {
    guard let link else { return .null }
    return .members([
      "tracker": .optional(link.tracker), "logs": .bool(link.logs ?? true),
      "amount": .optional(link.amount), "unit": .optional(link.unit),
      "quietWhenDone": .bool(link.quietWhenDone ?? false), "followsEntries": .bool(link.followsEntries ?? false),
      "pace": .bool(link.pace ?? false),
    ])
  }

  private static func quiet(_ quiet: RemindersInterface.Quiet?) -> JSONText {
    guard let quiet else { return .null }
    return .members([
      "rule": .optional(quiet.rule?.rawValue), "hours": quiet.hours.map { .strings($0) } ?? .null,
    ])
  }
}
