import Foundation
import Testing

/// Compares the output of a scripted session over all verbs, in both languages and in both machine formats, with
/// recorded files.
///
/// `make golden` records intended changes; read the diff before committing it.
@Suite(.enabled(if: FakeClock.isAvailable && Machine.canMakeLocales, "needs libfaketime, localedef and gettext"))
struct GoldenTests {
  private static let folder = Machine.package + "/Tests/Golden"

  @Test(.timeLimit(.minutes(5)), arguments: ["en", "cs", "json", "plain"])
  func scriptedSessionPrintsTheRecordedOutput(_ form: String) async throws {
    try await Home.run { home in
      let session = try await home.run(
        Machine.debianPython, [Self.folder + "/run", Machine.programs, form], within: .seconds(280))
      try #require(session.status == 0, "\(session.text)")
      let recorded = try String(contentsOfFile: "\(Self.folder)/\(form).txt", encoding: .utf8)
      let (before, now) = (recorded.split(separator: "\n"), session.out.split(separator: "\n"))
      for change in now.difference(from: before).prefix(20) {
        switch change {
        case .remove(let line, let text, _): Issue.record("\(form).txt:\(line + 1): - \(text)")
        case .insert(let line, let text, _): Issue.record("\(form).txt:\(line + 1): + \(text)")
        }
      }
    }
  }
}
