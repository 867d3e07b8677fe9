import Foundation
import Testing

/// The real command in a Czech locale, with a daemon in another: what is translated, and what is not.
@Suite(.serialized, .enabled(if: Machine.canMakeLocales, "localedef and gettext make the locale and the catalog"))
struct CzechTests {
  /// Builds the locale and the catalog, and returns the environment for them.
  static func czech(_ home: Home) async throws -> [String: String] {
    let (locales, words) = ("\(home.path)/locales", "\(home.path)/words")
    try FileManager.default.createDirectory(atPath: locales, withIntermediateDirectories: true)
    // Its exit status is 1 for mere warnings.
    let made = try await home.run("/usr/bin/localedef", ["-i", "cs_CZ", "-f", "UTF-8", "\(locales)/cs_CZ.UTF-8"])
    try #require(FileManager.default.fileExists(atPath: "\(locales)/cs_CZ.UTF-8/LC_TIME"), "\(made.text)")
    let compiled = try await home.run(Machine.packaging("words"), ["compile", words])
    try #require(compiled.status == 0, "\(compiled.text)")
    return [
      "LC_ALL": "cs_CZ.UTF-8", "LOCPATH": locales, "TEXTDOMAINDIR": words, "LANGUAGE": "", "NO_COLOR": "1",
    ]
  }

  /// Returns English words that occur in no Czech sentence and in no schedule, title or path of these tests.
  static func english(in text: String) -> [String] {
    let words = text.split { !$0.isLetter }.map { $0.lowercased() }
    return words.filter {
      [
        "the", "is", "are", "and", "or", "not", "with", "cannot", "has", "have", "was", "there", "give", "such",
        "which", "column",
      ]
      .contains($0)
    }
  }

  /// A terminal question is asked in Czech, and accepts a Czech yes.
  @Test(
    .timeLimit(.minutes(5)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "script makes the terminal"))
  func questionsAcceptCzechAnswers() async throws {
    try await Home.run { home in
      let czech = try await Self.czech(home)
      _ = try await home.start()
      _ = try await home.run(Machine.chime, ["add", "Voda", "zítra v 9"], environment: czech)
      for (answer, isRemoved) in [("n", false), ("", false), ("ano", true)] {
        let line = "printf '\(answer)\\n' | script -qec '\(Machine.chime) remove Voda' /dev/null"
        let output = try await home.run("/bin/bash", ["-c", line], environment: czech)
        #expect(output.out.contains("Odstranit „Voda“") && output.out.contains("[a/N]"), "\(output.text)")
        let list = try await home.run(Machine.chime, ["list"], environment: czech)
        #expect(list.out.contains("Voda") == !isRemoved, "\(answer): \(output.text)")
      }
    }
  }

  /// A daemon in a Czech locale uses Czech plurals in its popups.
  @Test(.timeLimit(.minutes(5)), .enabled(if: Machine.hasMockBus, "needs dbus-daemon and python3-dbusmock"))
  func popupsAreInCzech() async throws {
    try await Home.run { home in
      let czech = try await Self.czech(home)
      let bus = try await home.startBus()
      try home.configure(Transport.bus.toml)
      _ = try await home.start(environment: czech)
      for number in 1...20 { try await home.mustRun("in", "1s", "Čaj \(number)") }
      try await eventually("all have fired, and the channel was found unavailable") {
        let waiting = try await home.deliveries("waiting")
        return try await waiting.count + home.deliveries("pending").count == 20 && !waiting.isEmpty
      }
      let desktop = try await home.startMockServer(on: bus)
      try await eventually("all have arrived") { try await home.deliveries("delivered").count == 20 }
      #expect(desktop.written.contains(/\d+ dalších připomínek, zatímco jste byli pryč/), "\(desktop.written)")
      #expect(desktop.written.contains(/a \d+ dalších/), "\(desktop.written)")
      #expect(!desktop.written.contains("while you were away") && !desktop.written.contains(/and \d+ more/))
    }
  }

