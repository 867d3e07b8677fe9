import ChimeControl
import ChimeWords

// Checks of the machine: clock, zones, waking, language.
extension HealthChecks {
  func clock(_ found: inout CheckFindings) {
    guard let clock = facts.diagnostics?.clock ?? facts.clock else { return found.skipped("cannot check it here") }
    guard clock.isSynchronized else {
      guard facts.clockKeepers.isEmpty else {
        return found.warning(
          "the clock is not synchronized yet, although \(facts.clockKeepers.joined(separator: ", ")) runs",
          facts.clockKeepers.contains("chronyd") ? .run("chronyc tracking") : .run("timedatectl timesync-status"))
      }
      return found.warning(
        "nothing synchronizes the clock: reminders follow a clock that drifts",
        .run("sudo apt install systemd-timesyncd"), .run("sudo timedatectl set-ntp true"))
    }
    let events = facts.health?.clockEvents ?? 0
    let error = max(1, clock.maxErrorMicroseconds / 1_000)
    guard events > 0 else { return found.ok("synchronized to within \(error) ms") }
    found.ok(
      "synchronized to within \(error) ms; clock steps, zone changes and sleeps since chimed started: \(events)")
  }

  func zone(_ found: inout CheckFindings) {
    guard let it = examined(\.zone, &found) else { return }
    if let problem = it.databaseProblem {
      found.error("\(.serverMessage(problem))", .run("sudo apt install --reinstall tzdata"))
    }
    if let problem = it.problem {
      let sentence = problem.firstRange(of: ": timedatectl").map { String(problem[..<$0.lowerBound]) } ?? problem
      found.error("\(.serverMessage(sentence))", .run("sudo timedatectl set-timezone Europe/Prague"))
    }
    if let own = facts.environment["TZ"], !own.isEmpty, facts.health != nil, own != it.local, own != ":\(it.local)" {
      found.warning("this terminal has TZ=\(own), and the daemon uses \(it.local)", .run("unset TZ"))
    }
    guard found.isEmpty else { return }
    guard let version = it.version else {
      return found.ok("\(it.local); the time zone database does not state its version")
    }
    found.ok("\(it.local), from tzdata \(version)")
  }

  func wake(_ found: inout CheckFindings) {
    guard let it = examined(\.self, &found) else { return }
    switch (it.wantsWake, it.wakeProblem) {
    case (true?, let problem?):
      let sentence = Sentence("a reminder asks to wake the machine, but cannot: \(.serverMessage(problem))")
      guard problem.contains("CAP_WAKE_ALARM") else {
        return found.warning(
          sentence, .advice("it comes when the machine is awake again; keep the machine awake until then"))
      }
      let folder = facts.isSystem ? "/etc/systemd/system" : "~/.config/systemd/user"
      // The system's unit limits capabilities and blocks access to the clock, so both settings must be lifted.
      let bounds = facts.isSystem ? " CapabilityBoundingSet=CAP_WAKE_ALARM ProtectClock=no" : ""
      found.warning(
        sentence,
        .write("[Service] AmbientCapabilities=CAP_WAKE_ALARM\(bounds)", into: "\(folder)/chimed.service.d/wake.conf"),
        .run("\(facts.systemctl) daemon-reload && \(facts.systemctl) restart chimed"))
    case (true?, nil): found.ok("reminders that ask for it wake the machine")
    case (nil, _): found.skipped("not checked: no daemon answers")
    default: found.ok("no reminder asks for it")
    }
  }

  func language(_ found: inout CheckFindings) {
    let it = facts.language
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { facts.environment[$0] }.first { !$0.isEmpty } ?? "C"
    let first = it.wanted.first.map { String($0.prefix { $0 != "_" }) } ?? "en"
    // Installed translations are used even if the locale is missing.
    if !it.isKnown, first == "en" || !it.there.contains(first) {
      found.warning("this machine has no locale \(locale)", .run("sudo dpkg-reconfigure locales"))
    } else if first == "en" || it.there.contains(first) {
      found.ok("\(locale)")
    } else if it.there.isEmpty {
      found.warning("\(locale): no translations are installed", .run("sudo make install"))
    } else {
      // A language without translations is no fault of the machine.
      found.ok("\(locale): Chime has no translation and uses English")
    }
  }
}
