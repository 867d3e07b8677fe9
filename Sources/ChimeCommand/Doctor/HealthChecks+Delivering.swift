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
    return isGraphical || facts.examination?.desktop.isNeeded ?? true
  }

  /// Returns a finding about popups, which is only a caution on a machine without a desktop.
  private func noPopups(_ check: Check, _ message: Sentence, _ remedies: Remedy...) -> Finding {
    guard !needsDesktop else { return Finding(check: check, state: .bad, message: message, remedies: remedies) }
    let rest = Remedy.advice(Sentence(localizable("not needed: no reminder is shown on a desktop")))
    return Finding(check: check, state: .caution, message: message, remedies: [rest] + remedies)
  }

  var bus: [Finding] {
    guard !facts.isSystem else { return [] }
    guard let it = facts.examination?.bus else { return unexamined(.bus) }
    let own = facts.environment["DBUS_SESSION_BUS_ADDRESS"].flatMap { $0.isEmpty ? nil : $0 }
    guard let address = it.address else {
      return [
        noPopups(
          .bus, Sentence(localizable("the daemon's environment names no session bus: it cannot show popups")),
          takeOver(own))
      ]
    }
    if let problem = it.problem {
      return [
        noPopups(
          .bus, Sentence(localizable("the daemon cannot show popups: the bus at %1: %2"), address, told(problem)),
          own == nil || own == address ? logIn : takeOver(own))
      ]
    }
    if facts.health != nil, let own, Self.path(own) != Self.path(address) {
      return [
        .caution(
          .bus, Sentence(localizable("the daemon uses the bus %1, and this terminal uses %2"), address, own),
          takeOver(own))
      ]
    }
    return [.good(.bus, Sentence(localizable("%1 answers"), address))]
  }

  /// Returns the first address of a list, without its guid.
  private static func path(_ address: String) -> String {
    String(address.prefix { $0 != "," && $0 != ";" })
  }

  private var logIn: Remedy {
    .advice(
      Sentence(localizable("log in to a desktop session, or, without one, start: %1"), "dbus-run-session -- chimed"))
  }

  /// Returns the command that gives the daemon the bus of this terminal.
  private func takeOver(_ own: String?) -> Remedy {
    guard own != nil else { return logIn }
    return .run(
      "systemctl --user import-environment DBUS_SESSION_BUS_ADDRESS && systemctl --user restart chimed")
  }

  var notifications: [Finding] {
    guard !facts.isSystem else { return [] }
    guard let it = facts.examination?.bus else { return unexamined(.notifications) }
    let name = it.serverName ?? "org.freedesktop.Notifications"
    switch it.server {
    case .unknown:
      return [
        .skipped(.notifications, Sentence(localizable("not checked: %1"), told(it.problem ?? "no session bus")))
      ]
    case .missing:
      return [
        noPopups(
          .notifications, Sentence(localizable("no program on the session bus shows notifications: popups wait")),
          .advice(
            Sentence(localizable("log in to a desktop, or install a server and start it: %1"), "sudo apt install dunst")
          )
        )
      ]
    case .startable:
      return [.good(.notifications, Sentence(localizable("the bus starts a notification server with the first popup")))]
    case .running:
      if let problem = it.serverProblem {
        return [
          noPopups(
            .notifications, Sentence(localizable("the notification server runs, and %1"), told(problem)),
            .advice(Sentence(localizable("restart it, or log in again"))))
        ]
      }
      let capabilities = it.capabilities ?? []
      guard capabilities.contains("actions") else {
        return [
          .caution(
            .notifications, Sentence(localizable("%1 shows no buttons: answer with %2"), name, "chime done"),
            .run("sudo apt install dunst"))
        ]
      }
      let has = ["actions", "body-markup", "persistence"].filter(capabilities.contains).joined(separator: ", ")
      return [.good(.notifications, Sentence(localizable("%1 (%2)"), name, has))]
    }
  }

  var desktop: [Finding] {
    guard !facts.isSystem else { return [] }
    guard let it = facts.examination?.desktop else { return unexamined(.desktop) }
    guard it.transport == "notify-send" else {
      return [.good(.desktop, Sentence(localizable("popups use D-Bus; no program is needed")))]
    }
    let file = facts.examination?.configuration.path ?? "chimed.toml"
    let overBus = Remedy.write("[desktop] transport = \"dbus\"", into: file)
    guard let path = it.path else {
      let isUsual = it.program == "notify-send"
      return [
        noPopups(
          .desktop,
          Sentence(localizable("%1 does not exist, or may not be run: the daemon cannot show popups"), it.program),
          isUsual ? .run("sudo apt install libnotify-bin") : .run("chmod +x \(ShellText.quoted(it.program))"), overBus)
      ]
    }
    switch facts.popupProgram {
    case .ended(0, let output):
      let version = output.split(separator: "\n").first.map(String.init) ?? path
      return [.good(.desktop, Sentence(localizable("%1 answers: %2"), path, String(version.prefix(60))))]
    case .ended(let status, _):
      return [
        noPopups(
          .desktop, Sentence(localizable("%1 ends with status %2"), path, status),
          .run("\(ShellText.quoted(path)) --version"), overBus)
      ]
    case .killed(let signal):
      return [
        noPopups(
          .desktop, Sentence(localizable("%1 crashes (signal %2)"), path, signal),
          .run("\(ShellText.quoted(path)) --version"), overBus)
      ]
    case .tookTooLong(let limit):
      return [
        noPopups(
          .desktop, Sentence(localizable("%1 hangs: no answer within %2 ms"), path, limit),
          .run("\(ShellText.quoted(path)) --version"), overBus)
      ]
    case .missing:
      return [
        noPopups(
          .desktop, Sentence(localizable("%1 does not exist, or may not be run: the daemon cannot show popups"), path),
          overBus)
      ]
    case .notStarted(let why):
      return [noPopups(.desktop, Sentence(localizable("%1 cannot be started: %2"), path, why), overBus)]
    case nil: return [.skipped(.desktop, Sentence(localizable("not checked: %1"), path))]
    }
  }

  // MARK: Endpoints and commands

  var endpoints: [Finding] {
    asked(.endpoints, facts.endpoints) { endpoints in
      guard !endpoints.isEmpty else { return [.good(.endpoints, Sentence(localizable("there are no endpoints")))] }
      let found = endpoints.flatMap(judge)
      guard found.isEmpty else { return found }
      let names = endpoints.prefix(5).map(\.name).joined(separator: ", ") + (endpoints.count > 5 ? " …" : "")
      return [
        .good(
          .endpoints,
          facts.endpointTests.isEmpty
            ? Sentence(localizable("in use: %1"), names)
            : Sentence(localizable("each accepted a test message: %1"), names))
      ]
    }
  }

  private func judge(_ endpoint: EndpointsInterface.Endpoint) -> [Finding] {
    let name = endpoint.name
    let test = Remedy.run("\(facts.chime) endpoint test \(name)")
    var found: [Finding] = []
    let last = facts.endpointResults[name] ?? ""
    let logsIn = ["mailto:", "mqtt:", "mqtts:", "matrix:"].contains { endpoint.url.lowercased().hasPrefix($0) }
    let isCertificate = last.lowercased().contains("certificate") || last.contains("SSL") || last.contains("TLS")
    if let why = endpoint.disabled {
      found.append(
        .bad(
          .endpoints, Sentence(localizable("%1 is disabled: %2"), name, told(why)), test,
          .run("\(facts.chime) endpoint enable \(name)")))
    }
    if let fault = endpoint.fault {
      found.append(
        .bad(
          .endpoints, Sentence(localizable("Chime cannot send to %1: %2"), name, told(fault)),
          .run(
            logsIn
              ? "\(facts.chime) endpoint edit \(name) --token-file FILE"
              : "\(facts.chime) endpoint rotate \(name) --secret-file FILE")))
    }
    if isCertificate {
      found.append(
        .bad(
          .endpoints, Sentence(localizable("%1 has an untrusted certificate: %2"), name, last), test,
          .run("\(facts.chime) endpoint edit \(name) --ca-file FILE")))
    } else if let until = endpoint.restingUntil {
      found.append(
        .caution(
          .endpoints,
          Sentence(localizable("%1 is paused until %2 after repeated failures: %3"), name, time(until), told(last)),
          test)
      )
    } else if endpoint.disabled == nil, let since = endpoint.failingSince {
      found.append(
        .caution(
          .endpoints, Sentence(localizable("%1 has failed since %2: %3"), name, time(since), told(last)), test)
      )
    }
    if let replies = endpoint.replies, let why = replies.problem, let since = replies.since {
      found.append(
        .caution(
          .endpoints,
          Sentence(localizable("Chime cannot read answers from %1 since %2: %3"), name, time(since), told(why)),
          .run("\(facts.chime) endpoint show \(name)")))
    }
    switch facts.endpointTests[name] {
    case .answer(let result) where !result.ok:
      let why = result.error ?? result.status.map { "HTTP \($0)" } ?? "failed"
      found.append(.bad(.endpoints, Sentence(localizable("%1 did not accept a test message: %2"), name, why), test))
    case .failed(let why):
      found.append(.bad(.endpoints, Sentence(localizable("%1 did not accept a test message: %2"), name, why), test))
    default: break
    }
    return found
  }

  var commands: [Finding] {
    asked(.commands, facts.commands) { commands in
      guard !commands.isEmpty else { return [.good(.commands, Sentence(localizable("there are no endpoints")))] }
      let found = commands.compactMap { command -> Finding? in
        guard let problem = command.problem else { return nil }
        let file = facts.examination?.configuration.path ?? "chimed.toml"
        guard command.enabled else {
          return .caution(
            .commands, Sentence(localizable("%1 does not run: %2"), command.name, told(problem)),
            .write("[commands] enabled = true", into: file))
        }
        return .bad(
          .commands, Sentence(localizable("%1 cannot be run: %2"), command.name, told(problem)),
          .write("[commands.\(command.name)] program = \"/path/of/the/program\"", into: file),
          .run("\(facts.chime) command test \(command.name)"))
      }
      guard found.isEmpty else { return found }
      return [
        .good(.commands, Sentence(localizable("ready to run: %1"), commands.map(\.name).joined(separator: ", ")))
      ]
    }
  }

  var heard: [Finding] {
    guard let health = facts.health else {
      return [.skipped(.heard, Sentence(localizable("the daemon was not asked")))]
    }
    let mute = (health.notices ?? []).filter { $0.kind == "mute" }
    guard mute.isEmpty else {
      return mute.map { notice in
        .bad(
          .heard, Sentence(localizable("%1 (chime list marks each)"), told(notice.sentence)),
          .run("\(facts.chime) edit \(notice.about ?? "ID") --to CHANNEL"), .run("\(facts.chime) list"))
      }
    }
    return [.good(.heard, Sentence(localizable("each reminder has a working channel")))]
  }

  var deliveries: [Finding] {
    asked(.deliveries, facts.givenUp) { givenUp in
      guard let latest = givenUp.first else {
        return [.good(.deliveries, Sentence(localizable("no message was given up in the last seven days")))]
      }
      let count = givenUp.count >= Probes.givenUpLimit ? "\(Probes.givenUpLimit)+" : "\(givenUp.count)"
      return [
        .caution(
          .deliveries,
          Sentence(
            localizable("messages given up in the last seven days: %1, the latest to %2: %3"), count, latest.channel,
            latest.lastResult ?? "-"),
          .run("\(facts.chime) deliveries --state dead"), .run("\(facts.chime) redeliver --to \(latest.channel)"))
      ]
    }
  }

  /// Checks the heartbeat; returns nothing if none is configured.
  var heartbeat: [Finding] {
    guard let it = facts.health?.heartbeat else { return [] }
    if let problem = it.problem {
      let file = facts.examination?.configuration.path ?? "chimed.toml"
      return [
        .bad(
          .heartbeat, Sentence("%1", told(problem)), .run("\(facts.chime) status"),
          .advice(Sentence(localizable("check the address and the keys of [heartbeat] in %1"), file)))
      ]
    }
    guard let taken = it.takenAt else {
      return [.good(.heartbeat, Sentence(localizable("the daemon has sent none yet")))]
    }
    return [.good(.heartbeat, Sentence(localizable("the receiver accepted the last one at %1"), time(taken)))]
  }

  var trackers: [Finding] {
    asked(.trackers, facts.trackers) { trackers in
      asked(.trackers, facts.packs) { packs in
        [.good(.trackers, Sentence(localizable("trackers: %1, packs: %2"), trackers, packs))]
      }
    }
  }
}
