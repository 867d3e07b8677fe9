import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// Verbs that transfer files: photos, backups, packs, imports and exports.
@Suite struct TrackingFileTests {
  private typealias T = TrackersInterface

  private static func folder() throws -> URL {
    let folder = RunFolder.url.appending(path: "chime-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static func parts(_ daemon: FakeDaemon) throws -> (bytes: Data, name: JSON?) {
    let uploads = daemon.calls.filter { $0.method.hasSuffix("Upload") }
    #expect(Set(uploads.map { $0.parameters["upload"]?.description }).count <= 1)
    var bytes = Data()
    for upload in uploads {
      let asked = try JSONReader.read(T.Upload.self, from: upload.parameters.bytes)
      #expect(asked.offset == bytes.count)
      #expect(asked.data.utf8.count < 700_000)
      bytes += try #require(Data(base64Encoded: asked.data))
    }
    return (bytes, uploads.first?.parameters["upload"])
  }

  @Test(arguments: [1, 393_216, 393_217, 1_000_000])
  func photosAreSentInParts(_ size: Int) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let photo = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let file = folder.appending(path: "cup.jpg")
    try photo.write(to: file)
    let daemon = try FakeTrackerDaemon().daemon()
    let outcome = chime(["log", "water", "--photo", file.path], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    let (bytes, name) = try Self.parts(daemon)
    #expect(bytes == photo)
    #expect(daemon.calls.last?.parameters["photo"] == name)
  }

  @Test func longUploadShowsItsProgress() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "big.jpg")
    try Data(repeating: 7, count: 3 << 20).write(to: file)
    let daemon = try FakeTrackerDaemon().daemon()
    // Each reading of the clock is 300 ms later than the previous one.
    var time = Duration.zero
    let seen = chime(
      ["log", "water", "--photo", file.path], daemon: daemon, width: 200, isTerminal: true, isInputTerminal: true,
      elapsed: {
        time += .milliseconds(300)
        return time
      })
    #expect(
      seen.errors.contains("big.jpg: 100 %") && seen.errors.hasSuffix("\u{1B}[K"), "\(seen.errors.suffix(500))")
    #expect(chime(["log", "water", "--photo", file.path], daemon: daemon).errors.isEmpty)
    try Data(repeating: 7, count: (20 << 20) + 1).write(to: file)
    let refused = chime(["log", "water", "--photo", file.path], daemon: daemon)
    #expect(refused.status == .failed && refused.errors.contains("is longer than 20 MiB"))
  }

  /// If the last action cannot be undone, the command first says what would be undone instead.
  @Test func undoNamesAChangeThatIsNotTheLast() throws {
    var fake = FakeTrackerDaemon()
    fake.later = "Tea"
    fake.undoNotes = ["there is another \"Tea\" now: a1b2"]
    let sentence =
      "Your last action cannot be undone (fired by hand: Tea). The one before it: logged: 250 ml of water."
    let daemon = try fake.daemon()
    let refused = chime(["undo"], daemon: daemon)
    #expect(refused.status == .usage && refused.errors.contains(sentence), "\(refused.errors)")
    #expect(refused.errors.contains("chime undo --yes undoes that one"))
    #expect(daemon.calls.map(\.parameters.description) == [#"{"dryRun":true}"#])
    let no = chime(["undo"], daemon: daemon, input: "n\n", isInputTerminal: true)
    #expect(
      no.status == .failed && no.errors.contains("Undo that?") && no.errors.contains("Nothing was undone."))
    let yes = chime(["undo"], daemon: daemon, input: "y\n", isInputTerminal: true)
    #expect(yes.status == .success && yes.output.contains("Undone: logged: 250 ml of water"), "\(yes.errors)")
    #expect(yes.errors.contains("there is another \"Tea\" now: a1b2"))
    #expect(daemon.calls.last?.parameters.description == #"{"change":12}"#)
    #expect(chime(["undo", "--yes"], daemon: daemon).status == .success)
    let skipped = chime(["undo", "--skip", "--yes"], daemon: daemon)
    #expect(skipped.output.contains("Skipped, and left unchanged: logged"), "\(skipped.output)")
    #expect(daemon.calls.last?.parameters.description == #"{"change":12,"skip":true}"#)
  }

  @Test func startOverAsksAndWritesABackupFirst() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let daemon = try Self.backupDaemon(thenCloses: false)
    let home = ["HOME": folder.path, "XDG_DATA_HOME": ""]
    let refused = chime(["start-over"], daemon: daemon, environment: home)
    #expect(
      refused.status == .usage && refused.errors.contains("2 reminders, 1 tracker, 412 entries, 1 pack, 1 endpoint"))
    let no = chime(["start-over"], daemon: daemon, input: "\n", isInputTerminal: true, environment: home)
    #expect(no.status == .failed && no.errors.contains("Nothing was removed."), "\(no.errors)")
    #expect(!daemon.methods.contains("Trackers.Backup"))
    for name in ["before-start-over-2026-03-27.backup", "before-start-over-2026-03-27-2.backup"] {
      let yes = chime(["start-over", "--yes"], daemon: daemon, environment: home)
      let path = "\(folder.path)/.local/share/chime/\(name)"
      #expect(yes.status == .success, "\(yes.errors)")
      #expect(yes.output.contains("the backup is \(path)"), "\(yes.output)")
      #expect(yes.errors.contains("`chime restore \(path)` restores it"), "\(yes.errors)")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "first second")
      #expect(daemon.methods.suffix(2) == ["Trackers.Backup", "Trackers.StartOver"])
    }
    // Without a backup nothing is deleted.
    let broken = try Self.backupDaemon(thenCloses: true)
    let failed = chime(["start-over", "--yes"], daemon: broken, environment: home)
    #expect(failed.status != .success && broken.methods.filter { $0 == "Trackers.StartOver" }.count == 1)
    let dry = chime(["start-over", "--dry-run", "--json"], daemon: daemon, environment: home)
    #expect(dry.output.contains(#""backup":null"#) && dry.output.contains(#""entries":412"#), "\(dry.output)")
  }

  private static func backupDaemon(thenCloses: Bool) throws -> FakeDaemon {
    try FakeDaemon { method, parameters in
      guard method == T.Backup.method else { return FakeTrackerDaemon().answer(method, parameters) }
      let parts = ["first ", "second"].map { T.Backup.Reply(data: Data($0.utf8).base64EncodedString()) }
      return thenCloses ? .stream(parts, thenCloses: true) : .whole(parts)
    }
  }

  @Test func backupFileIsPrivate() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "a.backup").path
    let outcome = chime(["backup", file], daemon: try Self.backupDaemon(thenCloses: false))
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.output == "\(file) (1 KiB)\n")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "first second")
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    // The file is replaced only with --force.
    let again = chime(["backup", file], daemon: try Self.backupDaemon(thenCloses: false))
    #expect(again.status == .failed && again.errors.contains("--force replaces it"))
    #expect(chime(["backup", file, "--force"], daemon: try Self.backupDaemon(thenCloses: false)).status == .success)
    let json = try JSON(
      parsing: chime(["backup", file, "--force", "--json"], daemon: try Self.backupDaemon(thenCloses: false)).output)
    #expect(json["backup"]?["bytes"] == 12)
  }

  @Test func abortedBackupLeavesNoFile() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let outcome = chime(
      ["backup", folder.appending(path: "a.backup").path], daemon: try Self.backupDaemon(thenCloses: true))
    #expect(outcome.status != .success)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  /// The passphrase is asked for twice, or read from a file that nobody else can read.
  @Test func backupWithSecretsAsksForItsPassphrase() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let daemon = try Self.backupDaemon(thenCloses: false)
    func backup(_ name: String, _ more: [String], input: String? = nil) -> Outcome {
      chime(
        ["backup", folder.appending(path: name).path] + more, daemon: daemon, input: input ?? "",
        isInputTerminal: input != nil)
    }
    let typed = backup("typed", ["--with-secrets"], input: "correct horse\ncorrect horse\n")
    #expect(typed.status == .success && typed.errors.contains("Once more:"), "\(typed.errors)")
    #expect(daemon.calls.last?.parameters["passphrase"] == "correct horse")
    #expect(!typed.output.contains("horse") && !typed.errors.contains("horse"))
    for (input, part) in [
      ("one passphrase\nanother one\n", "the two passphrases differ"), ("short\nshort\n", "8 to 1024 bytes"),
    ] {
      let refused = backup("refused", ["--with-secrets"], input: input)
      #expect(refused.status == .failed && refused.errors.contains(part), "\(refused.errors)")
    }
    #expect(backup("pipe", ["--with-secrets"]).errors.contains("--passphrase-file FILE"))
    let file = folder.appending(path: "passphrase")
    try Data("from a file\n".utf8).write(to: file)
    chmod(file.path, 0o644)
    #expect(backup("open", ["--with-secrets", "--passphrase-file", file.path]).status == .notPermitted)
    chmod(file.path, 0o600)
    #expect(backup("file", ["--with-secrets", "--passphrase-file", file.path]).status == .success)
    #expect(daemon.calls.last?.parameters["passphrase"] == "from a file")
    #expect(backup("none", ["--passphrase-file", file.path]).status == .usage)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["file", "passphrase", "typed"])
  }

  @Test func backupIsWrittenToAPipeButNotToATerminal() throws {
    let piped = chime(["backup", "-"], daemon: try Self.backupDaemon(thenCloses: false))
    #expect(piped.output == "first second")
    let terminal = chime(["backup", "-"], daemon: try Self.backupDaemon(thenCloses: false), isTerminal: true)
    #expect(terminal.status == .usage && terminal.errors.contains("a backup cannot be written to a terminal"))
  }

  @Test func restoreShowsItsChangesAndAsksFirst() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "a.backup")
    try Data("backup".utf8).write(to: file)
    for (answer, restores) in [("yes\n", [true, false]), ("no\n", [true]), ("", [true])] {
      let daemon = try FakeTrackerDaemon().daemon()
      let outcome = chime(
        ["restore", file.path], daemon: daemon, isTerminal: true, input: answer, isInputTerminal: true)
      #expect(outcome.errors.contains("3210 entries") && outcome.errors.contains("Replace everything"))
      let asked = daemon.calls.filter { $0.method.hasSuffix("Restore") }.map { $0.parameters["dryRun"] == true }
      #expect(asked == restores)
      #expect(outcome.status == (restores.count == 2 ? .success : .failed))
      #expect(outcome.output.contains("`chime undo`") == (restores.count == 2))
    }
    let daemon = try FakeTrackerDaemon().daemon()
    let dry = chime(["restore", file.path, "--dry-run"], daemon: daemon)
    #expect(dry.output.contains("7 trackers") && dry.errors.contains("Nothing was changed"))
    #expect(daemon.calls.last?.parameters["dryRun"] == true)
  }

  /// The passphrase is asked for where somebody can answer; with --yes the secrets are left out, and a message says so.
  @Test(arguments: [([], "correct horse\nyes\n", true), (["--yes"], "", false), (["--dry-run"], "", false)])
  func restoreOpensSecretsWithTheirPassphrase(_ more: [String], _ input: String, _ isAsked: Bool) throws {
    let daemon = try FakeDaemon { method, parameters in
      guard method == T.Restore.method else { return FakeTrackerDaemon().answer(method, parameters) }
      var contents = FakeTrackerDaemon.contents
      contents.secrets = 2
      return .reply(T.Restore.Reply(contents: contents))
    }
    let outcome = chime(
      ["restore", "/etc/hostname"] + more, daemon: daemon, isTerminal: true, input: input, isInputTerminal: true)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.errors.contains("Passphrase (empty") == isAsked && !outcome.errors.contains("horse"))
    let last = try #require(daemon.calls.last { $0.method.hasSuffix("Restore") })
    #expect((last.parameters["passphrase"] == "correct horse") == isAsked)
  }

  @Test func errorOfAnInvalidBackupNamesTheFile() throws {
    let daemon = try FakeDaemon { method, parameters in
      method == T.Restore.method
        ? .error("InvalidFile", T.InvalidFile(line: 0, message: "the checksum does not fit"))
        : FakeTrackerDaemon().answer(method, parameters)
    }
    let outcome = chime(["restore", "/etc/hostname", "--yes"], daemon: daemon)
    #expect(outcome.status == .failed)
    #expect(outcome.errors.hasPrefix("chime: /etc/hostname: the checksum does not fit\n  nothing was changed\n"))
  }

  @Test func packFaultsHaveAFormatThatEditorsRead() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "tea.toml").path
    try "id = \"faulty\"".write(toFile: file, atomically: true, encoding: .utf8)
    let daemon = try FakeTrackerDaemon().daemon()
    let faults = "\(file):3:8: trackers.tea.unit: \"kgs\" is no unit\n\(file):9:1: reminders: a key is missing: when\n"
    let outcome = chime(["pack", "check", file], daemon: daemon)
    #expect(outcome.status == .failed && outcome.output == faults && outcome.errors == "2 faults\n")
    #expect(daemon.calls.last?.parameters["dryRun"] == true)
    let json = try JSON(parsing: chime(["pack", "check", file, "--json"], daemon: daemon).output)
    #expect(json["faults"]?.description.contains("\"line\":3") == true)
    // Installing it reports the same faults, and that nothing was changed.
    let added = chime(["pack", "add", file], daemon: daemon)
    #expect(added.status == .failed && added.output.isEmpty)
    #expect(added.errors == "chime: the pack has 2 faults; nothing was changed\n" + faults)
    try "id = \"fine\"".write(toFile: file, atomically: true, encoding: .utf8)
    let sound = chime(["pack", "check", file], daemon: daemon)
    #expect(sound.status == .success && sound.output.isEmpty)
    #expect(sound.errors == "\(file) is sound: 1 tracker, 1 reminder and 10 achievements\n")
  }

  @Test func entriesAreExported() throws {
    let daemon = try FakeDaemon { method, parameters in
      method == T.Export.method
        ? .whole([T.Export.Reply(text: "id,tracker\n"), T.Export.Reply(text: "1,water\n")])
        : FakeTrackerDaemon().answer(method, parameters)
    }
    let outcome = chime(["entry", "export", "water", "--range", "2026-03"], daemon: daemon)
    #expect(outcome.output == "id,tracker\n1,water\n")
    #expect(
      daemon.calls.last?.parameters.description
        == #"{"format":"csv","range":{"from":"2026-03-01","to":"2026-03-31"},"tracker":"water"}"#)
  }

  @Test func entriesAreImported() throws {
    let text = "Date,Reading\n2026-03-01,2\n"
    let daemon = try FakeTrackerDaemon().daemon()
    let outcome = chime(["entry", "import", "--loop", "-", "--into", "goal", "--dry-run"], daemon: daemon, input: text)
    #expect(outcome.output == "3 entries would be added, 1 existed already\n  of reading\n")
    #expect(outcome.errors == "line 9: no date\n")
    let (bytes, name) = try Self.parts(daemon)
    #expect(bytes == Data(text.utf8))
    let asked = try #require(daemon.calls.last?.parameters)
    #expect(
      asked["upload"] == name && asked["format"] == "loop" && asked["tracker"] == "goal" && asked["dryRun"] == true)
  }

  /// Tables given to the verb for calendars get a hint at the right verb.
  @Test func reminderImportOfATableSuggestsTheEntryImport() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "Checkmarks.csv").path
    try "Date,Reading\n".write(toFile: file, atomically: true, encoding: .utf8)
    let daemon = try FakeDaemon { _, _ in
      .error("InvalidText", RemindersInterface.InvalidText(line: 1, message: "this is no calendar"))
    }
    let outcome = chime(["import", file], daemon: daemon)
    #expect(outcome.errors.contains("chime entry import \(file)"), "\(outcome.errors)")
  }
}
