import Foundation
import Testing

/// What a scripted life over all verbs prints, in both languages and both forms for programs, is what was recorded.
///
/// A change that is meant is recorded by `make golden`; its difference is read before it is committed.
@Suite(.enabled(if: FakeClock.isAvailable && Machine.canMakeLocales, "needs libfaketime, localedef and gettext"))
struct GoldenTests {
  private static let folder = Machine.package + "/Tests/Golden"

  @Test(.timeLimit(.minutes(5)), arguments: ["en", "cs", "json", "plain"])
  func aLifePrintsWhatWasRecorded(_ form: String) async throws {
    try await Home.live { home in
      let life = try await home.run(
        Machine.debianPython, [Self.folder + "/run", Machine.programs, form], within: .seconds(280))
      try #require(life.status == 0, "\(life.text)")
      let recorded = try String(contentsOfFile: "\(Self.folder)/\(form).txt", encoding: .utf8)
      let (before, now) = (recorded.split(separator: "\n"), life.out.split(separator: "\n"))
      for change in now.difference(from: before).prefix(20) {
        switch change {
        case .remove(let line, let text, _): Issue.record("\(form).txt:\(line + 1): - \(text)")
        case .insert(let line, let text, _): Issue.record("\(form).txt:\(line + 1): + \(text)")
        }
      }
    }
  }
}
