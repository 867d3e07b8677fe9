import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Applying sets of trackers and packs to a daemon in this process.
@Suite(.serialized) struct ApplyTrackersTests {
  typealias Wired = RemindersInterface
  typealias Call = RemindersInterface.Apply
  typealias Trackers = TrackersInterface

  private static func apply(
    _ house: TrackerHouse, _ text: String, prune: Bool? = nil, dryRun: Bool? = nil, packs: [Wired.SetSecret]? = [],
    entries: Bool? = nil, otherwise: String = "home"
  ) throws -> Call.Reply {
    try house.call(parameters(text, prune, dryRun, packs, entries, otherwise))
  }

  private static func parameters(
    _ text: String, _ prune: Bool? = nil, _ dryRun: Bool? = nil, _ packs: [Wired.SetSecret]? = [],
    _ entries: Bool? = nil, _ otherwise: String = "home"
  ) -> Call {
    Call(
      files: [.init(name: "a.toml", text: text)], otherwise: otherwise, prune: prune, dryRun: dryRun, secrets: [],
      packs: packs, entries: entries)
  }

  private static func faults(_ house: TrackerHouse, _ text: String, packs: [Wired.SetSecret] = []) -> [String] {
    guard let refusal = house.refusal(parameters(text, nil, nil, packs)),
      let set = try? JSONReader.read(Wired.InvalidSet.self, from: refusal.parameters.bytes)
    else { return ["no faults"] }
    return set.faults.map { "\($0.file):\($0.line):\($0.column): \($0.key): \($0.message)" }
  }

  private static func entries(_ house: TrackerHouse) async throws -> Int {
    try await house.store.read { try $0.entryCount(EntryFilter(owner: getuid())) }
  }

  private static let reading = """
    [[tracker]]
    id = "reading"
    title = "Reading"
    kind = "amount"
    unit = "pages"
    goal = "20 pages"
    usual = "10 pages"
    days = "mon,wed,fri"

    [[reminder]]
    id = "read"
    title = "Read a little"
    when = "daily at 21:00"
    tracker = "reading"
    quietWhenDone = true

    """

