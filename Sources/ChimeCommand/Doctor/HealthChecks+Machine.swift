import ChimeControl
import ChimeWords

// Checks of the machine: clock, zones, waking, language.
extension HealthChecks {
  func clock(_ found: inout CheckFindings) {
    guard let clock = facts.examination?.clock ?? facts.clock else { return found.skipped("cannot check it here") }
    guard clock.isSynchronized else {
      guard facts.clockKeepers.isEmpty else {
        return found.caution(
          "the clock is not synchronized yet, although \(facts.clockKeepers.joined(separator: ", ")) runs",
          facts.clockKeepers.contains("chronyd") ? .run("chronyc tracking") : .run("timedatectl timesync-status"))
      }
      return found.caution(
        "nothing synchronizes the clock: reminders follow a clock that drifts",
        .run("sudo apt install systemd-timesyncd"), .run("sudo timedatectl set-ntp true"))
    }
    let events = facts.health?.clockEvents ?? 0
    let error = max(1, clock.maxErrorMicroseconds / 1_000)
    guard events > 0 else { return found.good("synchronized to within \(error) ms") }
    found.good(
      "synchronized to within \(error) ms; clock steps, zone changes and sleeps since chimed started: \(events)")
  }

  func zone(_ found: inout CheckFindings) {
    guard let it = examined(\.zone, &found) else { return }
    if let problem = it.databaseProblem {
      found.bad("\(.told(problem))", .run("sudo apt install --reinstall tzdata"))
    }
    if let problem = it.problem {
      let sentence = problem.firstRange(of: ": timedatectl").map { String(problem[..<$0.lowerBound]) } ?? problem
      found.bad("\(.told(sentence))", .run("sudo timedatectl set-timezone Europe/Prague"))
    }
    if let own = facts.environment["TZ"], !own.isEmpty, facts.health != nil, own != it.local, own != ":\(it.local)" {
      found.caution("this terminal has TZ=\(own), and the daemon uses \(it.local)", .run("unset TZ"))
    }
    guard found.isEmpty else { return }
    guard let version = it.version else {
      return found.good("\(it.local); the time zone database does not state its version")
    }
    found.good("\(it.local), from tzdata \(version)")
  }

  func wake(_ found: inout CheckFindings) {
    guard let it = examined(\.self, &found) else { return }
    switch (it.wantsWake, it.wakeProblem) {
    case (true?, let problem?):
      let sentence = Sentence("a reminder asks to wake the machine, but cannot: \(.told(problem))")
      guard problem.contains("CAP_WAKE_ALARM") else {
        return found.caution(
          sentence, .advice("it comes when the machine is awake again; keep the machine awake until then"))
      }
      let folder = facts.isSystem ? "/etc/systemd/system" : "~/.config/systemd/user"
      // The system's unit limits capabilities and blocks access to the clock, so both settings must be lifted.
      let bounds = facts.isSystem ? " CapabilityBoundingSet=CAP_WAKE_ALARM ProtectClock=no" : ""
      found.caution(
        sentence,
        .write("[Service] AmbientCapabilities=CAP_WAKE_ALARM\(bounds)", into: "\(folder)/chimed.service.d/wake.conf"),
        .run("\(facts.systemctl) daemon-reload && \(facts.systemctl) restart chimed"))
    case (true?, nil): found.good("reminders that ask for it wake the machine")
    case (nil, _): found.skipped("not checked: no daemon answers")
    default: found.good("no reminder asks for it")
    }
  }

  func language(_ found: inout CheckFindings) {
    let it = facts.language
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { facts.environment[$0] }.first { !$0.isEmpty } ?? "C"
    let first = it.wanted.first.map { String($0.prefix { $0 != "_" }) } ?? "en"
    // Installed translations are used even if the locale is missing.
    if !it.isKnown, first == "en" || !it.there.contains(first) {
      found.caution("this machine has no locale \(locale)", .run("sudo dpkg-reconfigure locales"))
    } else if first == "en" || it.there.contains(first) {
      found.good("\(locale)")
    } else if it.there.isEmpty {
      found.caution("\(locale): no translations are installed", .run("sudo make install"))
    } else {
      // A language without translations is no fault of the machine.
      found.good("\(locale): Chime has no translation and uses English")
    }
  }
}
