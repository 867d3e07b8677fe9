import ChimeControl
import Testing
import Varlink

@testable import ChimeCommand

/// `chime why`: each recorded cause has its sentence, and the command that changes it.
@Suite struct WhyTests {
  private static func reasons(
    _ occurrences: [OccurrencesInterface.Occurrence] = [], deliveries: [DeliveriesInterface.Delivery] = [],
    silence: Wire.Silence? = nil, endpoints: [EndpointsInterface.Endpoint] = [],
    change: (inout RemindersInterface.Reminder) -> Void = { _ in }
  ) -> [Reason] {
    var reminder = Samples.reminder()
    change(&reminder)
    return Reasons(
      reminder: reminder, occurrences: occurrences, deliveries: deliveries, silence: silence, endpoints: endpoints,
      commands: [Samples.command]
    ).all
  }

  private static func says(_ reasons: [Reason], _ part: String, _ command: String?) -> Bool {
    reasons.contains { $0.sentence.english.contains(part) && $0.command == command }
  }

  private static func occurrence(
    _ state: OccurrencesInterface.Occurrence.State = .done, late: OccurrencesInterface.Occurrence.Late? = nil,
    missed: OccurrencesInterface.Occurrence.Missed? = nil, latenessMs: Int? = 3
  ) -> OccurrencesInterface.Occurrence {
    var occurrence = Samples.occurrence(missed == nil ? state : .missed)
    (occurrence.late, occurrence.missed, occurrence.latenessMs) = (late, missed, latenessMs)
    return occurrence
  }

  @Test func firedOccurrenceStatesItsAnswer() {
    for (state, part, command) in [
      (.done, "rang and was done", nil), (.dismissed, "rang and was dismissed", nil),
      (.snoozed, "rang and was snoozed", "chime done r7k2@1774590000"),
      (.fired, "nobody has answered", "chime done r7k2@1774590000"),
    ] as [(OccurrencesInterface.Occurrence.State, String, String?)] {
      #expect(Self.says(Self.reasons([Self.occurrence(state)]), part, command), "\(state)")
    }
  }

  @Test func lateOccurrenceStatesItsCause() {
    for (late, part, command) in [
      (.suspend, "rang 3h20m late: the machine slept", "chime edit r7k2 --wake"),
      (.downtime, "rang 3h20m late: the daemon did not run", "chime doctor"),
      (.quiet, "rang 3h20m late: quiet hours held it", "chime edit r7k2 --quiet-rule off"),
    ] as [(OccurrencesInterface.Occurrence.Late, String, String)] {
      let reasons = Self.reasons([Self.occurrence(late: late, latenessMs: 12_000_000)])
      #expect(Self.says(reasons, part, command), "\(late)")
      #expect(reasons.first?.kind == .late)
    }
    let jittered = Self.reasons([Self.occurrence(latenessMs: 60_000)]) { $0.jitter = "PT5M" }
    #expect(Self.says(jittered, "rang 1m later because of its jitter", "chime edit r7k2 --jitter \"\""))
    let moved = Self.reasons([Self.occurrence(latenessMs: 3_600_000)]) { $0.jitter = "PT5M" }
    #expect(Self.says(moved, "rang and was done", nil))
  }

  @Test func missedTimeStatesItsCause() {
    for missed in OccurrencesInterface.Occurrence.Missed.allCases {
      let reason = Self.reasons([Self.occurrence(missed: missed)]).first
      #expect(reason?.kind == .missed && reason?.sentence.english.contains("did not ring") == true, "\(missed)")
    }
    let slept = Self.reasons([Self.occurrence(missed: .suspend)]) { $0.catchUp.suspend = .skip }
    #expect(Self.says(slept, "this reminder skips such times", "chime edit r7k2 --catch-up suspend=latest"))
    let paused = Self.reasons([Self.occurrence(missed: .paused)]) { $0.state = .paused }
    #expect(Self.says(paused, "the reminder was paused", "chime resume r7k2"))
    #expect(Self.says(paused, "paused until it is resumed", "chime resume r7k2"))
    let skipped = Self.reasons([Self.occurrence(missed: .skipped)]) { $0.skipNext = 2 }
    #expect(Self.says(skipped, "skipped with `chime skip`", "chime skip r7k2 -n 0"))
    #expect(Self.says(skipped, "their number: 2", "chime skip r7k2 -n 0"))
  }

