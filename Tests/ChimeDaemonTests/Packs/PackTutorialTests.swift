import ChimeDaemon
import ChimeTracking
import Foundation
import Testing

/// docs/packs.md matches the pack reader.
@Suite struct PackTutorialTests {
  static let page = URL(filePath: Package.folder).appending(path: "docs/packs.md")

  static func text() throws -> String { try String(contentsOf: page, encoding: .utf8) }

  /// Returns the tutorial's pack from the page.
  static func tutorial() throws -> String {
    let parts = try text().split(separator: "\n```toml\n")
    let block = try #require(parts.dropFirst().first?.split(separator: "\n```", maxSplits: 1).first)
    return String(block) + "\n"
  }

  @Test func tutorialsPackIsValid() throws {
    let pack = try PackFile.read(Array(try Self.tutorial().utf8), file: "reading.toml")
    #expect(pack.id.rawValue == "reading")
    #expect(pack.trackers.map(\.id.rawValue) == ["pages"])
    #expect(pack.reminders.map(\.key) == ["evening", "weekend"])
    #expect(pack.reminders.map(\.isOptional) == [false, true])
    #expect(pack.achievements.count == 4)
  }

  /// The two mistakes on the page give the messages and positions shown there.
  @Test func tutorialsMistakesGiveTheMessagesShown() throws {
    let text = try Self.tutorial().replacing("presets =", with: "preset =")
      .replacing("title.en = \"{{remaining}}", with: "title.en = \"{{remainin}}")
    let page = try Self.text()
    do throws(PackFaults) {
      _ = try PackFile.read(Array(text.utf8), file: "reading.toml")
      Issue.record("it was taken")
    } catch {
      #expect(error.faults.count == 2)
      for fault in error.faults { #expect(page.contains("    \(fault)\n"), "\(fault)") }
    }
  }

  /// The page covers each criterion, placeholder, mood and key.
  @Test func pageCoversEveryCriterionPlaceholderMoodAndKey() throws {
    let page = try Self.text()
    for kind in Criterion.Kind.allCases { #expect(page.contains("\(kind.rawValue) = "), "\(kind)") }
    for name in TextValues.Name.allCases { #expect(page.contains("`{{\(name.rawValue)}}`"), "\(name)") }
    for mood in Mood.allCases { #expect(page.contains("[mood.\(mood.rawValue)]"), "\(mood)") }
    for table in ["pack", "levels"] { try check("[\(table)]\nzzzzzz = 1\n", page) }
    for table in ["tracker", "reminder", "achievement", "quote"] { try check("[[\(table)]]\nzzzzzz = 1\n", page) }
    // The number of quotations of each kind.
    let quotes = try #require(try ShippedPacks.pack("adkhar")).quotes
    let counts = ["quran", "hadith", "wisdom"].map { category in quotes.count { $0.category == category } }
    #expect(page.contains("Of the \(quotes.count), \(counts[0]) are verses of the Quran, \(counts[1]) hadith and"))
    #expect(page.contains("\(counts[2]) words of the wise"))
  }

  /// Checks that the page has the keys that an error lists.
  private func check(_ text: String, _ page: String) throws {
    do throws(PackFaults) {
      let head = text.hasPrefix("[pack]") ? "" : "[pack]\nid = \"a\"\ntitle = \"A\"\ntext = \"B\"\n"
      _ = try PackFile.read(Array((head + text).utf8), file: "")
      Issue.record("\(text) was taken")
    } catch {
      let fault = try #require(error.faults.first { $0.key.hasSuffix("zzzzzz") })
      let keys = try #require(fault.message.split(separator: "it takes ").last).split(separator: ", ")
      #expect(keys.count > 1)
      for key in keys { #expect(page.contains("`\(key)`"), "\(key) of \(text)") }
    }
  }
}
