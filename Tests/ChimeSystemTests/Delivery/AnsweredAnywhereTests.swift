import Foundation
import Testing

/// A user with the same reminder on every screen, who answers on any of them.
@Suite(.serialized, .enabled(if: Broker.isThere && Machine.has("curl"), "needs mosquitto and curl"))
struct AnsweredAnywhereTests {
  private static let seed =
    ProcessInfo.processInfo.environment["CHIME_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)

  private enum AnswerChannel: String, CaseIterable {
    case popup, phone, home, room, page, cli

    var answeredBy: String? {
      switch self {
      case .popup: "desktop"
      case .phone, .home, .room, .page: "endpoint:\(rawValue)"
      case .cli: nil
      }
    }

    /// The ways whose answers are kept while no daemon runs.
    static let kept: [AnswerChannel] = [.phone, .home, .room, .page]
  }

  /// The screens of one user, one of each kind.
  private struct Screens {
    static let channels = ["desktop", "phone", "home", "room", "page", "push", "mail"]

    let home: Home
    let desktop: MockDesktop
    let phone: TopicServer
    let broker: Broker
    let room: Room
    let push: PushServer
    let mail: MailServer
    let page: AnswerPage

    /// Starts all screens, and a daemon with endpoints for them.
    static func start(in home: Home) async throws -> (Screens, Daemon) {
      // With the bus transport, the next daemon can close popups too.
      try home.configure(Transport.bus.toml)
      let (desktop, phone, broker) = try await (
        home.startMockDesktop(), TopicServer.start(in: home), Broker.start(in: home)
      )
      let (room, push, mail) = try await (
        Room.open(.standIn, in: home), PushServer.start(in: home), MailServer.start(in: home)
      )
      let daemon = try await home.start()
      try await home.mustRun(
        "endpoint", "add", "phone", phone.url("alerts"), "--template", "ntfy", "--replies", phone.url("answers"))
      try await home.mustRun("endpoint", "add", "home", broker.url())
      try await room.add()
      try home.write("\(PushServer.application)\n\(PushServer.client)\n", to: home.path + "/tokens")
      try await home.mustRun(
        "endpoint", "add", "push", push.url, "--template", "gotify", "--token-file", home.path + "/tokens")
      try await home.mustRun(
        "endpoint", "add", "mail", "mailto:ann@example.org", "--via", mail.url, "--from", "chime@example.net")
      let page = try await AnswerPage.start(
        in: home, ["--in-order", "--events", "fired,repeated,done,snoozed,dismissed,missed,reopened"])
      let screens = Screens(
        home: home, desktop: desktop, phone: phone, broker: broker, room: room, push: push, mail: mail, page: page)
      try await screens.areRead()
      try await broker.listen()
      return (screens, daemon)
    }

    private func areRead() async throws {
      try await eventually("answers are read", within: .seconds(60)) {
        try await home.answer("io.chime.Endpoints.List")["endpoints"].elements.allSatisfy {
          ["connected", nil].contains($0["replies"]["state"].string)
        }
      }
    }

    func button(_ title: String) -> JSON? {
      phone.messages("alerts").last { $0["message"].string == title }.map { phone.buttons($0)[0] }
    }

    func token(_ title: String) -> String? {
      let state = broker.state()
      return state["newest"]["title"].string == title ? state["done"].string : nil
    }

    private func popups(_ title: String) -> [Int] {
      let shown = desktop.shown
      return shown.indices.filter { shown[$0].contains("\"\(title)\"") }.map { $0 + 1 }
    }

    private func events(_ title: String) async throws -> [(id: String, text: String)] {
      try await room.server.screen(room.ann, room.id, by: room.bot).filter { $0.text.hasPrefix(title + "\n") }
    }

    /// Returns the number of emails with a subject.
    func emails(_ title: String) -> Int { mail.messages.count { $0["headers"]["subject"].string == title } }

    /// Returns whether the reminder is on all screens and recorded as delivered.
    func show(_ title: String) async throws -> Bool {
      guard button(title) != nil, token(title) != nil, !popups(title).isEmpty, push.screen.contains(title),
        emails(title) == 1, try await page.shows(title), try await !events(title).isEmpty
      else { return false }
      return try await home.json("deliveries")["deliveries"].elements.allSatisfy {
        ["delivered", "cancelled"].contains($0["state"].string)
      }
    }

    /// Returns whether the reminder is on no screen.
    func areClear(of title: String) async throws -> Bool {
      let closed = desktop.calls("CloseNotification")
      guard !phone.screen("alerts").contains(title), broker.state()["newest"]["title"].string != title,
        popups(title).allSatisfy({ popup in closed.contains { $0.hasSuffix(" \(popup)") } }),
        !push.screen.contains(title), emails(title) == 1, try await !page.shows(title)
      else { return false }
      return try await events(title).allSatisfy { $0.text.contains("✔ done at ") }
    }

    func answer(_ title: String, _ id: String, on way: AnswerChannel) async throws {
      switch way {
      case .popup: try await desktop.press("done", on: UInt32(try #require(popups(title).last)))
      case .phone: try await phone.press(try #require(button(title)))
      case .home: try await broker.send(try #require(token(title)))
      case .room: try await room.server.react(room.ann, room.id, to: try #require(try await events(title).last).id, "✅")
      case .page: try await page.press(try #require(try await page.token(title, "Done")))
      case .cli: try await home.mustRun("done", id)
      }
    }
  }

  private func occurrence(_ id: String, _ home: Home) async throws -> JSON {
    try await home.latestOccurrence(of: id)
  }

  private func addList(_ receiver: Receiver, _ home: Home) async throws {
    try home.write(Receiver.secret + "\n", to: home.path + "/secret")
    try await home.mustRun(
      "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret", "--in-order", "--reminders",
      "all", "--events", "fired,repeated,done,snoozed,dismissed,missed,reopened")
  }

  private func isTold(_ titles: [String], _ receiver: Receiver) async throws {
    try await eventually("each is notified", within: .seconds(60)) {
      let told = receiver.told
      return titles.allSatisfy { told[$0]?.contains("occurrence.done") == true }
    }
    for (title, types) in receiver.told { #expect(types == ["reminder.fired", "occurrence.done"], "\(title)") }
  }

  /// Formats the median and the 99th percentile.
  private func percentiles(_ times: [Duration]) -> String {
    let sorted = times.sorted()
    return "p50 \(sorted[sorted.count / 2]), p99 \(sorted[sorted.count * 99 / 100])"
  }

  /// Measures the time from the sending program to a bare client, as a reference.
  private func bareTimes(_ screens: Screens, _ count: Int) async throws -> (phone: [Duration], home: [Duration]) {
    let reader = try await screens.home.spawn("curl", ["-sN", screens.phone.url("bare") + "/json"])
    try await eventually("it reads") { reader.output.contains("\"open\"") }
    var (phone, home): ([Duration], [Duration]) = ([], [])
    for number in 1...count {
      var begin = ContinuousClock.now
      try await screens.phone.send("number \(number).", to: screens.phone.url("bare"))
      try await eventually("it is read") { reader.output.contains("number \(number).") }
      phone.append(ContinuousClock.now - begin)
      begin = ContinuousClock.now
      try await screens.broker.send("\(number)", to: "test/bare")
      try await eventually("it is received") { screens.broker.messages("test/bare").count == number }
      home.append(ContinuousClock.now - begin)
    }
    return (phone, home)
  }

  /// Each reminder is answered once, on one screen, and disappears from all.
  @Test(.timeLimit(.minutes(40)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func answerOnOneScreenWithdrawsAllOthers() async throws {
    try await Home.run { home in
      let (screens, daemon) = try await Screens.start(in: home)
      try await answer(ProofTier.amount(quick: AnswerChannel.allCases.count, proof: 200), screens)
      #expect(daemon.process.listeningPorts.isEmpty, "every connection goes out")
    }
  }

  /// An answer has closed the reminder, and is gone from all screens, within two seconds.
  @Test(
    .timeLimit(.minutes(40)), .proof(.patience),
    .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func answerTakesTwoSecondsAtMost() async throws {
    try await Home.run(alone: true) { home in
      let (screens, _) = try await Screens.start(in: home)
      let times = try await answer(100, screens)
      let bare = try await bareTimes(screens, 50)
      print(
        "AnsweredAnywhereTests: from the press until it is closed and gone from all screens: \(percentiles(times));",
        "until a bare client has it: ntfy \(percentiles(bare.phone)), MQTT \(percentiles(bare.home))")
      #expect(times.sorted()[times.count * 99 / 100] <= .seconds(2) * Sanitizer.slowness)
    }
  }

  /// Answers reminders, each on one screen, and again on two others.
  ///
  /// - Returns: the times from the press until a reminder was closed and gone from all screens.
  @discardableResult
  private func answer(_ count: Int, _ screens: Screens) async throws -> [Duration] {
    print("AnsweredAnywhereTests: CHIME_TEST_SEED=\(Self.seed)")
    var random = SeededGenerator(state: Self.seed)
    let home = screens.home
    let receiver = try await Receiver.start(in: home)
    try await addList(receiver, home)
    var titles: [String] = []
    var times: [Duration] = []
    for number in 1...count {
      let title = "Task \(number) of the day"
      titles.append(title)
      // Use each way at least once.
      let way =
        number <= AnswerChannel.allCases.count
        ? AnswerChannel.allCases[number - 1] : try #require(AnswerChannel.allCases.randomElement(using: &random))
      let id = try await home.add(title, "in 1s", to: Screens.channels)
      try await eventually("\(title) is everywhere", within: .seconds(60)) { try await screens.show(title) }
      let others = (button: try #require(screens.button(title)), token: try #require(screens.token(title)))
      let begin = ContinuousClock.now
      try await screens.answer(title, id, on: way)
      try await eventually("\(title) is done") { try await occurrence(id, home)["state"].string == "done" }
      try await eventually("no screen shows \(title)", within: .seconds(60)) {
        try await screens.areClear(of: title)
      }
      times.append(ContinuousClock.now - begin)
      let done = try await occurrence(id, home)
      #expect(done["answeredBy"].string == way.answeredBy, "\(way): \(done)")
      // A second answer by other ways.
      try await screens.phone.press(others.button)
      try await screens.broker.send(others.token)
    }
    try await isTold(titles, receiver)
    return times
  }

  /// The daemon is killed at a random moment around each answer: no answer is lost or applied twice, and no screen
  /// keeps the reminder.
  @Test(.timeLimit(.minutes(60)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func daemonKilledAroundAnswersLosesNone() async throws {
    print("AnsweredAnywhereTests: CHIME_TEST_SEED=\(Self.seed)")
    var random = SeededGenerator(state: Self.seed)
    try await Home.run { home in
      let (screens, first) = try await Screens.start(in: home)
      var daemon = first
      let receiver = try await Receiver.start(in: home)
      try await addList(receiver, home)
      var titles: [String] = []
      for number in 1...ProofTier.amount(quick: 4, proof: 200) {
        let title = "Task \(number) of the day"
        titles.append(title)
        let way =
          number <= AnswerChannel.kept.count
          ? AnswerChannel.kept[number - 1] : AnswerChannel.kept.randomElement(using: &random)!
        let pause = Duration.milliseconds(Int.random(in: 0...150, using: &random))
        let id = try await home.add(title, "in 1s", to: Screens.channels)
        try await eventually("\(title) is everywhere", within: .seconds(60)) { try await screens.show(title) }
        // A message that was sent and not recorded cannot be taken back: the next daemon does not know its number.
        try await eventually("\(title) is recorded as delivered", within: .seconds(60)) {
          let sent = try await home.json("deliveries", "--limit", "all")["deliveries"].elements
          return sent.filter { $0["title"].string == title }.allSatisfy { $0["state"].string == "delivered" }
        }
        let victim = daemon
        async let end: Void = {
          try await Task.sleep(for: pause)
          try await victim.crash()
        }()
        try await screens.answer(title, id, on: way)
        try await end
        daemon = try await home.start()
        try await eventually("\(title) is done", within: .seconds(60)) {
          try await occurrence(id, home)["state"].string == "done"
        }
        #expect(try await occurrence(id, home)["answeredBy"].string == way.answeredBy)
        try await eventually("no screen shows \(title)", within: .seconds(60)) {
          try await screens.areClear(of: title)
        }
      }
      try await isTold(titles, receiver)
      let history = try await home.json("history", "--limit", "all")["occurrences"].elements
      #expect(history.count == titles.count && history.allSatisfy { $0["state"].string == "done" })
    }
  }

  /// A flood of invalid, expired and foreign tokens: none is accepted, all are counted, and other clients see no delay.
  @Test(.timeLimit(.minutes(10)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func floodOfInvalidTokensIsRefused() async throws {
    let amount = ProofTier.amount(quick: 2_000, proof: 5_000)
    try await Home.run { home in
      let (screens, daemon) = try await Screens.start(in: home)
      let used = try await home.add("Used", "in 1s", to: Screens.channels)
      try await eventually("it is everywhere", within: .seconds(60)) { try await screens.show("Used") }
      let replayed = try #require(screens.token("Used"))
      try await screens.broker.send(replayed)
      try await eventually("it is done") { try await occurrence(used, home)["state"].string == "done" }
      let open = try await home.add("Open", "in 1s", to: Screens.channels)
      try await eventually("it is everywhere", within: .seconds(60)) { try await screens.show("Open") }
      let (good, foreign) = (
        try #require(screens.token("Open")), try #require(screens.button("Open")?["body"].string)
      )
      let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
      var random = SeededGenerator(state: Self.seed)
      let lines = (0..<amount).map { number -> String in
        switch number % 4 {
        case 0: return replayed
        case 1: return foreign
        case 2: return String(good.dropLast(1 + number / 4 % (good.count - 2)))
        default:
          // Change one character. Skip the last one: some of its bits have no meaning.
          var forged = Array(good)
          let place = Int.random(in: 6..<forged.count - 1, using: &random)
          forged[place] = letters.filter { $0 != forged[place] }.randomElement(using: &random)!
          return String(forged)
        }
      }
      let file = home.path + "/flood"
      try home.write(lines.joined(separator: "\n") + "\n", to: file)

      func meanwhile(_ title: String) async throws -> Int {
        let other = try await home.add(title, "in 1s", to: ["phone"])
        try await eventually("\(title) is on the phone", within: .seconds(60)) { screens.button(title) != nil }
        try await screens.phone.press(try #require(screens.button(title)))
        try await eventually("\(title) is done", within: .seconds(60)) {
          try await occurrence(other, home)["state"].string == "done"
        }
        return try await occurrence(other, home)["latenessMs"].int ?? -1
      }
      func answers() async throws -> JSON {
        let endpoints = try await home.answer("io.chime.Endpoints.List")["endpoints"].elements
        return try #require(endpoints.first { $0["name"].string == "home" })["replies"]
      }
      let begin = ContinuousClock.now
      let flood = try await screens.broker.flood(file)
      var lateness = [try await meanwhile("Beside a flood")]
      try await eventually("all were refused", within: .seconds(300), every: .milliseconds(100)) {
        try await answers()["refused"].int == amount
      }
      let time = ContinuousClock.now - begin
      #expect(try await flood.ended() == .exited(0))
      // The valid token still works.
      #expect(try await occurrence(open, home)["state"].string != "done")
      try await screens.broker.send(good)
      try await eventually("it is done") { try await occurrence(open, home)["state"].string == "done" }

      // A long flood is throttled or disconnected; nothing else waits for it.
      let more = ProofTier.amount(quick: 20_000, proof: 200_000)
      try home.write(String(repeating: replayed + "\n", count: more), to: file)
      _ = try await screens.broker.flood(file)
      lateness.append(try await meanwhile("Beside a longer one"))
      let (all, refused) = (ContinuousClock.now - begin, try await answers()["refused"].int ?? 0)
      let said = daemon.process.errors.components(separatedBy: "changes nothing").count - 1
      #expect(said <= 2 + Int(all / .seconds(10)), "\(daemon.process.errors.suffix(2_000))")
      print(
        "AnsweredAnywhereTests: \(amount) tokens refused in \(time), then \(refused - amount) of \(more) in \(all - time);",
        "said \(said) times; reminders meanwhile \(lateness) ms late")
      if ProofTier.isProof { #expect(lateness.allSatisfy { $0 <= 1_000 * Sanitizer.slowness }) }
    }
  }

  /// Without traffic the daemon sleeps: it wakes only when a server sends something.
  @Test(
    .timeLimit(.minutes(5)), .proof(.patience),
    .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func daemonSleepsWithoutTraffic() async throws {
    try await Home.run { home in
      let (_, daemon) = try await Screens.start(in: home)
      /// Returns the number of context switches of each thread.
      func wakeUps() -> [String: Int] {
        let folder = "/proc/\(daemon.process.pid)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).reduce(into: [:]) {
          wakeUps, task in
          let name = (try? String(contentsOfFile: "\(folder)/\(task)/comm", encoding: .utf8)) ?? ""
          let status = (try? String(contentsOfFile: "\(folder)/\(task)/status", encoding: .utf8)) ?? ""
          let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
          wakeUps[name.trimmingCharacters(in: .newlines), default: 0] +=
            Int(line?.split(separator: "\t").last ?? "") ?? 0
        }
      }
      // Let pending work end.
      try await Task.sleep(for: .seconds(20))
      let before = wakeUps()
      try await Task.sleep(for: .seconds(60))
      let grown = wakeUps().map { ($0, $1 - before[$0, default: 0]) }.filter { $0.1 > 0 }
      print("AnsweredAnywhereTests: wake-ups in a minute:", grown.map { "\($0.1) \($0.0)" }.sorted())
      // ntfy sends a keep-alive each 45 s; polls of Matrix and of the page end after 50 s and start anew; MQTT is silent.
      #expect(grown.map(\.1).reduce(0, +) <= 40, "\(grown)")
    }
  }
}
