import Foundation
import Testing

/// A person who has a reminder on every screen, and answers on any of them.
@Suite(.serialized, .enabled(if: Broker.isThere && Machine.has("curl"), "needs mosquitto and curl"))
struct AnsweredAnywhereTests {
  private static let seed =
    ProcessInfo.processInfo.environment["CHIME_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)

  private enum Way: String, CaseIterable {
    case popup, phone, home, cli

    var answeredBy: String? {
      switch self {
      case .popup: "desktop"
      case .phone: "endpoint:phone"
      case .home: "endpoint:home"
      case .cli: nil
      }
    }
  }

  /// What stands on the screens of one person.
  private struct Screens {
    let home: Home
    let desktop: MockDesktop
    let phone: TopicServer
    let broker: Broker

    static func start(in home: Home) async throws -> Screens {
      try await Screens(
        home: home, desktop: home.startMockDesktop(), phone: .start(in: home), broker: .start(in: home))
    }

    func add() async throws {
      try await home.did(
        "endpoint", "add", "phone", phone.url("alerts"), "--template", "ntfy", "--replies", phone.url("answers"))
      try await home.did("endpoint", "add", "home", broker.url())
      try await areRead()
      try await broker.listen()
    }

    func areRead() async throws {
      try await eventually("answers are read", within: .seconds(60)) {
        try await home.answer("io.chime.Endpoints.List")["endpoints"].elements.allSatisfy {
          ["open", nil].contains($0["replies"]["state"].string)
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

    func shows(_ title: String, asPopup: Bool = true) -> Bool {
      button(title) != nil && token(title) != nil && popups(title).isEmpty != asPopup
    }

    /// Whether nothing of a reminder stands anywhere.
    func areClear(of title: String) -> Bool {
      let closed = desktop.calls("CloseNotification")
      return !phone.screen("alerts").contains(title) && broker.state()["newest"]["title"].string != title
        && popups(title).allSatisfy { popup in closed.contains { $0.hasSuffix(" \(popup)") } }
    }

    func answer(_ title: String, _ id: String, on way: Way) async throws {
      switch way {
      case .popup: try await desktop.press("done", on: UInt32(try #require(popups(title).last)))
      case .phone: try await phone.press(try #require(button(title)))
      case .home: try await broker.send(try #require(token(title)))
      case .cli: try await home.did("done", id)
      }
    }
  }

  private func occurrence(_ id: String, _ home: Home) async throws -> JSON {
    try await home.latestOccurrence(of: id)
  }

  /// What a receiver was told of each reminder, in the order in which it was told first.
  private func told(_ receiver: Receiver) -> [String: [String]] {
    var seen: Set<String> = []
    return receiver.requests.filter { $0.answered == 204 && seen.insert($0.id).inserted }.reduce(into: [:]) {
      $0[$1.body["data"]["title"].string ?? "", default: []].append($1.body["type"].string ?? "")
    }
  }

  private func addList(_ receiver: Receiver, _ home: Home) async throws {
    try home.write(Receiver.secret + "\n", to: home.path + "/secret")
    try await home.did(
      "endpoint", "add", "list", receiver.url, "--secret-file", home.path + "/secret", "--in-order", "--reminders",
      "all", "--events", "fired,repeated,done,snoozed,dismissed,missed,reopened")
  }

  /// Each reminder is answered once, on one of the screens, and is gone from all of them.
  @Test(.timeLimit(.minutes(20)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func onAnyScreen() async throws {
    print("AnsweredAnywhereTests: CHIME_TEST_SEED=\(Self.seed)")
    var random = SeededGenerator(state: Self.seed)
    try await Home.live { home in
      let screens = try await Screens.start(in: home)
      let receiver = try await Receiver.start(in: home)
      let daemon = try await home.start()
      try await screens.add()
      try await addList(receiver, home)
      var ways: [String: Way] = [:]
      var times: [Duration] = []
      for number in 1...ProofTier.amount(quick: 4, proof: 200) {
        let title = "Task \(number) of the day"
        // Each way at least once.
        let way = number <= Way.allCases.count ? Way.allCases[number - 1] : Way.allCases.randomElement(using: &random)!
        ways[title] = way
        let id = try await home.add(title, "in 1s", to: ["desktop", "phone", "home"])
        try await eventually("\(title) is everywhere") { screens.shows(title) }
        let others = (button: try #require(screens.button(title)), token: try #require(screens.token(title)))
        let begin = ContinuousClock.now
        try await screens.answer(title, id, on: way)
        try await eventually("\(title) is done") { try await occurrence(id, home)["state"].string == "done" }
        try await eventually("no screen shows \(title)") { screens.areClear(of: title) }
        times.append(ContinuousClock.now - begin)
        let done = try await occurrence(id, home)
        #expect(done["answeredBy"].string == way.answeredBy, "\(way): \(done)")
        // Somebody else answers as well.
        try await screens.phone.press(others.button)
        try await screens.broker.send(others.token)
      }
      try await eventually("each is told", within: .seconds(60)) {
        let told = told(receiver)
        return ways.keys.allSatisfy { told[$0]?.contains("occurrence.done") == true }
      }
      for (title, types) in told(receiver) { #expect(types == ["reminder.fired", "occurrence.done"], "\(title)") }
      #expect(daemon.process.listeningPorts.isEmpty, "every connection goes out")
      times.sort()
      print(
        "AnsweredAnywhereTests: from the press until it is closed and gone from all screens, of \(times.count):",
        "p50 \(times[times.count / 2]), p99 \(times[times.count * 99 / 100])")
      if ProofTier.isProof { #expect(times[times.count * 99 / 100] <= .seconds(2) * Sanitizer.slowness) }
    }
  }

  /// The daemon is killed at a random moment around each answer: none is lost, and none is given twice. Popups of a daemon that
  /// was killed may stay (docs/delivery.md), so there are none.
  @Test(.timeLimit(.minutes(40)), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func killedAroundAnswers() async throws {
    print("AnsweredAnywhereTests: CHIME_TEST_SEED=\(Self.seed)")
    var random = SeededGenerator(state: Self.seed)
    try await Home.live { home in
      let screens = try await Screens.start(in: home)
      let receiver = try await Receiver.start(in: home)
      var daemon = try await home.start()
      try await screens.add()
      try await addList(receiver, home)
      var titles: [String] = []
      for number in 1...ProofTier.amount(quick: 3, proof: 200) {
        let title = "Task \(number) of the day"
        titles.append(title)
        let way = [Way.phone, .home].randomElement(using: &random)!
        let pause = Duration.milliseconds(Int.random(in: 0...150, using: &random))
        let id = try await home.add(title, "in 1s", to: ["phone", "home"])
        try await eventually("\(title) is everywhere", within: .seconds(60)) {
          screens.shows(title, asPopup: false)
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
        try await eventually("no screen shows \(title)", within: .seconds(60)) { screens.areClear(of: title) }
      }
      try await eventually("each is told", within: .seconds(60)) {
        let told = told(receiver)
        return titles.allSatisfy { told[$0]?.contains("occurrence.done") == true }
      }
      for (title, types) in told(receiver) { #expect(types == ["reminder.fired", "occurrence.done"], "\(title)") }
      let history = try await home.listed("history", "--limit", "all")["occurrences"].elements
      #expect(history.count == titles.count && history.allSatisfy { $0["state"].string == "done" })
    }
  }

  /// Tokens that are none, not any more, or another's, in a flood: none is accepted, all are counted, and nobody is delayed.
  @Test(.timeLimit(.minutes(40)))
  func aFloodOfTokens() async throws {
    let amount = ProofTier.amount(quick: 2_000, proof: 1_000_000)
    try await Home.live { home in
      let screens = try await Screens.start(in: home)
      let daemon = try await home.start()
      try await screens.add()
      let used = try await home.add("Used", "in 1s", to: ["desktop", "phone", "home"])
      try await eventually("it is everywhere") { screens.shows("Used") }
      let replayed = try #require(screens.token("Used"))
      try await screens.broker.send(replayed)
      try await eventually("it is done") { try await occurrence(used, home)["state"].string == "done" }
      let open = try await home.add("Open", "in 1s", to: ["desktop", "phone", "home"])
      try await eventually("it is everywhere") { screens.shows("Open") }
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
          // One letter of it is another. The last one has bits that say nothing, and stays.
          var forged = Array(good)
          let place = Int.random(in: 6..<forged.count - 1, using: &random)
          forged[place] = letters.filter { $0 != forged[place] }.randomElement(using: &random)!
          return String(forged)
        }
      }
      let file = home.path + "/flood"
      try home.write(lines.joined(separator: "\n") + "\n", to: file)
      let begin = ContinuousClock.now
      let flood = try await screens.broker.flood(file)
      // Meanwhile another reminder fires, and is answered on the phone.
      let other = try await home.add("Meanwhile", "in 1s", to: ["phone"])
      try await eventually("it is on the phone", within: .seconds(60)) { screens.button("Meanwhile") != nil }
      try await screens.phone.press(try #require(screens.button("Meanwhile")))
      try await eventually("it is done", within: .seconds(60)) {
        try await occurrence(other, home)["state"].string == "done"
      }
      let lateness = try await occurrence(other, home)["latenessMs"].int ?? -1
      try await eventually("all were refused", within: .seconds(1_800), every: .milliseconds(100)) {
        let endpoints = try await home.answer("io.chime.Endpoints.List")["endpoints"].elements
        return endpoints.first { $0["name"].string == "home" }?["replies"]["refused"].int == amount
      }
      let time = ContinuousClock.now - begin
      #expect(try await flood.ended() == .exited(0))
      #expect(try await occurrence(open, home)["state"].string != "done")
      let said = daemon.process.errors.components(separatedBy: "changes nothing").count - 1
      #expect(said <= 2 + Int(time / .seconds(10)), "\(daemon.process.errors.suffix(2_000))")
      print(
        "AnsweredAnywhereTests: \(amount) tokens refused in \(time), said \(said) times;",
        "meanwhile one fired \(lateness) ms late")
      if ProofTier.isProof { #expect(lateness <= 1_000 * Sanitizer.slowness) }
      // The good one is as good as before.
      try await screens.broker.send(good)
      try await eventually("it is done") { try await occurrence(open, home)["state"].string == "done" }
    }
  }
}
