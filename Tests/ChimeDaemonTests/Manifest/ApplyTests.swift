import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Applying sets of reminders to a daemon in this process.
@Suite(.serialized) struct ApplyTests {
  typealias Wired = RemindersInterface
  typealias Call = RemindersInterface.Apply

  private static func apply(
    _ daemon: TestDaemon, _ text: String, set: String? = nil, defaultSet: String? = "home", prune: Bool? = nil,
    dryRun: Bool? = nil, secrets: [Wired.SetSecret]? = [], plan: String? = nil
  ) throws -> Call.Reply {
    try daemon.call(
      Call(
        files: [.init(name: "a.toml", text: text)], set: set, defaultSet: defaultSet, prune: prune, dryRun: dryRun,
        secrets: secrets, plan: plan))
  }

  private static func faults(_ daemon: TestDaemon, _ files: [(String, String)]) -> [String] {
    guard
      let refusal = daemon.refusal(
        Call(files: files.map { .init(name: $0.0, text: $0.1) }, defaultSet: "home", secrets: [])),
      let set = try? JSONReader.read(Wired.InvalidSet.self, from: refusal.parameters.bytes)
    else { return ["no faults"] }
    return set.faults.map { "\($0.file):\($0.line):\($0.column): \($0.key): \($0.message)" }
  }

  private static func export(_ daemon: TestDaemon) throws -> String {
    try daemon.call(Wired.Export(format: "toml")).text
  }

  private static func generations(_ daemon: TestDaemon) async throws -> [String: Int64] {
    try await daemon.store.read { transaction in
      Dictionary(
        uniqueKeysWithValues: try transaction.reminders(ReminderFilter(), page: Page(limit: 1_000)).map {
          ($0.reminder.id.rawValue, $0.reminder.generation)
        })
    }
  }

  private static func summary(_ reply: Call.Reply) -> [String] {
    reply.changes.map { change in
      "\(change.action) \(change.kind) \(change.id ?? "?") \(change.title ?? "-"): "
        + change.fields.map { "\($0.name) \($0.old ?? "nil") \($0.new ?? "nil")" }.joined(separator: "; ")
    }
  }

