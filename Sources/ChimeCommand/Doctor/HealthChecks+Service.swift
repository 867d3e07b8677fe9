import ChimeControl
import ChimeWords

// Checks of the daemon, its socket, and its systemd units.
extension HealthChecks {
  /// The response time in milliseconds from which the daemon counts as slow.
  static let slow = 500

  func daemon(_ found: inout CheckFindings) {
    switch facts.daemon {
    case .answered(let health, let took): answered(health, took, &found)
    case .absent: found.error("no daemon answers: nothing fires", start)
    case .asleep:
      found.error(
        "it does not run: nothing fires until a command contacts the socket",
        .run("\(facts.systemctl) enable --now chimed.service"))
    case .silent(let limit):
      found.error("it runs but has not answered within \(limit) ms", restart, .run(facts.journal))
    case .foreign(let user):
      found.error("the daemon at \(facts.socket.path) runs as another user (\(user))", setRuntimeFolder)
    case .notPermitted: found.error("it does not serve this user", membership)
    case .stranger(let answer):
      found.error("the program at \(facts.socket.path) is not a compatible chimed: \(answer)", restart)
    }
  }

  private func answered(_ health: DaemonInterface.Health, _ took: Int, _ found: inout CheckFindings) {
    if took > Self.slow {
      found.warning("it answers slowly: in \(took) ms", .run("\(facts.chime) status"), .run(facts.journal))
    }
    if health.version != facts.version {
      found.warning("chimed is version \(health.version) and this command \(facts.version)", restart)
    }
    // These notices have checks of their own.
    let apart = Set((health.notices ?? []).filter { ["undeliverable", "heartbeat"].contains($0.kind) }.map(\.sentence))
    for sentence in health.attention ?? [] where !apart.contains(sentence) {
      found.warning("it needs attention: \(.serverMessage(sentence))")
    }
    guard found.isEmpty else { return }
    found.ok("chimed \(health.version) runs (process \(health.pid)) and answers in \(took) ms")
  }

  private var membership: Remedy {
    .run("sudo usermod --append --groups chime \(ShellText.quoted(facts.userName))")
  }

  private var setRuntimeFolder: Remedy { .run("export XDG_RUNTIME_DIR=/run/user/\(facts.userID)") }

  // MARK: The socket

  func socket(_ found: inout CheckFindings) {
    let socket = facts.socket
    switch socket.kind {
    case .missing: found.warning("there is no socket at \(socket.path)", start)
    case .unreachable: found.error("this user may not access \(socket.path)")
    case .other:
      found.error(
        "\(socket.path) is not a socket, so no daemon can listen there",
        .run("mv \(ShellText.quoted(socket.path)) \(ShellText.quoted(socket.path + ".old"))"), start)
    case .socket: existing(socket, &found)
    }
    if !facts.isSystem, facts.isGuessed, (facts.environment["XDG_RUNTIME_DIR"] ?? "").isEmpty {
      found.warning("XDG_RUNTIME_DIR is not set; Chime uses \("/run/user/\(facts.userID)")", setRuntimeFolder)
    }
    guard found.isEmpty else { return }
    let mode = "0" + String(socket.mode, radix: 8)
    guard let holder = socket.holder else { return found.ok("\(socket.path), mode \(mode)") }
    found.ok("\(socket.path), mode \(mode), used by \(holder.name) (process \(holder.pid))")
  }

  private func existing(_ socket: SocketFacts, _ found: inout CheckFindings) {
    let path = ShellText.quoted(socket.path)
    switch socket.connection {
    case .refused: found.error("\(socket.path) remains from a daemon that has ended: no process listens", start)
    case .notPermitted:
      found.error("this user may not connect to \(socket.path)", facts.isSystem ? membership : .run("ls -l \(path)"))
    case .failed(let why): found.error("cannot connect to \(socket.path): \(why)")
    case .taken, .notTried: break
    }
    // The system's socket is open to its group as well.
    let allowed: UInt32 = facts.isSystem ? 0o660 : 0o600
    if socket.mode & ~allowed & 0o077 != 0 {
      let mode = "0" + String(socket.mode, radix: 8)
      found.error(
        "other users may connect to \(socket.path) (mode \(mode))",
        .run("\(facts.isSystem ? "sudo " : "")chmod \(String(allowed, radix: 8)) \(path)"))
    }
    if facts.isSystem, !socket.group.isEmpty, socket.group != "chime" {
      found.warning(
        "its group is \(socket.group), so members of the group chime cannot use it",
        .run("sudo systemd-sysusers"), .run("sudo systemctl restart chimed.socket chimed.service"))
    }
    if !facts.isSystem, facts.isGuessed, socket.owner != facts.userID, socket.owner != 0 {
      found.error("\(socket.path) belongs to another user (\(socket.owner))")
    }
  }

  // MARK: systemd

