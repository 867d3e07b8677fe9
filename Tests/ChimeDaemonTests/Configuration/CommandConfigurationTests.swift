import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// The configuration of commands: valid values, and errors.
struct CommandConfigurationTests {
  private func apply(_ text: String) throws -> LoadedConfiguration { try ConfigurationTests.apply(text) }

  @Test func printedCommandTableReadsBack() throws {
    let text = """
      [commands]
      enabled = true
      [commands.backup]
      program = "/usr/local/bin/backup"
      arguments = ["--quiet", "a \\"b\\" $(c)", ""]
      timeLimit = "10m"
      overlap = "skip"
      success = [0, 24]
      workingDirectory = "/srv"
      nice = 10
      environment = { TARGET = "nas = 1", _x1 = "" }
      limits.memory = "512M"
      limits.processorTime = "5m"
      limits.openFiles = 64
      limits.processes = 200
      limits.fileSize = 1000
      [commands.Sound_2]
      program = "paplay"
      """
    var loaded = try apply(text)
    try ConfigurationFiles.checkWhole(loaded)
    var backup = CommandDefinition(name: ChannelName(rawValue: "backup"), program: "/usr/local/bin/backup")
    backup.arguments = ["--quiet", "a \"b\" $(c)", ""]
    backup.timeLimit = .minutes(10)
    backup.overlap = .skip
    backup.success = [0, 24]
    backup.folder = "/srv"
    backup.nice = 10
    backup.environment = ["TARGET": "nas = 1", "_x1": ""]
    backup.limits.memory = 512 << 20
    backup.limits.processorTime = .minutes(5)
    backup.limits.openFiles = 64
    backup.limits.processes = 200
    backup.limits.fileSize = 1_000
    let sound = CommandDefinition(name: ChannelName(rawValue: "Sound_2"), program: "paplay")
    #expect(loaded.configuration.commands == [backup.name: backup, sound.name: sound])
    #expect(loaded.configuration.commandSwitch == .on)
    #expect(loaded.origins["commands.backup.timeLimit"] == "chimed.toml:6")
    loaded.files = ["chimed.toml"]
    let printed = loaded.text
    // Variables are omitted, because they may contain secrets.
    var expected = loaded.configuration
    expected.commands[backup.name]?.environment = [:]
    #expect(try apply(printed).configuration == expected, "\(printed)")
    #expect(printed.contains("overlap = \"skip\"                            # chimed.toml:7"))
    #expect(printed.contains("# environment.TARGET is set; its value is not shown"))
    #expect(!printed.contains("nas = 1"))
  }

