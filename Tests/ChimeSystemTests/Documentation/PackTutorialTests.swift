import Foundation
import Testing

/// The tutorial of docs/packs.md, followed step by step.
@Suite(.serialized) struct PackTutorialTests {
  static func text() throws -> String {
    let page = try String(contentsOfFile: Machine.package + "/docs/packs.md", encoding: .utf8)
    let block = try #require(page.split(separator: "\n```toml\n").dropFirst().first)
    return String(try #require(block.split(separator: "\n```", maxSplits: 1).first)) + "\n"
  }

  @Test(.timeLimit(.minutes(1)))
  func tutorialsPackIsCheckedInstalledAndUsed() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      _ = try await home.start()
      let file = home.path + "/reading.toml"
      let text = try Self.text()

      // With the mistakes that the page shows.
      try home.write(
        text.replacing("presets =", with: "preset =").replacing("\"{{remaining}} to go", with: "\"{{remainin}} to go"),
        to: file)
      for words in [["pack", "check", file], ["pack", "add", file]] {
        let refused = try await home.run(Machine.chime, words)
        #expect(refused.status == 1, "\(refused.text)")
        #expect(refused.text.contains("reading.toml:19:1: tracker[pages].preset: is not a key"), "\(refused.text)")
        #expect(
          refused.text.contains("reading.toml:26:12: reminder[evening].title.en: contains {{remainin}}"),
          "\(refused.text)"
        )
      }
      #expect(try await home.json("pack", "list")["packs"].elements.count { $0["id"].string == "reading" } == 0)

      try home.write(text, to: file)
      try await home.mustRun("pack", "check", file)
      try await home.mustRun("pack", "add", file)
      try await home.mustRun("log", "pages", "12")
      let standing = try await home.answer("io.chime.Trackers.Day")["view"]["progress"][0]
      #expect(standing["total"].number == 12)
      #expect(standing["remaining"].number == 8)
      #expect(try await home.mustRun("today").contains("Pages"))

      // Again, with a custom goal and the optional reminder.
      try await home.mustRun("pack", "add", file, "--goal", "30", "--reminder", "weekend")
      let again = try await home.answer("io.chime.Trackers.Day")["view"]["progress"][0]
      #expect(again["total"].number == 12)
      #expect(again["remaining"].number == 18)
      // Without notices about achievements.
      func reminders() async throws -> Set<String?> {
        let all = try await home.answer("io.chime.Reminders.List")["reminders"].elements
        return Set(all.filter { !$0["tags"].elements.contains("chime") }.map { $0["title"].string })
      }
      let installed = try await reminders()
      #expect(installed == ["18 pages to go tonight", "A quiet hour for a book?"])
      let unlocked = try await home.answer("io.chime.Trackers.Achievements")["achievements"].elements
        .filter { $0["unlockedAt"] != .null }.map { $0["id"].string }
      #expect(unlocked == ["first_page"])
      try await home.mustRun("pack", "remove", "reading")
      let left = try await reminders()
      #expect(left.isEmpty, "\(left)")
      #expect(try await home.answer("io.chime.Trackers.Entries")["total"].int == 1)
    }
  }
}
