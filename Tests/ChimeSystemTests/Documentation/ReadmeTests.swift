import Foundation
import Testing

/// Runs every command of the README, docs/install.md and docs/tour.md in order, once each, as a new user would. An
/// outdated command fails, and so does an exception for a missing command.
@Suite(.serialized) struct ReadmeTests {
  /// Commands that are not simply run with success.
  private enum Exception {
    /// Covered by the named test.
    case elsewhere(String)
    /// It asks on a terminal; this variant answers.
    case with(String, why: String)
    /// It ends with one of these statuses here.
    case ends([Int32], why: String)
    /// It runs until interrupted.
    case goesOn
  }

  private static let exceptions: [String: Exception] = [
    "make run": .elsewhere("builds the whole of it: `make` in a container, .ci"),
    "make test": .elsewhere("runs this very test"),
    "make deb": .elsewhere("PackagingTests"), "make release": .elsewhere("PackagingTests"),
    "sudo apt install ./.build/deb/chime_*.deb": .elsewhere("Tests/Package installs it on a machine of its own"),
    "sudo make install": .elsewhere("PackagingTests"),
    "systemctl --user enable --now chimed.socket chimed.service": .elsewhere("Tests/Package, ServiceManagerTests"),
    "chime init": .elsewhere("it asks four questions: WizardTests answers them"),
    "chime store move --to postgres": .elsewhere("it needs a database: MoveTests"),
    "chime remove \"Green tea\"": .with("--yes", why: "it asks whether it is meant"),
    "loginctl enable-linger": .elsewhere("it needs a session of logind"),
    "man chime": .elsewhere("ManualTests"),
    "chimed --check": .elsewhere("the tests of the daemon's configuration"),
    "systemctl --user reload chimed": .elsewhere("ServiceManagerTests"),
    "sudo apt purge chime": .elsewhere("Tests/Package"),
    "chime watch": .goesOn,
    "chime doctor": .ends([0, 1], why: "there is no desktop and no systemd here, which it says"),
    "chime status": .ends([0, 1], why: "what could not be sent to nobody at example addresses is a matter to look at"),
  ]

  /// Returns the commands without their remarks: `chime add …   # why`.
  static func lines(of file: String) throws -> [String] {
    let text = try String(contentsOfFile: Machine.package + file, encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("    ") }.map { line in
      let line = line.drop { $0 == " " }
      return String(line.prefix(upTo: line.firstRange(of: "  #")?.lowerBound ?? line.endIndex))
        .trimmingCharacters(in: .whitespaces)
    }
  }

  /// The lines of the pages, without those that a page before has.
  private static func typed() throws -> [String] {
    var seen: Set<String> = []
    return try ["README.md", "docs/install.md", "docs/tour.md"].flatMap(lines).filter { seen.insert($0).inserted }
  }

