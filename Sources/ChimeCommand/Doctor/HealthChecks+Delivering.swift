import ChimeControl
import ChimeWords

// Checks of the ways by which messages reach people.
extension HealthChecks {
  // MARK: The desktop

  /// Whether popups matter here: the session is graphical, or the defaults or a pending reminder use them.
  private var needsDesktop: Bool {
    let session = facts.environment["XDG_SESSION_TYPE"] ?? ""
    let isGraphical =
      session == "x11" || session == "wayland"
      || ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(facts.environment[$0] ?? "").isEmpty }
    return isGraphical || facts.diagnostics?.desktop.isNeeded ?? true
  }

  /// Adds a finding about popups, which is only a caution on a machine without a desktop.
  private func noPopups(_ found: inout CheckFindings, _ message: Sentence, _ remedies: Remedy...) {
    guard !needsDesktop else { return found.add(.error, message, remedies) }
    found.add(.warning, message, [.advice("not needed: no reminder is shown on a desktop")] + remedies)
  }

  func bus(_ found: inout CheckFindings) {
    guard !facts.isSystem, let it = examined(\.bus, &found) else { return }
    let own = facts.environment["DBUS_SESSION_BUS_ADDRESS"].flatMap { $0.isEmpty ? nil : $0 }
    guard let address = it.address else {
      return noPopups(
        &found, "the daemon's environment names no session bus: it cannot show popups", takeOver(own))
    }
    if let problem = it.problem {
      noPopups(
        &found, "the daemon cannot show popups: the bus at \(address): \(.serverMessage(problem))",
        own == nil || own == address ? logIn : takeOver(own))
    } else if facts.health != nil, let own, Self.path(own) != Self.path(address) {
      found.warning("the daemon uses the bus \(address), and this terminal uses \(own)", takeOver(own))
    } else {
      found.ok("\(address) answers")
    }
  }

  /// Returns the first address of a list, without its guid.
  private static func path(_ address: String) -> String {
    String(address.prefix { $0 != "," && $0 != ";" })
  }

  private var logIn: Remedy {
    .advice("log in to a desktop session, or, without one, start: \("dbus-run-session -- chimed")")
  }

  /// Returns the command that gives the daemon the bus of this terminal.
  private func takeOver(_ own: String?) -> Remedy {
    guard own != nil else { return logIn }
    return .run(
      "systemctl --user import-environment DBUS_SESSION_BUS_ADDRESS && systemctl --user restart chimed")
  }

  func notifications(_ found: inout CheckFindings) {
    guard !facts.isSystem, let it = examined(\.bus, &found) else { return }
    let dunst = "sudo apt install dunst"
    switch it.server {
    case .unknown: found.skipped("not checked: \(.serverMessage(it.problem ?? "no session bus"))")
    case .missing:
      noPopups(
        &found, "no program on the session bus shows notifications: popups wait",
        .advice("log in to a desktop, or install a server and start it: \(dunst)"))
    case .activatable: found.ok("the bus starts a notification server with the first popup")
    case .running:
      let name = it.serverName ?? "org.freedesktop.Notifications"
      let capabilities = it.capabilities ?? []
      if let problem = it.serverProblem {
        noPopups(
          &found, "the notification server runs, and \(.serverMessage(problem))", .advice("restart it, or log in again")
        )
      } else if capabilities.contains("actions") {
        let has = ["actions", "body-markup", "persistence"].filter(capabilities.contains).joined(separator: ", ")
        found.ok("\(name) (\(has))")
      } else {
        found.warning("\(name) shows no buttons: answer with \("chime done")", .run(dunst))
      }
    }
  }

  func desktop(_ found: inout CheckFindings) {
    guard !facts.isSystem, let it = examined(\.desktop, &found) else { return }
    guard it.transport == "notify-send" else { return found.ok("popups use D-Bus; no program is needed") }
    let overBus = Remedy.write("[desktop] transport = \"dbus\"", into: configurationFile)
    guard let path = it.path else {
      return noPopups(
        &found, "\(it.program) does not exist, or may not be run: the daemon cannot show popups",
        it.program == "notify-send"
          ? .run("sudo apt install libnotify-bin") : .run("chmod +x \(ShellText.quoted(it.program))"), overBus)
    }
    let tryIt = Remedy.run("\(ShellText.quoted(path)) --version")
    switch facts.popupProgram {
    case .ended(0, let output):
      let version = output.split(separator: "\n").first.map(String.init) ?? path
      found.ok("\(path) answers: \(String(version.prefix(60)))")
    case .ended(let status, _): noPopups(&found, "\(path) ends with status \(status)", tryIt, overBus)
    case .killed(let signal): noPopups(&found, "\(path) crashes (signal \(signal))", tryIt, overBus)
    case .tookTooLong(let limit): noPopups(&found, "\(path) hangs: no answer within \(limit) ms", tryIt, overBus)
    case .missing:
      noPopups(&found, "\(path) does not exist, or may not be run: the daemon cannot show popups", overBus)
    case .notStarted(let why): noPopups(&found, "\(path) cannot be started: \(why)", overBus)
    case nil: found.skipped("not checked: \(path)")
    }
  }

  // MARK: Endpoints and commands

  func endpoints(_ found: inout CheckFindings) {
    guard let endpoints = answer(facts.endpoints, &found) else { return }
    guard !endpoints.isEmpty else { return found.ok("there are no endpoints") }
    for endpoint in endpoints { judge(endpoint, &found) }
    guard found.isEmpty else { return }
    let names = endpoints.prefix(5).map(\.name).joined(separator: ", ") + (endpoints.count > 5 ? " …" : "")
    found.ok(facts.endpointTests.isEmpty ? "in use: \(names)" : "each accepted a test message: \(names)")
  }

  private func judge(_ endpoint: EndpointsInterface.Endpoint, _ found: inout CheckFindings) {
    let name = endpoint.name
    let test = Remedy.run("\(facts.chime) endpoint test \(name)")
    let last = facts.endpointResults[name] ?? ""
    if let why = endpoint.disabled {
      found.error("\(name) is disabled: \(.serverMessage(why))", test, .run("\(facts.chime) endpoint enable \(name)"))
    }
    if let fault = endpoint.problem {
      let logsIn = ["mailto:", "mqtt:", "mqtts:", "matrix:"].contains { endpoint.url.lowercased().hasPrefix($0) }
      let change = logsIn ? "edit \(name) --token-file FILE" : "rotate \(name) --secret-file FILE"
      found.error("Chime cannot send to \(name): \(.serverMessage(fault))", .run("\(facts.chime) endpoint \(change)"))
    }
    if last.lowercased().contains("certificate") || last.contains("SSL") || last.contains("TLS") {
      found.error(
        "\(name) has an untrusted certificate: \(last)", test,
        .run("\(facts.chime) endpoint edit \(name) --ca-file FILE"))
    } else if let until = endpoint.backoffUntil {
      found.warning("\(name) is paused until \(.time(until)) after repeated failures: \(.serverMessage(last))", test)
    } else if endpoint.disabled == nil, let since = endpoint.failingSince {
      found.warning("\(name) has failed since \(.time(since)): \(.serverMessage(last))", test)
    }
    if let replies = endpoint.replies, let why = replies.problem, let since = replies.since {
      found.warning(
        "Chime cannot read answers from \(name) since \(.time(since)): \(.serverMessage(why))",
        .run("\(facts.chime) endpoint show \(name)"))
    }
    switch facts.endpointTests[name] {
    case .answer(let result) where !result.ok:
      let why = result.error ?? result.status.map { "HTTP \($0)" } ?? "failed"
      found.error("\(name) did not accept a test message: \(why)", test)
    case .failed(let why): found.error("\(name) did not accept a test message: \(why)", test)
    default: break
    }
  }

  func commands(_ found: inout CheckFindings) {
    guard let commands = answer(facts.commands, &found) else { return }
    guard !commands.isEmpty else { return found.ok("there are no endpoints") }
    for command in commands {
      guard let problem = command.problem else { continue }
      if command.enabled {
        found.error(
          "\(command.name) cannot be run: \(.serverMessage(problem))",
          .write("[commands.\(command.name)] program = \"/path/of/the/program\"", into: configurationFile),
          .run("\(facts.chime) command test \(command.name)"))
      } else {
        found.warning(
          "\(command.name) does not run: \(.serverMessage(problem))",
          .write("[commands] enabled = true", into: configurationFile))
      }
    }
    if found.isEmpty { found.ok("ready to run: \(commands.map(\.name).joined(separator: ", "))") }
  }

  func channels(_ found: inout CheckFindings) {
    guard let health = facts.health else { return found.skipped("the daemon was not asked") }
    for notice in health.notices ?? [] where notice.kind == "undeliverable" {
      found.error(
        "\(.serverMessage(notice.sentence)) (chime list marks each)",
        .run("\(facts.chime) edit \(notice.about ?? "ID") --to CHANNEL"), .run("\(facts.chime) list"))
    }
    if found.isEmpty { found.ok("each reminder has a working channel") }
  }

  func deliveries(_ found: inout CheckFindings) {
    guard let givenUp = answer(facts.givenUp, &found) else { return }
    guard let latest = givenUp.first else { return found.ok("no message was given up in the last seven days") }
    let count = givenUp.count >= Probes.givenUpLimit ? "\(Probes.givenUpLimit)+" : "\(givenUp.count)"
    let result = latest.lastResult ?? "-"
    found.warning(
      "messages given up in the last seven days: \(count), the latest to \(latest.channel): \(result)",
      .run("\(facts.chime) deliveries --state dead"), .run("\(facts.chime) redeliver --to \(latest.channel)"))
  }

  /// Checks the heartbeat; adds nothing if none is configured.
  func heartbeat(_ found: inout CheckFindings) {
    guard let it = facts.health?.heartbeat else { return }
    if let problem = it.problem {
      found.error(
        "\(.serverMessage(problem))", .run("\(facts.chime) status"),
        .advice("check the address and the keys of [heartbeat] in \(configurationFile)"))
    } else if let taken = it.acceptedAt {
      found.ok("the receiver accepted the last one at \(.time(taken))")
    } else {
      found.ok("the daemon has sent none yet")
    }
  }

  func trackers(_ found: inout CheckFindings) {
    guard let trackers = answer(facts.trackers, &found), let packs = answer(facts.packs, &found) else { return }
    found.ok("trackers: \(trackers), packs: \(packs)")
  }
}
