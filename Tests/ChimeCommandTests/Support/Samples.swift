import ChimeControl
import ChimeSchedule

/// Sample values as the daemon sends them, at a fixed time: Friday 27 March 2026, 09:26:40 in Prague, two days before
/// the clock change.
enum Samples {
  static let now = Instant(seconds: 1_774_600_000)

  static func time(_ seconds: Int64) -> Wire.Time {
    // Two hours ahead of UTC from 29 March 01:00 UTC on.
    let offset: Int64 = seconds >= 1_774_746_000 ? 7_200 : 3_600
    let utc = RFC3339.format(Instant(seconds: seconds + offset), in: .utc)
    return Wire.Time(at: "\(utc.dropLast())+0\(offset / 3_600):00", zone: "Europe/Prague")
  }

  static func reminder(
    _ id: String = "r7k2", _ title: String = "Drink water", when: String = "every 90m from 08:00 to 22:00",
    state: RemindersInterface.Reminder.State = .active, next: Wire.Time? = time(1_774_603_600)
  ) -> RemindersInterface.Reminder {
    RemindersInterface.Reminder(
      id: id, title: title, when: when, timezone: "local", channels: ["desktop"], tags: ["health"], urgency: .normal,
      catchUp: RemindersInterface.CatchUp(suspend: .latest, downtime: .latest), grace: "PT12H",
      snooze: ["PT10M", "PT1H"],
      state: state, skipNext: 0, next: next, last: time(1_774_590_000), createdAt: time(1_774_000_000))
  }

  static func occurrence(
    _ state: OccurrencesInterface.Occurrence.State = .done, snoozedUntil: Wire.Time? = nil
  ) -> OccurrencesInterface.Occurrence {
    OccurrencesInterface.Occurrence(
      id: "r7k2@1774590000", reminder: "r7k2", title: "Drink water", state: state, scheduledAt: time(1_774_590_000),
      firedAt: time(1_774_590_000), snoozedUntil: snoozedUntil, latenessMs: 3, rounds: 1)
  }

  static let coming = OccurrencesInterface.UpcomingTime(
    reminder: "r7k2", title: "Drink water", at: time(1_774_603_600), snoozed: false, last: time(1_774_590_000),
    paused: false, when: "every 90m from 08:00 to 22:00")

  static let delivery = DeliveriesInterface.Delivery(
    id: "msg_1", reminder: "r7k2", occurrence: "r7k2@1774590000", title: "Drink water", channel: "team",
    state: .waiting,
    round: 1, attempts: 2, createdAt: time(1_774_590_000), nextAttempt: time(1_774_600_300), lastResult: "HTTP 503")

  static let attempt = DeliveriesInterface.Attempt(
    number: 1, startedAt: time(1_774_590_000), durationMs: 41, outcome: .failed, status: 503, response: "busy",
    error: nil
  )

  static let endpoint = EndpointsInterface.Endpoint(
    name: "team", url: "http://127.0.0.1:8099/hook", createdAt: time(1_774_000_000), pending: 2)

  static let result = EndpointsInterface.TestResult(
    ok: true, url: "http://127.0.0.1:8099/hook", requestHeaders: ["webhook-id: msg_2"],
    requestBody: #"{"type":"chime.test"}"#, status: 204, response: "", error: nil, durationMs: 12)

  static let command = CommandsInterface.Command(
    name: "backup", program: "/usr/local/bin/backup", arguments: ["--quiet"], enabled: true, timeLimit: "PT10M",
    overlap: .skip, pending: 2, running: 1)

  static let commandTest = CommandsInterface.TestResult(
    ok: false, program: "/usr/local/bin/backup", arguments: ["--quiet"], input: #"{"type":"chime.test"}"#,
    variables: ["CHIME_TITLE=A test"], status: 3, output: "no disk\n\u{1B}[2J", truncated: true,
    error: "it ended with status 3: no disk", durationMs: 12)

  static let snapshot = DaemonInterface.StoreSnapshot(
    takenAt: time(1_774_598_400), path: "/home/u/.local/state/chime/snapshots/chime-00017-20260327T080000Z.db",
    bytes: 1_572_864)

  static let snapshotBeforeUpgrade = DaemonInterface.StoreSnapshot(
    takenAt: time(1_774_500_000),
    path: "/home/u/.local/state/chime/snapshots/chime-00016-20260326T040000Z-before-upgrade-from-2.db", bytes: 40_960,
    beforeUpgradeFrom: 2)

  static func health(problem: String? = nil) -> DaemonInterface.Health {
    DaemonInterface.Health(
      version: "0.1.0", pid: 4_711, instance: .user, startedAt: time(1_774_590_000), zone: "Europe/Prague",
      store: "/home/u/.local/state/chime/chime.db", storeProblem: problem,
      lastSnapshot: snapshot, reminders: 3, openOccurrences: 1,
      pendingDeliveries: 2, deadDeliveries: 0, nextDue: time(1_774_603_600), nextTitle: "Drink water", connections: 1,
      clockEvents: 0, residentBytes: 14_680_064, summary: "3 reminders")
  }

  static func tenant(_ name: String, reminders: Int, of limit: Int? = nil, refused: Int = 0) -> DaemonInterface.Tenant {
    DaemonInterface.Tenant(
      name: name, reminders: reminders, reminderLimit: limit, requestsPerSecond: 5, requests: 7,
      requestsRefused: refused, deliveriesPerSecond: 10, deliveriesPerSecondHere: 2.5, pendingDeliveries: 1)
  }

  static func event(_ name: String) -> DaemonInterface.Event {
    DaemonInterface.Event(
      at: time(1_774_600_000), event: name, reminder: "r7k2", title: "Drink water", occurrence: "r7k2@1774600000",
      latenessMs: 2, message: "Drink water fired")
  }
}