  /// Late notifications say so in Czech: after quiet hours, or after downtime.
  @Test(
    .timeLimit(.minutes(5)),
    .enabled(if: Machine.hasMockBus && Machine.has("cc"), "needs dbus-daemon, python3-dbusmock and cc"))
  func lateNotificationsSaySoInCzech() async throws {
    try await Home.run { home in
      var czech = try await Self.czech(home)
      let library = home.path + "/other-clock.so"
      let made = try await home.run(
        "cc", ["-std=gnu11", "-O1", "-shared", "-fPIC", "-o", library, Machine.support("other-clock.c")])
      try #require(made.status == 0, "\(made.text)")
      czech["LD_PRELOAD"] = library
      czech["OTHER_CLOCK"] = home.path + "/clock"
      let desktop = try await home.startMockDesktop()
      let now = Date()
      let quiet =
        "[quiet]\nhours = [\"\(RepeatAndQuietHoursTests.clock(now - 3_600))-\(RepeatAndQuietHoursTests.clock(now + 7_200))\"]\n"
      try home.configure(Transport.bus.toml + quiet)
      let daemon = try await home.start(environment: czech)
      let held = try await home.add("Prádlo", "in 1s")
      let loud = try await home.answer(
        "io.chime.Reminders.Add", ["reminder": ["title": "Hoří", "when": "in 1s", "urgency": "critical"]])
      let critical = try #require(loud["reminder"]["id"].string)
      try await eventually("critical reminders fire, and the other is held") {
        let rang = try await home.latestOccurrence(of: critical)["firedAt"] != .null
        let next = try await home.answer("io.chime.Daemon.Status", [:])["status"]["nextTitle"].string
        return rang && next == "Prádlo"
      }
      #expect(try await home.latestOccurrence(of: held) == .null)
      try home.configure(Transport.bus.toml)
      _ = try await home.answer("io.chime.Daemon.Reload", [:])
      let laundry = try await desktop.popup(titled: "Prádlo")
      #expect(
        desktop.shown[Int(laundry) - 1].contains(/měla přijít v \d?\d:\d\d, v tichých hodinách/), "\(desktop.shown)")

      _ = try await home.add("Čaj", "in 5m")
      try await daemon.stopCleanly()
      try home.write("600\n", to: home.path + "/clock")
      _ = try await home.start(environment: czech)
      let tea = try await desktop.popup(titled: "Čaj")
      #expect(
        desktop.shown[Int(tea) - 1].contains(/měla přijít v \d?\d:\d\d, o (4|5) min( \d+ s)? později/),
        "\(desktop.shown)")
    }
  }

  /// The wizard speaks Czech, and understands *ano*, *ne*, *přeskočit*.
  @Test(
    .timeLimit(.minutes(5)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"), "script makes the terminal"))
  func wizardAcceptsCzechAnswers() async throws {
    try await Home.run { home in
      let czech = try await Self.czech(home)
      _ = try await home.start()
      func reminders() async throws -> Int {
        try await home.answer("io.chime.Reminders.List", [:])["reminders"].elements.count
      }
      for (word, isSet) in [("přeskočit", false), ("ne", false), ("n", false), ("ano", true)] {
        let line = "printf 'hydration\\n2000\\n\\n\(word)\\n' | script -qec '\(Machine.chime) init' /dev/null"
        let output = try await home.run("/bin/bash", ["-c", line], environment: czech)
        #expect(output.out.contains("[ano]") || output.out.contains("[ne]"), "\(word): \(output.text)")
        #expect(output.out.contains("přeskočit (nebo skip) krok vynechá"), "\(output.text)")
        #expect(try await (reminders() == 1) == isSet, "\(word): \(output.text)")
        #expect(Self.english(in: output.out).isEmpty, "\(word): \(output.text)")
      }
    }
  }

  /// Errors are in Czech, wherever the sentence originates.
  @Test(.timeLimit(.minutes(5))) func errorsAreInCzech() async throws {
    try await Home.run { home in
      let czech = try await Self.czech(home)
      _ = try await home.start()
      for (line, status, said) in [
        (["add", "Voda", "every", "90n"], 64, "„n“ není jednotka času"),
        (["add", "Voda", "every", "90n"], 64, "měli jste na mysli chime add Voda every 90m?"),
        (["add", "Voda", "daily", "at", "25:00"], 64, "„25“ není hodina dne"),
        (["add", "Voda", "cron: 99 * * * *"], 64, "„99“ je mimo rozsah: minuta jde od 0 do 59"),
        (["add", "Voda", "daily", "at", "9", "--tz", "Europe/Pragu"], 64, "měli jste na mysli Europe/Prague"),
        (["add", "Voda", "daily", "at", "9", "until", "2020-01-01"], 64, "není žádný výskyt"),
        (["add", "Voda", "daily at 9", "--to", "a b"], 1, "není kanál"),
        (["when", "FREQ=DAILY;COUNT=0"], 64, "je mimo rozsah pro COUNT"),
        (["when", "sunset"], 64, "slunce potřebuje místo"),
        (["lst"], 64, "měli jste na mysli chime list"),
        (["set"], 64, "měli jste na mysli chime add nebo chime apply?"),
        (["add", "Voda", "daily at 9", "--quiet-hours", "25:00-7:00"], 64, "(sloupec 1); očekává se 00:00 až 23:59"),
        (["show", "nic"], 1, "neexistuje připomínka „nic“"),
        (["endpoint", "test", "nic"], 1, "neexistuje koncový bod „nic“"),
        (["endpoint", "add", "dům", "ftp://x"], 1, "není název koncového bodu"),
        (["tracker", "add", "Voda", "--kind", "amount"], 1, "zadejte jednotku"),
        (["pack", "add", "nic"], 1, "neexistuje balíček „nic“"),
        (["undo"], 1, "z posledních 30 dní už není co vzít zpět"),
        (["done"], 1, "na odpověď nic nečeká"),
      ] as [([String], Int32, String)] {
        let output = try await home.run(Machine.chime, line, environment: czech)
        #expect(output.status == status, "chime \(line): \(output.text)")
        #expect(output.err.contains(said), "chime \(line): \(output.text)")
        #expect(Self.english(in: output.err).isEmpty, "chime \(line): \(output.text)")
      }
      // Without the locale, sentences are still whole.
      let without = czech.merging(["LOCPATH": home.path + "/none"]) { $1 }
      let output = try await home.run(Machine.chime, ["set"], environment: without)
      #expect(output.err.contains("nezná sloveso") && Self.english(in: output.err).isEmpty, "\(output.text)")
    }
  }

  /// Listings use Czech words, dates and numbers; JSON does not.
  @Test(.timeLimit(.minutes(5))) func listingsAreInCzechAndJSONIsNot() async throws {
    try await Home.run { home in
      let czech = try await Self.czech(home)
      _ = try await home.start()
      func said(_ line: String...) async throws -> String {
        let output = try await home.run(Machine.chime, line, environment: czech)
        #expect(output.status == 0, "chime \(line): \(output.text)")
        #expect(Self.english(in: output.out + output.err).isEmpty, "chime \(line): \(output.text)")
        return output.out + output.err
      }
      #expect(
        try await said("add", "Čaj", "daily", "at", "9:00", "--to", "prace").contains(
          "varování: koncový bod ani příkaz prace"))
      _ = try await said(
        "tracker", "add", "Běh", "--kind", "amount", "--unit", "km", "--goal", "1000", "--decimals", "1")
      #expect(try await said("log", "beh", "2500,5").contains("2\u{202F}500,5 km"))
      for line in [
        ["today"], ["week"], ["month"], ["logbook", "beh"], ["stats", "beh"], ["list"], ["next"], ["history"], ["undo"],
      ] {
        let output = try await home.run(Machine.chime, line, environment: czech)
        #expect(
          output.status == 0 && Self.english(in: output.out + output.err).isEmpty, "chime \(line): \(output.text)")
      }
      let spring = try await said(
        "when", "daily at 2:30", "-n", "1", "--after", "2026-03-28T12:00:00+01:00", "--tz", "Europe/Prague")
      #expect(spring.contains("Ne 29.3.2026 03:30"), "\(spring)")
      #expect(spring.contains("29.3.2026 čas 02:30 neexistuje"), "\(spring)")

      let json = try await home.run(
        Machine.chime,
        [
          "when", "daily at 2:30", "-n", "1", "--after", "2026-03-28T12:00:00+01:00", "--tz", "Europe/Prague", "--json",
        ],
        environment: czech)
      #expect(json.out.contains("02:30 does not exist on 2026-03-29"), "\(json.text)")
      for line in [["list"], ["history"], ["status"], ["today"], ["log", "beh", "1,5"]] {
        let czech = try await home.run(Machine.chime, line + ["--json"], environment: czech)
        // A reminder with a missing channel notifies nobody, which the status reports.
        #expect(try czech.status == (line == ["status"] ? 1 : 0) && czech.json != .null, "\(czech.text)")
        #expect(!czech.out.contains(",5 km") && !czech.out.contains("\u{202F}"), "\(czech.text)")
      }
    }
  }

  /// Events are in Czech for Czech clients, and in English for others at the same time.
  @Test(.timeLimit(.minutes(3))) func eventsAreInTheLanguageOfEachClient() async throws {
    try await Home.run { home in
      let czech = try await Self.czech(home)
      _ = try await home.start()
      let mine = try await home.spawn(Machine.chime, ["watch", "-n", "1"], environment: czech)
      let theirs = try await home.spawn(Machine.chime, ["watch", "--json", "-n", "1"], environment: czech)
      try await eventually("both listen") {
        try await home.json("status")["status"]["connections"].int.map { $0 >= 3 } ?? false
      }
      // A connected client may not listen yet, so repeat the event until both have received one.
      try await eventually("both are notified", every: .milliseconds(200)) {
        try await home.mustRun("add", "Čaj", "daily", "at", "9:00")
        return !mine.isRunning && !theirs.isRunning
      }
      _ = try await mine.ended()
      _ = try await theirs.ended()
      #expect(mine.output.contains("přidána „Čaj“"), "\(mine.output)")
      #expect(theirs.output.contains(#"added \"Čaj\""#), "\(theirs.output)")
    }
  }
}
