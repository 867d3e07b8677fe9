import ChimeControl
import ChimeWords

// Checks of the machine: clock, zones, waking, language.
extension HealthChecks {
  var clock: [Finding] {
    guard let clock = facts.examination?.clock ?? facts.clock else {
      return [.skipped(.clock, Sentence(localizable("cannot check it here")))]
    }
    let keepers = facts.clockKeepers.joined(separator: ", ")
    guard clock.isSynchronized else {
      guard facts.clockKeepers.isEmpty else {
        return [
          .caution(
            .clock, Sentence(localizable("the clock is not synchronized yet, although %1 runs"), keepers),
            facts.clockKeepers.contains("chronyd") ? .run("chronyc tracking") : .run("timedatectl timesync-status"))
        ]
      }
      return [
        .caution(
          .clock, Sentence(localizable("nothing synchronizes the clock: reminders follow a clock that drifts")),
          .run("sudo apt install systemd-timesyncd"), .run("sudo timedatectl set-ntp true"))
      ]
    }
    let events = facts.health?.clockEvents ?? 0
    let error = "\(max(1, clock.maxErrorMicroseconds / 1_000))"
    guard events > 0 else {
      return [.good(.clock, Sentence(localizable("synchronized to within %1 ms"), error))]
    }
    return [
      .good(
        .clock,
        Sentence(
          localizable("synchronized to within %1 ms; clock steps, zone changes and sleeps since chimed started: %2"),
          error,
          events))
    ]
  }

  var zone: [Finding] {
    guard let it = facts.examination?.zone else { return unexamined(.zone) }
    var found: [Finding] = []
    if let problem = it.databaseProblem {
      found.append(.bad(.zone, Sentence("%1", told(problem)), .run("sudo apt install --reinstall tzdata")))
    }
    if let problem = it.problem {
      let sentence = problem.firstRange(of: ": timedatectl").map { String(problem[..<$0.lowerBound]) } ?? problem
      found.append(
        .bad(.zone, Sentence("%1", told(sentence)), .run("sudo timedatectl set-timezone Europe/Prague")))
    }
    if let own = facts.environment["TZ"], !own.isEmpty, facts.health != nil, own != it.local, own != ":\(it.local)" {
      found.append(
        .caution(
          .zone, Sentence(localizable("this terminal has TZ=%1, and the daemon uses %2"), own, it.local),
          .run("unset TZ")))
    }
    guard found.isEmpty else { return found }
    guard let version = it.version else {
      return [.good(.zone, Sentence(localizable("%1; the time zone database does not state its version"), it.local))]
    }
    return [.good(.zone, Sentence(localizable("%1, from tzdata %2"), it.local, version))]
  }

  var wake: [Finding] {
    guard let it = facts.examination else { return unexamined(.wake) }
    switch (it.wantsWake, it.wakeProblem) {
    case (true?, let problem?):
      let sentence = Sentence(localizable("a reminder asks to wake the machine, but cannot: %1"), told(problem))
      guard problem.contains("CAP_WAKE_ALARM") else {
        return [
          .caution(
            .wake, sentence,
            .advice(
              Sentence(
                localizable(
                  "it comes when the machine is awake again; keep the machine awake until then"))))
        ]
      }
      let folder = facts.isSystem ? "/etc/systemd/system" : "~/.config/systemd/user"
      // The system's unit limits capabilities and blocks access to the clock, so both settings must be lifted.
      let bounds = facts.isSystem ? " CapabilityBoundingSet=CAP_WAKE_ALARM ProtectClock=no" : ""
      return [
        .caution(
          .wake, sentence,
          .write("[Service] AmbientCapabilities=CAP_WAKE_ALARM\(bounds)", into: "\(folder)/chimed.service.d/wake.conf"),
          .run("\(facts.systemctl) daemon-reload && \(facts.systemctl) restart chimed"))
      ]
    case (true?, nil): return [.good(.wake, Sentence(localizable("reminders that ask for it wake the machine")))]
    case (nil, _): return [.skipped(.wake, Sentence(localizable("not checked: no daemon answers")))]
    default: return [.good(.wake, Sentence(localizable("no reminder asks for it")))]
    }
  }

  var language: [Finding] {
    let it = facts.language
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { facts.environment[$0] }.first { !$0.isEmpty } ?? "C"
    let first = it.wanted.first.map { String($0.prefix { $0 != "_" }) } ?? "en"
    // Installed translations are used even if the locale is missing.
    if !it.isKnown, first == "en" || !it.there.contains(first) {
      return [
        .caution(
          .language, Sentence(localizable("this machine has no locale %1"), locale),
          .run("sudo dpkg-reconfigure locales"))
      ]
    }
    if first == "en" || it.there.contains(first) {
      return [.good(.language, Sentence("%1", locale))]
    }
    // A language without translations is no fault of the machine.
    if !it.there.isEmpty {
      return [.good(.language, Sentence(localizable("%1: Chime has no translation and uses English"), locale))]
    }
    return [
      .caution(
        .language, Sentence(localizable("%1: no translations are installed"), locale), .run("sudo make install"))
    ]
  }
}
