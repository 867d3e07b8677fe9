import Foundation
import Testing

/// Bus, notification server and daemon disappear and return: pending popups are shown once, without a storm.
@Suite(.serialized, .enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"))
struct NotificationServerOutageTests {
  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func remindersHeldWithoutAServerAreShownAsAFewPopups(_ transport: Transport) async throws {
    try await Home.run { home in
      let bus = try await home.startBus()
      try home.configure(transport.toml)
      _ = try await home.start()
      let titles = (1...9).map { "Waiting \($0)" }
      for title in titles { try await home.mustRun("in", "1s", title) }
      try await home.mustRun("add", "Gas is on", "in 1s", "--urgency", "critical")
      try await eventually("all have fired, and the channel was found unavailable") {
        let waiting = try await home.deliveries("waiting")
        return try await waiting.count + home.deliveries("pending").count == 10 && !waiting.isEmpty
      }

      let desktop = try await home.startMockServer(on: bus)
      // notify-send is retried every half minute. The first popup shown proves that the way is available.
      if transport == .program { try await home.mustRun("in", "1s", "At its time") }
      try await eventually("all have arrived") {
        try await home.deliveries("delivered").count == (transport == .program ? 11 : 10)
      }
      let shown = desktop.shown.filter { !$0.contains("At its time") }
      #expect(shown.count == 5, "\(shown)")
      #expect(shown.count { $0.contains("\"Gas is on\"") } == 1)
      let summary = try #require(shown.first { $0.contains("\"6 more reminders while you were away\"") })
      #expect(!summary.contains("done"), "a summary has no buttons: \(summary)")
      // The mock writes the lines of a body as separate lines.
      let written = desktop.written.split(separator: "\n").joined(separator: "\" \"")
      for title in titles { #expect(written.components(separatedBy: "\"\(title)\"").count == 2, "\(title)") }
      #expect(try await home.deliveries("delivered").allSatisfy { $0["attempts"].int ?? 9 <= 2 })

      // Reminders in the summary can be answered like others.
      let open = try await home.answer("io.chime.Occurrences.List", ["filter": ["open": true]])["occurrences"]
      #expect(open.elements.count == (transport == .program ? 11 : 10))
      for title in titles { try await home.mustRun("done", title) }
    }
  }

  /// A daemon that cannot reach the bus takes the answer, and is killed: the next one closes the popup.
  @Test(.timeLimit(.minutes(1)))
  func popupAnsweredBeforeAKillIsClosedByTheNextDaemon() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      let first = try await home.start()
      try await home.mustRun("in", "1s", "Answered")
      try await home.mustRun("in", "1s", "Open")
      let answered = try await desktop.popup(titled: "Answered")
      let open = try await desktop.popup(titled: "Open")
      try await eventually("both are recorded") { try await home.deliveries("delivered").count == 2 }
      try await first.crash()
      let second = try await home.start(environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(home.path)/no-bus"])
      try await home.mustRun("done", "Answered")
      try await second.crash()
      #expect(desktop.calls("CloseNotification").isEmpty)
      _ = try await home.start()
      try await eventually("the popup is closed") { !desktop.calls("CloseNotification").isEmpty }
      let closed = desktop.calls("CloseNotification")
      #expect(closed.count == 1 && closed[0].hasSuffix(" \(answered)"), "\(closed), \(answered), \(open)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func waitingPopupIsShownOnceWhenTheServerReturns() async throws {
    try await Home.run { home in
      var desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "Before")
      let before = try await desktop.popup(titled: "Before")
      let key = try desktop.key("done", of: before)
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 1 }
      try await desktop.stopServer()
      let id = try await home.add("Patience", "in 1s")
      try await eventually("it waits") { try await home.deliveries("waiting").count == 1 }

      desktop = try await home.startMockServer(on: desktop.bus)
      let popup = try await desktop.popup(titled: "Patience")
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 2 }
      // The new server's ids start at 1 like the old one's; its popups must not be confused.
      try await desktop.close(popup, reason: 2)
      try await eventually("the journal says why it went away") {
        daemon.process.errors.contains("the popup of \"Patience\" was closed by the user without an answer")
      }
      #expect(try await home.latestOccurrence(of: id)["state"].string == "delivered", "closing is no answer")
      #expect(desktop.shown.count == 1)
      // A button's key identifies its reminder.
      try await desktop.invoke(key, on: 77)
      try await eventually("it is done") { daemon.process.errors.contains("\"Before\" done") }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func popupButtonsWorkAfterADaemonCrash() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      var daemon = try await home.start()
      let done = try await home.add("Done later", "in 1s")
      let snoozed = try await home.add("Snoozed later", "in 1s")
      let first = try await desktop.popup(titled: "Done later")
      let second = try await desktop.popup(titled: "Snoozed later")
      try await eventually("both arrived") { try await home.deliveries("delivered").count == 2 }
      try await daemon.crash()
      daemon = try await home.start()
      try await home.listening(desktop)
      try await desktop.press("done", on: first)
      try await desktop.press("snooze", on: second)
      try await eventually("it is done") { try await home.latestOccurrence(of: done)["state"].string == "done" }
      try await eventually("it is snoozed") {
        try await home.latestOccurrence(of: snoozed)["state"].string == "snoozed"
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func nextDaemonClosesPopupsOfTheLastOne() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      var daemon = try await home.start()
      try await home.mustRun("in", "1s", "Shown before")
      let popup = try await desktop.popup(titled: "Shown before")
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 1 }
      _ = try await daemon.stop()
      daemon = try await home.start()
      try await home.listening(desktop)
      try await home.mustRun("done", "Shown before")
      try await eventually("it is closed") {
        desktop.calls("CloseNotification").contains { $0.hasSuffix(" \(popup)") }
      }
      #expect(daemon.process.isRunning)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func restartedBusIsFoundAgain() async throws {
    try await Home.run { home in
      var desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "Before")
      _ = try await desktop.popup(titled: "Before")
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 1 }
      desktop.bus.destroy()
      _ = try await desktop.bus.ended()
      try await home.mustRun("in", "1s", "Without a bus")
      try await eventually("it waits") { try await home.deliveries("waiting").count == 1 }
      #expect(daemon.process.isRunning, "a lost session bus is no reason to end")
      unlink(home.path + "/bus")
      desktop = try await home.startMockDesktop()
      try await home.mustRun("in", "1s", "After")
      _ = try await desktop.popup(titled: "After")
      // The first popup shown proves that the way is available; the other does not wait for its half minute.
      _ = try await desktop.popup(titled: "Without a bus")
      try await eventually("all arrived") { try await home.deliveries("delivered").count == 3 }
      #expect(desktop.shown.count == 2)
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func messageActivatesTheNotificationServer(_ transport: Transport) async throws {
    try await Home.run { home in
      let services = home.path + "/services"
      try FileManager.default.createDirectory(atPath: services, withIntermediateDirectories: true)
      let log = home.path + "/activated.log"
      let program =
        "#!/bin/sh\necho $$ > \(home.path)/activated\nexec \(Machine.debianPython) -m dbusmock --session "
        + "--template notification_daemon --logfile \(log)\n"
      try home.write(program, to: home.path + "/server", mode: 0o700)
      try home.write(
        "[D-BUS Service]\nName=org.freedesktop.Notifications\nExec=\(home.path)/server\n",
        to: services + "/notifications.service")
      let bus = try await home.startBus(services: services)
      try home.configure(transport.toml)
      let daemon = try await home.start()
      // Subscribing to signals starts no server.
      try await home.mustRun("status")
      #expect(!FileManager.default.fileExists(atPath: home.path + "/activated"))
      try await home.mustRun("in", "1s", "Wake up")
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 1 }
      let desktop = MockDesktop(home: home, log: log, bus: bus, server: daemon.process)
      #expect(desktop.shown.count == 1)
      // The bus started this process; nobody else would end it.
      let pid = try String(contentsOfFile: home.path + "/activated", encoding: .utf8)
      try kill(#require(pid_t(pid.trimmingCharacters(in: .whitespacesAndNewlines))), SIGKILL)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func hangingServerTimesOutAndIsRetried() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml + "timeout = \"300ms\"\n")
      _ = try await home.start()
      try await home.mustRun("in", "1s", "Before")
      _ = try await desktop.popup(titled: "Before")
      // Shown, but not answered.
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 1 }
      desktop.server.send(SIGSTOP)
      let id = try await home.add("Stuck", "in 1s")
      try await eventually("the attempt failed") {
        try await home.attempts(of: id).contains {
          $0["error"].string == "the notification server did not answer within 300ms"
        }
      }
      // Other requests are not delayed.
      try await home.mustRun("list")
      desktop.server.send(SIGCONT)
      try await eventually("it arrives with a later attempt") {
        try await home.deliveries("delivered").count == 2
      }
      // The server finally shows the first attempts too; all but one of the popups are closed.
      try await eventually("the others are closed") {
        let numbers = desktop.shown.indices.filter { desktop.shown[$0].contains("\"Stuck\"") }.map { $0 + 1 }
        return numbers.count > 1 && desktop.calls("CloseNotification").count == numbers.count - 1
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func forgedAndInvalidServerSignalsAreIgnored() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      let daemon = try await home.start()
      let id = try await home.add("Mine", "in 1s")
      let popup = try await desktop.popup(titled: "Mine")
      try await eventually("it arrived") { try await home.deliveries("delivered").count == 1 }
      // Another bus client forges button presses and the loss of the server; then the server sends signals about other ids.
      let key = try desktop.key("done", of: popup)
      let list = try await home.run("busctl", ["--address=\(home.bus)", "list", "--no-legend"])
      let lines = list.out.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
      let chimed = try #require(lines.first { $0.contains("chimed") }?.first, "\(list.text)")
      for (path, interface, signal, arguments) in [
        ("/org/freedesktop/Notifications", "org.freedesktop.Notifications", "ActionInvoked", ["us", "1", key]),
        (
          "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
          ["sss", "org.freedesktop.Notifications", ":1.0", ""]
        ),
      ] {
        for destination in [[], ["--destination=\(chimed)"]] {
          let forged = try await home.run(
            "busctl", ["--address=\(home.bus)"] + destination + ["emit", path, interface, signal] + arguments)
          #expect(forged.status == 0, "\(forged.text)")
        }
      }
      for key in ["done", "default", "done:\(id)@1", "done:zzzz@1774744200", "snooze:-1s:\(id)@1", ":"] {
        try await desktop.invoke(key, on: popup)
      }
      // Signals are processed in order: when this one is, all before it are.
      try await desktop.close(popup, reason: 99)
      try await eventually("the popup went away") {
        daemon.process.errors.contains("the popup of \"Mine\" went away without an answer")
      }
      #expect(try await home.latestOccurrence(of: id)["state"].string == "delivered")

      let changed = try await desktop.busctl(
        "AddMethod", interface: "org.freedesktop.DBus.Mock",
        ["sssss", "org.freedesktop.Notifications", "Notify", "susssasa{sv}i", "s", "ret = 'seven'"])
      #expect(changed.status == 0, "\(changed.text)")
      let odd = try await home.add("Odd", "in 1s")
      try await eventually("the attempt failed") {
        try await home.attempts(of: odd).contains {
          $0["error"].string?.contains("does not follow the specification: \"s\"") == true
        }
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func popupMatchesTheServersCapabilities() async throws {
    try await Home.run { home in
      let bus = try await home.startBus()
      var desktop = try await home.startMockServer(on: bus, capabilities: "body body-markup")
      try home.configure(Transport.bus.toml)
      _ = try await home.start()
      _ = try await home.answer(
        "io.chime.Reminders.Add",
        [
          "reminder": [
            "title": "Plain", "when": "in 1s", "body": "a <b>", "urgency": "critical", "icon": "/tmp/tea.png",
            "sound": "bell",
          ]
        ])
      _ = try await desktop.popup(titled: "Plain")
      let sent = desktop.shown[0]
      #expect(sent.contains("a &lt;b&gt;") && !sent.contains("done"), "\(sent)")
      for hint in [
        "\"urgency\": 2", "\"sound-name\": \"bell\"", "\"image-path\": \"/tmp/tea.png\"",
        "\"desktop-entry\": \"chime\"",
      ] {
        #expect(sent.contains(hint), "\(hint) in \(sent)")
      }
      try await desktop.stopServer()
      desktop = try await home.startMockServer(on: bus, capabilities: "body actions")
      _ = try await home.answer(
        "io.chime.Reminders.Add", ["reminder": ["title": "Rich", "when": "in 1s", "body": "a <b>"]])
      _ = try await desktop.popup(titled: "Rich")
      #expect(desktop.shown[0].contains("\"a <b>\"") && desktop.shown[0].contains("Snooze 10 min"))
      // Answered elsewhere, the popup closes.
      try await home.mustRun("done", "Rich")
      try await eventually("it is closed") { desktop.calls("CloseNotification").count == 1 }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func reloadChangesThePopupTransport() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      let daemon = try await home.start()
      try await home.mustRun("in", "1s", "By a program")
      #expect(try desktop.key("done", of: await desktop.popup(titled: "By a program")) == "done")
      try home.configure(Transport.bus.toml)
      daemon.process.send(SIGHUP)
      try await eventually("it was read") { daemon.process.errors.contains("the configuration was reloaded") }
      try await home.mustRun("in", "1s", "By the bus")
      #expect(try desktop.key("done", of: await desktop.popup(titled: "By the bus")).hasPrefix("done:"))
      _ = try await daemon.stop()
    }
  }
}

extension Home {
  func deliveries(_ state: String) async throws -> [JSON] {
    try await answer("io.chime.Deliveries.List", ["filter": ["state": .string(state)]])["deliveries"].elements
  }

  func attempts(of reminder: String) async throws -> [JSON] {
    let found = try await answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(reminder)]])["deliveries"]
    var attempts: [JSON] = []
    for delivery in found.elements {
      guard let id = delivery["id"].string else { continue }
      attempts += try await answer("io.chime.Deliveries.Get", ["id": .string(id)])["attempts"].elements
    }
    return attempts
  }

  /// Waits until the daemon has called GetCapabilities; from then on it receives the server's signals.
  func listening(_ desktop: MockDesktop, times: Int = 2) async throws {
    try await eventually("the daemon listens") { desktop.calls("GetCapabilities").count >= times }
  }
}
