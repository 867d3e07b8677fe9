import ChimeControl
import ChimeWords

/// Derives findings from facts. It does no I/O and reads no clock.
///
///     HealthChecks(facts).findings   // at least one for each check that applies
struct HealthChecks {
  let facts: DoctorFacts

  init(_ facts: DoctorFacts) { self.facts = facts }

  /// The findings in the order of `Check`, at least one for each check that applies.
  var findings: [Finding] { Check.allCases.flatMap(findings(of:)) }

  func findings(of check: Check) -> [Finding] {
    var found = CheckFindings(check: check)
    check.row.judge(self, &found)
    return found.all
  }

  /// Returns a part of the diagnostics. Without diagnostics it skips the check.
  func examined<Part>(
    _ part: KeyPath<DaemonInterface.Diagnostics, Part>, _ found: inout CheckFindings
  ) -> Part? {
    guard let diagnostics = facts.diagnostics else {
      found.skipped("not checked: \(facts.diagnosticsProblem ?? "no answer")")
      return nil
    }
    return diagnostics[keyPath: part]
  }

  /// Returns an answer of the daemon. Without one it adds the reason to the findings.
  func answer<Value>(_ asked: Asked<Value>, _ found: inout CheckFindings) -> Value? {
    switch asked {
    case .answer(let value): return value
    case .notAsked: found.skipped("not checked: no daemon answers")
    case .failed(let why): found.error("the daemon cannot report it: \(why)", .run(facts.journal))
    }
    return nil
  }

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
    guard isUnits || facts.isSystem else { return .advice("end it and start `chimed` again") }
    return .run("\(facts.systemctl) restart chimed")
  }

  /// The `sudo ` before a command that changes a file of the system's daemon.
  var sudo: String { facts.isSystem && facts.userID != 0 ? "sudo " : "" }
  /// The file into which settings of the daemon are written.
  var configurationFile: String { facts.diagnostics?.configuration.path ?? "chimed.toml" }
}
