import Foundation
import Testing

/// Limits and stocks with the real programs.
@Suite(.serialized) struct LimitAndStockTests {
  /// Logged entries reduce the stock, even if the daemon is killed at once; `undo` restores it.
  @Test(.timeLimit(.minutes(1))) func killedDaemonKeepsLimitsAndStocks() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let daemon = try await home.start()
      try await home.mustRun(
        "tracker", "add", "Caffeine", "--unit", "mg", "--limit", "300mg", "--stock", "400", "--warn", "2")
      let near = try await home.mustRun("log", "caffeine", "250")
      #expect(near.contains("Near the limit") && near.contains("150 mg left"), "\(near)")
      try await daemon.crash()

      let second = try await home.start()
      func standing() async throws -> JSON { try await home.answer("io.chime.Trackers.Day")["view"]["progress"][0] }
      #expect(try await standing()["limit"].string == "near")
      #expect(try await standing()["stock"]["left"].number == 150)
      let passed = try await home.mustRun("log", "caffeine", "200")
      #expect(passed.contains("The limit is exceeded"), "\(passed)")
      try await second.crash()

      let third = try await home.start()
      #expect(try await standing()["limit"].string == "exceeded")
      #expect(try await home.mustRun("stock", "list").contains("used up"))
      let told = try await home.mustRun("history")
      for title in ["Caffeine: 250 of 300 mg", "Caffeine: 450 of 300 mg", "Caffeine: used up"] {
        #expect(told.contains(title), "\(told)")
      }
      try await home.mustRun("undo", "--yes")
      #expect(try await standing()["limit"].string == "near")
      #expect(try await standing()["stock"]["left"].number == 150)
      try await home.mustRun("stock", "add", "caffeine", "1g")
      #expect(try await home.mustRun("stock", "list", "--plain").contains("1150"))
      try await third.stopCleanly()
    }
  }
}
