import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// The configuration: valid values, and errors.
struct ConfigurationTests {
  static let root = URL(filePath: Package.folder)

  static func apply(_ text: String) throws -> LoadedConfiguration {
    var loaded = LoadedConfiguration()
    try ConfigurationFiles.apply(Array(text.utf8), file: "chimed.toml", to: &loaded)
    return loaded
  }

  /// The shipped file lists every key with its default: uncommented, it changes nothing and is complete. The location
  /// has no default, so its numbers are an example.
  @Test func shippedFileStatesTheDefaults() throws {
    let shipped = try String(contentsOf: Self.root.appending(path: "Config/chimed.toml"), encoding: .utf8)
    #expect(try Self.apply(shipped) == LoadedConfiguration())
    let uncommented = shipped.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring in
      guard line.hasPrefix("# "), line.contains(" = "), line.dropFirst(2).first?.isLowercase == true else {
        return line
      }
      return line.dropFirst(2)
    }.joined(separator: "\n")
    let loaded = try Self.apply(uncommented)
    var configuration = loaded.configuration
    #expect(configuration.place == Place(latitude: 50.0875, longitude: 14.4213))
    (configuration.latitude, configuration.longitude) = (nil, nil)
    #expect(configuration == Configuration())
    #expect(Set(loaded.origins.keys) == Set(TOMLKey.byPath.keys))
  }

  /// The output of --print-config is an equivalent configuration.
  @Test func printedConfigurationReadsBack() throws {
    var loaded = try Self.apply(
      """
      [defaults]
      timezone = "Europe/Prague"
      channels = ["desktop", "team"]
      grace = "90m"
      snooze = ["5m"]
      catchUpDowntime = "all"
      jitter = "5m"
      [quiet]
      hours = ["weekdays 22-7", "sat,sun 23:00-09:00"]
      rule = "drop"
      [store]
      path = "/tmp/a \\"quoted\\" place.db"
      [control]
      maxConnections = 7
      [webhook]
      allow = ["::ffff:10.0.0.0/104", "::1"]
      deny = ["10.1.0.0/16"]
      proxy = "socks5h://[::1]:1080"
      noProxy = ["localhost", ".lan", "10.0.0.0/8"]
      caFile = "/etc/ssl/own.pem"
      [place]
      latitude = -33.8688
      longitude = 151
      [calendars]
      holidays = ["2026-12-24..2026-12-26", "2027-01-01"]
      School_1 = "/home/ann/a \\"quoted\\" name.ics"
      none = []
      [words]
      morning = "06:45"
      endOfDay = "18:00"
      """)
    loaded.files = ["chimed.toml"]
    #expect(loaded.origins["defaults.grace"] == "chimed.toml:4")
    #expect(try Self.apply(loaded.text).configuration == loaded.configuration)
    #expect(loaded.configuration.words.morning == CivilTime(hour: 6, minute: 45))
    #expect(loaded.configuration.words.endOfDay == CivilTime(hour: 18))
    #expect(loaded.configuration.words.teatime == WordTimes.usual.teatime)
    #expect(loaded.configuration.timezone == .named("Europe/Prague"))
    #expect(loaded.configuration.grace == .minutes(90))
    #expect(loaded.configuration.jitter == .minutes(5))
    #expect(loaded.configuration.quiet.hours.texts == ["mon-fri 22:00-07:00", "sat,sun 23:00-09:00"])
    #expect(loaded.configuration.quiet.handling == .drop)
    #expect(
      loaded.configuration.calendars["holidays"]
        == .days([
          try #require(CivilDate("2026-12-24"))...(try #require(CivilDate("2026-12-26"))),
          try #require(CivilDate("2027-01-01"))...(try #require(CivilDate("2027-01-01"))),
        ]))
    #expect(loaded.configuration.calendars["School_1"] == .file("/home/ann/a \"quoted\" name.ics"))
    #expect(loaded.configuration.calendars["none"] == .days([]))
    #expect(loaded.origins["calendars.holidays"] == "chimed.toml:25")
    #expect(loaded.configuration.place == Place(latitude: -33.8688, longitude: 151))
    #expect(loaded.configuration.channels.webhookAllow.map { "\($0)" } == ["10.0.0.0/8", "::1"])
    #expect(loaded.configuration.catchUp == CatchUp(suspend: .latest, downtime: .all))
  }

  @Test(arguments: [
    (
      "[desktop]\nprogramm = \"x\"",
      "chimed.toml:2:1: \"desktop.programm\" is not a key of Chime; did you mean desktop.program?"
    ),
    ("[zzzz]\n", "chimed.toml:1:2: \"zzzz\" is not a key of Chime; chimed --print-config lists them all"),
    (
      "[log]\nlevel = 3",
      "chimed.toml:2:9: log.level must be one of \"error\", \"warning\", \"notice\", \"info\", \"debug\"; found 3"
    ),
    ("[log]\nlevel = \"loud\"", "found \"loud\""),
    (
      "[desktop]\nmaxWaiting = 0",
      "chimed.toml:2:14: desktop.maxWaiting must be a whole number from 1 to 1000; found 0"
    ),
    ("[desktop]\nmaxWaiting = 1.5", "found 1.5"),
    ("[store]\nengine = \"mysql\"", "store.engine must be one of \"sqlite\", \"postgres\"; found \"mysql\""),
    ("[store]\npasswordFile = \"a/b\"", "store.passwordFile must be the absolute path of a file, the name of"),
    ("[desktop]\nmaxWaiting = 9223372036854775807", "from 1 to 1000"),
    ("[desktop]\ntimeout = \"10 parsecs\"", "desktop.timeout must be a duration from"),
    ("[defaults]\nchannels = []", "defaults.channels must be an array of channel names"),
    ("[defaults]\nchannels = [\"a b\"]", "defaults.channels must be an array of channel names"),
    ("[defaults]\nchannels = [1]", "defaults.channels must be an array of channel names"),
    ("[defaults]\ntimezone = \"../../etc/passwd\"", "defaults.timezone must be an IANA zone name"),
    ("[defaults]\nsnooze = [\"0s\"]", "defaults.snooze must be an array of durations"),
    ("[defaults]\njitter = \"25h\"", "defaults.jitter must be a duration from 0s to 1d"),
    ("[quiet]\nhours = \"22:00-07:00\"", "quiet.hours must be an array of spans, such as"),
    ("[quiet]\nhours = [\"22:00-25:00\"]", "quiet.hours must be an array of spans, such as"),
    ("[quiet]\nhours = [\"00:00-24:00\"]", "which must leave some minute of the week free"),
    ("[quiet]\nrule = \"off\"", "quiet.rule must be \"hold\" or \"drop\"; found \"off\""),
    ("[log\nlevel = 1", "invalid TOML"),
    (
      "[webhook]\nallow = [\"10.0.0.1/8\"]",
      "chimed.toml:2:9: webhook.allow must be an array of addresses and blocks of addresses, such as "
    ),
    ("[webhook]\ndeny = \"10.0.0.0/8\"", "webhook.deny must be an array of addresses"),
    ("[webhook]\nproxy = \"proxy.lan:3128\"", "webhook.proxy must be a proxy without user name and password"),
    // A password is not quoted.
    ("[webhook]\nproxy = \"http://ann:hunter2@proxy:3128\"", "found \"http://<redacted>@proxy:3128\""),
    ("[webhook]\nnoProxy = [\"*\"]", "webhook.noProxy must be an array of names, addresses"),
    ("[webhook]\ncaFile = \"ca.pem\"", "webhook.caFile must be the absolute path of a file"),
    (
      "[words]\nmorning = \"12:00\"",
      "chimed.toml:2:11: words.morning must be a time from 0:00 to 11:59, such as \"08:00\"; found \"12:00\""
    ),
    ("[words]\nnight = 22", "words.night must be a time from 18:00 to 23:59"),
    ("[words]\nnoon = \"12:30\"", "noon"),
    ("[place]\nlatitude = 91", "chimed.toml:2:12: place.latitude must be degrees north as a number from -90 to 90"),
    ("[place]\nlongitude = -180.5", "from -180 to 180, or \"\" for no place; found -180.5"),
    ("[place]\nlatitude = \"Prague\"", "found \"Prague\""),
    (
      "[calendars]\n\"a b\" = []",
      "chimed.toml:2:1: \"a b\" is not a name for a calendar: use 1 to 64 letters, digits, - or _"
    ),
    ("[calendars]\nweekends = []", "\"weekends\" is not a name for a calendar"),
    ("[calendars]\ntomorrow = []", "and no word that schedules use"),
    ("[calendars]\n2026-12-24 = []", "\"2026-12-24\" is not a name for a calendar"),
    ("[calendars]\n\"a.b\" = []", "\"a.b\" is not a name for a calendar"),
    ("[calendars]\nholidays = \"holidays.ics\"", "or the absolute path of an .ics file; found \"holidays.ics\""),
    ("[calendars]\nholidays = 3", "calendars.holidays must be an array of dates"),
    ("[calendars.holidays]\nx = 1", "calendars.holidays must be an array of dates"),
    ("calendars = []", "calendars must be a table, [calendars]; found an array"),
    (
      "[calendars]\nholidays = [\"2026-12-24\", \"2027-02-29\"]",
      "chimed.toml:2:27: calendars.holidays[1] must be a date such as \"2027-01-01\""
    ),
    ("[calendars]\nholidays = [\"2026-12-26..2026-12-24\"]", "found \"2026-12-26..2026-12-24\""),
    ("[calendars]\nholidays = [\"2026-12-24..\"]", "found \"2026-12-24..\""),
    ("[calendars]\nholidays = [2026-12-24]", "found a date"),
    ("log = 3", "log must be a table, [log]; found a whole number"),
  ])
  func refusesInvalidConfigurations(text: String, sentence: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try Self.apply(text) }
    #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
  }

  @Test func hostileBytesAreRefused() {
    for bytes: [UInt8] in [[0xFF, 0xFE, 0x00], Array(repeating: 0x5B, count: 100_000), [0], Array("a=\"\u{0}\"".utf8)] {
      var loaded = LoadedConfiguration()
      #expect(throws: ConfigurationError.self) {
        try ConfigurationFiles.apply(bytes, file: "chimed.toml", to: &loaded)
      }
    }
  }

  @Test func dropInsOverrideTheFileInTheOrderOfTheirNames() throws {
    let folder = RunFolder.url.appending(path: "chime-config-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let dropIns = folder.appending(path: "chimed.toml.d")
    try FileManager.default.createDirectory(at: dropIns, withIntermediateDirectories: true)
    try "[defaults]\ngrace = \"1h\"\nsnooze = [\"1m\"]".write(
      to: folder.appending(path: "chimed.toml"), atomically: true, encoding: .utf8)
    try "[defaults]\ngrace = \"2h\"".write(to: dropIns.appending(path: "10-a.toml"), atomically: true, encoding: .utf8)
    try "[defaults]\ngrace = \"3h\"".write(to: dropIns.appending(path: "20-b.toml"), atomically: true, encoding: .utf8)
    try "nonsense".write(to: dropIns.appending(path: "30-c.conf"), atomically: true, encoding: .utf8)
    let loaded = try ConfigurationFiles.load(path: folder.appending(path: "chimed.toml").path(), isRequired: true)
    #expect(loaded.configuration.grace == .hours(3))
    #expect(loaded.configuration.snooze == [.minutes(1)])
    #expect(loaded.files.count == 3)
    #expect(loaded.origins["defaults.grace"]?.hasSuffix("20-b.toml:2") == true)
  }

  /// Two files may each set one coordinate; a single coordinate is an error.
  @Test func locationNeedsBothCoordinates() throws {
    var loaded = try Self.apply("[place]\nlatitude = 50.0875")
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationFiles.checkWhole(loaded) }
    #expect(error?.description == "chimed.toml:2: place.latitude needs place.longitude")
    try ConfigurationFiles.apply(Array("place.longitude = 14.4213".utf8), file: "more.toml", to: &loaded)
    try ConfigurationFiles.checkWhole(loaded)
    #expect(loaded.configuration.place == Place(latitude: 50.0875, longitude: 14.4213))
  }

  @Test func missingFileMeansDefaultsUnlessItWasNamed() throws {
    #expect(try ConfigurationFiles.load(path: "/nonexistent/chimed.toml", isRequired: false).files.isEmpty)
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationFiles.load(path: "/nonexistent/chimed.toml", isRequired: true)
    }
    #expect(error?.description == "/nonexistent/chimed.toml: cannot be read: No such file or directory")
  }
}

