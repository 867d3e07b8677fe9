import Foundation
import Testing

/// A backup file contains everything, and restores it on a new machine.
@Suite(.serialized)
struct BackupTests {
  /// Returns occurrences by id: two of the same second may be listed in any order.
  private static func history(_ home: Home) async throws -> [String: JSON] {
    let occurrences = try await home.json("history", "-n", "all")["occurrences"].elements
    return Dictionary(occurrences.map { ($0["id"].string ?? "", $0) }) { $1 }
  }

  @Test(.timeLimit(.minutes(2)))
  func newMachineRestoresTheWholeBackup() async throws {
    let folder = try RunFolder.makeFolder("backup")
    let (file, passphrase) = (folder + "/all.backup", folder + "/passphrase")
    let settings = Home.popupStub + "[control]\nmessageTimeout = \"7s\"\n"
    let history = try await Home.run { home in
      try home.write("correct horse battery\n", to: passphrase)
      try home.configure(settings)
      let daemon = try await home.start()
      try await home.mustRun(
        "endpoint", "add", "phone", "https://example.test/hook", "--new-secret", home.path + "/phone")
      try await home.mustRun("add", "Tea", "every day at 16:00", "--to", "desktop", "--to", "phone")
      try await home.mustRun("add", "Call", "in 300d")
      try await home.mustRun("tracker", "add", "water", "--unit", "ml")
      try await home.mustRun("log", "water", "250")
      for title in ["Tea", "Call"] { try await home.mustRun("fire", title) }
      try await eventually("the popup is shown") {
        try await home.json("history", "-n", "1")["occurrences"][0]["state"].string == "delivered"
      }
      try await home.mustRun("done", "Tea")
      try await home.mustRun("backup", file, "--with-secrets", "--passphrase-file", passphrase)
      #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("whsec_"))
      let history = try await Self.history(home)
      _ = try await daemon.stop()
      return history
    }
    try await Home.run { home in
      let daemon = try await home.start()
      let closed = try await home.run(Machine.chime, ["restore", file, "--yes", "--dry-run"])
      #expect(closed.status == 0 && closed.out.contains("secrets"), "\(closed)")
      try home.write("another passphrase\n", to: folder + "/other")
      let refused = try await home.run(
        Machine.chime, ["restore", file, "--yes", "--passphrase-file", folder + "/other"])
      #expect(refused.status == 1 && refused.err.contains("does not open the secrets"), "\(refused)")
      #expect(try await home.json("list")["reminders"] == [])
      let restored = try await home.run(
        Machine.chime, ["restore", file, "--yes", "--passphrase-file", passphrase])
      #expect(restored.status == 0, "\(restored)")
      #expect(
        restored.out.contains("2 times that have come") && restored.out.contains("encrypted"), "\(restored)")
      #expect(restored.err.contains("is active: \(home.configuration)"), "\(restored)")
      #expect(try String(contentsOfFile: home.configuration, encoding: .utf8) == settings)
      let restoredHistory = try await Self.history(home)
      #expect(restoredHistory == history, "\(restoredHistory)\n\(history)")
      #expect(try await home.json("endpoint", "list")["endpoints"][0]["problem"].string == nil)
      let status = try await home.mustRun("status")
      #expect(status.contains("unanswered  1"), "\(status)")
      // A count is printed with its noun.
      let changes = try await home.mustRun("undo", "--list")
      #expect(changes.contains(/backup restored +1 entry/), "\(changes)")
      // The backup's configuration does not replace an existing one, but is placed beside it.
      try home.configure(Home.popupStub)
      let again = try await home.run(Machine.chime, ["restore", file, "--yes", "--passphrase-file", passphrase])
      #expect(again.err.contains("is not active; it is at \(home.configuration).restored"), "\(again)")
      #expect(try String(contentsOfFile: home.configuration, encoding: .utf8) == Home.popupStub)
      #expect(try String(contentsOfFile: home.configuration + ".restored", encoding: .utf8) == settings)
      try await daemon.crash()
      _ = try await home.start()
      #expect(try await Self.history(home) == history)
    }
  }
}
