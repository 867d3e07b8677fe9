import ChimeControl
import ChimeWords

// Checks of the daemon, its socket, and its systemd units.
extension HealthChecks {
  /// The response time in milliseconds from which the daemon counts as slow.
  static let slow = 500

  var daemon: [Finding] {
    switch facts.daemon {
    case .answered(let health, let took): return answered(health, took)
    case .absent:
      return [.bad(.daemon, Sentence(localizable("no daemon answers: nothing fires")), start)]
    case .asleep:
      return [
        .bad(
          .daemon,
          Sentence(localizable("it does not run: nothing fires until a command contacts the socket")),
          .run("\(facts.systemctl) enable --now chimed.service"))
      ]
    case .silent(let limit):
      return [
        .bad(
          .daemon, Sentence(localizable("it runs but has not answered within %1 ms"), limit), restart,
          .run(facts.journal))
      ]
    case .foreign(let user):
      return [
        .bad(
          .daemon, Sentence(localizable("the daemon at %1 runs as another user (%2)"), facts.socket.path, user),
          .run("export XDG_RUNTIME_DIR=/run/user/\(facts.userID)"))
      ]
    case .notPermitted:
      return [.bad(.daemon, Sentence(localizable("it does not serve this user")), membership)]
    case .stranger(let answer):
      return [
        .bad(
          .daemon, Sentence(localizable("the program at %1 is not a compatible chimed: %2"), facts.socket.path, answer),
          restart)
      ]
    }
  }

  private func answered(_ health: DaemonInterface.Health, _ took: Int) -> [Finding] {
    var found: [Finding] = []
    if took > Self.slow {
      found.append(
        .caution(
          .daemon, Sentence(localizable("it answers slowly: in %1 ms"), took), .run("\(facts.chime) status"),
          .run(facts.journal)))
    }
    if health.version != facts.version {
      found.append(
        .caution(
          .daemon, Sentence(localizable("chimed is version %1 and this command %2"), health.version, facts.version),
          restart))
    }
    // These notices have checks of their own.
    let apart = Set((health.notices ?? []).filter { ["mute", "heartbeat"].contains($0.kind) }.map(\.sentence))
    for sentence in health.attention ?? [] where !apart.contains(sentence) {
      found.append(.caution(.daemon, Sentence(localizable("it needs attention: %1"), told(sentence))))
    }
    guard found.isEmpty else { return found }
    return [
      .good(
        .daemon,
        Sentence(localizable("chimed %1 runs (process %2) and answers in %3 ms"), health.version, health.pid, took))
    ]
  }

  private var membership: Remedy {
    .run("sudo usermod --append --groups chime \(ShellText.quoted(facts.userName))")
  }

  // MARK: The socket

  var socket: [Finding] {
    let socket = facts.socket
    var found: [Finding] = []
    switch socket.kind {
    case .missing:
      found.append(.caution(.socket, Sentence(localizable("there is no socket at %1"), socket.path), start))
    case .unreachable:
      found.append(.bad(.socket, Sentence(localizable("this user may not access %1"), socket.path)))
    case .other:
      found.append(
        .bad(
          .socket, Sentence(localizable("%1 is not a socket, so no daemon can listen there"), socket.path),
          .run("mv \(ShellText.quoted(socket.path)) \(ShellText.quoted(socket.path + ".old"))"), start))
    case .socket: found += existing(socket)
    }
    if !facts.isSystem, facts.isGuessed, (facts.environment["XDG_RUNTIME_DIR"] ?? "").isEmpty {
      found.append(
        .caution(
          .socket, Sentence(localizable("XDG_RUNTIME_DIR is not set; Chime uses %1"), "/run/user/\(facts.userID)"),
          .run("export XDG_RUNTIME_DIR=/run/user/\(facts.userID)")))
    }
    guard found.isEmpty else { return found }
    let mode = "0" + String(socket.mode, radix: 8)
    guard let holder = socket.holder else {
      return [.good(.socket, Sentence(localizable("%1, mode %2"), socket.path, mode))]
    }
    return [
      .good(
        .socket,
        Sentence(localizable("%1, mode %2, used by %3 (process %4)"), socket.path, mode, holder.name, holder.pid))
    ]
  }

