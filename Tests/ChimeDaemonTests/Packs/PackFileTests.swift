import ChimeDaemon
import ChimeSchedule
import ChimeTracking
import Testing

@Suite struct PackFileTests {
  /// A valid pack, as the beginning of invalid ones.
  static let head = """
    [pack]
    id = "reading"
    title.en = "Reading"
    title.cs = "Čtení"
    text.en = "A few pages a day"
    text.cs = "Pár stránek denně"

    [[tracker]]
    id = "pages"
    title.en = "Pages"
    title.cs = "Stránky"
    kind = "amount"
    unit = "pages"
    goal = "20 pages"

    """

  static func faults(_ text: String) -> [PackFault] {
    do throws(PackFaults) {
      _ = try PackFile.read(Array(text.utf8), file: "p.toml")
      return []
    } catch {
      return error.faults
    }
  }

  /// Returns the faults of the valid pack plus some text, each as `line:column key: message`, with lines counted after
  /// the valid part.
  static func after(_ text: String) -> [String] {
    let lines = head.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    return faults(head + text).map { "\($0.line - lines):\($0.column) \($0.key): \($0.message)" }
  }

  @Test func smallPackIsRead() throws {
    let pack = try PackFile.read(Array(Self.head.utf8), file: "p.toml")
    let pages = try #require(Unit("pages"))
    #expect(pack.id.rawValue == "reading" && pack.version == 1)
    #expect(pack.title.text(in: ["cs"]) == "Čtení")
    #expect(
      pack.trackers == [
        Tracker(
          id: TrackerID(rawValue: "pages"), owner: 0, title: LocalizedText(["en": "Pages", "cs": "Stránky"]),
          kind: .amount, unit: pages, goal: Goal(.total(try #require(Quantity(20, pages)))),
          pack: PackID(rawValue: "reading"), startedOn: try #require(CivilDate(year: 1_970, month: 1, day: 1)),
          createdAt: Instant(seconds: 0))
      ])
  }

  @Test func trackerReadsAllItsKeys() throws {
    let text =
      Self.head.replacing("goal = \"20 pages\"", with: "goal = \"150 pages a week\"") + """
        verb = { en = "Read", cs = "Přečteno" }
        decimals = 1
        presets = ["5 pages", "10.5 pages"]
        usual = "5pages"
        choice = { least = "50 pages", most = "500 pages", step = "50 pages" }
        days = "mon-wed,sat"
        dayStartsAt = "4:30"
        timeOfDay = "evening"
        skipsEachMonth = 2
        items = true
        fields = { minutes = "min" }
        icon = "book"
        xp = 3

        [[tracker]]
        id = "walk"
        title = { en = "Walk", cs = "Procházka" }
        kind = "check"
        goal = "3 times a week"
        days = "3 times in 7 days"

        [[tracker]]
        id = "pulse"
        title = { en = "Pulse", cs = "Tep" }
        kind = "measure"
        unit = "bpm"
        goal = "60 bpm"
        days = "twice a month"
        """
    let pack = try PackFile.read(Array(text.utf8), file: "p.toml")
    let pages = try #require(Unit("pages"))
    let tracker = pack.trackers[0]
    #expect(tracker.goal == Goal(.total(try #require(Quantity(150, pages))), each: .week))
    #expect(tracker.verb?.texts == ["en": "Read", "cs": "Přečteno"])
    #expect(tracker.presets == [try #require(Quantity(5, pages)), try #require(Quantity(10.5, pages))])
    #expect(tracker.usual == tracker.presets[0])
    #expect(tracker.counting == .weekdays([.monday, .tuesday, .wednesday, .saturday]))
    #expect(tracker.dayStartsAt == 270 && tracker.timeOfDay == .evening && tracker.skipsEachMonth == 2)
    #expect(tracker.hasItems && tracker.icon == "book" && tracker.experience == 3 && tracker.decimals == 1)
    #expect(tracker.fields == ["minutes": try #require(Unit("min"))])
    #expect(pack.trackers[1].goal == Goal(.count(3), each: .week))
    #expect(pack.trackers[1].counting == .rolling(times: 3, days: 7))
    let beats = try #require(Unit("bpm"))
    #expect(pack.trackers[2].goal == Goal(.value(try #require(Quantity(60, beats)))))
    #expect(pack.trackers[2].counting == .timesAMonth(2))
  }

  static let criteria: [(String, Criterion)] = [
    ("entries = 5", Criterion(.entries, target: 5)),
    ("amountInEntry = \"50 pages\"", Criterion(.amountInEntry, amount: Quantity(grains: 50_000_000))),
    ("shareOfGoal = 150", Criterion(.shareOfGoal, target: 150)),
    ("streak = 4, days = \"weekends\"", Criterion(.streak, target: 4, days: .weekends)),
    ("entryBefore = \"7:00\", times = 3", Criterion(.entryBefore, target: 3, minute: 420)),
    ("entryOnDate = \"02-29\"", Criterion(.entryOnDate, month: 2, day: 29)),
    ("entryOnWeekday = \"fri\", day = 13", Criterion(.entryOnWeekday, day: 13, weekdays: .friday)),
    ("daysSinceStart = 100", Criterion(.daysSinceStart, target: 100)),
  ]

  @Test(arguments: criteria) func eachCriterionIsRead(_ when: String, _ expected: Criterion) throws {
    let text =
      Self.head + """
        [[achievement]]
        id = "a_1"
        title = { en = "A", cs = "A" }
        text = { en = "B", cs = "B" }
        when = { \(when) }
        """
    let achievement = try #require(try PackFile.read(Array(text.utf8), file: "p.toml").achievements.first)
    var criterion = expected
    criterion.tracker = TrackerID(rawValue: "pages")
    #expect(achievement.criterion == criterion)
  }

  // MARK: Faults

  /// Text added to a valid pack, and the expected faults.
  static let wrong: [(String, [String])] = [
    (
      "colour = 1\n",
      [
        "1:1 tracker[pages].colour: is not a key of a tracker; it takes id, title, verb, kind, unit, decimals, goal, choice, presets, usual, days, dayStartsAt, timeOfDay, skipsEachMonth, items, fields, bounds, milestone, milestones, icon, xp"
      ]
    ),
    ("preset = []\n", ["1:1 tracker[pages].preset: is not a key of a tracker; did you mean presets?"]),
    (
      "presets = [\"5 pages\", \"250 ml\", \"5 pages\", 7]\n",
      [
        "1:23 tracker[pages].presets[2]: must be in pages, the tracker's unit; found \"250 ml\"",
        "1:44 tracker[pages].presets[4]: must be a number with its unit, such as \"20 pages\"; found 7",
      ]
    ),
    (
      "choice = { least = \"30 pages\", most = \"50 pages\", step = \"5 pages\" }\n",
      [
        "0:8 tracker[pages].goal: lies outside its choice (least to most); found \"20 pages\""
      ]
    ),
    (
      "choice = { least = \"5 pages\", most = \"50 pages\", step = \"10 pages\" }\n",
      [
        "0:8 tracker[pages].goal: is not a whole number of steps from the least of its choice; found \"20 pages\""
      ]
    ),
    (
      "presets = [\"5 pages\"]\nusual = \"6 pages\"\n",
      ["2:9 tracker[pages].usual: must be one of the presets; found \"6 pages\""]
    ),
    (
      "days = \"mon-sunday,x\"\n",
      [
        "1:8 tracker[pages].days: must be the days that count, such as \"every day\", \"mon,wed,fri\", \"3 times a week\" or \"3 times in 7 days\"; found \"mon-sunday,x\""
      ]
    ),
    (
      "dayStartsAt = 04:00:00\n",
      ["1:15 tracker[pages].dayStartsAt: must be a time of day in quotes, such as \"8:30\"; found a date"]
    ),
    (
      "timeOfDay = \"night\"\n",
      ["1:13 tracker[pages].timeOfDay: must be one of \"morning\", \"anytime\", \"evening\"; found \"night\""]
    ),
    (
      "milestone = \"2 pages\"\n",
      ["1:13 tracker[pages].milestone: was rejected: only a measure has steps to celebrate"]
    ),
    ("verb.en = \"Read\"\n", ["1:1 tracker[pages].verb.cs: is missing: the pack's title has that language"]),
    (
      "verb.en = \"Read\"\nverb.cz = \"Přečteno\"\n",
      [
        "1:1 tracker[pages].verb.cs: is missing: the pack's title has that language",
        "2:6 tracker[pages].verb.cz: is not a language tag; did you mean cs?",
      ]
    ),
    (
      "[[tracker]]\nid = \"pages\"\ntitle = { en = \"A\", cs = \"B\" }\nkind = \"check\"\n",
      ["2:6 tracker[pages].id: is the id of an earlier tracker too; each needs its own"]
    ),
    (
      "[[tracker]]\nid = \"Walk\"\ntitle = { cs = \"B\" }\nkind = \"chek\"\n",
      [
        "2:6 tracker[Walk].id: must be a name of 1 to 32 lower-case letters, digits and -, a letter first; found \"Walk\"",
        "3:9 tracker[Walk].title.en: is missing: each text needs an English version",
        "4:8 tracker[Walk].kind: must be one of \"check\", \"amount\", \"measure\"; found \"chek\"",
      ]
    ),
    (
      "[[reminder]]\nid = \"r\"\nwhen = \"every 90q\"\ntracker = \"page\"\n",
      [
        "1:1 reminder[r].title: is missing: a text, such as title.en = \"…\" and one for each other language",
        "3:8 reminder[r].when: is not a schedule: ",
        "4:11 reminder[r].tracker: must be the id of a tracker of this pack; did you mean pages?",
      ]
    ),
    (
      "[[reminder]]\nid = \"r\"\ntitle = { en = \"{{remainin}} {{streak}} {{quote}}\", cs = \"{{x\" }\nwhen = \"in 5m\"\n",
      [
        "3:16 reminder[r].title.en: contains {{remainin}}, which is not a placeholder; did you mean {{remaining}}?",
        "3:16 reminder[r].title.en: contains {{quote}}, but the pack has no [[quote]]",
        "3:58 reminder[r].title.cs: has {{ without }}; a placeholder looks like {{remaining}}",
        "4:8 reminder[r].when: fires only once; a pack needs a recurring schedule, such as \"daily at 8:00\"",
      ]
    ),
    (
      "[[reminder]]\nid = \"r\"\ntitle = { en = \"A\", cs = \"B\" }\nwhen = \"sunset - 30m\"\n",
      [
        "1:1 reminder[r].withoutPlace: is missing: when follows the sun, and some users have no configured place; such as \"daily at 7:00\""
      ]
    ),
    (
      "[[achievement]]\nid = \"a\"\ntitle = { en = \"A\", cs = \"B\" }\ntext = { en = \"A\", cs = \"B\" }\nwhen = { streek = 3 }\n",
      [
        "5:10 achievement[a].when.streek: is not a criterion; did you mean streak?"
      ]
    ),
    (
      "[[achievement]]\nid = \"a\"\ntitle = { en = \"A\", cs = \"B\" }\ntext = { en = \"A\", cs = \"B\" }\ntracker = \"water\"\nwhen = { streak = \"3\", times = 2 }\n",
      [
        "5:11 achievement[a].tracker: must be the id of a tracker of this pack: pages; found \"water\"",
        "6:19 achievement[a].when.streak: must be a whole number from 1 to 1000000; found \"3\"",
        "6:24 achievement[a].when.times: is not a key of a criterion of streak; it takes streak, days",
      ]
    ),
    (
      "[[achievement]]\nid = \"a\"\ntitle = { en = \"A\", cs = \"B\" }\ntext = { en = \"A\", cs = \"B\" }\nwhen = { level = 3 }\n",
      [
        "5:18 achievement[a].when.level: level needs a pack with [levels]"
      ]
    ),
    (
      "[[achievement]]\nid = \"a\"\ntitle = { en = \"A\", cs = \"B\" }\ntext = { en = \"A\", cs = \"B\" }\nwhen = { itemsOwned = 3 }\n",
      [
        "5:23 achievement[a].when.itemsOwned: itemsOwned needs a tracker with items"
      ]
    ),
    (
      "[[achievement]]\nid = \"a\"\ntitle = { en = \"A\", cs = \"B\" }\ntext = { en = \"A\", cs = \"B\" }\nwhen = { distinctItems = 3 }\n",
      [
        "5:8 achievement[a].when.within: is missing: distinctItems needs it, such as within = 30, in days"
      ]
    ),
    (
      "[mood.perfectDay]\ntitle = { en = \"A\", cs = \"B\" }\nmessage = { en = \"A\", cs = \"B\" }\nnext = { en = \"A\", cs = \"B\" }\n",
      [
        "1:1 mood.noHabits: is missing: with one mood all five are needed, [mood.noHabits] with title, message and next too",
        "1:1 mood.notStarted: is missing: with one mood all five are needed, [mood.notStarted] with title, message and next too",
        "1:1 mood.lightDay: is missing: with one mood all five are needed, [mood.lightDay] with title, message and next too",
        "1:1 mood.productiveDay: is missing: with one mood all five are needed, [mood.productiveDay] with title, message and next too",
      ]
    ),
    (
      ["noHabits", "notStarted", "lightDay", "productiveDay", "perfectDay"].map {
        "[mood.\($0)]\ntitle = { en = \"A\", cs = \"B\" }\nmessage = { en = \"A\", cs = \"B\" }\n"
          + "next = { en = \"\($0 == "lightDay" ? "{{remaining}} to go" : "A")\", cs = \"B\" }\n"
      }.joined(),
      ["12:8 mood.lightDay.next: has a placeholder that moods do not have: use {{streak}}, {{done}} and {{due}}"]
    ),
    (
      "[[quote]]\ntext = \"a\\u202eb\"\nlanguage = \"xx\"\ncategory = \"q\"\n",
      [
        "1:1 quote[1].source: is missing: a quote needs text, language, source and category",
        "2:8 quote[1].text: has U+202E, which changes the direction of text; remove it: text from right to left needs no such character",
        "3:12 quote[1].language: is not a language tag; use a code of ISO 639, such as en, cs or pt-BR",
      ]
    ),
    (
      "[category]\nx = { en = \"A\", cs = \"B\" }\n",
      ["2:1 category.x: is not the category of any achievement or quote"]
    ),
    ("[level]\nbase = 3\n", ["1:2 level: is not a key of a pack; did you mean levels?"]),
  ]

  @Test(arguments: wrong) func eachFaultHasItsPositionAndExpectation(_ text: String, _ expected: [String]) {
    let found = Self.after(text)
    #expect(found.count == expected.count, "\(found)")
    for (one, other) in zip(found, expected) {
      // What the schedule's parser says is its own.
      if other.hasSuffix("is not a schedule: ") { #expect(one.hasPrefix(other)) } else { #expect(one == other) }
    }
  }

  @Test func faultsAreListedInTheOrderOfTheFile() {
    let faults = Self.faults("[pack]\nid = 3\ntitle = \"\"\n[[tracker]]\n[[reminder]]\n[[achievement]]\n")
    #expect(faults.map(\.line) == faults.map(\.line).sorted())
    #expect(
      faults.map(\.key) == [
        "pack.text", "pack.id", "pack.title", "tracker[1].id", "tracker[1].title", "tracker[1].kind", "reminder[1].id",
        "reminder[1].title", "reminder[1].when", "achievement[1].id", "achievement[1].title", "achievement[1].text",
        "achievement[1].when",
      ])
  }

  @Test func invalidTOMLIsReportedOnce() {
    let faults = Self.faults("[pack\nid = 3\n")
    #expect(faults.count == 1)
    #expect(faults.first?.line == 1)
    #expect(faults.first?.message.hasPrefix("invalid TOML: ") == true)
    #expect(Self.faults("").map(\.key) == ["pack"])
  }

  @Test func hostileFilesAreRefusedQuickly() {
    let many = (0..<20_000).map { "k\($0) = 1\n" }.joined()
    let faults = Self.faults(Self.head + many)
    #expect(faults.count == PackFaults.most + 1)
    #expect(faults.last?.message == "there are more faults; these are the first 200")
    let large = Self.faults(String(repeating: "#", count: PackFile.maxBytes + 1))
    #expect(large.map(\.message) == ["has 524289 bytes; a pack has at most 524288"])
    let trackers = Self.faults(Self.head + String(repeating: "[[tracker]]\n", count: 51))
    #expect(trackers.map(\.key).contains("tracker"))
    let braces =
      Self.head + "[[reminder]]\nid = \"r\"\ntitle = { en = \"" + String(repeating: "{{x}}", count: 30)
      + "\", cs = \"a\" }\nwhen = \"daily at 8\"\n"
    #expect(Self.faults(braces).count == 30)
    #expect(Self.faults("x = " + String(repeating: "[", count: 5_000)).count == 1)
  }

  /// A quoted key with dots or brackets is a single key, not a path.
  @Test func quotedKeyIsASingleKey() {
    #expect(Self.after("\"goal.x\" = 1\n\"presets[0]\" = 2\n").map { String($0.prefix(30)) }.count == 2)
    #expect(Self.faults("\"pack.id\" = \"x\"\n").map(\.key) == ["pack.id", "pack"])
  }
}