  @Test func nextTimeStatesItsReason() {
    let when = "every 90m from 08:00 to 22:00"
    #expect(
      Self.says(
        Self.reasons(), "It rings next at 2026-03-27T10:26: its schedule, \(when), has no earlier time",
        "chime edit r7k2 --when \"\(when)\""))
    let held = Self.reasons { $0.held = Samples.time(1_774_600_100) }
    #expect(Self.says(held, "quiet hours defer the time at 2026-03-27T09:28", "chime edit r7k2 --quiet-rule off"))
    let silence = Wire.Silence(until: Samples.time(1_774_700_000), critical: false)
    #expect(Self.says(Self.reasons(silence: silence), "Everything is silent until", "chime resume --all"))
    #expect(!Self.says(Self.reasons(silence: silence) { $0.urgency = .critical }, "is silent", "chime resume --all"))
    let snoozed = Samples.occurrence(.snoozed, snoozedUntil: Samples.time(1_774_603_600))
    #expect(Self.says(Self.reasons([snoozed]), "when its snooze ends", "chime snooze r7k2@1774590000 10m"))
    let finished = Self.reasons { ($0.next, $0.state) = (nil, .finished) }
    #expect(Self.says(finished, "does not ring again", "chime edit r7k2 --when \"tomorrow at 9\""))
    let done = Self.reasons { $0.skipReason = .doneAlready }
    #expect(Self.says(done, "will not ring: its tracker is done", "chime edit r7k2 --no-quiet-when-done"))
  }

  @Test func undeliveredMessageStatesItsCause() {
    var disabled = Samples.endpoint
    disabled.disabled = "410 Gone"
    let reasons = Self.reasons(
      [Self.occurrence(.delivered)], deliveries: [Samples.delivery], endpoints: [disabled]
    ) { $0.channels = ["desktop", "team", "backup", "phone"] }
    #expect(Self.says(reasons, "message to team was not delivered", "chime deliveries --id msg_1"))
    #expect(Self.says(reasons, "the endpoint is disabled: 410 Gone", "chime endpoint enable team"))
    #expect(Self.says(reasons, "Messages cannot reach phone", "chime endpoint add phone URL"))
    #expect(!reasons.contains { $0.sentence.english.contains("backup") || $0.sentence.english.contains("desktop") })
    #expect(Self.says(Self.reasons { $0.channels = [] }, "it has no channel", "chime edit r7k2 --to desktop"))
  }

  @Test func whyPrintsReasonsWithRemedies() throws {
    let daemon = try VerbTests.daemon()
    let outcome = chime(["why", "Drink", "water"], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(daemon.methods.first == "Reminders.Get")
    #expect(daemon.calls.first?.parameters.description == #"{"id":"Drink water"}"#)
    #expect(outcome.output.contains("r7k2  Drink water\n"))
    #expect(outcome.output.contains("The time at Fri 2026-03-27 06:40 rang and was done."))
    #expect(outcome.output.contains("→ chime edit r7k2 --when"))
    let json = chime(["why", "r7k2", "--json"], daemon: try VerbTests.daemon()).output
    #expect(json.contains(#""kind":"fired""#) && json.contains(#""command":"chime deliveries --id msg_1""#), "\(json)")
    for word in ["missed", "explain", "reason"] {
      #expect(chime([word, "r7k2"]).errors.contains("chime why"), "\(word)")
    }
    #expect(chime(["missed"]).errors.contains("chime history"))
  }

  @Test func historyListsMissedTimes() throws {
    let daemon = try FakeDaemon { _, parameters in
      let isFirst = parameters["cursor"] == nil || parameters["cursor"] == .null
      return .reply(
        OccurrencesInterface.List.Reply(
          occurrences: isFirst
            ? [Samples.occurrence(), Self.occurrence(missed: .quiet)] : [Self.occurrence(missed: .skipped)],
          cursor: isFirst ? "2" : nil))
    }
    let outcome = chime(["history", "--missed"], daemon: daemon)
    #expect(outcome.output.contains("missed (quiet hours)") && outcome.output.contains("missed (skipped)"))
    #expect(!outcome.output.contains("done"), "\(outcome.output)")
    #expect(chime(["history", "--state", "missed"], daemon: daemon).output == outcome.output)
    let first = chime(["history", "--missed", "-n", "1", "--json"], daemon: daemon).output
    #expect(first.contains(#""more":true"#) && !first.contains("skipped"), "\(first)")
    #expect(chime(["history", "--missed", "--state", "done"], daemon: daemon).status == .usage)
  }
}
