import Foundation
import Testing

/// `chime undo` with the real daemon, which is killed in between.
@Suite(.serialized)
struct UndoTests {
  @Test(.timeLimit(.minutes(1)))
  func whatWasDoneIsTakenBackAfterAKill() async throws {
    try await Home.live { home in
      var daemon = try await home.start()
      try await home.did("add", "Tea", "every day at 16:00")
      try await home.did("endpoint", "add", "phone", "https://example.test/hook", "--new-secret", home.path + "/phone")
      try await home.did("edit", "Tea", "--to", "phone")
      try await home.did("remove", "Tea", "--yes")
      try await home.did("endpoint", "remove", "phone", "--yes")
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.did("undo", "--yes").contains("Undone: endpoint removed: phone"))
      #expect(try await home.listed("endpoint", "list")["endpoints"][0]["fault"].string == nil)
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.did("undo").contains("Undone: reminder removed: Tea"))
      #expect(try await home.listed("show", "Tea")["reminder"]["channels"][0].string == "phone")
      try await daemon.crash()
      daemon = try await home.start()
      #expect(try await home.did("undo").contains("Undone: reminder edited: Tea"))
      #expect(try await home.listed("show", "Tea")["reminder"]["channels"][0].string == "desktop")
      let list = try await home.did("undo", "--list")
      #expect(list.contains("reminder added") && list.contains("endpoint added"), "\(list)")
      _ = try await daemon.stop()
    }
  }
}