  func units(_ found: inout CheckFindings) {
    guard let units = facts.units else {
      return found.skipped("not checked: the socket is not where the units put it")
    }
    if let problem = units.problem {
      return found.warning(
        "systemd does not manage it here: \(problem)",
        .advice("start `chimed` by hand, or log in to a session that systemd manages"))
    }
    let both = [("chimed.service", units.service), ("chimed.socket", units.socket)]
    let missing = both.filter { !$0.1.isInstalled }.map(\.0).joined(separator: ", ")
    guard missing.isEmpty else {
      return found.warning(
        "systemd does not know \(missing): chimed does not start by itself",
        .run("sudo make install"), .run("\(facts.systemctl) daemon-reload"))
    }
    for (name, unit) in both { judge(name, unit, &found) }
    let show = Remedy.run("\(facts.systemctl) cat chimed.service")
    if !units.programIsThere, let program = units.program {
      found.error("chimed.service runs \(program), which does not exist", show)
    } else if let program = units.program, let own = units.own, program != own, !facts.isSystem {
      found.warning("chimed.service runs \(program), but this command belongs to \(own)", show)
    }
    if units.service.active != "active", facts.health != nil {
      found.warning(
        "chimed runs outside systemd: it ends with its terminal",
        .advice("end it, then: \("\(facts.systemctl) start chimed")"))
    }
    if found.isEmpty { found.ok("installed, enabled and active (\(units.service.file))") }
  }

  private func judge(_ name: String, _ unit: UnitFacts.Unit, _ found: inout CheckFindings) {
    func systemctl(_ arguments: String) -> Remedy { .run("\(facts.systemctl) \(arguments)") }
    if unit.load != "loaded" {
      return found.error(
        "\(name) cannot be used: systemd calls it \(unit.load)",
        systemctl(unit.load == "masked" ? "unmask \(name)" : "status \(name)"))
    }
    if unit.active == "failed" {
      found.error("\(name) has failed (\(unit.result))", .run(facts.journal), systemctl("restart \(name)"))
    }
    if unit.needsReload {
      found.warning(
        "\(name) has changed on disk, and systemd still uses the old version",
        systemctl("daemon-reload"), systemctl("restart \(name)"))
    }
    if let shipped = unit.replaces {
      let (reload, edit) = ("\(facts.systemctl) daemon-reload", "\(facts.systemctl) edit \(name)")
      found.warning(
        "\(unit.file) overrides the unit that came with chimed and differs from it",
        .run("diff \(ShellText.quoted(shipped)) \(ShellText.quoted(unit.file))"),
        .advice("if it is outdated, remove it, then: \(reload); put your own changes into a drop-in: \(edit)"))
    }
    if !["enabled", "enabled-runtime", "linked", "alias", "static"].contains(unit.fileState) {
      found.warning("\(name) does not start by itself (\(unit.fileState))", systemctl("enable --now \(name)"))
    } else if unit.active == "inactive", name.hasSuffix(".socket") {
      found.warning("\(name) does not listen", systemctl("start \(name)"))
    }
    if unit.restarts > 3 {
      found.warning("systemd restarted \(name) \(unit.restarts) times after a failure", .run(facts.journal))
    }
  }

  func lingering(_ found: inout CheckFindings) {
    // The system's daemon needs no lingering.
    guard !facts.isSystem, let lingers = facts.lingers else { return }
    if lingers { return found.ok("your services continue after you log out") }
    guard let endpoints = facts.endpoints.value, let commands = facts.commands.value else {
      return found.skipped("not checked: no daemon answers")
    }
    guard endpoints.count + commands.count > 0 else {
      return found.ok("not needed: all your reminders go to the desktop")
    }
    found.warning(
      "chimed ends when you log out, so your endpoints and commands wait until you return",
      .run("loginctl enable-linger"))
  }

  /// Checks the tenants; adds nothing if there are none.
  func tenants(_ found: inout CheckFindings) {
    guard let tenants = facts.health?.tenants, !tenants.isEmpty else { return }
    for tenant in tenants {
      if let limit = tenant.reminderLimit, tenant.isNearLimit {
        found.warning(
          "tenant \(tenant.name) has \(tenant.reminders) of \(limit) reminders",
          .advice("remove some, or raise reminders in [tenants.\(tenant.name)] of the configuration"))
      }
      if tenant.requestsRefused > 0 {
        let refused = tenant.requestsRefused
        found.warning(
          "tenant \(tenant.name) has exceeded its requests per second; refused since the start: \(refused)",
          .advice(
            "make it send fewer requests, or raise requestsPerSecond in [tenants.\(tenant.name)] of the configuration"))
      }
    }
    if found.isEmpty { found.ok("tenants: \(tenants.count), none near a limit") }
  }
}

extension DaemonInterface.Tenant {
  /// Whether the tenant has used nine tenths of its reminder limit.
  var isNearLimit: Bool { reminderLimit.map { reminders * 10 >= $0 * 9 } ?? false }
}
