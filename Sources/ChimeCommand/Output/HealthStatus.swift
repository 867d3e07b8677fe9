import ChimeControl
import ChimeSchedule
import ChimeWords

/// The problems of a daemon, and what a person can do about each.
///
///     let status = HealthStatus(health, endpoints: endpoints)
///     status.problems.first?.remedy    // `chime endpoint enable team` …
struct HealthStatus: Equatable {
  struct Problem: Equatable {
    var text: String
    /// The remedy as a clause without capital and full stop; `nil` if the text names it.
    var remedy: String?
    var tone = Style.Tone.caution
  }

  /// Worst first.
  var problems: [Problem] = []

  /// How long an endpoint must fail before it is reported; shorter failures resolve themselves by retries.
  private static let patience = Milliseconds.minutes(1)

  /// - Parameters:
  ///   - endpoints: the endpoints, if known.
  ///   - givenUpLately: the number of failed deliveries that may still matter; nil counts all.
  ///   - clock: formats the time since which an endpoint fails; nil omits it.
  init(
    _ health: DaemonInterface.Health, endpoints: [EndpointsInterface.Endpoint] = [], givenUpLately: Int? = nil,
    clock: WallClock? = nil
  ) {
    if let problem = health.storeProblem {
      problems.append(
        Problem(
          text: localized("changes cannot be stored: %1", localizedServerMessage(problem)),
          remedy: HealthChecks.isDatabase(health.store)
            ? localized("repair the database; no confirmed change is lost")
            : localized("repair the disk of %1; no confirmed change is lost", health.store), tone: .bad))
    }
    if let count = health.unrecorded, count > 0 {
      problems.append(
        Problem(
          text: localized(
            count: count, "%n time was shown but is not recorded yet", "%n times were shown but are not recorded yet"),
          remedy: localized("leave chimed running until the store can be written"), tone: .bad))
    }
    for endpoint in endpoints {
      if let reason = endpoint.disabled {
        problems.append(
          Problem(
            text: localized("endpoint %1 is disabled: %2", endpoint.name, localizedServerMessage(reason)),
            remedy: "`chime endpoint test %1`, `chime endpoint enable %1`".replacing("%1", with: endpoint.name)))
      } else if let fault = endpoint.problem {
        problems.append(
          Problem(
            text: localized("Chime cannot send to endpoint %1: %2", endpoint.name, localizedServerMessage(fault)),
            remedy: "`chime endpoint show \(endpoint.name)`"))
      } else if endpoint.backoffUntil == nil, let since = endpoint.failingSince, let clock,
        let instant = WallClock.instant(since), instant + Self.patience <= clock.now
      {
        // The daemon itself reports an endpoint whose circuit breaker is open.
        problems.append(
          Problem(
            text: localized("endpoint %1 has accepted nothing since %2", endpoint.name, clock.text(since)),
            remedy: localized(
              "`chime endpoint test %1` shows its answer; pending messages are sent once it accepts one",
              endpoint.name)))
      }
    }
    let dead = givenUpLately ?? health.deadDeliveries
    if dead > 0 {
      problems.append(
        Problem(
          text: localized(count: dead, "%n message was given up", "%n messages were given up"),
          remedy: localized("`chime deliveries --state dead` shows them, `chime redeliver` sends them again")))
    }
    // An older daemon sends the sentences only.
    let notices = health.notices ?? (health.attention ?? []).map { DaemonInterface.Notice(kind: "", sentence: $0) }
    problems += notices.map { Problem(text: localizedServerMessage($0.sentence), remedy: Self.remedy($0)) }
  }

  var tone: Style.Tone { problems.first?.tone ?? .good }

  /// A one-phrase summary.
  var headline: String {
    switch tone {
    case .good: localized("all right")
    case .bad: localized("in trouble")
    default: localized("running; something needs attention")
    }
  }

  /// Returns the remedy for a notice whose sentence does not name one.
  private static func remedy(_ notice: DaemonInterface.Notice) -> String? {
    switch notice.kind {
    case "endpointBackoff":
      localized(
        "Chime retries by itself; `chime endpoint test %1` shows its answer", notice.about ?? "NAME")
    case "calendarMissing":
      localized("restore it under [calendars] in chimed.toml, or change the reminders that leave out its days")
    case "undeliverable":
      localized("`chime edit %1 --to CHANNEL` sends it elsewhere; `chime list` marks each", notice.about ?? "ID")
    case "calendarFile": localized("correct the file: Chime reads it again as soon as it changes")
    default: nil
    }
  }
}