  @Test func trackersAreAddedChangedAndLeftAlone() async throws {
    try await TrackerHouse.live { house in
      // A reminder may refer to a tracker in the same file, even in a dry run.
      let dry = try Self.apply(house, Self.reading, dryRun: true)
      #expect(dry.changes.map(\.kind) == [.tracker, .reminder])
      #expect(try await house.trackers().isEmpty)
      let first = try Self.apply(house, Self.reading)
      let start = try #require(await house.trackers()["reading"]).startedOn
      #expect(
        TrackerHouse.summary(first)[0]
          == #"add tracker reading: title nil "Reading"; kind nil "amount"; unit nil "pages"; goal nil "20 pages"; "#
          + #"usual nil "10 pages"; days nil "mon,wed,fri"; start nil "\#(start)""#
      )
      try house.log("reading", 12)
      let before = try await house.trackers()
      #expect(before["reading"]?.set == "home")
      let second = try Self.apply(house, Self.reading)
      #expect((second.changes.count, second.unchanged) == (0, 2))
      #expect(try await house.trackers() == before)

      let more = Self.reading.replacing("20 pages", with: "30 pages").replacing("days = \"mon,wed,fri\"\n", with: "")
      #expect(
        try TrackerHouse.summary(Self.apply(house, more)) == [
          #"change tracker reading: goal "20 pages" "30 pages"; days "mon,wed,fri" "every day""#
        ])
      // Fields that the file does not manage keep their values.
      let _: Trackers.Put.Reply = try house.call(
        Trackers.Put(tracker: .init(id: "reading", pauses: [.init(from: "2026-01-01", to: "2026-01-09")])))
      #expect(try Self.apply(house, more).changes.isEmpty)
      #expect(try await Self.entries(house) == 1)
      #expect(try await house.trackers()["reading"]?.pauses.count == 1)
    }
  }

  @Test func entriesAreRemovedOnlyOnPurpose() async throws {
    try await TrackerHouse.live { house in
      let other = "[[tracker]]\nid = \"walk\"\nkind = \"check\"\n"
      _ = try Self.apply(house, Self.reading + other)
      try house.water()
      try house.log("reading", 12)
      try house.log("reading", 3)
      let left = try Self.apply(house, "")
      #expect((left.changes.count, left.leftOver) == (0, 3))
      let dry = try Self.apply(house, "", prune: true, dryRun: true)
      #expect(dry.changes.filter { $0.kind == .tracker }.map(\.records) == [2, nil])
      let refusal = house.refusal(Self.parameters("", true))
      #expect(refusal?.name == "io.chime.Reminders.Conflict")
      #expect(refusal?.text("message").hasPrefix("reading has 2 entries") == true)
      #expect(Set(try await house.trackers().keys) == ["reading", "walk", "water"], "nothing was changed")

      // A tracker without entries is pruned like a reminder; those made by hand stay.
      let pruned = try Self.apply(house, Self.reading, prune: true)
      #expect(TrackerHouse.summary(pruned) == ["remove tracker walk: "])
      _ = try Self.apply(house, "", prune: true, entries: true)
      #expect(Set(try await house.trackers().keys) == ["water"])
      #expect(try await Self.entries(house) == 0)
      let _: Trackers.Undo.Reply = try house.call(Trackers.Undo())
      #expect(try await Self.entries(house) == 2)
      #expect(try await house.trackers()["reading"]?.set == "home")
    }
  }

  @Test func packsComeWithWhatIsOtherAboutThem() async throws {
    try await TrackerHouse.live { house in
      let plain = "[[pack]]\nname = \"hydration\"\n"
      let own = """
        [[pack]]
        name = "hydration"
        language = "cs"
        [pack.tracker.water]
        goal = "2 l"
        [pack.reminder.drink]
        id = "drink"
        when = "every 2h from 9:00 to 21:00"
        channels = ["phone"]
        logs = "330 ml"

        """
      let first = try Self.apply(house, own)
      #expect(
        TrackerHouse.summary(first) == [
          #"add pack hydration: language nil "cs"; tracker.water.goal nil "2000 ml"; "#
            + #"reminder.drink nil "every 2h from 09:00 to 21:00"; reminder.drink.channels nil ["phone"]; "#
            + #"reminder.drink.logs nil "330 ml""#
        ])
      #expect(first.warnings.count == 1 && first.warnings[0].contains("phone"))
      let drink = try await house.store.read { try $0.reminder(ReminderID(rawValue: "drink"))?.reminder }
      #expect(drink?.title == "Čas na sklenici vody" && drink?.set == "home")
      #expect(drink?.tracker?.followsEntries == true && drink?.tracker?.amount == Quantity(330, .known["ml"]!))
      try house.log("water", 250)
      #expect(try Self.apply(house, own).changes.isEmpty)
      // A pack's reminder is not pruned, and cannot be declared beside the pack.
      #expect(try Self.apply(house, own, prune: true).changes.isEmpty)
      let twice = Self.faults(house, own + "[[reminder]]\nid = \"drink\"\ntitle = \"x\"\nwhen = \"daily at 9:00\"\n")
      #expect(twice.first?.contains(": reminder[drink].id: is the id of a reminder of the pack hydration") == true)

      // Settings not in the file revert to the pack's, even if changed by hand.
      let back = try Self.apply(house, plain)
      #expect(
        TrackerHouse.summary(back) == [
          #"change pack hydration: tracker.water.goal "2000 ml" "2500 ml"; "#
            + #"reminder.drink.when "every 2h from 09:00 to 21:00" "every 90m from 08:00 to 22:00"; "#
            + #"reminder.drink.channels ["phone"] ["desktop"]; reminder.drink.logs "330 ml" true"#
        ])
      let _: Trackers.Put.Reply = try house.call(Trackers.Put(tracker: .init(id: "water", goal: .init(total: 9_000))))
      #expect(
        try TrackerHouse.summary(Self.apply(house, plain)) == [
          #"change pack hydration: tracker.water.goal "9000 ml" "2500 ml""#
        ])
      // An unwanted reminder is removed.
      let without = try Self.apply(house, plain + "reminder.drink = false\n")
      #expect(
        TrackerHouse.summary(without) == [#"change pack hydration: reminder.drink "every 90m from 08:00 to 22:00" nil"#]
      )
      #expect(try Self.apply(house, plain + "reminder.drink = false\n").changes.isEmpty)

      let refusal = house.refusal(Self.parameters("", true))
      #expect(refusal?.name == "io.chime.Reminders.Conflict")
      let gone = try Self.apply(house, "", prune: true, entries: true)
      #expect(gone.changes.map(\.records) == [1])
      #expect(try await house.trackers().isEmpty)
    }
  }

  @Test func packsOfOnesOwnAreInFilesBeside() async throws {
    try await TrackerHouse.live { house in
      let pack = """
        [pack]
        id = "books"
        title = "Books"
        text = "Some pages a day"
        [[tracker]]
        id = "pages"
        title = "Pages"
        kind = "amount"
        unit = "pages"
        goal = "20 pages"
        [[reminder]]
        id = "evening"
        when = "daily at 20:00"
        title = "Read"

        """
      let text = "[[pack]]\nname = \"books\"\nfile = \"books.toml\"\n"
      let asked = try Self.apply(house, text, dryRun: true, packs: nil)
      #expect((asked.packFiles, asked.changes.count) == (["books.toml"], 0))
      #expect(
        Self.faults(house, text) == ["a.toml:3:8: pack[books].file: names a file that does not exist: \"books.toml\""])
      let wrong = Self.faults(
        house, text, packs: [.init(path: "books.toml", text: pack.replacing("daily", with: "dayly"))])
      #expect(wrong.count == 1 && wrong[0].hasPrefix("books.toml:13:8: reminder[evening].when: "), "\(wrong)")
      let inTheFolder = Self.faults(house, pack)
      #expect(
        inTheFolder.count == 1 && inTheFolder[0].contains("pack: makes this the file of a pack"), "\(inTheFolder)")
      let given = [Wired.SetSecret(path: "books.toml", text: pack)]
      #expect(try Self.apply(house, text, packs: given).changes.map(\.action) == [.add])
      #expect(try Self.apply(house, text, packs: given).changes.isEmpty)
      let kept = try Self.apply(house, text)
      #expect((kept.changes.count, kept.warnings) == (0, ["books.toml does not exist: the pack books stays as it is"]))
      let newer = [Wired.SetSecret(path: "books.toml", text: pack.replacing("Some pages", with: "Twenty pages"))]
      #expect(try TrackerHouse.summary(Self.apply(house, text, packs: newer)) == ["change pack books: content nil nil"])
      let exported = try house.exported()
      #expect(exported.contains("file = \"books.toml\"\n"))
      #expect(try Self.apply(house, exported).changes.isEmpty)
    }
  }

  @Test func everyFaultIsToldWithItsPlace() async throws {
    try await TrackerHouse.live { house in
      try house.water()
      try house.log("water", 250)
      let _: Trackers.InstallPack.Reply = try house.call(Trackers.InstallPack(name: "weight"))
      let text = """
        [[tracker]]
        id = "Reading"
        kind = "check"
        unit = "pages"
        colour = "blue"
        [[tracker]]
        id = "run"
        kind = "amount"
        goal = "20 km"
        [[tracker]]
        id = "book"
        kind = "amount"
        unit = "pages"
        goal = "20 km"
        usual = 10
        days = "sundays"
        dayStartsAt = "25:00"
        title = ["x"]
        start = 2026-03-01
        [[tracker]]
        id = "book"
        kind = "wish"
        milestone = "2 pages"
        [[pack]]
        name = "hydrtion"
        [[pack]]
        name = "goal"
        language = "cz"
        [pack.tracker.gaol]
        goal = "x"
        [pack.reminder]
        nothing = true
        [[reminder]]
        title = "Drink"
        when = "daily at 9:00"
        tracker = "practice"
        """
      let found = Self.faults(house, text)
      let expected = [
        "a.toml:2:6: tracker[Reading].id: must be a name",
        "a.toml:4:8: tracker[Reading].unit: was rejected: a check has no amount",
        "a.toml:5:1: tracker[Reading].colour: is not a key of a tracker",
        "a.toml:6:1: tracker[run].unit: is missing",
        "a.toml:14:8: tracker[book].goal: must be more than zero, in pages",
        "a.toml:15:9: tracker[book].usual: must be a number with its unit",
        "a.toml:16:8: tracker[book].days: must be the days that count",
        "a.toml:17:15: tracker[book].dayStartsAt: must be a time of day",
        "a.toml:18:9: tracker[book].title: must be a text", "a.toml:19:9: tracker[book].start: must be a day",
        "a.toml:22:8: tracker[book].kind: must be one of",
        "a.toml:25:8: pack[hydrtion].name: does not come with Chime; did you mean hydration?",
        "a.toml:28:12: pack[goal].language: is not a language tag; did you mean cs?",
        "a.toml:29:", "a.toml:32:1: pack[goal].reminder.nothing: is not a reminder of the pack goal",
        "a.toml:36:11: reminder[1].tracker: was rejected: there is no tracker \"practice\"",
      ]
      for sentence in expected {
        #expect(found.contains { $0.hasPrefix(sentence) }, "\(sentence) is not among\n\(found.joined(separator: "\n"))")
      }
      #expect(found.count == expected.count, "\(found.filter { text in !expected.contains { text.hasPrefix($0) } })")

      #expect(
        Self.faults(
          house,
          "[[tracker]]\nid = \"water\"\nkind = \"check\"\n"
            + "[[tracker]]\nid = \"weight\"\nkind = \"measure\"\nunit = \"kg\"\n"
        )
        .map { String($0.prefix(60)) }
          == [
            "a.toml:3:8: tracker[water].kind: cannot change: the tracker i",
            "a.toml:5:6: tracker[weight].id: is a tracker of the pack weigh",
          ].map { String($0.prefix(60)) })
      #expect(
        Self.faults(house, "[[tracker]]\nid = \"water\"\nkind = \"amount\"\nunit = \"cups\"\n") == [
          "a.toml:4:8: tracker[water].unit: must convert to ml, the unit of the existing entries"
        ])
      let pack = "[[reminder]]\ntitle = \"Sip\"\nwhen = \"daily at 9:00\"\ntracker = \"morning\"\n"
      #expect(Self.faults(house, pack).first?.contains("[[pack]] name = \"adkhar\" in the file adds it") == true)
    }
  }

  /// A file may list amounts in any order; a backup of them is restored.
  @Test func presetsOfAFileAreInOrder() async throws {
    try await TrackerHouse.live { house in
      _ = try Self.apply(
        house,
        """
        [[tracker]]
        id = "water"
        title = "Water"
        kind = "amount"
        unit = "ml"
        presets = ["500 ml", "250 ml"]
        """)
      let water = try await house.store.read { try $0.trackers(owner: getuid()).first }
      #expect(water?.presets.map(\.grains) == water?.presets.map(\.grains).sorted() && water?.presets.count == 2)
      #expect(try BackupTests.restore(house, house.backup(), dryRun: true).trackers == 1)
    }
  }

  /// A faulty setting gives the same message from a client, a file, a pack and a backup.
  @Test func aFaultIsToldTheSameWhicheverWayItComes() async throws {
    let amounts = (1...25).map { "\"\($0) pages\"" }.joined(separator: ", ")
    let faults: [(line: String, draft: Trackers.TrackerDraft, message: String)] = [
      ("decimals = 7", .init(id: "book", decimals: 7), "give 0 to 3 digits after the point"),
      ("usual = \"0 pages\"", .init(id: "book", usual: 0), "give more than zero, in pages"),
      ("usual = \"-3 pages\"", .init(id: "book", usual: -3), "give more than zero, in pages"),
      ("presets = [\(amounts)]", .init(id: "book", presets: (1...25).map(Double.init)), "give at most 24 amounts"),
      ("presets = [\"0 pages\"]", .init(id: "book", presets: [0]), "give more than zero, in pages"),
      ("milestone = \"2 pages\"", .init(id: "book", milestoneStep: 2), "only a measure has steps to celebrate"),
      ("skipsEachMonth = 32", .init(id: "book", skipsEachMonth: 32), "give 0 to 31 days of a month"),
      ("icon = \"a\\u0007\"", .init(id: "book", icon: "a\u{7}"), "the icon has a control character (U+7)"),
    ]
    let pages = try #require(Unit("pages"))
    let head = "[[tracker]]\nid = \"book\"\nkind = \"amount\"\nunit = \"pages\"\n"
    try await TrackerHouse.live { house in
      for (line, draft, message) in faults {
        let key = try #require(line.split(separator: " ").first)
        var draft = draft
        (draft.kind, draft.unit) = (.amount, "pages")
        let refusal = try #require(house.refusal(Trackers.Put(tracker: draft)))
        #expect(refusal.text("message") == message && key.hasPrefix(refusal.text("field").prefix(4)), "\(refusal)")
        let place = "5:\(key.count + 4) tracker[book].\(key): was rejected: \(message)"
        #expect(Self.faults(house, head + line + "\n") == ["a.toml:" + place.replacing(" tracker", with: ": tracker")])
        var spoilt = Tracker(
          id: TrackerID(rawValue: "book"), owner: 1, title: "Book", kind: .amount, startedOn: Pack.unbegun,
          createdAt: Instant(seconds: 0))
        (spoilt.unit, spoilt.decimals, spoilt.icon) = (pages, draft.decimals ?? 0, draft.icon)
        spoilt.presets = (draft.presets ?? []).compactMap { Quantity($0, pages) }
        spoilt.usual = draft.usual.flatMap { Quantity($0, pages) }
        spoilt.milestoneStep = draft.milestoneStep.flatMap { Quantity($0, pages) }
        spoilt.skipsEachMonth = draft.skipsEachMonth
        do {
          var judge = BackupJudge { $0 }
          _ = try judge.tracker(spoilt)
          Issue.record("\(line) is restored")
        } catch ControlFailure.invalidValue(let field, let said) {
          #expect(said == message && field == refusal.text("field"))
        }
        #expect(
          PackFileTests.after(line + "\n") == ["1:\(key.count + 4) tracker[pages].\(key): was rejected: \(message)"])
      }
      // Duplicate amounts are stored once, and an empty list means none.
      for (line, presets) in [("[\"9 pages\", \"5 pages\", \"9 pages\"]", [9.0, 5, 9]), ("[]", [])] {
        _ = try Self.apply(house, head + "presets = \(line)\n")
        try house.put(.init(id: "other", kind: .amount, unit: "pages", presets: presets))
        let trackers = try await house.store.read { try $0.trackers(owner: getuid()) }
        #expect(trackers.count == 2 && trackers[0].presets == trackers[1].presets, "\(trackers)")
        #expect(trackers[0].presets.count == Set(presets).count)
        #expect(PackFileTests.after("presets = \(line)\n").isEmpty)
      }
    }
  }

  /// A client, a file, a pack and a backup accept the same additional measures, with the same errors for others.
  @Test(
    arguments: [
      (["bodyFat", "body-fat", "x1"], nil),
      ((1...8).map { "f\($0)" }, nil),
      ((1...9).map { "f\($0)" }, "give at most 8 further measures"),
      (["1st"], "'1st' is not a name: give 1 to 32 letters, digits and -, such as bodyFat"),
      (["tuk_v_těle"], "'tuk_v_těle' is not a name: give 1 to 32 letters, digits and -, such as bodyFat"),
      ([String(repeating: "a", count: 33)], nil),
    ] as [([String], String?)]) func eachWayInHasTheSameBounds(_ names: [String], _ fault: String?) async throws
  {
    let long = names.contains { $0.utf8.count > 32 }
    let expected = fault ?? (long ? "is not a name: give 1 to 32 letters, digits and -, such as bodyFat" : nil)
    let lines = names.map { "\"\($0)\" = \"%\"\n" }.joined()
    try await TrackerHouse.live { house in
      let draft = Trackers.TrackerDraft(
        id: "weight", kind: .measure, unit: "kg", fields: Dictionary(uniqueKeysWithValues: names.map { ($0, "%") }))
      let file = """
        [[tracker]]
        id = "mass"
        title = "Mass"
        kind = "measure"
        unit = "kg"
        [tracker.fields]
        \(lines)
        """
      if let expected {
        let refusal = try #require(house.refusal(Trackers.Put(tracker: draft)))
        #expect(refusal.text("message").contains(expected), "\(refusal)")
        #expect(Self.faults(house, file).contains { $0.contains(expected) })
      } else {
        try house.put(draft)
        _ = try Self.apply(house, file)
      }
      let trackers = try await house.store.read { try $0.trackers(owner: getuid()) }
      #expect(trackers.map(\.fields.count) == (expected == nil ? [names.count, names.count] : []))
    }
    let pack = PackFileTests.after("[tracker.fields]\n" + lines)
    #expect(expected.map { text in pack.contains { $0.contains(text) } } ?? pack.isEmpty, "\(pack)")
    let day = try #require(CivilDate(year: 2_026, month: 3, day: 30))
    var tracker = Tracker(
      id: TrackerID(rawValue: "weight"), owner: 1, title: "Weight", kind: .measure, startedOn: day, createdAt: .earliest
    )
    tracker.unit = Unit("kg")
    tracker.fields = Dictionary(uniqueKeysWithValues: names.map { ($0, Unit("%")!) })
    var judge = BackupJudge { $0 }
    do {
      _ = try judge.tracker(tracker)
      #expect(expected == nil)
    } catch ControlFailure.invalidValue(_, let message) {
      #expect(expected.map { message.contains($0) } ?? false, "\(message)")
    }
  }
}
