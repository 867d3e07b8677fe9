import Foundation
import Testing

/// Completion in real shells, each on a pseudo-terminal, with a real daemon.
@Suite struct CompletionTests {
  struct Shell: CustomTestStringConvertible, Sendable {
    var name: String
    /// How the shell quotes the test's titles, within `chime show …` and within quotes.
    var quoted: [String]
    var testDescription: String { name }
    /// The script's name in `chime completion`.
    var script: String { name.hasPrefix("bash") ? "bash" : name }
  }

  private static let shells = [
    Shell(name: "bash", quoted: bashQuotes), Shell(name: "bash-bare", quoted: bashQuotes),
    Shell(name: "zsh", quoted: bashQuotes),
    Shell(
      name: "fish",
      quoted: [
        #"chime show Call\ \"Bob\"\ \&\ co "#, #"chime show "Call \"Bob\" & co" "#, #"chime show 'Ann\'s tea' "#,
      ]),
  ]
  private static let bashQuotes = [
    #"chime show Call\ \"Bob\"\ \&\ co "#, #"chime show "Call \"Bob\" & co" "#, #"chime show 'Ann'\''s tea' "#,
  ]

  /// Types texts into a shell and returns the resulting command lines and output.
  ///
  /// - Parameter isRight: checks a result by its index. A wrong one is typed again a few times: `chime complete` gives
  ///   the daemon 80 ms, which a busy machine may exceed.
  private func type(
    _ texts: [String], into shell: Shell, of home: Home,
    until isRight: (Int, (line: String, shown: String)) -> Bool = { _, _ in true }
  ) async throws -> [(line: String, shown: String)] {
    let folder = "\(home.path)/\(shell.name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let script = "\(home.path)/\(shell.name).script"
    try home.write(try await home.mustRun("completion", shell.script), to: script)
    let typist = try await home.spawn(
      Machine.debianPython, [Machine.support("typist"), shell.name, script, folder],
      environment: ["PATH": "\(Machine.programs):\(Machine.searchPath)"], withInput: true)
    var (found, count): ([(line: String, shown: String)], Int) = ([], 0)
    func answer(to text: String) async throws -> (line: String, shown: String) {
      typist.write(String(decoding: try JSONEncoder().encode(text), as: UTF8.self))
      let answer = try await eventually(
        "\(shell.name) completes \(text); it said: \(typist.errors)", within: .seconds(30)
      ) {
        if let end = typist.end, typist.lines.count <= count { throw HarnessFailure("\(end): \(typist.errors)") }
        // A line is complete when its line break has arrived.
        return typist.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().dropFirst(count).first
      }
      count += 1
      let json = try JSON(parsing: String(answer))
      return (json["line"].string ?? "", json["shown"].string ?? "")
    }
    for (index, text) in texts.enumerated() {
      var one = try await answer(to: text)
      for _ in 0..<5 where !isRight(index, one) { one = try await answer(to: text) }
      found.append(one)
    }
    typist.destroy()
    return found
  }

