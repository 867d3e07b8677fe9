import Foundation
import Testing

/// `chime undo` with the real daemon, which is killed in between.
@Suite(.serialized)
struct UndoTests {
  @Test(.timeLimit(.minutes(1)))
  func changesAreUndoneAfterAKill() async throws {
    try await Home.run { home in
      var daemon = try await home.start()
      try await home.mustRun("add", "Tea", "every day at 16:00")
      try await home.mustRun(
        "endpoint", "add", "phone", "https://example.test/hook", "--new-secret", home.path + "/phone")
      try await home.mustRun("edit", "Tea", "--to", "phone")
      try await home.mustRun("remove", "Tea", "--yes")
      try await home.mustRun("endpoint", "remove", "phone", "--yes")
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.mustRun("undo", "--yes").contains("Undone: endpoint removed: phone"))
      #expect(try await home.json("endpoint", "list")["endpoints"][0]["problem"].string == nil)
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.mustRun("undo").contains("Undone: reminder removed: Tea"))
      #expect(try await home.json("show", "Tea")["reminder"]["channels"][0].string == "phone")
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.mustRun("undo").contains("Undone: reminder edited: Tea"))
      #expect(try await home.json("show", "Tea")["reminder"]["channels"][0].string == "desktop")
      let list = try await home.mustRun("undo", "--list")
      #expect(list.contains("reminder added") && list.contains("endpoint added"), "\(list)")
      _ = try await daemon.stop()
    }
  }
}