  /// A faulty field gives the same message from a client, a batch, an edit, a file and a backup.
  @Test func reminderFaultHasTheSameMessageFromEverySource() async throws {
    let faults: [(line: String, change: Wired.Draft, spoil: (inout Reminder) -> Void, message: String)] = [
      (
        "url = \"nonsense\"", .init(url: "nonsense"), { $0.url = "nonsense" },
        "'nonsense' is not a link: give one such as https://example.org"
      ),
      (
        "icon = \"a\\u0007\"", .init(icon: "a\u{7}"), { $0.icon = "a\u{7}" }, "the icon has a control character (U+7)"
      ),
      (
        "channels = [\"a b\"]", .init(channels: ["a b"]), { $0.channels = [ChannelName(rawValue: "a b")] },
        "'a b' is not a channel: give desktop, or the name of an endpoint or a command"
      ),
      ("tags = [\" \"]", .init(tags: [" "]), { $0.tags = [" "] }, "the tags is empty"),
      (
        "snooze = [\"1ms\"]", .init(snooze: ["PT0.001S"]), { $0.snoozeLengths = [Milliseconds(rawValue: 1)] },
        "it must be from 1s"
      ),
      ("grace = \"0s\"", .init(grace: "PT0S"), { $0.grace = .zero }, "it must be from 1s"),
      (
        "nag = { every = \"5m\", max = 2, escalation = [{ from = 3, channels = [\"desktop\"] }] }",
        .init(nag: .init(every: "PT5M", max: 2, escalation: [.init(from: 3, channels: ["desktop"])])),
        { $0.nag = Nag(every: .minutes(5), max: 2, escalation: [.init(from: 3, channels: [.desktop])]) },
        "there is no repeat 3 to add channels to: there are repeats 1 to 2"
      ),
    ]
    try await TestDaemon.run { daemon in
      _ = try Self.apply(daemon, "[[reminder]]\nid = \"tea\"\ntitle = \"Tea\"\nwhen = \"daily at 9:00\"\n")
      let stored = try await daemon.store.read { try $0.reminders(ReminderFilter(), page: Page(limit: 1)) }
      let known = try #require(stored.first).reminder
      for (line, change, spoil, message) in faults {
        var draft = change
        (draft.title, draft.when) = ("Tea", "daily at 9:00")
        let field = try #require(line.split(separator: " ").first.map(String.init))
        let added = try #require(daemon.refusal(Wired.Add(reminder: draft)))
        let said = added.text("message")
        #expect(said.hasPrefix(message) && added.text("field") == field, "\(added)")
        let changed = try #require(daemon.refusal(Wired.Update(id: "tea", change: change)))
        #expect(changed.text("message") == said && changed.text("field") == field, "\(changed)")
        let many = try #require(daemon.refusal(Wired.AddMany(reminders: [draft])))
        #expect(
          many.parameters["faults"] == [["index": 0, "field": .string(field), "message": .string(said)]], "\(many)")
        let file = "[[reminder]]\nid = \"tea\"\ntitle = \"Tea\"\nwhen = \"daily at 9:00\"\n\(line)\n"
        let found = Self.faults(daemon, [("a.toml", file)])
        #expect(
          found.map { $0.hasPrefix("a.toml:5:") && $0.hasSuffix(": was rejected: \(said)") } == [true], "\(found)")
        var spoilt = known
        spoil(&spoilt)
        do {
          _ = try ReminderFields(
            context: ReminderContext(zones: ZoneCatalog()), configuration: Configuration(), now: known.createdAt
          )
          .judged(spoilt)
          Issue.record("\(line) is restored")
        } catch ControlFailure.invalidValue(let judged, let sentence) {
          #expect(judged == field && sentence == said)
        }
      }
    }
  }

  /// The same for an endpoint.
  @Test func endpointFaultHasTheSameMessageFromEverySource() async throws {
    typealias Settings = EndpointsInterface.Settings
    let faults: [(line: String, wire: Settings, isBuffered: EndpointSettings, message: String)] = [
      (
        "concurrency = 65", .init(concurrency: 65), .init(concurrency: 65), "give a number from 1 to 64"
      ),
      (
        "rate = \"0/1m\"", .init(rate: .init(count: 0, span: "PT1M")), .init(rate: .init(count: 0, span: .minutes(1))),
        "give a number of messages from 1 to 10000"
      ),
      (
        "rate = \"5/2d\"", .init(rate: .init(count: 5, span: "P2D")), .init(rate: .init(count: 5, span: .days(2))),
        "it must be from 1s to 1d"
      ),
      (
        "headers = [\"Host: a\"]", .init(headers: [.init(name: "Host", value: "a")]),
        .init(headers: [.init(name: "Host", value: "a")]), "Chime itself sets the header Host: leave it out"
      ),
      ("template = \"{\"", .init(template: "{"), .init(template: "{"), "the template is not JSON"),
      ("certificates = \"x\"", .init(certificates: "x"), .init(certificates: "x"), ""),
    ]
    try await TestDaemon.run { daemon in
      for (line, wire, kept, message) in faults {
        let field = try #require(line.split(separator: " ").first.map(String.init))
        let put = try #require(
          daemon.refusal(EndpointsInterface.Put(name: "team", url: "https://example.org/", settings: wire)))
        let said = put.text("message")
        #expect(said.hasPrefix(message) && !said.isEmpty && put.text("field") == field, "\(put)")
        let file = "[[endpoint]]\nname = \"team\"\nurl = \"https://example.org/\"\n\(line)\n"
        let found = Self.faults(daemon, [("a.toml", file)])
        #expect(found.contains { $0.hasPrefix("a.toml:4:") && $0.hasSuffix(": was rejected: \(said)") }, "\(found)")
        do {
          var judge = BackupJudge { $0 }
          _ = try judge.endpoint(
            Endpoint(
              queue: DeliveryQueue(owner: 1, channel: ChannelName(rawValue: "team")), url: "https://example.org/",
              settings: kept,
              createdAt: Instant(seconds: 0)))
          Issue.record("\(line) is restored")
        } catch ControlFailure.invalidValue(let judged, let sentence) {
          #expect(judged == field && sentence == said)
        }
      }
    }
  }

  @Test func manualListsExactlyTheKeys() throws {
    let root = URL(filePath: Package.folder)
    let manual = try String(contentsOf: root.appending(path: "docs/apply.md"), encoding: .utf8)
    for (table, keys) in [
      ("reminder", ManifestReader.own + ManifestReader.shared), ("endpoint", ManifestReader.endpointKeys),
      ("tracker", ManifestReader.ownTrackerKeys + ManifestReader.trackerKeys),
    ] {
      let parts = manual.components(separatedBy: "| key of `[[\(table)]]` | |\n|---|---|\n")
      let rows = try #require(parts.dropFirst().first?.components(separatedBy: "\n\n").first)
      for key in keys { #expect(rows.contains("`\(key)`"), "\(table).\(key)") }
      for row in rows.components(separatedBy: "\n") {
        let names = try #require(row.split(separator: "|").first).split(separator: "`").map(String.init)
        for name in names where name.contains(where: \.isLetter) { #expect(keys.contains(name), "\(table).\(name)") }
      }
    }
  }

  @Test func remindersAreAddedChangedAndLeftAlone() async throws {
    try await TestDaemon.run { daemon in
      let text = """
        [[reminder]]
        id = "water"
        title = "Drink water"
        when = "every 90m from 8:00 to 22:00"
        [[reminder]]
        title = "Free"
        when = "every 90m"
        [[reminder]]
        title = "Long ago"
        when = "at 2020-01-01 09:00"
        """
      let dry = try Self.apply(daemon, text, dryRun: true)
      #expect(dry.changes.map(\.action) == [.add, .add])
      let none = try await Self.generations(daemon)
      #expect(none.isEmpty, "a dry run adds nothing")
      let first = try Self.apply(daemon, text, plan: dry.plan)
      #expect(first.changes.map(\.id).contains("water"))
      #expect(first.warnings == ["a.toml:8: \"Long ago\" is in the past and is left out"])
      let before = try await Self.generations(daemon)
      #expect(before.count == 2)

      // A second apply changes nothing, even for schedules that got a start when they were added.
      let second = try Self.apply(daemon, text)
      #expect(second.changes.isEmpty)
      #expect(second.unchanged == 2)
      #expect(try await Self.generations(daemon) == before)

      let changed = try Self.apply(daemon, text.replacing("8:00 to 22:00", with: "9:00 to 22:00"))
      #expect(
        Self.summary(changed) == [
          #"change reminder water Drink water: when "every 90m from 08:00 to 22:00" "every 90m from 09:00 to 22:00""#
        ])
      #expect(try await Self.generations(daemon)["water"] == (before["water"] ?? 0) + 1)
      // Manual changes revert to the file; fields not in the file revert to their defaults.
      let _: Wired.Update.Reply = try daemon.call(
        Wired.Update(id: "water", change: .init(tags: ["mine"], urgency: .low)))
      let back = try Self.apply(daemon, text.replacing("8:00 to 22:00", with: "9:00 to 22:00"))
      #expect(
        Self.summary(back) == [#"change reminder water Drink water: tags ["mine"] []; urgency "low" "normal""#])
    }
  }

  @Test func applyRefusesAPlanThatIsOutdated() async throws {
    try await TestDaemon.run { daemon in
      let text = "[[reminder]]\nid = \"tea\"\ntitle = \"Tea\"\nwhen = \"daily at 9:00\"\n"
      let dry = try Self.apply(daemon, text, dryRun: true)
      _ = try Self.apply(daemon, text)
      let refusal = daemon.refusal(
        Call(files: [.init(name: "a", text: text)], defaultSet: "home", secrets: [], plan: dry.plan))
      #expect(refusal?.name == "io.chime.Reminders.Conflict")
    }
  }

  @Test func pruneRemovesOnlyRemindersOfItsSet() async throws {
    try await TestDaemon.run { daemon in
      let one = "[[reminder]]\nid = \"one\"\ntitle = \"One\"\nwhen = \"daily at 9:00\"\n"
      let two = "[[reminder]]\nid = \"two\"\ntitle = \"Two\"\nwhen = \"daily at 10:00\"\n"
      let other = "[[reminder]]\nid = \"other\"\ntitle = \"Other\"\nwhen = \"daily at 11:00\"\n"
      _ = try Self.apply(daemon, one + two)
      _ = try Self.apply(daemon, other, defaultSet: "work")
      let byHand: Wired.Add.Reply = try daemon.call(
        Wired.Add(reminder: .init(title: "By hand", when: "daily at 12:00")))
      #expect(byHand.reminder.set == nil)

      let kept = try Self.apply(daemon, one)
      #expect((kept.changes.count, kept.notPruned) == (0, 1))
      let pruned = try Self.apply(daemon, one, prune: true)
      #expect(Self.summary(pruned) == [#"remove reminder two Two: when "daily at 10:00" nil"#])
      #expect(Set(try await Self.generations(daemon).keys) == ["one", "other", byHand.reminder.id])
      #expect(try Self.apply(daemon, one, prune: true).changes.isEmpty)

      // It returns under its id, although there is history.
      #expect(try Self.apply(daemon, one + two).changes.map(\.action) == [.add])
      // An empty file with --prune removes the set, and another set of the same name takes a reminder over.
      #expect(
        try Self.summary(Self.apply(daemon, one, defaultSet: "work")) == [
          #"change reminder one One: set "home" "work""#
        ])
      #expect(try Self.apply(daemon, "", prune: true).changes.map(\.id) == ["two"])
      let nameless = daemon.refusal(
        Call(files: [.init(name: "a", text: one)], prune: true, secrets: []))
      #expect(nameless?.text("field") == "set")
      // A reminder set by hand with the title of one in the file joins the set.
      let taken = try Self.apply(daemon, "[[reminder]]\ntitle = \"By hand\"\nwhen = \"daily at 12:00\"\n")
      #expect(taken.changes.map(\.id) == [byHand.reminder.id])
      #expect(taken.changes.first?.fields.map(\.name) == ["set"])
    }
  }

  @Test func endpointSecretsComeFromFiles() async throws {
    try await TestDaemon.run { daemon in
      let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
      let text = """
        [[endpoint]]
        name = "team"
        url = "http://127.0.0.1:9/hook"
        secretFile = "team.secret"
        headers = ["X-Priority: 5"]
        rate = "30/1m"
        inOrder = true
        """
      let asked = try Self.apply(daemon, text, dryRun: true, secrets: nil)
      #expect(asked.secretFiles == ["team.secret"])
      #expect(
        Self.faults(daemon, [("a.toml", text)]) == [
          "a.toml:4:14: endpoint[1].secretFile: names a file that does not exist: \"team.secret\""
        ])
      let given = [Wired.SetSecret(path: "team.secret", text: secret)]
      let added = try Self.apply(daemon, text, secrets: given)
      #expect(added.changes.map(\.id) == ["team"])
      #expect(
        added.fileUses == [
          .init(endpoint: "team", key: .secretFile, path: "team.secret", url: "http://127.0.0.1:9/hook")
        ])
      #expect(!"\(added)".contains("whsec_"), "no secret is in an answer")
      #expect(try Self.apply(daemon, text, secrets: given).changes.isEmpty)
      // If the file is missing, an endpoint keeps its secret.
      let kept = try Self.apply(daemon, text)
      #expect(kept.changes.isEmpty && kept.fileUses == nil, "what it has already is not asked about")
      #expect(kept.warnings == ["team.secret does not exist: the endpoint team keeps its present value"])
      let other = "whsec_" + Data(repeating: 8, count: 32).base64EncodedString()
      let replaced = try Self.apply(daemon, text, secrets: [.init(path: "team.secret", text: other)])
      #expect(Self.summary(replaced) == ["change endpoint team -: secret nil nil"])
      let exported = try Self.export(daemon)
      #expect(exported.contains("secretFile = \"team.secret\"\n") && !exported.contains("whsec_"))
      #expect(try Self.apply(daemon, exported, defaultSet: nil).changes.isEmpty)
      #expect(try Self.apply(daemon, "", prune: true).changes.map(\.kind) == [.endpoint])
      let left: EndpointsInterface.List.Reply = try daemon.call(EndpointsInterface.List())
      #expect(left.endpoints.isEmpty)
    }
  }

  /// A token is sent to the endpoint's address, so a changed address is reported, whether or not the set names the token.
  @Test func changedAddressOfATokenIsReported() async throws {
    try await TestDaemon.run { daemon in
      func text(_ url: String, file: Bool) -> String {
        "[[endpoint]]\nname = \"phone\"\nurl = \"\(url)\"\ntemplate = \"gotify\"\n"
          + (file ? "tokenFile = \"~/token\"\n" : "")
      }
      let (here, there) = ("https://push.example.org/message", "https://stranger.example/message")
      let given = [Wired.SetSecret(path: "~/token", text: "AbCdEfGh1234567")]
      let first = try Self.apply(daemon, text(here, file: true), secrets: given)
      #expect(first.fileUses == [.init(endpoint: "phone", key: .tokenFile, path: "~/token", url: here)])
      #expect(!"\(first)".contains("AbCdEf"), "no token is in an answer")
      #expect(try Self.apply(daemon, text(here, file: true), secrets: given).fileUses == nil)
      let moved = try Self.apply(daemon, text(there, file: false), dryRun: true)
      #expect(moved.fileUses == [.init(endpoint: "phone", key: .tokenFile, url: there)])
      let named = try Self.apply(daemon, text(there, file: true), dryRun: true, secrets: given)
      #expect(named.fileUses == [.init(endpoint: "phone", key: .tokenFile, url: there)])
    }
  }

  /// An email endpoint with a log-in: the set names the password's file, the password goes to the server, and it is
  /// removed with the user name.
  @Test func emailPasswordComesFromAFile() async throws {
    try await TestDaemon.run { daemon in
      func text(_ more: String, via: String = "smtps://mail.example.org") -> String {
        "[[endpoint]]\nname = \"me\"\nurl = \"mailto:ann@example.org\"\nvia = \"\(via)\"\n"
          + "from = \"chime@example.org\"\n" + more
      }
      let login = "user = \"ann\"\ntokenFile = \"~/password\"\n"
      let given = [Wired.SetSecret(path: "~/password", text: "s3cret-password\n")]
      let faults = Self.faults(daemon, [("a.toml", text("user = \"ann\"\n"))])
      #expect(faults.first?.contains("tokenFile: is missing") == true, "\(faults)")
      let first = try Self.apply(daemon, text(login), secrets: given)
      #expect(
        first.fileUses == [.init(endpoint: "me", key: .tokenFile, path: "~/password", url: "mailto:ann@example.org")])
      #expect(!"\(first)".contains("s3cret"), "no password is in an answer")
      #expect(try Self.apply(daemon, text(login), secrets: given).changes.isEmpty)
      let exported = try Self.export(daemon)
      #expect(exported.contains("user = \"ann\"\ntokenFile = \"me.token\"\n") && !exported.contains("secretFile"))
      #expect(try Self.apply(daemon, exported, defaultSet: nil).changes.isEmpty, "it keeps its shards")
      // Another server would receive the password.
      let moved = try Self.apply(daemon, text(login, via: "smtps://stranger.example"), dryRun: true, secrets: given)
      #expect(moved.fileUses == [.init(endpoint: "me", key: .tokenFile, url: "mailto:ann@example.org")])
      let pair = [Wired.SetSecret(path: "~/password", text: "one\ntwo\n")]
      #expect(throws: VarlinkClientError.self) { try Self.apply(daemon, text(login), secrets: pair) }
      // Without a user name there is no password.
      let without = try Self.apply(daemon, text(""), secrets: given)
      #expect(Self.summary(without) == ["change endpoint me -: user \"ann\" nil; token nil nil"])
      #expect(without.fileUses == nil)
      let left: EndpointsInterface.List.Reply = try daemon.call(EndpointsInterface.List())
      #expect(left.endpoints.first?.hasToken == false && left.endpoints.first?.problem == nil)
    }
  }

  /// Text values stay text in an export, and cannot inject other keys.
  @Test func exportQuotesAnyText() async throws {
    try await TestDaemon.run { daemon in
      let way = "\n[[endpoint]]\nname = \"stranger\"\nurl = \"https://stranger.example/\"\ntokenFile = \"~/.netrc\"\n"
      var count = 0
      for joined in ["\u{600}", "\u{D4E}", "\u{301}", "\u{200D}", "\u{E0027}", "\u{202E}"] {
        for quotes in ["'''", "\"\"\"", "'", "\""] {
          let bodies = [
            "a\n\(joined)\(quotes)\(way)x = \(quotes)\(joined)", "a\n\(quotes)\(joined)\(way)", "a\n\(joined)\(quotes)",
          ]
          for body in bodies {
            let title = "Gym \(joined)\(quotes)\(joined)"
            let _: Wired.Add.Reply = try daemon.call(
              Wired.Add(reminder: .init(title: title, when: "daily at 9:00", body: body)))
            count += 1
          }
        }
      }
      let exported = try Self.export(daemon)
      let same = try Self.apply(daemon, exported, defaultSet: nil)
      #expect(same.changes.isEmpty && same.secretFiles.isEmpty && same.unchanged == count, "\(same.changes.prefix(3))")
      let all: Wired.List.Reply = try daemon.call(Wired.List(limit: 1_000))
      for reminder in all.reminders {
        let _: Wired.Remove.Reply = try daemon.call(Wired.Remove(id: reminder.id))
      }
      // On an empty daemon it restores the texts, and no endpoint.
      let back = try Self.apply(daemon, exported, defaultSet: nil)
      #expect(back.changes.count == count && back.changes.allSatisfy { $0.kind == .reminder })
      #expect(try Self.export(daemon) == exported)
    }
  }

  @Test func allFaultsAreReportedAtOnce() async throws {
    try await TestDaemon.run { daemon in
      let first = """
        colour = "blue"
        set = "a b"
        [defaults]
        grace = "soon"
        [[reminder]]
        id = "Water"
        title = "x"
        when = "evry 90m"
        [[reminder]]
        id = "tea"
        title = ""
        when = "in 25m"
        channel = ["desktop"]
        [[reminder]]
        id = "sun"
        title = "Sun"
        when = "every year on Feb 30 at 9:00"
        latitude = 50.1
        urgency = "high"
        snooze = ["10m", 5]
        nag = { every = "1s" }
        quietWhenDone = true
        paused = "tomorrow"
        [[reminder]]
        id = "twin"
        title = "Twin"
        when = "tomorrow at 9:00"
        timezone = "Europe/Pragu"
        tags = "health"
        [[endpoint]]
        name = "desktop"
        url = "ftp://x"
        secret = "whsec_AAAA"
        """
      let second = """
        [[reminder]]
        id = "twin"
        title = "Twin"
        when = "tomorrow at 9:00"
        tracker = "nothing"
        """
      let found = Self.faults(daemon, [("a.toml", first), ("b.toml", second), ("c.toml", "[[reminder\n")])
      let expected = [
        "a.toml:1:1: colour: is not a key of a set", "a.toml:2:7: set: must be a name of 1 to 64",
        "a.toml:4:9: defaults.grace: must be a duration", "a.toml:6:6: reminder[Water].id: must be a name",
        "a.toml:8:8: reminder[Water].when: is not a schedule", "a.toml:11:9: reminder[tea].title: must be a string",
        "a.toml:12:8: reminder[tea].when: counts from the moment",
        "a.toml:13:1: reminder[tea].channel: is not a key of a reminder; did you mean channels?",
        "a.toml:18:12: reminder[sun].latitude: is incomplete",
        "a.toml:19:11: reminder[sun].urgency: must be one of", "a.toml:20:18: reminder[sun].snooze[2]: must be",
        "a.toml:21:7: reminder[sun].nag: was rejected",
        "a.toml:22:1: reminder[sun].quietWhenDone: needs a tracker",
        "a.toml:23:10: reminder[sun].paused: must be true, false",
        "a.toml:28:12: reminder[twin].timezone: was rejected",
        "a.toml:29:8: reminder[twin].tags: must be an array",
        "a.toml:31:8: endpoint[1].name: must be", "a.toml:32:7: endpoint[1].url: was rejected",
        "a.toml:33:1: endpoint[1].secret: does not belong into this file",
        "b.toml:2:6: reminder[twin].id: is the id of another reminder too, at a.toml:24",
        "b.toml:4:8: reminder[twin].when: counts from the moment",
        "b.toml:5:11: reminder[twin].tracker: was rejected: there is no tracker",
        "c.toml:1:11: : invalid TOML",
      ]
      for sentence in expected {
        #expect(found.contains { $0.hasPrefix(sentence) }, "\(sentence) is not among \(found.joined(separator: "\n"))")
      }
      #expect(!found.joined().contains("whsec_"))
      #expect(found.count == expected.count, "\(found.filter { text in !expected.contains { text.hasPrefix($0) } })")
      let none = try await Self.generations(daemon)
      #expect(none.isEmpty)
      // With everything else correct, faults that only the daemon knows are reported in the same way.
      #expect(
        Self.faults(daemon, [("b.toml", second.replacing("tomorrow at 9:00", with: "daily at 9:00"))]).first?
          .hasPrefix("b.toml:5:11: reminder[twin].tracker: was rejected: there is no tracker \"nothing\"") == true)
    }
  }

  /// Random reminders of every dialect, with every option.
  @Test(arguments: [UInt64(1), 2, 3])
  func appliedExportReproducesReminders(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let zone = ZoneChoice.named("Europe/Prague")
    let schedules = [
      "every 90m from 08:00 to 22:00", "weekdays at 09:25", "every 3 days after done at 09:00 starting 2026-11-25",
      "every 90m starting 2026-11-22T08:09:23Z", "at 2126-12-24 18:00", "cron: 30 8 * * 1-5",
      "calendar: Mon *-*-* 10:00:00",
      "DTSTART:20261122T063923 RRULE:FREQ=DAILY;INTERVAL=3", "sunset - 20m", "first mon of month at 9:00",
    ]
    func some<T>(_ make: @autoclosure () throws -> T) rethrows -> T? {
      Bool.random(using: &random) ? try make() : nil
    }
    func text(_ most: Int) -> String {
      let letters = Array("aZ9 \"\\'#=[]{}é水💧\u{202E}%")
      return "t"
        + String(
          (0..<Int.random(in: 1...most, using: &random)).map { _ in letters.randomElement(using: &random) ?? "x" })
        + "t"
    }
    func span(_ unit: Milliseconds) -> Milliseconds {
      .init(rawValue: unit.rawValue * Int64.random(in: 1...11, using: &random))
    }
    var reminders: [Reminder] = []
    for number in 0..<60 {
      let place = Place(latitude: Double.random(in: -60...60, using: &random), longitude: 14.4213)
      let now = Instant(seconds: 1_795_000_000)
      let when = schedules[number % schedules.count]
      let schedule = try Schedule.parse(when, now: now, in: ScheduleContext(zone: .utc, place: place))
      let rule = QuietRule.Handling.allCases.randomElement(using: &random)
      let quiet = QuietRule(
        hours: try some(QuietHours(["mon-fri 22:00-07:00", "12:00-13:00"])), handling: some(rule) ?? nil)
      var reminder = Reminder(
        id: ReminderID(rawValue: "r\(number)"), owner: getuid(), title: text(30),
        body: some(text(20) + "\n\t" + text(20)), schedule: schedule, timezone: some(zone) ?? .local,
        gap: some(.skip), fold: some(.both), place: place,
        channels: some([.desktop, ChannelName(rawValue: "team")]) ?? [.desktop],
        tags: some([text(5), text(6)]) ?? [], urgency: Urgency.allCases.randomElement(using: &random) ?? .low,
        icon: some(text(9)), sound: some("bell"), url: some("https://example.org/?a=1&b=\"/"), location: some(text(9)),
        category: some("x.y"),
        catchUp: CatchUp(suspend: some(.all) ?? .latest, downtime: some(.skip) ?? .latest), grace: span(.seconds(77)),
        jitter: some(span(.minutes(3))) ?? .zero,
        nag: some(
          Nag(
            every: span(.minutes(5)), max: 4,
            escalation: some([.init(from: 2, channels: [ChannelName(rawValue: "team")])]) ?? [])),
        quiet: quiet == QuietRule() ? nil : quiet, wake: Bool.random(using: &random), stay: Bool.random(using: &random),
        snoozeLengths: some([span(.minutes(1)), span(.hours(1))]) ?? [.minutes(10), .hours(1)],
        pause: some(.indefinitely) ?? .until(Instant(seconds: 4_000_000_000)), createdAt: now, generation: 3)
      if Bool.random(using: &random) { reminder.pause = .none }
      reminders.append(reminder)
    }
    let all = reminders
    try await TestDaemon.run { daemon in
      try await daemon.store.write { transaction in
        for reminder in all { try transaction.upsert(reminder, next: Instant(seconds: 4_000_000_000)) }
      }
      let exported = try Self.export(daemon)
      let before = try await Self.generations(daemon)
      let again = try Self.apply(daemon, exported, defaultSet: nil)
      #expect(again.changes.isEmpty, "\(Self.summary(again))")
      #expect(again.unchanged == all.count)
      #expect(try await Self.generations(daemon) == before)
      try await TestDaemon.run({
        $0.grace = .minutes(7); $0.defaultChannels = [ChannelName(rawValue: "other")]
      }) { empty in
        _ = try Self.apply(empty, exported, defaultSet: nil)
        #expect(try Self.export(empty) == exported)
        let kept = try await empty.store.read { try $0.reminder(ReminderID(rawValue: "r7"))?.reminder }
        var wanted = all[7]
        (wanted.createdAt, wanted.generation) = (try #require(kept).createdAt, 1)
        #expect(kept == wanted)
      }
    }
  }
}