/// The daemon's command line, and the resulting paths.
struct ArgumentsTests {
  @Test func pathsFollowOptionsThenSystemdThenXDG() throws {
    let plain = try Arguments([]).paths(environment: ["HOME": "/home/ann"], uid: 1_000)
    #expect(plain.storePath == "/home/ann/.local/state/chime/chime.db")
    #expect(plain.configurationPath == "/home/ann/.config/chime/chimed.toml")
    #expect(plain.socketPath == "/run/user/1000/chime/io.chime")
    let xdg = try Arguments([]).paths(
      environment: ["XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c", "XDG_RUNTIME_DIR": "/r"], uid: 1)
    #expect(
      [xdg.storePath, xdg.configurationPath, xdg.socketPath] == [
        "/s/chime/chime.db", "/c/chime/chimed.toml", "/r/chime/io.chime",
      ])
    let systemd = try Arguments(["--system"]).paths(
      environment: ["STATE_DIRECTORY": "/var/lib/private/chime:/x", "HOME": "/"], uid: 1)
    #expect(systemd.storePath == "/var/lib/private/chime/chime.db")
    #expect(systemd.socketPath == "/run/chime/io.chime")
    let options = try Arguments(["--state-dir", "/a", "--socket=/b", "--config", "/c"]).paths(environment: [:], uid: 1)
    #expect([options.storePath, options.socketPath, options.configurationPath] == ["/a/chime.db", "/b", "/c"])
    #expect(options.configurationIsRequired)
  }

  @Test(arguments: [
    (["--chek"], "chimed knows no --chek; did you mean --check?"),
    (["--config"], "--config needs a value"),
    (["serve"], "chimed knows no serve"),
  ])
  func refusesInvalidOptions(words: [String], sentence: String) {
    let error = #expect(throws: Arguments.UsageError.self) { try Arguments(words) }
    #expect(error?.message == sentence)
  }

  @Test func helpNamesEveryOption() {
    for option in [
      "--system", "--config", "--state-dir", "--socket", "--check", "--print-config", "--help", "--version",
    ] {
      #expect(Arguments.help.contains(option))
    }
  }
}
