import Foundation
import Testing

/// Every line of docs/tracking.md, typed in the order of the page in an empty home: what it logs has to be there by then.
@Suite(.serialized) struct TrackingPageTests {
  /// What is not typed as it stands there, and why.
  private static let elsewhere: [String: String] = [
    "chime init": "it asks four questions: WizardTests answers them"
  ]

  /// What it asks on a terminal is answered for whoever has none.
  private static let answers: [String: String] = [:]

  @Test(.enabled(if: Machine.hasClients), .timeLimit(.minutes(4)))
  func everyLineOfTheTrackingPageWorks() async throws {
    try #require(Machine.has("jq"), "Packaging/dependencies test")
    let lines = try ReadmeTests.lines(of: "docs/tracking.md").compactMap { line in
      // What stands behind a prompt is typed, and what stands beneath it is the answer.
      line.hasPrefix("$ ") ? String(line.dropFirst(2)) : line.hasPrefix("chime ") ? line : nil
    }
    #expect(lines.count > 30, "the page has lines to type")
    for line in Self.elsewhere.keys { #expect(lines.contains(line), "there is no line \"\(line)\"") }
    try await Home.live { home in
      let folder = home.path + "/desk"
      let programs = home.path + "/programs"
      for path in [folder, programs] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      try FileManager.default.createSymbolicLink(atPath: programs + "/chime", withDestinationPath: Machine.chime)
      // What somebody has who follows the page: two photos, a pack of their own.
      let photo = Data(
        base64Encoded:
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
      for name in ["wrist.jpg", "shelf.jpg"] { try #require(photo).write(to: URL(filePath: "\(folder)/\(name)")) }
      try home.write(PackTutorialTests.text(), to: folder + "/my-pack.toml")
      _ = try await home.start()
      for line in lines where Self.elsewhere[line] == nil {
        let output = try await home.run(
          "/bin/bash", ["-c", "cd '\(folder)' && set -o pipefail && \(line) \(Self.answers[line] ?? "")"],
          environment: ["PATH": "\(programs):\(Machine.searchPath)", "XDG_DATA_HOME": home.path + "/data"])
        #expect(output.status == 0, "\(line)\n\(output.text)")
      }
      #expect(try await home.listed("entry", "list")["entries"].elements.count >= 6)
    }
  }
}