  @Test func filesMayEachDefineAPart() throws {
    var loaded = try apply("[commands.backup]\ntimeLimit = \"10m\"")
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationFiles.checkWhole(loaded) }
    #expect(
      error?.description
        == "chimed.toml:1: commands.backup needs program, such as program = \"/usr/local/bin/backup\"")
    try ConfigurationFiles.apply(
      Array("commands.backup.program = \"/bin/true\"".utf8), file: "more.toml", to: &loaded)
    try ConfigurationFiles.checkWhole(loaded)
    let command = try #require(loaded.configuration.commands[ChannelName(rawValue: "backup")])
    #expect(command.program == "/bin/true" && command.timeLimit == .minutes(10))
  }

  @Test(arguments: [
    ("enabled = 1", "commands.enabled must be true, false, or \"user\" for true in the daemon of a user"),
    ("enabled = \"system\"", "found \"system\""),
    (
      "enable = true",
      "commands.enable must be a table, [commands.enable]; found true or false (or did you mean commands.enabled?)"
    ),
    (
      "[commands.desktop]",
      "\"desktop\" is not a name for a command: use 1 to 64 letters, digits, - or _, and not desktop"
    ),
    ("[commands.\"a b\"]", "\"a b\" is not a name for a command"),
    ("[commands.enabled]\nprogram = \"x\"", "commands.enabled"),
    ("[[commands.x]]\nprogram = \"x\"", "commands.x must be a table"),
    ("x.program = \"~/bin/x\"", "commands.x.program must be the absolute path of a program (~ is not expanded)"),
    ("x.program = \"bin/x\"", "or a name without / to look up in PATH; found \"bin/x\""),
    ("x.program = \"\"", "found \"\""),
    ("x.program = \"a\\u0000b\"", "commands.x.program must be"),
    ("x.programm = \"x\"", "\"programm\" is not a key of a command; did you mean program?"),
    ("x.shell = true", "\"shell\" is not a key of a command; it takes program, arguments"),
    ("x.arguments = \"--quiet\"", "commands.x.arguments must be an array of strings"),
    ("x.arguments = [1]", "commands.x.arguments must be an array of strings"),
    ("x.arguments = [\"a\\u0000\"]", "commands.x.arguments must be an array of strings"),
    ("x.timeLimit = \"0s\"", "commands.x.timeLimit must be a duration from 1s to 1d"),
    ("x.timeLimit = \"25h\"", "commands.x.timeLimit must be a duration from 1s to 1d"),
    ("x.overlap = \"wait\"", "one of \"queue\", \"skip\", \"parallel\"; found \"wait\""),
    ("x.success = []", "an array of exit statuses from 0 to 255"),
    ("x.success = [256]", "an array of exit statuses from 0 to 255"),
    ("x.success = 0", "an array of exit statuses from 0 to 255"),
    ("x.workingDirectory = \"srv\"", "the absolute path of a folder"),
    ("x.nice = -5", "a whole number from 0 to 19; found -5"),
    ("x.environment = \"A=b\"", "commands.x.environment must be a table; found a string"),
    ("x.environment.CHIME_TITLE = \"\"", "\"CHIME_TITLE\" is not a variable that can be set"),
    ("x.environment.\"A=B\" = \"\"", "\"A=B\" is not a variable that can be set"),
    ("x.environment.1A = \"\"", "\"1A\" is not a variable that can be set"),
    (
      "x.environment.A = 3",
      "commands.x.environment.A must be a string of at most 32768 bytes; found a whole number"
    ),
    ("x.limits = 3", "commands.x.limits must be a table"),
    ("x.limits.memory = \"512 MB\"", "commands.x.limits.memory must be a size in bytes from 1048576"),
    ("x.limits.memory = \"99999999999999999999G\"", "must be a size in bytes"),
    ("x.limits.memory = \"9223372036854775807G\"", "must be a size in bytes"),
    ("x.limits.memory = -1", "must be a size in bytes"),
    ("x.limits.openFiles = 3", "commands.x.limits.openFiles must be a whole number from 8 to 1048576; found 3"),
    ("x.limits.processorTime = 3", "commands.x.limits.processorTime must be a duration from 1s to 1d"),
    ("x.limits.cpu = 3", "\"limits.cpu\" is not a key of a command"),
  ])
  func refusesInvalidCommands(text: String, sentence: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try apply(text.hasPrefix("[") ? text : "[commands]\n" + text)
    }
    #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    #expect(error?.description.hasPrefix("chimed.toml:") == true)
  }

  @Test func systemDaemonEnablesCommandsOnlyIfConfigured() throws {
    func book(_ text: String, isSystem: Bool) throws -> CommandRegistry {
      try apply(text).configuration.commandBook(isSystem: isSystem, file: "/etc/chime/chimed.toml")
    }
    let one = "[commands.x]\nprogram = \"/bin/true\""
    #expect(try book(one, isSystem: false).isEnabled)
    let system = try book(one, isSystem: true)
    #expect(!system.isEnabled && system.commands.count == 1)
    #expect(system.remedy == "write enabled = true under [commands] in /etc/chime/chimed.toml")
    #expect(try book("[commands]\nenabled = true\n" + one, isSystem: true).isEnabled)
    #expect(try !book("[commands]\nenabled = false\n" + one, isSystem: false).isEnabled)
  }
}
