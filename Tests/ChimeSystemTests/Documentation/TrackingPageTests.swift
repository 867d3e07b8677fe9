import Foundation
import Testing

/// Runs every command of docs/tracking.md in order in an empty home.
@Suite(.serialized) struct TrackingPageTests {
  /// Commands that are not run here, and why.
  private static let elsewhere: [String: String] = [
    "chime init": "it asks four questions: WizardTests answers them"
  ]

  /// Variants that answer terminal questions.
  private static let answers: [String: String] = [:]

  @Test(.enabled(if: Machine.hasClients), .timeLimit(.minutes(4)))
  func everyCommandOfTheTrackingPageWorks() async throws {
    try #require(Machine.has("jq"), "Packaging/dependencies test")
    let lines = try ReadmeTests.lines(of: "docs/tracking.md").compactMap { line in
      // Text after a prompt is a command; text below it is output.
      line.hasPrefix("$ ") ? String(line.dropFirst(2)) : line.hasPrefix("chime ") ? line : nil
    }
    #expect(lines.count > 30, "the page has lines to type")
    for line in Self.elsewhere.keys { #expect(lines.contains(line), "there is no line \"\(line)\"") }
    try await Home.run { home in
      let folder = home.path + "/desk"
      let programs = home.path + "/programs"
      for path in [folder, programs] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      }
      try FileManager.default.createSymbolicLink(atPath: programs + "/chime", withDestinationPath: Machine.chime)
      // The files that the page assumes: two photos and a pack.
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
      #expect(try await home.json("entry", "list")["entries"].elements.count >= 6)
    }
  }
}
