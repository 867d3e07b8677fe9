import Foundation
import Testing

@testable import ChimeCommand

/// Reports in a real browser: axe-core finds nothing in either theme on a desktop or a phone; the page is no wider than
/// the window, loads nothing external, and is valid HTML according to html5lib.
///
/// `CHIME_PYTHON` names a Python with Tests/requirements.txt; the default is `.venv/bin/python3` in the checkout.
/// Without it or without Chromium the test fails, unless `CHIME_SKIP_PEERS` is set.
@Suite struct ReportInBrowserTests {
  private static let root = URL(filePath: Package.folder)

  private static func check(_ pages: [String: String]) throws -> [String: [String]]? {
    let environment = ProcessInfo.processInfo.environment
    if environment["CHIME_SKIP_PEERS"] != nil { return nil }
    let folder = try ReportTests.Folder()
    for (name, html) in pages {
      try html.write(toFile: "\(folder.path)/\(name).html", atomically: true, encoding: .utf8)
    }
    let result = try ChildProcess.run(
      environment["CHIME_PYTHON"] ?? root.appending(path: ".venv/bin/python3").path,
      [root.appending(path: "Tests/ChimeSystemTests/Support/page-checker").path, "check"]
        + pages.keys.sorted().map { "\(folder.path)/\($0).html" })
    try #require(result.status == 0, "\(result.complaint)")
    let findings = try JSONDecoder().decode([String: [String]].self, from: result.output)
    return Dictionary(
      uniqueKeysWithValues: findings.map { (URL(filePath: $0).deletingPathExtension().lastPathComponent, $1) })
  }

  @Test(.proof(.screens), .timeLimit(.minutes(5)))
  func reportsAreAccessibleAndSelfContained() throws {
    let fresh = try ReportTests.html(.fresh)
    let pages = [
      "full": try ReportTests.html(.full), "fresh": fresh, "empty": try ReportTests.html(.empty),
      // The checker finds real faults.
      "broken": fresh.replacing("--soft:#57646e", with: "--soft:#c9c4ba")
        .replacing(
          "<main id=\"main\">", with: "<main id=\"main\"><img src=\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\">"
        )
        .replacing("<footer>", with: "<footer></span><div style=\"width:1500px\">x</div>")
        .replacing("img-src data:", with: "img-src data: http://127.0.0.1:47123")
        .replacing("</main>", with: "<img alt=\"x\" src=\"http://127.0.0.1:47123/x.png\"></main>"),
    ]
    guard let findings = try Self.check(pages) else { return }
    #expect(findings.count == pages.count)
    for name in ["full", "fresh", "empty"] {
      #expect(findings[name] == [], "\(name): \(findings[name]?.prefix(5).joined(separator: "\n") ?? "")")
    }
    let broken = findings["broken"] ?? []
    for sign in ["color-contrast", "image-alt", "px wide", "it asked for http://127.0.0.1:47123", "html5lib"] {
      #expect(broken.contains { $0.contains(sign) }, "\(sign): \(broken.map { $0.prefix(90) })")
    }
  }
}
