import Foundation
import Testing

/// The example clients of docs/integrate.md, run unchanged against a real daemon.
@Suite struct IntegrateTests {
  private static let examples = Machine.package + "/docs/examples/"
  private static let clients = [
    (Machine.clients, [examples + "python/remind.py"]), ("/bin/bash", [examples + "shell/remind.sh"]),
    (Machine.build + "/remind-example", []),
  ]

  /// The page shows exactly the files that run here.
  @Test func pageShowsTheFilesThatRunHere() throws {
    let page = try String(contentsOfFile: Machine.package + "/docs/integrate.md", encoding: .utf8)
    let files = [
      "python/remind.py", "python/receive.py", "shell/remind.sh", "shell/receive.sh", "swift/Remind.swift",
    ]
    for file in files {
      let text = try String(contentsOfFile: Self.examples + file, encoding: .utf8)
      #expect(page.contains("(examples/\(file)):\n\n```") && page.contains("\n\(text)```\n"), "\(file) is not as shown")
    }
    let all = try FileManager.default.subpathsOfDirectory(atPath: Self.examples).filter { $0.contains(".") }
    #expect(Set(all) == Set(files), "every example is on the page")
  }

  @Test(.timeLimit(.minutes(1)), arguments: clients.indices)
  func exampleClientAddsWatchesAndAnswers(_ index: Int) async throws {
    let (program, arguments) = Self.clients[index]
    try #require(Machine.has("socat") && Machine.has("jq") && Machine.hasClients, "Packaging/dependencies test")
    try await Home.run { home in
      _ = try await home.start()
      let run = try await home.run(program, arguments, within: .seconds(30))
      #expect(run.status == 0, "\(run.text)")
      let listed = try await home.json("history")["occurrences"]
      let occurrence = listed.elements.first
      #expect(occurrence?["state"].string == "done" && occurrence?["title"].string == "Stretch", "\(listed)")
      let id = occurrence?["reminder"].string ?? "?"
      let said = run.out.split(separator: "\n").map(String.init)
      #expect(said.first?.hasPrefix("added \(id): at ") == true, "\(run.text)")
      #expect(said.contains("listed \(id): Stretch"))
      #expect(said.contains("fired \(occurrence?["id"].string ?? "?")"))
      #expect(said.contains { $0.hasPrefix("done at 20") })
      if index != 1 { #expect(said.last?.contains("InvalidSchedule") == true, "\(run.text)") }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["python/receive.py", "shell/receive.sh"])
  func exampleReceiverAcceptsOnlyValidSignatures(_ file: String) async throws {
    try #require(Machine.has("socat") && Machine.has("jq") && Machine.has("openssl"), "Packaging/dependencies test")
    try await Home.run { home in
      _ = try await home.start()
      let secret = home.path + "/secret"
      let port = Self.port(file)
      // The secret needs the address, and the receiver needs the secret.
      try await home.mustRun("endpoint", "add", "mine", "http://127.0.0.1:\(port)/", "--new-secret", secret)
      // Run `bash receive.sh SECRET_FILE PORT` as the page says, by its name, in a folder whose name a shell would split.
      let folder = home.path + "/it's, mine: here"
      let name = String(file.split(separator: "/")[1])
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: Self.examples + file, toPath: folder + "/" + name)
      let program = file.hasSuffix(".py") ? Machine.debianPython : "/bin/bash"
      let receiver = try await home.spawn(
        "/bin/bash", ["-c", "cd \"$0\" && exec \"$@\"", folder, program, name, secret, String(port)])
      try await eventually("it takes a test message: \(receiver.errors)") {
        try await home.chime("endpoint", "test", "mine").status == 0
      }
      try await home.mustRun("add", "Stand-up", "daily", "at", "9", "--to", "mine")
      try await home.mustRun("fire", "Stand-up")
      try await eventually("it says what came: \(receiver.output)\(receiver.errors)") {
        (receiver.output + receiver.errors).contains("reminder.fired: Stand-up\n")
      }

      // Foreign requests are refused: unsigned, and signed with another secret.
      let unsigned = try await home.run(
        "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", "http://127.0.0.1:\(port)/"])
      #expect(unsigned.out == "401", "\(unsigned.text)")
      try await home.mustRun(
        "endpoint", "add", "other", "http://127.0.0.1:\(port)/", "--new-secret", home.path + "/other")
      let forged = try await home.chime("endpoint", "test", "other", "--json")
      #expect(try forged.json["result"]["status"].int == 401, "\(forged.text)")
      #expect(!(receiver.output + receiver.errors).contains("Traceback"))
    }
  }

  /// A button pressed on the receiver's page counts once, even if the daemon is killed before it knows.
  @Test(.timeLimit(.minutes(2))) func buttonOnTheReceiversPageCountsOnce() async throws {
    try #require(Machine.has("curl"), "needs curl")
    try await Home.run { home in
      try home.configure(Home.popupStub)
      let first = try await home.start()
      let page = try await AnswerPage.start(in: home)
      func answers() async throws -> JSON {
        try await home.answer("io.chime.Endpoints.List")["endpoints"][0]["replies"]
      }
      func isRead() async throws {
        try await eventually("it is asked: \(page.process.errors)", within: .seconds(30)) {
          try await answers()["state"].string == "connected"
        }
      }
      func press(_ title: String, _ label: String) async throws {
        try await page.press(try await eventually("\(title) stands on the page") { try await page.token(title, label) })
      }
      try await isRead()
      let tea = try await home.add("Tea", "in 1s", to: ["page"])
      let walk = try await home.add("Walk", "in 1s", to: ["page"])
      func state(_ id: String) async throws -> String? { try await home.latestOccurrence(of: id)["state"].string }
      try await press("Tea", "Done")
      try await eventually("it is done") { try await state(tea) == "done" }
      #expect(try await home.latestOccurrence(of: tea)["answeredBy"].string == "endpoint:page")
      // Answers given without a daemon are kept and applied once.
      try await eventually("the other stands on the page") { try await page.shows("Walk") }
      try await first.crash()
      try await press("Walk", "Snooze")
      let second = try await home.start()
      try await eventually("it is snoozed", within: .seconds(30)) { try await state(walk) == "snoozed" }
      try await isRead()
      try await eventually("it is acknowledged") { try await answers()["answers"].int == 1 }
      #expect(try await answers()["refused"].int == 0)
      // An unsigned token changes nothing, and later ones still work.
      try await page.press("chact_nonsense")
      try await eventually("it is refused") { try await answers()["refused"].int == 1 }
      let later = try await home.add("Later", "in 1s", to: ["page"])
      try await press("Later", "Dismiss")
      try await eventually("it is dismissed") { try await state(later) == "dismissed" }
      let shown = try await home.mustRun("endpoint", "show", "page")
      #expect(shown.contains("are read; 2 received"), "\(shown)")
      let token = try await home.chime("expect", "token", "Later", "--endpoint", "page")
      #expect(token.status != 0)
      #expect(!second.process.errors.contains("chact_"))
    }
  }

  /// Returns a port outside the ephemeral range (ip_local_port_range) that another test run hardly uses.
  private static func port(_ file: String) -> Int {
    20_000 + Int(getpid()) % 5_000 * 2 + (file.hasSuffix(".py") ? 0 : 1)
  }
}
