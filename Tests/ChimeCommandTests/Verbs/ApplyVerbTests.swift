import ChimeControl
import Foundation
import Synchronization
import Testing
import Varlink

@testable import ChimeCommand

/// The command's side of `chime apply`: calls, refusals of its own, and progress.
@Suite struct ApplyVerbTests {
  private typealias Call = RemindersInterface.Apply

  private static func reply(
    _ changes: [RemindersInterface.SetChange] = [], packFiles: [String]? = nil,
    fileUses: [RemindersInterface.SetFileUse]? = nil
  ) -> Call.Reply {
    Call.Reply(
      set: "home", changes: changes, unchanged: 3, notPruned: 0, secretFiles: [], packFiles: packFiles,
      fileUses: fileUses, plan: "p", warnings: [])
  }

  private static func reminders(_ count: Int) -> String {
    (0..<count).map { "[[reminder]]\nid = \"r\($0)\"\ntitle = \"Reminder \($0)\"\nwhen = \"daily at 9:00\"\n" }.joined()
  }

  @Test func manifestLargerThanAMessageIsRefusedWithARemedy() throws {
    let daemon = try FakeDaemon { _, _ in .reply(Self.reply()) }
    let folder = RunFolder.url.appending(path: "chime-set-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let whole = folder.appending(path: "many.toml")
    try Self.reminders(20_000).write(to: whole, atomically: true, encoding: .utf8)
    for outcome in [
      chime(["apply", whole.path], daemon: daemon),
      chime(["apply", "-"], daemon: daemon, input: Self.reminders(20_000)),
    ] {
      #expect(outcome.status == .failed)
      #expect(
        outcome.errors == """
          chime: the set has 1.4 MiB when sent, and a message may have 1 MiB
            split it into several sets: a file with another name for each, and chime apply for each file

          """, "\(outcome.errors)")
    }
    // Files that are short enough alone may be too long together.
    try FileManager.default.removeItem(at: whole)
    for name in ["a", "b", "c"] {
      try Self.reminders(5_000).write(to: folder.appending(path: "\(name).toml"), atomically: true, encoding: .utf8)
    }
    let together = chime(["apply", folder.path], daemon: daemon)
    #expect(together.status == .failed && together.errors.contains("MiB when sent"), "\(together.errors)")
    #expect(daemon.calls.isEmpty, "nothing of it was sent")
    let one = chime(["apply", folder.appending(path: "a.toml").path], daemon: daemon)
    #expect(one.status == .success, "\(one.errors)")
  }