  @Test func everyExceptionMatchesALineOfThePages() throws {
    let lines = try Self.typed()
    #expect(lines.count { $0.hasPrefix("chime ") } > 60, "the pages have lines to type")
    for line in Self.exceptions.keys { #expect(lines.contains(line), "there is no line \"\(line)\" in the pages") }
    for line in lines where !line.hasPrefix("chime ") { #expect(Self.exceptions[line] != nil, "\(line)") }
  }

  @Test(.enabled(if: Machine.hasClients), .timeLimit(.minutes(4)))
  func everyCommandOfThePagesWorks() async throws {
    try await Home.run { home in
      let folder = home.path + "/desk"
      let programs = home.path + "/programs"
      for path in [folder, programs] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      try FileManager.default.createSymbolicLink(atPath: programs + "/chime", withDestinationPath: Machine.chime)
      try Self.furnish(home, folder, programs)
      try home.configure("[calendars]\nholidays = [\"2026-12-24..2026-12-26\"]\n")
      _ = try await home.start()
      let receiver = try await Receiver.start(in: home)

      for line in try Self.typed() {
        var (typed, statuses) = (line, [Int32(0)])
        switch Self.exceptions[line] {
        case .elsewhere: continue
        case .with(let answer, _): typed += " " + answer
        case .ends(let some, _): statuses = some
        case .goesOn:
          try await Self.watch(home, programs)
          continue
        case nil: break
        }
        if ["chime done", "chime snooze 20m", "chime dismiss"].contains(line) {
          let id = try await home.add("What \(line) answers", "in 1s")
          try await eventually("it fires") { try await home.latestOccurrence(of: id) != .null }
        }
        // A user of the README has a receiver on that port.
        typed = typed.replacing("127.0.0.1:8099", with: "127.0.0.1:\(receiver.port)")
        let output = try await home.run(
          "/bin/bash", ["-c", "cd '\(folder)' && \(typed)"],
          environment: ["PATH": "\(programs):\(Machine.searchPath)", "XDG_DATA_HOME": home.path + "/data"])
        #expect(statuses.contains(output.status), "\(line)\n\(output.text)")
        // Give a generated secret to the receiver too.
        if line.hasPrefix("chime endpoint add team") {
          let secret = try String(contentsOfFile: folder + "/s", encoding: .utf8)
          try home.verify(with: secret.trimmingCharacters(in: .whitespacesAndNewlines))
        }
      }
      // The commands had effects.
      let reminders = try await home.json("list", "--all", "-n", "all")["reminders"].elements
      let titles = Set(reminders.compactMap { $0["title"].string })
      for title in ["Drink water", "Catch the train", "Read a little", "Gym", "Dentist"] {
        #expect(titles.contains(title), "\(title) is not among \(titles.sorted())")
      }
      #expect(try await home.json("entry", "list")["entries"].elements.count >= 3)
    }
  }

  /// Creates the files that the README assumes: a calendar, a table, a crontab.
  private static func furnish(_ home: Home, _ folder: String, _ programs: String) throws {
    try home.write(
      """
      BEGIN:VCALENDAR\r
      VERSION:2.0\r
      PRODID:-//example//EN\r
      BEGIN:VEVENT\r
      UID:dentist@example.org\r
      DTSTAMP:20260101T000000Z\r
      DTSTART:20990312T140000Z\r
      SUMMARY:Dentist\r
      BEGIN:VALARM\r
      ACTION:DISPLAY\r
      TRIGGER:-PT30M\r
      DESCRIPTION:Dentist\r
      END:VALARM\r
      END:VEVENT\r
      END:VCALENDAR\r

      """, to: folder + "/calendar.ics")
    try home.write("Date,Meditate\n2026-03-01,2\n2026-03-02,2\n", to: folder + "/Checkmarks.csv")
    // Stubs for cron and at; ImportTests uses the real ones.
    try home.write("#!/bin/sh\necho '30 8 * * 1-5 /usr/bin/backup'\n", to: programs + "/crontab", mode: 0o755)
    try home.write(
      "#!/bin/sh\nprintf '7\\tSun Mar  1 09:00:00 2099 a %s\\n' \"$USER\"\n", to: programs + "/atq", mode: 0o755)
    try home.write("#!/bin/sh\necho 'echo tea'\n", to: programs + "/at", mode: 0o755)
  }

  /// `chime watch` shows events, and ends on Ctrl-C.
  private static func watch(_ home: Home, _ programs: String) async throws {
    let watch = try await home.spawn(programs + "/chime", ["watch"])
    // A repeating reminder, because the first may fire before the watcher listens.
    try await home.mustRun("add", "Watched", "every", "1s")
    try await eventually("it is seen to fire; so far: \(watch.output) \(watch.errors)") {
      watch.output.contains("Watched")
    }
    try await home.mustRun("remove", "Watched")
    watch.send(SIGINT)
    #expect(try await watch.ended() != .signalled(SIGKILL))
  }
}
