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
    _ daemon: TestDaemon, _ text: String, prune: Bool? = nil, dryRun: Bool? = nil, packs: [Wired.SetSecret]? = [],
    entries: Bool? = nil, defaultSet: String = "home"
  ) throws -> Call.Reply {
    try daemon.call(parameters(text, prune, dryRun, packs, entries, defaultSet))
  }

  private static func parameters(
    _ text: String, _ prune: Bool? = nil, _ dryRun: Bool? = nil, _ packs: [Wired.SetSecret]? = [],
    _ entries: Bool? = nil, _ defaultSet: String = "home"
  ) -> Call {
    Call(
      files: [.init(name: "a.toml", text: text)], defaultSet: defaultSet, prune: prune, dryRun: dryRun, secrets: [],
      packs: packs, entries: entries)
  }

  private static func faults(_ daemon: TestDaemon, _ text: String, packs: [Wired.SetSecret] = []) -> [String] {
    guard let refusal = daemon.refusal(parameters(text, nil, nil, packs)),
      let set = try? JSONReader.read(Wired.InvalidSet.self, from: refusal.parameters.bytes)
    else { return ["no faults"] }
    return set.faults.map { "\($0.file):\($0.line):\($0.column): \($0.key): \($0.message)" }
  }

  private static func entries(_ daemon: TestDaemon) async throws -> Int {
    try await daemon.store.read { try $0.entryCount(EntryFilter(owner: getuid())) }
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
    try await TestDaemon.run { daemon in
      // A reminder may refer to a tracker in the same file, even in a dry run.
      let dry = try Self.apply(daemon, Self.reading, dryRun: true)
      #expect(dry.changes.map(\.kind) == [.tracker, .reminder])
      #expect(try await daemon.trackers().isEmpty)
      let first = try Self.apply(daemon, Self.reading)
      let start = try #require(await daemon.trackers()["reading"]).startedOn
      #expect(
        TestDaemon.summary(first)[0]
          == #"add tracker reading: title nil "Reading"; kind nil "amount"; unit nil "pages"; goal nil "20 pages"; "#
          + #"usual nil "10 pages"; days nil "mon,wed,fri"; start nil "\#(start)""#
      )
      try daemon.log("reading", 12)
      let before = try await daemon.trackers()
      #expect(before["reading"]?.set == "home")
      let second = try Self.apply(daemon, Self.reading)
      #expect((second.changes.count, second.unchanged) == (0, 2))
      #expect(try await daemon.trackers() == before)

      let more = Self.reading.replacing("20 pages", with: "30 pages").replacing("days = \"mon,wed,fri\"\n", with: "")
      #expect(
        try TestDaemon.summary(Self.apply(daemon, more)) == [
          #"change tracker reading: goal "20 pages" "30 pages"; days "mon,wed,fri" "every day""#
        ])
      // Fields that the file does not manage keep their values.
      let _: Trackers.Put.Reply = try daemon.call(
        Trackers.Put(tracker: .init(id: "reading", pauses: [.init(from: "2026-01-01", to: "2026-01-09")])))
      #expect(try Self.apply(daemon, more).changes.isEmpty)
      #expect(try await Self.entries(daemon) == 1)
      #expect(try await daemon.trackers()["reading"]?.pauses.count == 1)
    }
  }

  @Test func entriesAreRemovedOnlyOnRequest() async throws {
    try await TestDaemon.run { daemon in
      let other = "[[tracker]]\nid = \"walk\"\nkind = \"check\"\n"
      _ = try Self.apply(daemon, Self.reading + other)
      try daemon.water()
      try daemon.log("reading", 12)
      try daemon.log("reading", 3)
      let left = try Self.apply(daemon, "")
      #expect((left.changes.count, left.notPruned) == (0, 3))
      let dry = try Self.apply(daemon, "", prune: true, dryRun: true)
      #expect(dry.changes.filter { $0.kind == .tracker }.map(\.records) == [2, nil])
      let refusal = daemon.refusal(Self.parameters("", true))
      #expect(refusal?.name == "io.chime.Reminders.Conflict")
      #expect(refusal?.text("message").hasPrefix("reading has 2 entries") == true)
      #expect(Set(try await daemon.trackers().keys) == ["reading", "walk", "water"], "nothing was changed")

      // A tracker without entries is pruned like a reminder; those made by hand stay.
      let pruned = try Self.apply(daemon, Self.reading, prune: true)
      #expect(TestDaemon.summary(pruned) == ["remove tracker walk: "])
      _ = try Self.apply(daemon, "", prune: true, entries: true)
      #expect(Set(try await daemon.trackers().keys) == ["water"])
      #expect(try await Self.entries(daemon) == 0)
      let _: Trackers.Undo.Reply = try daemon.call(Trackers.Undo())
      #expect(try await Self.entries(daemon) == 2)
      #expect(try await daemon.trackers()["reading"]?.set == "home")
    }
  }

  @Test func packsAreAppliedWithTheirChanges() async throws {
    try await TestDaemon.run { daemon in
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
      let first = try Self.apply(daemon, own)
      #expect(
        TestDaemon.summary(first) == [
          #"add pack hydration: language nil "cs"; tracker.water.goal nil "2000 ml"; "#
            + #"reminder.drink nil "every 2h from 09:00 to 21:00"; reminder.drink.channels nil ["phone"]; "#
            + #"reminder.drink.logs nil "330 ml""#
        ])
      #expect(first.warnings.count == 1 && first.warnings[0].contains("phone"))
      let drink = try await daemon.store.read { try $0.reminder(ReminderID(rawValue: "drink"))?.reminder }
      #expect(drink?.title == "Čas na sklenici vody" && drink?.set == "home")
      #expect(drink?.tracker?.followsEntries == true && drink?.tracker?.amount == Quantity(330, .known["ml"]!))
      try daemon.log("water", 250)
      #expect(try Self.apply(daemon, own).changes.isEmpty)
      // A pack's reminder is not pruned, and cannot be declared beside the pack.
      #expect(try Self.apply(daemon, own, prune: true).changes.isEmpty)
      let twice = Self.faults(daemon, own + "[[reminder]]\nid = \"drink\"\ntitle = \"x\"\nwhen = \"daily at 9:00\"\n")
      #expect(twice.first?.contains(": reminder[drink].id: is the id of a reminder of the pack hydration") == true)

      // Settings not in the file revert to the pack's, even if changed by hand.
      let back = try Self.apply(daemon, plain)
      #expect(
        TestDaemon.summary(back) == [
          #"change pack hydration: tracker.water.goal "2000 ml" "2500 ml"; "#
            + #"reminder.drink.when "every 2h from 09:00 to 21:00" "every 90m from 08:00 to 22:00"; "#
            + #"reminder.drink.channels ["phone"] ["desktop"]; reminder.drink.logs "330 ml" true"#
        ])
      let _: Trackers.Put.Reply = try daemon.call(Trackers.Put(tracker: .init(id: "water", goal: .init(total: 9_000))))
      #expect(
        try TestDaemon.summary(Self.apply(daemon, plain)) == [
          #"change pack hydration: tracker.water.goal "9000 ml" "2500 ml""#
        ])
      // An unwanted reminder is removed.
      let without = try Self.apply(daemon, plain + "reminder.drink = false\n")
      #expect(
        TestDaemon.summary(without) == [#"change pack hydration: reminder.drink "every 90m from 08:00 to 22:00" nil"#]
      )
      #expect(try Self.apply(daemon, plain + "reminder.drink = false\n").changes.isEmpty)

      let refusal = daemon.refusal(Self.parameters("", true))
      #expect(refusal?.name == "io.chime.Reminders.Conflict")
      let gone = try Self.apply(daemon, "", prune: true, entries: true)
      #expect(gone.changes.map(\.records) == [1])
      #expect(try await daemon.trackers().isEmpty)
    }
  }

  @Test func customPacksComeFromFilesBesideTheManifest() async throws {
    try await TestDaemon.run { daemon in
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
      let asked = try Self.apply(daemon, text, dryRun: true, packs: nil)
      #expect((asked.packFiles, asked.changes.count) == (["books.toml"], 0))
      #expect(
        Self.faults(daemon, text) == ["a.toml:3:8: pack[books].file: names a file that does not exist: \"books.toml\""])
      let wrong = Self.faults(
        daemon, text, packs: [.init(path: "books.toml", text: pack.replacing("daily", with: "dayly"))])
      #expect(wrong.count == 1 && wrong[0].hasPrefix("books.toml:13:8: reminder[evening].when: "), "\(wrong)")
      let inTheFolder = Self.faults(daemon, pack)
      #expect(
        inTheFolder.count == 1 && inTheFolder[0].contains("pack: makes this the file of a pack"), "\(inTheFolder)")
      let given = [Wired.SetSecret(path: "books.toml", text: pack)]
      #expect(try Self.apply(daemon, text, packs: given).changes.map(\.action) == [.add])
      #expect(try Self.apply(daemon, text, packs: given).changes.isEmpty)
      let kept = try Self.apply(daemon, text)
      #expect((kept.changes.count, kept.warnings) == (0, ["books.toml does not exist: the pack books stays as it is"]))
      let newer = [Wired.SetSecret(path: "books.toml", text: pack.replacing("Some pages", with: "Twenty pages"))]
      #expect(try TestDaemon.summary(Self.apply(daemon, text, packs: newer)) == ["change pack books: content nil nil"])
      let exported = try daemon.exported()
      #expect(exported.contains("file = \"books.toml\"\n"))
      #expect(try Self.apply(daemon, exported).changes.isEmpty)
    }
  }

  @Test func everyFaultIsReportedWithItsPosition() async throws {
    try await TestDaemon.run { daemon in
      try daemon.water()
      try daemon.log("water", 250)
      let _: Trackers.InstallPack.Reply = try daemon.call(Trackers.InstallPack(name: "weight"))
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
      let found = Self.faults(daemon, text)
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
          daemon,
          "[[tracker]]\nid = \"water\"\nkind = \"check\"\n"
            + "[[tracker]]\nid = \"weight\"\nkind = \"measure\"\nunit = \"kg\"\n"
        )
        .map { String($0.prefix(60)) }
          == [
            "a.toml:3:8: tracker[water].kind: cannot change: the tracker i",
            "a.toml:5:6: tracker[weight].id: is a tracker of the pack weigh",
          ].map { String($0.prefix(60)) })
      #expect(
        Self.faults(daemon, "[[tracker]]\nid = \"water\"\nkind = \"amount\"\nunit = \"cups\"\n") == [
          "a.toml:4:8: tracker[water].unit: must convert to ml, the unit of the existing entries"
        ])
      let pack = "[[reminder]]\ntitle = \"Sip\"\nwhen = \"daily at 9:00\"\ntracker = \"morning\"\n"
      #expect(Self.faults(daemon, pack).first?.contains("[[pack]] name = \"adkhar\" in the file adds it") == true)
    }
  }

  /// A file may list amounts in any order; a backup of them is restored.
  @Test func presetsOfAFileAreSorted() async throws {
    try await TestDaemon.run { daemon in
      _ = try Self.apply(
        daemon,
        """
        [[tracker]]
        id = "water"
        title = "Water"
        kind = "amount"
        unit = "ml"
        presets = ["500 ml", "250 ml"]
        """)
      let water = try await daemon.store.read { try $0.trackers(owner: getuid()).first }
      #expect(water?.presets.map(\.grains) == water?.presets.map(\.grains).sorted() && water?.presets.count == 2)
      #expect(try BackupTests.restore(daemon, daemon.backup(), dryRun: true).trackers == 1)
    }
  }

  /// A faulty setting gives the same message from a client, a file, a pack and a backup.
  @Test func trackerFaultHasTheSameMessageFromEverySource() async throws {
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
    try await TestDaemon.run { daemon in
      for (line, draft, message) in faults {
        let key = try #require(line.split(separator: " ").first)
        var draft = draft
        (draft.kind, draft.unit) = (.amount, "pages")
        let refusal = try #require(daemon.refusal(Trackers.Put(tracker: draft)))
        #expect(refusal.text("message") == message && key.hasPrefix(refusal.text("field").prefix(4)), "\(refusal)")
        let place = "5:\(key.count + 4) tracker[book].\(key): was rejected: \(message)"
        #expect(Self.faults(daemon, head + line + "\n") == ["a.toml:" + place.replacing(" tracker", with: ": tracker")])
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
        _ = try Self.apply(daemon, head + "presets = \(line)\n")
        try daemon.put(.init(id: "other", kind: .amount, unit: "pages", presets: presets))
        let trackers = try await daemon.store.read { try $0.trackers(owner: getuid()) }
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
    ] as [([String], String?)]) func everySourceHasTheSameBounds(_ names: [String], _ fault: String?) async throws
  {
    let long = names.contains { $0.utf8.count > 32 }
    let expected = fault ?? (long ? "is not a name: give 1 to 32 letters, digits and -, such as bodyFat" : nil)
    let lines = names.map { "\"\($0)\" = \"%\"\n" }.joined()
    try await TestDaemon.run { daemon in
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
        let refusal = try #require(daemon.refusal(Trackers.Put(tracker: draft)))
        #expect(refusal.text("message").contains(expected), "\(refusal)")
        #expect(Self.faults(daemon, file).contains { $0.contains(expected) })
      } else {
        try daemon.put(draft)
        _ = try Self.apply(daemon, file)
      }
      let trackers = try await daemon.store.read { try $0.trackers(owner: getuid()) }
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