  private func existing(_ socket: SocketFacts) -> [Finding] {
    var found: [Finding] = []
    let path = ShellText.quoted(socket.path)
    switch socket.connection {
    case .refused:
      found.append(
        .bad(
          .socket, Sentence(localizable("%1 remains from a daemon that has ended: no process listens"), socket.path),
          start))
    case .notPermitted:
      found.append(
        .bad(
          .socket, Sentence(localizable("this user may not connect to %1"), socket.path),
          facts.isSystem ? membership : .run("ls -l \(path)")))
    case .failed(let why):
      found.append(.bad(.socket, Sentence(localizable("cannot connect to %1: %2"), socket.path, why)))
    case .taken, .notTried: break
    }
    // The system's socket is open to its group as well.
    let allowed: UInt32 = facts.isSystem ? 0o660 : 0o600
    if socket.mode & ~allowed & 0o077 != 0 {
      let mode = "0" + String(socket.mode, radix: 8)
      found.append(
        .bad(
          .socket, Sentence(localizable("other users may connect to %1 (mode %2)"), socket.path, mode),
          .run("\(facts.isSystem ? "sudo " : "")chmod \(String(allowed, radix: 8)) \(path)")))
    }
    if facts.isSystem, !socket.group.isEmpty, socket.group != "chime" {
      found.append(
        .caution(
          .socket,
          Sentence(localizable("its group is %1, so members of the group chime cannot use it"), socket.group),
          .run("sudo systemd-sysusers"), .run("sudo systemctl restart chimed.socket chimed.service")))
    }
    if !facts.isSystem, facts.isGuessed, socket.owner != facts.userID, socket.owner != 0 {
      found.append(
        .bad(.socket, Sentence(localizable("%1 belongs to another user (%2)"), socket.path, socket.owner)))
    }
    return found
  }

  // MARK: systemd

  var units: [Finding] {
    guard let units = facts.units else {
      return [
        .skipped(.units, Sentence(localizable("not checked: the socket is not where the units put it")))
      ]
    }
    if let problem = units.problem {
      return [
        .caution(
          .units, Sentence(localizable("systemd does not manage it here: %1"), problem),
          .advice(Sentence(localizable("start `chimed` by hand, or log in to a session that systemd manages"))))
      ]
    }
    guard units.service.isInstalled, units.socket.isInstalled else {
      let missing = [("chimed.service", units.service), ("chimed.socket", units.socket)]
        .filter { !$0.1.isInstalled }.map(\.0).joined(separator: ", ")
      return [
        .caution(
          .units, Sentence(localizable("systemd does not know %1: chimed does not start by itself"), missing),
          .run("sudo make install"), .run("\(facts.systemctl) daemon-reload"))
      ]
    }
    var found: [Finding] = []
    for (name, unit) in [("chimed.service", units.service), ("chimed.socket", units.socket)] {
      found += judge(name, unit)
    }
    if !units.programIsThere, let program = units.program {
      found.append(
        .bad(
          .units, Sentence(localizable("chimed.service runs %1, which does not exist"), program),
          .run("\(facts.systemctl) cat chimed.service")))
    } else if let program = units.program, let own = units.own, program != own, !facts.isSystem {
      found.append(
        .caution(
          .units, Sentence(localizable("chimed.service runs %1, but this command belongs to %2"), program, own),
          .run("\(facts.systemctl) cat chimed.service")))
    }
    if units.service.active != "active", facts.health != nil {
      found.append(
        .caution(
          .units, Sentence(localizable("chimed runs outside systemd: it ends with its terminal")),
          .advice(Sentence(localizable("end it, then: %1"), "\(facts.systemctl) start chimed"))))
    }
    guard found.isEmpty else { return found }
    return [.good(.units, Sentence(localizable("installed, enabled and active (%1)"), units.service.file))]
  }

