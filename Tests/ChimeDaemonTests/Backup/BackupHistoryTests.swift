import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// The other parts of a backup: history, secrets, and configuration.
@Suite(.serialized)
struct BackupHistoryTests {
  private typealias Wired = TrackersInterface
  private typealias Reminders = RemindersInterface
  private typealias Occurrences = OccurrencesInterface

  private static func history(_ daemon: TestDaemon) throws -> [String] {
    try daemon.call(Occurrences.List()).occurrences.map {
      "\($0.title) \($0.scheduledAt) \($0.state) \(String(describing: $0.snoozedUntil))"
    }
  }

  private static func restore(
    _ daemon: TestDaemon, _ backup: [UInt8], dryRun: Bool? = nil, passphrase: String? = nil
  ) throws -> Wired.Restore.Reply {
    try daemon.upload(backup, as: "backup")
    return try daemon.call(Wired.Restore(upload: "backup", dryRun: dryRun, passphrase: passphrase))
  }

  /// Creates a done, a snoozed and an open occurrence, and one whose reminder is gone.
  private static func makeHistory(_ daemon: TestDaemon) throws {
    func add(_ title: String, _ when: String) throws -> String {
      try daemon.call(Reminders.Add(reminder: .init(title: title, when: when))).reminder.id
    }
    for (title, when) in [
      ("Done", "daily at 9:00"), ("Snoozed", "daily at 9:00"), ("Waits", "in 366d"), ("Gone", "daily at 9:00"),
    ] {
      let id = try add(title, when)
      _ = try daemon.call(Occurrences.Fire(id: id))
      switch title {
      case "Done": _ = try daemon.call(Occurrences.Done(id: id))
      case "Snoozed": _ = try daemon.call(Occurrences.Snooze(id: id, length: "P2D"))
      case "Gone":
        _ = try daemon.call(Occurrences.Done(id: id))
        _ = try daemon.call(Reminders.Remove(id: id))
      default: break
      }
    }
  }

  @Test(arguments: [false, true]) func historyIsRestored(inMemory: Bool) async throws {
    var (backup, original): ([UInt8], [String]) = ([], [])
    try await TestDaemon.run { daemon in
      try Self.makeHistory(daemon)
      (backup, original) = (try daemon.backup(), try Self.history(daemon))
      #expect(original.count == 4)
      // Existing records stay: a later answer is kept.
      let waits = try #require(try daemon.call(Reminders.List()).reminders.first { $0.title == "Waits" })
      _ = try daemon.call(Occurrences.Dismiss(id: waits.id))
      let answered = try Self.history(daemon)
      #expect(try Self.restore(daemon, backup).notes == nil)
      #expect(try Self.history(daemon) == answered && answered != original)
    }
    try await TestDaemon.run(inMemory: inMemory) { [backup, original] daemon in
      let reply = try Self.restore(daemon, backup)
      #expect(reply.contents?.occurrences == 4 && reply.contents?.reminders == 3 && reply.notes == nil)
      #expect(try Self.history(daemon).sorted() == original.sorted())
      BackupTests.same(BackupTests.body(try daemon.backup()), BackupTests.body(backup))
      // Open occurrences can be answered here, snoozed ones fire again, and removed reminders stay removed.
      let health = try daemon.call(DaemonInterface.Status()).status
      #expect(health.openOccurrences == 2 && health.reminders == 3, "\(health)")
      let snoozed = try await daemon.store.read {
        try $0.reminders(ReminderFilter(), page: Page(limit: 9)).filter { $0.snoozedUntil != nil }
      }
      #expect(snoozed.map(\.reminder.title) == ["Snoozed"])
      _ = try daemon.call(Occurrences.Done(id: nil))
      // A second restore changes nothing.
      let once = try Self.history(daemon)
      _ = try Self.restore(daemon, backup)
      #expect(try Self.history(daemon) == once)
    }
  }

