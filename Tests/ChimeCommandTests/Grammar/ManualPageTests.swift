import ChimeControl
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeCommand

/// Compares the sources of the manual pages with what they describe.
@Suite struct ManualPageTests {
  private static let root = URL(filePath: Package.folder)

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// Returns the text without scdoc's markup.
  private func bare(_ text: some StringProtocol) -> String {
    var result = ""
    var isEscaped = false
    for character in text {
      if !isEscaped, character == "\\" {
        isEscaped = true
      } else {
        result.append(character)
        isEscaped = false
      }
    }
    return result
  }

  @Test func commandPageIsUpToDate() throws {
    #expect(try text("docs/man/chime.1.scd") == ManualPage.scdoc(.standard), "make it anew: Packaging/manual update")
  }

  @Test func commandPageHasEveryVerbAndOption() {
    let page = ManualPage.scdoc(.standard)
    for verb in CommandTable.standard.verbs {
      for path in [[verb]] + verb.subverbs.map({ [verb, $0] }) {
        #expect(page.contains("chime \(path.map(\.name).joined(separator: " "))"))
      }
    }
    for option in CommandTable.standard.allOptions { #expect(page.contains("*--\(option.name)*"), "--\(option.name)") }
  }

  @Test func pagesStateTheVersion() throws {
    for page in ["chime.1", "chimed.8", "chimed.toml.5", "chime-schedules.7", "io.chime.7"] {
      let head = try text("docs/man/\(page).scd").prefix { $0 != "\n" }
      #expect(head.contains("\"Chime \(Product.version)\""), "\(head)")
    }
  }

  /// Each configuration key appears once, with its default.
  @Test func configurationPageHasEveryKey() throws {
    let keys = try text("Config/chimed.toml").matches(of: /(?m)^# (\w+) = (.+)$/).map { ($0.1, $0.2) }
    #expect(keys.count > 30)
    let lines = try text("docs/man/chimed.toml.5.scd").split(separator: "\n").map { bare($0) }
    for (key, value) in keys {
      let entries = lines.filter { $0 == "*\(key)* = _\(value)_" || $0 == "*\(key)* = _\(value)_++" }
      let twins = keys.count { $0.0 == key && $0.1 == value }
      #expect(entries.count == twins, "\(key) = \(value)")
    }
  }

  /// The page's examples of schedules are valid.
  @Test func exampleSchedulesAreValid() throws {
    let lines = try text("docs/man/chime-schedules.7.scd").split(separator: "\n").map(String.init)
    let examples = lines.filter { $0.hasPrefix("*") && ($0.hasSuffix("*") || $0.hasSuffix("*++")) }
      .map { bare($0.hasSuffix("++") ? $0.dropLast(2) : $0[...]).dropFirst().dropLast() }
      .filter { !$0.contains("*(") && !$0.contains(", *") }
    #expect(examples.count > 40)
    let scheduleContext = ScheduleContext(
      zone: .utc, place: Place(latitude: 50, longitude: 14),
      zones: { try? ZoneFiles(environment: [:]).zone($0) })
    for example in examples {
      #expect(throws: Never.self, "\(example)") {
        try Schedule.parse(String(example), now: Samples.now, in: scheduleContext)
      }
    }
  }

  /// io.chime(7) has every interface, method and error.
  @Test func interfacePageHasEveryMethod() throws {
    let page = try text("docs/man/io.chime.7.scd")
    let folder = Self.root.appending(path: "Sources/ChimeControl/Interfaces")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasSuffix(".varlink") {
      let interface = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      #expect(page.contains("*interface \(file.dropLast(8))*"))
      for match in interface.matches(of: /(?m)^(method|error|type) (\w+)/) {
        #expect(page.contains("*\(match.2)*"), "\(file): \(match.2)")
      }
    }
  }
}