  private func judge(_ name: String, _ unit: UnitFacts.Unit) -> [Finding] {
    var found: [Finding] = []
    if unit.load != "loaded" {
      found.append(
        .bad(
          .units, Sentence(localizable("%1 cannot be used: systemd calls it %2"), name, unit.load),
          unit.load == "masked" ? .run("\(facts.systemctl) unmask \(name)") : .run("\(facts.systemctl) status \(name)"))
      )
      return found
    }
    if unit.active == "failed" {
      found.append(
        .bad(
          .units, Sentence(localizable("%1 has failed (%2)"), name, unit.result), .run(facts.journal),
          .run("\(facts.systemctl) restart \(name)")))
    }
    if unit.needsReload {
      found.append(
        .caution(
          .units, Sentence(localizable("%1 has changed on disk, and systemd still uses the old version"), name),
          .run("\(facts.systemctl) daemon-reload"), .run("\(facts.systemctl) restart \(name)")))
    }
    if let shipped = unit.replaces {
      found.append(
        .caution(
          .units,
          Sentence(localizable("%1 overrides the unit that came with chimed and differs from it"), unit.file),
          .run("diff \(ShellText.quoted(shipped)) \(ShellText.quoted(unit.file))"),
          .advice(
            Sentence(
              localizable("if it is outdated, remove it, then: %1; put your own changes into a drop-in: %2"),
              "\(facts.systemctl) daemon-reload", "\(facts.systemctl) edit \(name)"))))
    }
    if !["enabled", "enabled-runtime", "linked", "alias", "static"].contains(unit.fileState) {
      found.append(
        .caution(
          .units, Sentence(localizable("%1 does not start by itself (%2)"), name, unit.fileState),
          .run("\(facts.systemctl) enable --now \(name)")))
    } else if unit.active == "inactive", name.hasSuffix(".socket") {
      found.append(
        .caution(.units, Sentence(localizable("%1 does not listen"), name), .run("\(facts.systemctl) start \(name)")))
    }
    if unit.restarts > 3 {
      found.append(
        .caution(
          .units, Sentence(localizable("systemd restarted %1 %2 times after a failure"), name, unit.restarts),
          .run(facts.journal)))
    }
    return found
  }

  var lingering: [Finding] {
    // The system's daemon needs no lingering.
    guard !facts.isSystem, let lingers = facts.lingers else { return [] }
    if lingers {
      return [.good(.lingering, Sentence(localizable("your services continue after you log out")))]
    }
    guard let endpoints = facts.endpoints.value, let commands = facts.commands.value else {
      return [.skipped(.lingering, Sentence(localizable("not checked: no daemon answers")))]
    }
    guard endpoints.count + commands.count > 0 else {
      return [.good(.lingering, Sentence(localizable("not needed: all your reminders go to the desktop")))]
    }
    return [
      .caution(
        .lingering,
        Sentence(localizable("chimed ends when you log out, so your endpoints and commands wait until you return")),
        .run("loginctl enable-linger"))
    ]
  }

  /// Checks the tenants; returns nothing if there are none.
  var tenants: [Finding] {
    guard let tenants = facts.health?.tenants, !tenants.isEmpty else { return [] }
    let found = tenants.flatMap { tenant -> [Finding] in
      var found: [Finding] = []
      if let limit = tenant.reminderLimit, tenant.isNearLimit {
        found.append(
          .caution(
            .tenants, Sentence(localizable("tenant %1 has %2 of %3 reminders"), tenant.name, tenant.reminders, limit),
            .advice(
              Sentence(localizable("remove some, or raise reminders in [tenants.%1] of the configuration"), tenant.name)
            )
          ))
      }
      if tenant.requestsRefused > 0 {
        found.append(
          .caution(
            .tenants,
            Sentence(
              localizable("tenant %1 has exceeded its requests per second; refused since the start: %2"),
              tenant.name,
              tenant.requestsRefused),
            .advice(
              Sentence(
                localizable(
                  "make it send fewer requests, or raise requestsPerSecond in [tenants.%1] of the configuration"),
                tenant.name))))
      }
      return found
    }
    guard found.isEmpty else { return found }
    return [.good(.tenants, Sentence(localizable("tenants: %1, none near a limit"), tenants.count))]
  }
}

extension DaemonInterface.Tenant {
  /// Whether the tenant has used nine tenths of its reminder limit.
  var isNearLimit: Bool { reminderLimit.map { reminders * 10 >= $0 * 9 } ?? false }
}