  @Test func pingsAreRestoredOnce() async throws {
    var backup: [UInt8] = []
    try await TestDaemon.run { daemon in
      _ = try daemon.call(Reminders.Add(reminder: .init(title: "job", when: "daily at 9:00", within: "PT1H")))
      _ = try daemon.call(ExpectationsInterface.Ping(id: "job", kind: .failed, status: 3, output: "no\nspace"))
      _ = try daemon.call(ExpectationsInterface.Ping(id: "job", durationMs: 12, output: "copied\nall"))
      backup = try daemon.backup()
    }
    try await TestDaemon.run { [backup] daemon in
      for _ in 1...2 {
        #expect(try Self.restore(daemon, backup).contents?.pings == 2)
        let found = try daemon.call(ExpectationsInterface.Get(id: "job"))
        #expect(found.pings.map(\.kind) == [.succeeded, .failed] && found.pings.map(\.status) == [nil, 3])
        // Only the newest ping's output is in a backup.
        #expect(found.pings.map(\.output) == ["copied\nall", nil] && found.pings[0].durationMs == 12)
        #expect(found.expectation.state == .up)
      }
      BackupTests.same(BackupTests.body(try daemon.backup()), BackupTests.body(backup))
    }
  }

  @Test func secretsAreRestoredOnlyWithThePassphrase() async throws {
    var (backup, without): ([UInt8], [UInt8]) = ([], [])
    let secret = "whsec_" + String(repeating: "B", count: 42) + "A="
    try await TestDaemon.run { daemon in
      _ = try daemon.call(
        EndpointsInterface.Put(name: "phone", url: "https://example.org/hook", secret: secret, token: "tk_mine"))
      backup = try daemon.backup(passphrase: "correct horse battery")
      without = try daemon.backup()
      #expect(!String(decoding: backup, as: UTF8.self).contains("whsec_"))
      #expect(throws: VarlinkClientError.self) { try daemon.backup(passphrase: "short") }
      // An existing secret is newer, and stays.
      _ = try daemon.call(EndpointsInterface.Put(name: "phone", url: "https://example.org/hook", newSecret: .hmac))
      let kept = try Self.restore(daemon, backup, passphrase: "correct horse battery")
      #expect(
        kept.notes == ["the endpoint phone keeps its present secret; the backup has another"],
        "\(kept.notes ?? [])")
    }
    #expect(!BackupTests.body(without).contains { $0.contains("secrets") })
    try await TestDaemon.run { [backup] daemon in
      for dryRun in [true, false] {
        try daemon.upload(backup, as: "backup")
        let refused = daemon.refusal(Wired.Restore(upload: "backup", dryRun: dryRun, passphrase: "another passphrase"))
        #expect(refused?.text("field") == "passphrase", "\(String(describing: refused))")
      }
      #expect(try daemon.call(EndpointsInterface.List()).endpoints.isEmpty, "nothing has changed")
      let closed = try Self.restore(daemon, backup)
      #expect(closed.contents?.secrets == 1 && closed.notes?.count == 2, "\(closed.notes ?? [])")
      #expect(
        closed.notes?.last
          == "the secrets of endpoints in the backup (1) stay encrypted: no passphrase was given")
      #expect(try daemon.call(EndpointsInterface.List()).endpoints[0].problem == "it has no secret")
      #expect(try Self.restore(daemon, backup, passphrase: "correct horse battery").notes == nil)
      #expect(try daemon.call(EndpointsInterface.List()).endpoints[0].problem == nil)
      let queue = DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone"))
      #expect(Secrets(folder: daemon.folder + "/secrets").text(of: queue) == "\(secret)\ntoken tk_mine\n")
      // A modified ciphertext is indistinguishable from a wrong passphrase.
      let text = String(decoding: backup, as: UTF8.self)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("{\"secrets\"") })
      #expect(!line.contains("example.org"))
    }
  }

  /// An email password is a secret: it is restored with the passphrase, and otherwise reported as missing.
  @Test func emailPasswordIsRestoredOnlyWithThePassphrase() async throws {
    var backup: [UInt8] = []
    try await TestDaemon.run { daemon in
      _ = try daemon.call(
        EndpointsInterface.Put(
          name: "me", url: "mailto:ann@example.org", token: "s3cret-password",
          settings: .init(via: "smtps://mail.example.org", from: "chime@example.org", user: "ann")))
      backup = try daemon.backup(passphrase: "correct horse battery")
      #expect(!String(decoding: backup, as: UTF8.self).contains("s3cret"))
    }
    try await TestDaemon.run { [backup] daemon in
      let closed = try Self.restore(daemon, backup)
      #expect(
        closed.notes?.first
          == "the backup does not have the token of me: give it with chime endpoint edit me --token-file FILE",
        "\(closed.notes ?? [])")
      func endpoint() throws -> EndpointsInterface.Endpoint { try daemon.call(EndpointsInterface.List()).endpoints[0] }
      #expect(try endpoint().problem?.contains("token") == true && endpoint().settings?.user == "ann")
      #expect(try Self.restore(daemon, backup, passphrase: "correct horse battery").notes == nil)
      #expect(try endpoint().problem == nil && endpoint().hasToken == true)
    }
  }

  private static let open = Occurrence(
    id: OccurrenceID(reminder: ReminderID(rawValue: "abcd"), scheduledAt: Instant(seconds: 1_000)), title: "Tea",
    owner: 0, state: .done, firedAt: Instant(seconds: 1_000), endedAt: Instant(seconds: 1_001), rounds: 1)

  /// A foreign file must describe a possible history.
  @Test(
    arguments: [
      ("\"done\":{}", "\"delivered\":{}", "its reminder is missing"),
      ("\"rounds\":1", "\"rounds\":-1", "it fired is invalid"),
      ("\"rounds\":1", "\"rounds\":1,\"repeatAt\":5000", "allows no repeat"),
      ("\"rounds\":1", "\"rounds\":1,\"missedRun\":{\"count\":0,\"through\":5000}", "was missed is invalid"),
      ("Tea", "T\\u0007a", "control character"),
      ("abcd", "../etc", "the id of a reminder is invalid"),
    ])
  func impossibleHistoryIsRefused(_ old: String, _ new: String, _ part: String) throws {
    let line = try BackupFormat.line("occurrence", Self.open, BackupFormat.encoder())
    #expect(try BackupReader.judge(line, judgeReminder: { $0 }).count == 1)
    let text = String(decoding: line, as: UTF8.self)
    let changed = text.replacing(old, with: new)
    #expect(changed != text, "\(text)")
    do {
      _ = try BackupReader.judge(Array(changed.utf8), judgeReminder: { $0 })
      Issue.record("\(changed) was taken")
    } catch ControlFailure.invalidFile(_, let message) {
      #expect(message.contains(part), "\(message)")
    }
  }

  @Test func configurationFilesStayInTheirFolder() {
    for name in ["chimed.toml", "chimed.toml.d/10-quiet.toml"] { #expect(ConfigurationFiles.isBackupName(name)) }
    for name in [
      "", "other.toml", "chimed.toml.d/../x.toml", "chimed.toml.d/.toml", "chimed.toml.d/a", "/etc/passwd",
      "chimed.toml.d/a b.toml", "chimed.toml.d/a\n.toml", "chimed.toml/x.toml",
    ] {
      #expect(!ConfigurationFiles.isBackupName(name), "\(name)")
    }
    #expect(ConfigurationFiles.path(ofBackup: "chimed.toml.d/a.toml", at: "/c/other.toml") == "/c/other.toml.d/a.toml")
  }

  @Test func configurationOfAnotherStoreIsNotRestored() {
    let here = Configuration()
    #expect(ConfigurationFiles.keepsStore([("chimed.toml", "[log]\nlevel = \"debug\"\n")], here))
    #expect(!ConfigurationFiles.keepsStore([("chimed.toml", "[store]\npath = \"/srv/other.db\"\n")], here))
    #expect(!ConfigurationFiles.keepsStore([("chimed.toml", "[log]\nlevel = \"loud\"\n")], here))
    #expect(!ConfigurationFiles.keepsStore([("chimed.toml", "[log\n")], here))
  }
}
