import Foundation
import Testing

/// Searches for leaked secrets after all operations with them.
///
/// All program output, all files of the store, and the arguments and environments of all processes are saved below the test's
/// home. One search finds each leak: verbatim, as raw key bytes, percent-encoded, in hex, and in other base64 variants.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct CanaryTests {
  /// A secret, and the files that may contain it.
  private struct Canary {
    let name: String
    /// The secret as given to Chime.
    let text: String
    /// The forms that must not be found.
    let forms: [String]
    /// The suffixes of permitted paths below the home.
    var allowed: [String]

    /// Creates an HMAC key whose bytes are readable text.
    init(key name: String, allowed: [String]) {
      let bytes = "canary-\(name)-" + UUID().uuidString
      let base = Data(bytes.utf8).base64EncodedString()
      self.name = name
      text = "whsec_" + base
      forms = [bytes, base.replacing("=", with: ""), bytes.utf8.map { String($0, radix: 16) }.joined()]
      self.allowed = allowed
    }

    init(text name: String, allowed: [String]) {
      let text = "canary-\(name)-" + UUID().uuidString
      self.name = name
      self.text = text
      forms = [text, String(Data(text.utf8).base64EncodedString().dropLast(4))]
      self.allowed = allowed
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func secretsAppearOnlyInTheirOwnFiles() async throws {
    try await Home.run { home in
      var canaries: [Canary] = []
      func canary(_ canary: Canary) -> String {
        canaries.append(canary)
        return canary.text
      }
      let given = canary(Canary(key: "given", allowed: ["/given", "/receiver.secret", "/secrets/\(getuid())-team"]))
      let next = canary(Canary(key: "next", allowed: ["/next", "/secrets/\(getuid())-team"]))
      let credential = canary(Canary(key: "credential", allowed: ["/credentials/endpoint.borrowed"]))
      // The receiver records what it receives.
      let token = canary(Canary(text: "token", allowed: ["/token", "/secrets/\(getuid())-team"]))
      let password = canary(Canary(text: "password", allowed: []))
      let variable = canary(Canary(text: "variable", allowed: ["/chimed.toml", "/seen.command"]))
      let scheduleContext = canary(Canary(text: "surroundings", allowed: []))

      let (daemon, receiver) = try await self.start(home, given, token, credential, variable, scheduleContext)
      canaries[0].allowed.append(receiver.outputPath.suffixInHome(home))
      canaries[3].allowed.append(receiver.outputPath.suffixInHome(home))
      try home.write(next, to: home.path + "/next")
      try await exercise(home, receiver)
      try await provoke(home, daemon, given: given, token: token, password: password)
      let made = try await rotate(home)
      for process in [daemon.process.pid] { try copyFacts(of: process, to: home) }
      try await askEverything(home)
      _ = try await daemon.stop()

      for canary in canaries { try search(home, canary.name, canary.forms, canary.allowed) }
      for (index, secret) in made.enumerated() {
        let body = String(secret.dropFirst(6)).replacing("=", with: "")
        try search(home, "made \(index)", [body], ["/secrets/\(getuid())-team", "/made", ".shown"])
      }
    }
  }

  private struct Recipient {
    let url: String
    let outputPath: String
  }

  private func start(
    _ home: Home, _ given: String, _ token: String, _ credential: String, _ variable: String, _ scheduleContext: String
  ) async throws -> (Daemon, Recipient) {
    for (file, text) in [("given", given), ("token", token), ("receiver.secret", given)] {
      try home.write(text + "\n", to: "\(home.path)/\(file)")
    }
    // The receiver echoes what it got in replies that are stored: an answer, an invalid answer, and an error.
    let process = try await home.spawn(
      Machine.clients,
      [
        Machine.support("webhook-receiver"), home.path + "/receiver.secret", "500:no such key: \(token)",
        "200:{\"action\":\"\(token)\"}", "503:{\"key\":\"\(token)\",\"secret\":\"\(given)\"}", "400:\(given)",
      ])
    let port = try await eventually("the receiver says its port") { () -> Int? in
      try process.lines.first.map { try JSON(parsing: $0)["port"].int } ?? nil
    }
    let credentials = home.path + "/credentials"
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    try home.write(credential + "\n", to: credentials + "/endpoint.borrowed", mode: 0o400)
    // Both programs record what others can see of them while they run.
    let look = "{ tr '\\0' '\\n' </proc/self/cmdline; tr '\\0' '\\n' </proc/self/environ; cat; }"
    try home.write(
      "#!/bin/sh\n\(look) >>\"$HOME/seen.command\"; echo noted; exit 3\n", to: home.path + "/note", mode: 0o700)
    try home.write(
      "#!/bin/sh\n{ echo \"$@\"; env; } >>\"$HOME/seen.notify\"; echo 17\n", to: home.path + "/notify", mode: 0o700)
    try home.configure(
      """
      [log]
      level = "debug"
      [desktop]
      program = "\(home.path)/notify"
      [commands.note]
      program = "\(home.path)/note"
      environment.TOKEN = "\(variable)"
      """)
    let daemon = try await home.start(
      environment: ["CREDENTIALS_DIRECTORY": credentials, "A_SECRET": scheduleContext])
    return (daemon, Recipient(url: "http://127.0.0.1:\(port)/hook", outputPath: process.outputPath))
  }

  /// Uses the secrets in every valid way.
  private func exercise(_ home: Home, _ receiver: Recipient) async throws {
    try await home.mustRun(
      "endpoint", "add", "team", receiver.url, "--secret-file", home.path + "/given", "--token-file",
      home.path + "/token", "--header", "X-Key: {{token}}", "--header", "X-Title: {{title}}")
    try await home.mustRun("endpoint", "add", "borrowed", receiver.url)
    try await home.mustRun("endpoint", "edit", "team", "--concurrency", "2")
    let id = try await home.add("Tea", "in 1s", to: ["desktop", "team", "note"])
    for channel in ["team", "note"] {
      try await eventually("\(channel) has failed once") {
        let all = try await home.json("deliveries")["deliveries"].elements
        return all.contains { $0["channel"].string == channel && $0["attempts"].int ?? 0 > 0 }
      }
    }
    try await home.mustRun("show", id)
  }

  /// Provokes errors with a secret in each.
  private func provoke(
    _ home: Home, _ daemon: Daemon, given: String, token: String, password: String
  ) async throws {
    let methods: [(String, JSON)] = [
      ("Put", ["name": "x", "url": .string("https://user:\(password)@example.org/"), "secret": .string(given)]),
      ("Put", ["name": "x", "url": .string("user:\(password)@example.org"), "secret": .string(given)]),
      ("Put", ["name": "x", "url": "ftp://x/", "secret": .string(given), "token": .string(token)]),
      ("Put", ["name": "x", "url": "https://x/", "secret": .string(given + "!")]),
      ("Put", ["name": "x", "url": "https://x/", "secret": .string(given), "token": .string(token + " \u{7F}")]),
      ("Put", ["name": "x", "url": "https://x/", "secret": .string(String(given.dropLast(44)))]),
      (
        "Put",
        [
          "name": "x", "url": "https://x/", "secret": .string(given),
          "settings": [
            "headers": .array([
              ["name": "Authorization", "value": .string("Bearer " + token)]
            ])
          ],
        ]
      ),
      ("Rotate", ["name": "team", "secret": .string(given)]),
      ("Rotate", ["name": "team", "secret": .string(given), "overlap": "P900D"]),
      ("Update", ["name": "nobody", "token": .string(token)]),
      ("Put", ["name": .string(token), "url": 5, "secret": .string(given)]),
    ]
    for (method, parameters) in methods {
      let answer = try await home.call("io.chime.Endpoints." + method, parameters)
      #expect(answer.error != nil, "\(method) \(parameters)")
      try home.keep("\(answer)", as: "answers")
    }
    // A password in the configuration is refused by reload, start, and --check.
    let good = try String(contentsOfFile: home.configuration, encoding: .utf8)
    for bad in [
      "[webhook]\nproxy = \"http://user:\(password)@proxy.example.org:3128\"\n",
      "[webhook]\nproxy = \"\(password)@x\"\n",
    ] {
      try home.configure(bad)
      let check = try await home.run(Machine.chimed, ["--check"])
      #expect(check.status == 78)
      func refusals() -> Int {
        daemon.process.errors.split(separator: "\n").count { $0.contains("the configuration was not reloaded") }
      }
      let before = refusals()
      daemon.process.send(SIGHUP)
      try await eventually("the reload is refused") { refusals() > before }
      unlink(home.configuration)
    }
    try home.configure(good)
    let inForce = try await home.run(Machine.chimed, ["--print-config"])
    #expect(inForce.status == 0 && inForce.out.contains("commands.note"))
  }

  /// Rotates the secret in each way; returns the new secrets.
  private func rotate(_ home: Home) async throws -> [String] {
    try await home.mustRun("endpoint", "rotate", "team", "--secret-file", home.path + "/next")
    try await home.mustRun("endpoint", "rotate", "team", "--new-secret", home.path + "/made")
    // Only the reader may see the output of --show; save it where the search skips it.
    let shown = try await home.run(
      "sh", ["-c", "\(Machine.chime) endpoint rotate team --show >\"$HOME/rotate.shown\""])
    #expect(shown.status == 0)
    try await home.mustRun("endpoint", "add", "pair", "http://127.0.0.1:9/", "--ed25519")
    let texts = try ["/made", "/rotate.shown"].map { try String(contentsOfFile: home.path + $0, encoding: .utf8) }
    let pair = try String(contentsOfFile: "\(home.state)/secrets/\(getuid())-pair", encoding: .utf8)
    try search(home, "pair", [String(pair.dropFirst(5).prefix(40))], ["/secrets/\(getuid())-pair"])
    return texts.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
  }

  /// Runs every verb that shows anything, in all formats, and every list method.
  private func askEverything(_ home: Home) async throws {
    let delivery = try await home.json("deliveries")["deliveries"][0]["id"].string ?? ""
    let id = try await home.json("history")["occurrences"][0]["reminder"].string ?? ""
    let verbs: [[String]] = [
      ["endpoint", "list"], ["endpoint", "show", "team"], ["endpoint", "show", "borrowed"], ["endpoint", "templates"],
      ["command", "list"], ["endpoint", "disable", "team"], ["endpoint", "enable", "team"],
      ["endpoint", "edit", "team", "--in-order"], ["deliveries"], ["deliveries", "--id", delivery],
      ["redeliver", delivery], ["show", id], ["history"], ["list"], ["next"], ["status"], ["export"], ["version"],
      ["help", "endpoint"],
    ]
    // Failing receivers, a failing command, and unknown names.
    let failing: [[String]] = [
      ["endpoint", "test", "team"], ["endpoint", "test", "borrowed"], ["command", "test", "note"],
      ["endpoint", "nonsense"], ["endpoint", "show", "nobody"], ["discard", "nothing"],
      ["endpoint", "add", "team", "https://example.org/", "--secret-file", "/dev/null"],
    ]
    let watch = try await home.spawn(Machine.chime, ["watch", "--json"])
    for form in [[], ["--json"], ["--plain"]] {
      for verb in verbs {
        let output = try await home.run(Machine.chime, verb + form)
        #expect(output.status == 0, "\(verb + form): \(output.text)")
      }
      for verb in failing { _ = try await home.run(Machine.chime, verb + form) }
    }
    _ = try await home.mustRun("endpoint", "remove", "pair", "--yes")
    watch.destroy()
    for method in [
      "Reminders.List", "Occurrences.List", "Deliveries.List", "Endpoints.List", "Endpoints.Templates", "Commands.List",
      "Daemon.Status",
    ] { try home.keep("\(try await home.call("io.chime." + method))", as: "answers") }
    try home.keep("\(try await home.call("org.varlink.service.GetInfo"))", as: "answers")
    for name in ["Endpoints", "Deliveries", "Commands"] {
      let answer = try await home.call(
        "org.varlink.service.GetInterfaceDescription", ["interface": .string("io.chime." + name)])
      try home.keep("\(answer)", as: "answers")
    }
  }

  /// Saves the public facts of a process, and its initial environment.
  private func copyFacts(of pid: pid_t, to home: Home) throws {
    for fact in ["cmdline", "status", "limits"] {
      let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/\(fact)") ?? Data()
      #expect(!bytes.isEmpty)
      try home.keep(String(decoding: bytes, as: UTF8.self), as: "facts")
    }
  }

  /// Searches every file below the home.
  private func search(_ home: Home, _ name: String, _ forms: [String], _ allowed: [String]) throws {
    let files = FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []
    var read = 0
    for file in files {
      let path = home.path + "/" + file
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        let bytes = FileManager.default.contents(atPath: path)
      else { continue }
      read += 1
      guard !allowed.contains(where: { path.hasSuffix($0) }) else { continue }
      for form in forms where bytes.range(of: Data(form.utf8)) != nil {
        Issue.record("the canary \(name) is in \(file)")
      }
    }
    #expect(read > 20, "\(read) files are a search of nothing")
  }
}

extension Home {
  /// Appends text to a file that is searched.
  fileprivate func keep(_ text: String, as name: String) throws {
    let file = "\(path)/kept.\(name)"
    let before = FileManager.default.contents(atPath: file) ?? Data()
    try write(String(decoding: before, as: UTF8.self) + text + "\n", to: file)
  }
}

extension String {
  /// Returns the part of a path below the home.
  fileprivate func suffixInHome(_ home: Home) -> String { String(dropFirst(home.path.count)) }
}
