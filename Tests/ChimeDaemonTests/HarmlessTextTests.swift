import Glibc
import Testing

@testable import ChimeDaemon

/// What a file says is quoted for a terminal and a log, never as it is.
@Suite struct HarmlessTextTests {
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
  func noErrorHasAControlCharacter(_ toml: String) {
    let error = error(toml)
    #expect(error.hasPrefix("chimed.toml:"))
    #expect(
      !error.unicodeScalars.contains {
        $0.properties.generalCategory == .control || (0x202A...0x202E).contains($0.value)
          || (0x2066...0x2069).contains($0.value)
      }, "\(error.debugDescription)")
  }

  /// A bracket in a key does not make it an element that is passed over.
  @Test(arguments: [
    "\"x[0]\" = 1", "log.\"level[0]\" = 1", "[commands.\"x[0]\"]", "[\"[\"]", "[defaults]\n\"channels[1]\" = 5",
  ])
  func noKeyIsPassedOver(_ toml: String) { #expect(error(toml).hasPrefix("chimed.toml:")) }

  /// The parser would go as deep as the key has parts.
  @Test func aKeyOfVeryManyPartsIsRefused() {
    for part in [".a", ". \"a\"", " . a"] {
      let error = error("a" + String(repeating: part, count: 200_000) + " = 1")
      #expect(error == "chimed.toml: this is not TOML: a key has more than 256 parts")
    }
    let few = error("x = \"\(String(repeating: "a.", count: 200))\" # \(String(repeating: ".", count: 2_000))")
    #expect(few.contains("\"x\" is no key of Chime's"))
  }

  @Test func whatIsQuotedIsReadBack() throws {
    let text = "a\"\\\n\t\u{1B}\u{7F}\u{85}\u{202E}é💧"
    #expect(TOMLText.quoted(text) == #""a\"\\\n\t\u001b\u007f\u0085\u202eé💧""#)
    var loaded = LoadedConfiguration()
    try ConfigurationFiles.apply(Array("[store]\npath = \(TOMLText.quoted(text))".utf8), file: "f", to: &loaded)
    #expect(loaded.configuration.storePath == text)
  }

  /// /tmp is anybody's and still keeps one's own from others; a folder without the sticky bit does not.
  @Test func foldersAreTrustedByWhoCanChangeThem() throws {
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
}
