import Foundation
import Testing

@testable import ChimeDaemon

/// Text from files is escaped for terminals and logs.
@Suite struct TextEscapingTests {
  private func error(_ toml: String) -> String {
    var loaded = LoadedConfiguration()
    do {
      try ConfigurationFiles.apply(Array(toml.utf8), file: "chimed.toml", to: &loaded)
      return ""
    } catch {
      return error.description
    }
  }

  @Test(arguments: [
    "x = tru\ne", "x = \u{9B}31m", "\"\\u001b[2J\" = 1", "commands.\"\\u001b[2J\" = 1", "\"\\u009b\" = 1",
    "[log]\nlevel = \"\\u001b\\u0085\\u202e\"", "[commands.x]\n\"\\u001b\" = 1", "[calendars]\n\"\\u001b\" = 1",
    "[\"\\u001b\"]", "[place]\nlatitude = \"\\u202e\\u2066\"",
  ])
  func errorsContainNoControlCharacters(_ toml: String) {
    let error = error(toml)
    #expect(error.hasPrefix("chimed.toml:"))
    #expect(
      !error.unicodeScalars.contains {
        $0.properties.generalCategory == .control || (0x202A...0x202E).contains($0.value)
          || (0x2066...0x2069).contains($0.value)
      }, "\(error.debugDescription)")
  }

  /// A bracket in a key does not make it an array element, which would be skipped.
  @Test(arguments: [
    "\"x[0]\" = 1", "log.\"level[0]\" = 1", "[commands.\"x[0]\"]", "[\"[\"]", "[defaults]\n\"channels[1]\" = 5",
  ])
  func keyWithABracketIsNotSkipped(_ toml: String) { #expect(error(toml).hasPrefix("chimed.toml:")) }

  /// The parser would recurse as deeply as the key has parts.
  @Test func keyWithTooManyPartsIsRefused() {
    for part in [".a", ". \"a\"", " . a"] {
      let error = error("a" + String(repeating: part, count: 200_000) + " = 1")
      #expect(error == "chimed.toml: invalid TOML: a key has more than 256 parts")
    }
    let few = error("x = \"\(String(repeating: "a.", count: 200))\" # \(String(repeating: ".", count: 2_000))")
    #expect(few.contains("\"x\" is not a key of Chime"))
  }

  @Test func quotedTextReadsBack() throws {
    let text = "a\"\\\n\t\u{1B}\u{7F}\u{85}\u{202E}é💧"
    #expect(TOMLText.quoted(text) == #""a\"\\\n\t\u001b\u007f\u0085\u202eé💧""#)
    var loaded = LoadedConfiguration()
    try ConfigurationFiles.apply(Array("[store]\npath = \(TOMLText.quoted(text))".utf8), file: "f", to: &loaded)
    #expect(loaded.configuration.storePath == text)
  }

  /// /tmp is world-writable, but sticky; a folder without the sticky bit is not trusted.
  @Test func folderIsTrustedIfOthersCannotChangeIt() throws {
    let folder = try RunFolder.makeFolder("trust")
    defer { rmdir(folder) }
    #expect(SystemFiles.distrust(folder, contents: true) == nil)
    #expect(SystemFiles.distrust("/tmp", contents: false) == nil)
    for mode: mode_t in [0o770, 0o707, 0o777] {
      chmod(folder, mode)
      #expect(SystemFiles.distrust(folder, contents: false)?.contains("chmod go-w \(folder)") == true)
    }
    chmod(folder, 0o1777)
    #expect(SystemFiles.distrust(folder, contents: false) == nil)
    #expect(SystemFiles.distrust(folder + "/none", contents: false) != nil)
  }

  /// A link is as trustworthy as its folder: in a world-writable folder it may lead anywhere.
  @Test func linkedFolderIsTrustedAsFarAsItsLink() throws {
    let base = try RunFolder.makeFolder("links")
    for name in ["mine/state", "open", "sticky"] {
      try FileManager.default.createDirectory(atPath: "\(base)/\(name)", withIntermediateDirectories: true)
    }
    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(atPath: "\(base)/\(name)", withDestinationPath: target)
    }
    func distrust(_ name: String) -> String? { SystemFiles.distrust("\(base)/\(name)", contents: true) }
    chmod("\(base)/mine", 0o755)
    chmod("\(base)/mine/state", 0o700)
    try link("mine/link", to: "state")
    try link("open/link", to: "\(base)/mine/state")
    try link("sticky/link", to: "../mine/state")
    try link("mine/far", to: "../open/link")
    try link("mine/loop", to: "loop")
    chmod("\(base)/sticky", 0o1777)
    chmod("\(base)/open", 0o755)
    for name in ["mine/state", "mine/link", "open/link", "sticky/link", "mine/far", "mine/../mine/./link"] {
      #expect(distrust(name) == nil, "\(name)")
    }
    #expect(distrust("mine/loop") != nil)
    chmod("\(base)/open", 0o777)
    for name in ["open/link", "mine/far"] {
      #expect(distrust(name)?.hasPrefix("all users may write to \(base)/") == true, "\(distrust(name) ?? "nothing")")
    }
    // A real folder may be replaced there as well.
    try FileManager.default.createDirectory(
      atPath: "\(base)/open/own", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    #expect(distrust("open/own")?.contains("chmod o-w \(base)/open") == true)
    guard geteuid() == 0 else { return }
    // In a sticky folder, another user's link is theirs to change.
    lchown("\(base)/sticky/link", 12_345, 12_345)
    #expect(distrust("sticky/link")?.contains("is a link of another user (12345)") == true)
  }
}
