import ChimeControl
import ChimeWords

/// Derives findings from facts. It does no I/O and reads no clock.
///
///     HealthChecks(facts).findings   // at least one for each check that applies
struct HealthChecks {
  let facts: DoctorFacts

  init(_ facts: DoctorFacts) { self.facts = facts }

  /// The findings in the order of `Check`, at least one for each check that applies.
  var findings: [Finding] {
    let all = Check.allCases.flatMap { check in
      switch check {
      case .daemon: daemon
      case .socket: socket
      case .units: units
      case .lingering: lingering
      case .configuration: configuration
      case .store: store
      case .room: room
      case .snapshots: snapshots
      case .secrets: secrets
      case .bus: bus
      case .notifications: notifications
      case .desktop: desktop
      case .endpoints: endpoints
      case .commands: commands
      case .deliveries: deliveries
      case .heard: heard
      case .heartbeat: heartbeat
      case .trackers: trackers
      case .tenants: tenants
      case .clock: clock
      case .zone: zone
      case .wake: wake
      case .language: language
      }
    }
    return all
  }

  /// Returns the finding of a check that needs diagnostics when there are none.
  func unexamined(_ check: Check) -> [Finding] {
    [.skipped(check, Sentence(localizable("not checked: %1"), facts.examinationProblem ?? "no answer"))]
  }

  /// Returns the findings of a check that needs an answer of the daemon.
  func asked<Value>(_ check: Check, _ asked: Asked<Value>, _ judge: (Value) -> [Finding]) -> [Finding] {
    switch asked {
    case .answer(let value): judge(value)
    case .notAsked: [.skipped(check, Sentence(localizable("not checked: no daemon answers")))]
    case .failed(let why):
      [.bad(check, Sentence(localizable("the daemon cannot report it: %1"), why), .run(facts.journal))]
    }
  }

  func told(_ sentence: String) -> Sentence.Value { .told(sentence) }
  func time(_ time: Wire.Time) -> Sentence.Value { .time(time) }
  func bytes(_ count: Int) -> Sentence.Value { .bytes(count) }

  /// The remedy that starts the daemon now and at each login, if systemd has its units; else the program itself.
  var start: Remedy {
    guard facts.isSystem || facts.units?.service.isInstalled ?? false else { return .run("chimed") }
    guard facts.units?.service.fileState == "enabled" else {
      return .run("\(facts.systemctl) enable --now chimed.socket chimed.service")
    }
    return .run("\(facts.systemctl) start chimed")
  }

  var restart: Remedy {
    let isUnits = facts.units?.service.active == "active"
    guard isUnits || facts.isSystem else {
      return .advice(Sentence(localizable("end it and start `chimed` again")))
    }
    return .run("\(facts.systemctl) restart chimed")
  }
}
