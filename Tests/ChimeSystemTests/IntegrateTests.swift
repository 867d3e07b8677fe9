import Foundation
import Testing

/// The clients that docs/integrate.md shows, run as they stand there against a real daemon.
@Suite struct IntegrateTests {
  private static let examples = Machine.package + "/docs/examples/"
  private static let clients = [
    (Machine.clients, [examples + "python/remind.py"]), ("/bin/bash", [examples + "shell/remind.sh"]),
    (Machine.build + "/remind-example", []),
  ]

  /// What stands on the page is what runs here.
  @Test func thePageShowsTheFiles() throws {
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
  func aClientSetsHearsAndAnswers(_ index: Int) async throws {
    let (program, arguments) = Self.clients[index]
    try #require(Machine.has("socat") && Machine.has("jq") && Machine.hasClients, "Packaging/dependencies test")
    try await Home.live { home in
      _ = try await home.start()
      let run = try await home.run(program, arguments, within: .seconds(30))
      #expect(run.status == 0, "\(run.text)")
      let listed = try await home.listed("history")["occurrences"]
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
  func aReceiverBelievesOnlyWhatVerifies(_ file: String) async throws {
    try #require(Machine.has("socat") && Machine.has("jq") && Machine.has("openssl"), "Packaging/dependencies test")
    try await Home.live { home in
      _ = try await home.start()
      let secret = home.path + "/secret"
      let port = Self.port(file)
      // The address is needed to make the secret, and the secret to receive at the address.
      try await home.did("endpoint", "add", "mine", "http://127.0.0.1:\(port)/", "--new-secret", secret)
      // As its page says, `bash receive.sh SECRET_FILE PORT`, by its name alone and in a folder whose name a shell would split.
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
      try await home.did("add", "Stand-up", "daily", "at", "9", "--to", "mine")
      try await home.did("fire", "Stand-up")
      try await eventually("it says what came: \(receiver.output)\(receiver.errors)") {
        (receiver.output + receiver.errors).contains("reminder.fired: Stand-up\n")
      }

      // What somebody else sends is refused: unsigned, and signed with another secret.
      let unsigned = try await home.run(
        "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", "http://127.0.0.1:\(port)/"])
      #expect(unsigned.out == "401", "\(unsigned.text)")
      try await home.did(
        "endpoint", "add", "other", "http://127.0.0.1:\(port)/", "--new-secret", home.path + "/other")
      let forged = try await home.chime("endpoint", "test", "other", "--json")
      #expect(try forged.json["result"]["status"].int == 401, "\(forged.text)")
      #expect(!(receiver.output + receiver.errors).contains("Traceback"))
    }
  }

  /// A port that the system gives nobody by itself (ip_local_port_range), and that another run of the tests hardly uses.
  private static func port(_ file: String) -> Int {
    20_000 + Int(getpid()) % 5_000 * 2 + (file.hasSuffix(".py") ? 0 : 1)
  }
}