  @Test(.timeLimit(.minutes(3)), arguments: ProofTier.amount(quick: Array(Self.shells.prefix(1)), proof: Self.shells))
  func eachShellCompletesCommandLines(_ shell: Shell) async throws {
    try #require(Machine.has(shell.script), "Packaging/dependencies test installs \(shell.script)")
    try await Home.run { home in
      try home.configure("[commands.backup]\nprogram = \"/bin/true\"\n")
      let daemon = try await home.start()
      try await home.mustRun("add", "Drink water", "every", "90m", "from", "8:00", "to", "22:00", "--tag", "health")
      try await home.mustRun("add", "Call \"Bob\" & co", "daily", "at", "9")
      try await home.mustRun("add", "Ann's tea", "weekdays", "at", "10")
      let water = try await home.json("show", "Drink water")["reminder"]["id"].string ?? "?"
      let bob = try await home.json("show", "Call \"Bob\" & co")["reminder"]["id"].string ?? "?"
      try await home.mustRun("fire", water)
      try await home.mustRun("tracker", "add", "running", "--unit", "km", "--usual", "5")
      try await home.mustRun("endpoint", "add", "team", "http://127.0.0.1:9/", "--new-secret", home.path + "/secret")
      try home.write("", to: home.path + "/calendar.ics")

      let expected: [(typed: String, line: String)] = [
        ("chime sno\t", "chime snooze "),
        ("chime --json lis\t", "chime --json list "),
        ("chime endpoint ro\t", "chime endpoint rotate "),
        ("chime endpoint test \t", "chime endpoint test team "),
        ("chime done \t", "chime done \(water) "),
        ("chime show \(water.prefix(3))\t", "chime show \(water) "),
        ("chime show Call\t", shell.quoted[0]), ("chime show \"Call \t", shell.quoted[1]),
        ("chime show 'Ann\t", shell.quoted[2]),
        ("chime show Drink w\t", "chime show Drink water "),
        ("chime show drink\t", "chime show Drink\\ water "),
        ("chime log \t", "chime log running "), ("chime log running \t", "chime log running 5km "),
        ("chime add \"x\" every 90m fro\t", "chime add \"x\" every 90m from "),
        ("chime add x at 18\t", "chime add x at 18:00 "),
        ("chime add -- x ever\t", "chime add -- x every "),
        ("chime add x --to te\t", "chime add x --to team "), ("chime add x --to=te\t", "chime add x --to=team "),
        ("chime add x --to desktop,te\t", "chime add x --to desktop,team "),
        ("chime add x --to team --to desktop --to \t", "chime add x --to team --to desktop --to backup "),
        ("chime list --ta\t", "chime list --tag "), ("chime list --tag \t", "chime list --tag health "),
        ("chime list --tag health --ta\t", "chime list --tag health --ta"),
        ("chime when --tz Eur\t", "chime when --tz Europe/"),
        ("chime when --tz Europe/Pra\t", "chime when --tz Europe/Prague "),
        ("chime import \(home.path)/cal\t", "chime import \(home.path)/calendar.ics "),
        ("true; chime sno\t", "true; chime snooze "), ("chime nonsense \t", "chime nonsense "),
      ]
      let listed: [(typed: String, shows: [String])] = [
        ("chime sn\t", ["snooze", "Snooze a reminder", "snapshot"]),
        ("chime show \t", [water, "Drink water", bob, "Call \"Bob\" & co"]),
        ("chime add \"x\" every \t", ["90m", "a length of time", "mon", "a day of the week", "month"]),
        ("chime --color \t", ["auto", "always", "never"]),
      ]
      // fish 4 quotes a replaced word where fish 3 escapes it.
      func plain(_ line: String) -> String {
        shell.name == "fish" && line == "chime show 'Drink water' " ? "chime show Drink\\ water " : line
      }
      let found = try await type(expected.map(\.typed) + listed.map(\.typed), into: shell, of: home) { index, one in
        index < expected.count
          ? plain(one.line) == expected[index].line
          : listed[index - expected.count].shows.allSatisfy(one.shown.contains)
      }
      for (wanted, became) in zip(expected, found) { #expect(plain(became.line) == wanted.line, "\(wanted.typed)") }
      for (wanted, became) in zip(listed, found.dropFirst(expected.count)) {
        for piece in wanted.shows { #expect(became.shown.contains(piece), "\(wanted.typed): \(became.shown)") }
      }

      // Without the daemon, verbs, options and schedules are still completed, without error messages.
      _ = try await daemon.stop()
      let alone = try await type(["chime sno\t", "chime done \t", "chime when daily at 9 un\t"], into: shell, of: home)
      #expect(alone.map(\.line) == ["chime snooze ", "chime done ", "chime when daily at 9 until "])
      #expect(!alone[1].shown.contains("daemon"), "\(alone[1].shown)")
    }
  }

  /// Titles that each run a command if one metacharacter stays unquoted. U+0600 and U+0D4E merge with the next
  /// character; U+0301, joiners and tags merge with the previous one.
  private static let hostile = [
    "Gym1 \u{600};touch \u{301}X", "Gym2 \u{600}$(touch \u{301}X)\u{600}`\u{301}touch X`",
    "Gym3 \u{D4E}\"\u{301};touch X;\u{600}\"\u{200D}", "Gym4 \u{600}'\u{301};touch X;\u{600}'\u{E0041}\u{E007F}",
    "Gym5 \u{202E}|\u{2066}touch X\u{600}&", "Gym6 \u{600}>\u{301}X \u{600}<\u{301}(touch X)",
    "Gym7 !touch \u{600}\\\u{301}",
  ]

  /// A hostile title, as from an imported calendar, is inserted as one word and runs nothing.
  @Test(.timeLimit(.minutes(3)), arguments: Self.shells)
  func hostileTitleIsInsertedAsOneWord(_ shell: Shell) async throws {
    try #require(Machine.has(shell.script), "Packaging/dependencies test installs \(shell.script)")
    try await Home.run { home in
      _ = try await home.start()
      for title in Self.hostile { try await home.mustRun("add", title, "daily", "at", "9") }
      let typed = Self.hostile.flatMap { title in ["", "\"", "'"].map { "chime show \($0)\(title.prefix(4))\t" } }
      let found = try await type(typed, into: shell, of: home) { index, one in one.line.count > typed[index].count }
      let folder = home.path + "/empty"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      for (index, one) in found.enumerated() {
        let title = Self.hostile[index / 3]
        // Run the line in the shell, with a `chime` that prints its arguments.
        let output: Home.Output
        switch shell.script {
        case "fish":
          output = try await home.run(
            "fish",
            [
              "--no-config", "-c", "cd $argv[1]; function chime; printf '%s' $argv[2..]; end; eval $argv[2]", folder,
              one.line,
            ])
        default:
          // zsh removes this backslash during history expansion, which only happens on a terminal.
          let line = shell.name == "zsh" ? one.line.replacing("\\!", with: "!") : one.line
          output = try await home.run(
            shell.script, ["-c", "cd \"$1\"; chime() { shift; printf %s \"$@\"; }; eval \"$2\"", "_", folder, line])
        }
        #expect(
          Array(output.out.utf8) == Array(title.utf8),
          "\(one.line.debugDescription) gave \(output.text.debugDescription)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty, "something was run")
    }
  }

  /// A stopped daemon, which accepts connections but never replies, delays completion imperceptibly.
  @Test(.proof(.patience), .timeLimit(.minutes(1))) func hangingDaemonDoesNotDelayCompletion() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await home.mustRun("add", "Tea", "daily", "at", "9")
      daemon.process.send(SIGSTOP)
      let clock = ContinuousClock()
      var fastest = Duration.seconds(60)
      // Take the best of many attempts, because of other load.
      for _ in 0..<100 where fastest >= .milliseconds(150) * Sanitizer.slowness {
        let start = clock.now
        let output = try await home.chime("complete", "fish", "--", "done", "")
        fastest = min(fastest, clock.now - start)
        #expect(output.status == 0 && output.out.isEmpty && output.err.isEmpty, "\(output.text)")
      }
      #expect(
        fastest < .milliseconds(150) * Sanitizer.slowness,
        "80 ms for the daemon, and the start of a program: \(fastest)")
      daemon.process.send(SIGCONT)
    }
  }
}