  /// An export applied where it was made changes nothing, but all of it then belongs to the set.
  @Test func appliedExportAdoptsRemindersWithoutChanges() throws {
    let taken: [RemindersInterface.SetChange] = ["a", "b"].map {
      .init(
        action: .change, kind: .reminder, id: $0, title: $0, fields: [.init(name: "set", old: nil, new: "\"home\"")])
    }
    let daemon = try FakeDaemon { _, _ in .reply(Self.reply(taken)) }
    let first = chime(["apply", "-", "--set", "home"], daemon: daemon)
    #expect(first.output.isEmpty, "\(first.output)")
    #expect(
      first.errors == """
        nothing to change: all 5 match the files
        2 added by hand joined the set "home"

        """, "\(first.errors)")
    let dry = chime(["apply", "-", "--set", "home", "--dry-run"], daemon: daemon)
    #expect(dry.errors.contains("2 added by hand would join the set \"home\""), "\(dry.errors)")
    // What another set had is reported, and so are the changes.
    let other: [RemindersInterface.SetChange] = [
      .init(
        action: .change, kind: .reminder, id: "c", title: "C",
        fields: [.init(name: "set", old: "\"work\"", new: "\"home\"")])
    ]
    let moved = chime(
      ["apply", "-", "--set", "home"], daemon: try FakeDaemon { _, _ in .reply(Self.reply(taken + other)) })
    #expect(moved.output.contains("~ c  \"C\"") && moved.errors.contains("1 changed, 5 unchanged"), "\(moved)")
  }

  @Test func pruningEntriesNeedsASecondOption() throws {
    let changes: [RemindersInterface.SetChange] = [
      .init(action: .remove, kind: .tracker, id: "reading", title: "Reading", fields: [], records: 214)
    ]
    let daemon = try FakeDaemon { _, _ in .reply(Self.reply(changes)) }
    let refused = chime(["apply", "-", "--prune", "--yes", "--set", "home"], daemon: daemon)
    #expect(refused.status == .failed)
    #expect(
      refused.errors == """
        chime: --prune would remove reading and 214 entries and items with it; nothing was changed
          --prune --entries removes them too; for 30 days chime undo restores them

        """)
    #expect(daemon.calls.count == 1, "only what would be done was asked")
    let shown = chime(["apply", "-", "--prune", "--dry-run", "--set", "home"], daemon: daemon)
    #expect(shown.output == "- tracker  reading  \"Reading\"\n    with 214 entries and items\n")
    let done = chime(["apply", "-", "--prune", "--entries", "--yes", "--set", "home"], daemon: daemon)
    #expect(done.status == .success, "\(done.errors)")
    #expect(daemon.calls.last?.parameters["entries"] == .bool(true))
    let alone = chime(["apply", "-", "--entries"], daemon: daemon)
    #expect(alone.status == .usage && alone.errors.contains("--entries needs --prune"))
  }

  /// A set may come from anywhere, and its tokenFile may name any file that its reader can read.
  @Test func filesAreSentOnlyWithPermission() throws {
    let changes: [RemindersInterface.SetChange] = [
      .init(action: .add, kind: .endpoint, id: "team", title: nil, fields: [.init(name: "token")])
    ]
    let uses: [RemindersInterface.SetFileUse] = [
      .init(endpoint: "team", key: .secretFile, path: "team.secret", url: "https://example.org/"),
      .init(
        endpoint: "team", key: .tokenFile, path: "/home/me/.ssh/id_ed25519", url: "https://stranger.example/\u{202E}"),
      .init(endpoint: "old", key: .tokenFile, url: "https://elsewhere.example/"),
    ]
    let daemon = try FakeDaemon { _, _ in .reply(Self.reply(changes, fileUses: uses)) }
    let told = [
      "the content of ./team.secret signs the messages to the endpoint team: https://example.org/",
      "the content of /home/me/.ssh/id_ed25519 is sent to the endpoint team: https://stranger.example/\\u{202E}",
      "the token of the endpoint old goes to https://elsewhere.example/",
    ]
    let refused = chime(["apply", "-", "--yes"], daemon: daemon)
    #expect(refused.status == .failed)
    #expect(
      refused.errors == """
        chime: the set uses 3 new files; nothing was changed
          \(told[0])
          \(told[1])
          \(told[2])
          if all of it may be sent there, --allow-files permits it without a terminal

        """, "\(refused.errors)")
    #expect(daemon.calls.allSatisfy { $0.parameters["dryRun"] == .bool(true) }, "only what would be done was asked")

    let dry = chime(["apply", "-", "--dry-run"], daemon: daemon)
    #expect(dry.status == .success)
    for line in told { #expect(dry.errors.contains(line), "\(dry.errors)") }
    #expect(chime(["apply", "-", "--dry-run", "--json"], daemon: daemon).output.contains("id_ed25519"))

    let allowed = chime(["apply", "-", "--allow-files"], daemon: daemon)
    #expect(allowed.status == .success, "\(allowed.errors)")
    #expect(daemon.calls.last?.parameters["dryRun"] != .bool(true))
  }

  /// On a terminal the command asks, regardless of --yes, and does nothing before the answer.
  @Test(arguments: [("y\n", true), ("n\n", false), ("\n", false), ("", false)])
  func filesAreAskedAboutOnATerminal(_ answer: String, _ isDone: Bool) throws {
    let folder = RunFolder.url.appending(path: "chime-set-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "home.toml")
    try "[[endpoint]]\n".write(to: file, atomically: true, encoding: .utf8)
    let daemon = try FakeDaemon { _, _ in
      .reply(
        Self.reply(
          [.init(action: .add, kind: .endpoint, id: "team", title: nil, fields: [])],
          fileUses: [.init(endpoint: "team", key: .tokenFile, path: "token", url: "https://example.org/")]))
    }
    let outcome = chime(
      ["apply", file.path, "--yes"], daemon: daemon, width: 200, input: answer, isInputTerminal: true)
    #expect(
      outcome.output.contains("the content of \(folder.path)/token is sent to the endpoint team: https://example.org/"),
      "\(outcome.output)")
    #expect(outcome.errors.contains("Send this 1 file? [y/N] "), "\(outcome.errors)")
    #expect(outcome.status == (isDone ? .success : .failed))
    #expect(daemon.calls.contains { $0.parameters["dryRun"] != .bool(true) } == isDone)
  }

  @Test func packFilesAreSent() throws {
    let daemon = try FakeDaemon { _, parameters in
      .reply(Self.reply(packFiles: ["books.toml", "none.toml"]))
    }
    let folder = RunFolder.url.appending(path: "chime-set-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try "[pack]\n".write(to: folder.appending(path: "books.toml"), atomically: true, encoding: .utf8)
    try "[[pack]]\n".write(to: folder.appending(path: "home.txt"), atomically: true, encoding: .utf8)
    let outcome = chime(["apply", folder.appending(path: "home.txt").path], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    guard case .array(let packs)? = daemon.calls.last?.parameters["packs"] else {
      Issue.record("no packs in \(daemon.calls)")
      return
    }
    #expect(packs.count == 1, "one that is not there is left out")
    #expect(packs.first?["path"] == .string("books.toml") && packs.first?["text"] == .string("[pack]\n"))
  }

  /// On a terminal a line shows the progress and the time taken; it is erased at the end.
  @Test func longApplyShowsItsProgress() throws {
    let changes: [RemindersInterface.SetChange] = (0..<5_000).map {
      .init(action: .add, kind: .reminder, id: "r\($0)", title: "R", fields: [])
    }
    let clock = TickingClock()
    let daemon = try FakeDaemon { _, _ in
      // Answer once the command has read the clock while waiting.
      clock.waitForTick()
      return .reply(Self.reply(changes))
    }
    let outcome = chime(
      ["apply", "-", "--set", "home"], daemon: daemon, width: 80, input: "", isInputTerminal: true,
      elapsed: { clock.tick() })
    #expect(
      outcome.errors.contains("\rComparing the files with the present state: 7 s"), "\(outcome.errors.debugDescription)"
    )
    #expect(outcome.errors.contains("\rMaking 5000 changes: 7 s"), "\(outcome.errors.debugDescription)")
    #expect(outcome.errors.hasSuffix(" s\u{1B}[K\r\u{1B}[K5000 added, 3 unchanged\n"), "and it is gone")
    #expect(daemon.calls.count == 2)
  }
}

/// A clock that advances by seven seconds at each reading and signals another thread.
private final class TickingClock: Sendable {
  private let condition = NSCondition()
  private let seconds = Mutex(0)

  func tick() -> Duration {
    condition.lock()
    defer { condition.unlock() }
    condition.broadcast()
    return .seconds(
      seconds.withLock { value in
        value += 7
        return value
      })
  }

  /// Waits until the clock is read again.
  func waitForTick() {
    condition.lock()
    defer { condition.unlock() }
    let before = seconds.withLock { $0 }
    while seconds.withLock({ $0 }) == before, condition.wait(until: .now + 20) {}
  }
}
