package import ChimeCore
package import ChimeDelivery
package import ChimeSchedule

/// The configuration in force, from all files. The defaults are those stated in `Config/chimed.toml`.
package struct Configuration: Hashable, Sendable {
  package enum LogLevel: String, Hashable, Sendable, CaseIterable, Comparable {
    case error, warning, notice, info, debug

    /// The syslog priority (RFC 5424, table 2).
    package var priority: Int {
      switch self {
      case .error: 3
      case .warning: 4
      case .notice: 5
      case .info: 6
      case .debug: 7
      }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.priority < right.priority }
  }

  package var logLevel = LogLevel.info

  /// The engine of the store.
  package enum StoreEngine: String, Hashable, Sendable, CaseIterable {
    /// An SQLite file on this machine.
    case sqlite
    /// A PostgreSQL database on any host.
    case postgres
  }

  package var storeEngine = StoreEngine.sqlite
  /// The libpq connection string and the password file, for `postgres`.
  package var storeConnection = ""
  package var storePasswordFile = ""
  /// The path of the SQLite file; empty for `chime.db` in the state folder.
  package var storePath = ""
  /// The number of snapshots to keep; 0 disables snapshots.
  package var snapshots = 3
  package var snapshotEvery = Milliseconds.days(1)

  package var timezone = ZoneChoice.local
  package var defaultChannels: [ChannelName] = [.desktop]
  package var grace = Milliseconds.hours(12)
  package var snooze: [Milliseconds] = [.minutes(10), .hours(1)]
  package var catchUp = CatchUp()
  package var jitter = Milliseconds.zero

  package var quiet = QuietDefaults()

  /// The times of `morning` and similar words, and of dates without a time.
  package var words = WordTimes.usual

  /// Degrees north and east; both or neither.
  package var latitude: Double?
  package var longitude: Double?
  /// The location used for sunrise and sunset.
  package var place: Place? {
    guard let latitude, let longitude else { return nil }
    return Place(latitude: latitude, longitude: longitude)
  }

  /// The calendars that schedules may skip (`except on holidays`).
  package var calendars: [String: CalendarSource] = [:]
  /// The country of the calendar `holidays`, such as `CZ` or `DE-BY`; empty for the locale's.
  package var holidayCountry = ""

  /// The tenants by name: owners that are not users.
  package var tenants: [String: TenantDefinition] = [:]

  /// The commands by name, which `--to` takes.
  package var commands: [ChannelName: CommandDefinition] = [:]
  package var commandSwitch = CommandSwitch.user

  /// The settings of the channels.
  package struct Channels: Hashable, Sendable {
    /// The method of showing popups.
    package enum DesktopTransport: String, Hashable, Sendable, CaseIterable {
      case program = "notify-send"
      case bus = "dbus"
    }

    package var desktopTransport = DesktopTransport.program
    package var desktopProgram = "notify-send"
    package var desktopMaxWaiting = 64
    package var desktopTimeout = Milliseconds.seconds(10)

    package var webhookConnectTimeout = Milliseconds.seconds(5)
    package var webhookTimeout = Milliseconds.seconds(15)
    package var webhookConcurrency = 8
    package var webhookAllow: [AddressBlock] = []
    package var webhookDeny: [AddressBlock] = []
    /// The proxy URL; empty for none.
    package var webhookProxy = ""
    package var webhookNoProxy: [String] = []
    /// The file of additional CA certificates; empty for none.
    package var webhookCertificateFile = ""
  }

  package var channels = Channels()

  /// The time over which late messages are spread.
  package var lateSpread = CatchUpSpread.usualSpan
  /// Whether owners are notified about downtime.
  package var tellsDowntime = true

  /// The limits of the history.
  package var history = HistoryLimits(age: .days(400), count: 100_000)

  /// The metrics file for node_exporter; empty for none.
  package var metricsFile = ""
  package var metricsEvery = Milliseconds.seconds(30)

  /// The heartbeat to an external monitor.
  package struct Heartbeat: Hashable, Sendable {
    /// The monitor's URL; empty for none.
    package var url = ""
    /// The command that is run instead of a request; empty for none.
    package var command = ""
    /// The URL that is called once when nothing can fire; empty for none.
    package var failURL = ""
    package var method = HeartbeatMessage.Method.post
    package var every = Milliseconds.minutes(1)
    package var timeout = Milliseconds.seconds(10)
    /// The file of the signing secret; empty for no signature.
    package var secretFile = ""

    /// Whether a heartbeat is configured.
    package var isTold: Bool { !url.isEmpty || !command.isEmpty }
  }

  package var heartbeat = Heartbeat()

  package var maxMessageBytes = 1 << 20
  package var maxNesting = 64
  package var maxConnections = 256
  package var maxConnectionsPerUser = 64
  package var messageTimeout = Milliseconds.seconds(10)
  package var streamQueueBytes = 1 << 20

  package init() {}
}

/// A ConfigurationKey is one key of the configuration, with its parser and formatter.
struct ConfigurationKey: Sendable {
  let path: String
  /// The valid values, for error messages.
  let expected: String
  /// Sets the value. Returns false for an invalid value.
  let set: @Sendable (inout Configuration, ConfigurationValue) -> Bool
  /// Returns the value as TOML.
  let show: @Sendable (Configuration) -> String
}

/// The value of a key: a scalar, or an array of scalars.
enum ConfigurationValue: Hashable, Sendable {
  case scalar(TOMLEntry.Value)
  case array([TOMLEntry.Value])

  var kind: String {
    switch self {
    case .scalar(let value): value.kind
    case .array: "an array"
    }
  }
}

extension ConfigurationKey {
  static let all: [ConfigurationKey] =
    [
      .choice("log.level", \.logLevel, LogLevels.self),
      .choice("store.engine", \.storeEngine, Configuration.StoreEngine.self),
      .text("store.path", \.storePath, maximum: 4_000),
      storeConnection,
      .secretFile("store.passwordFile", \.storePasswordFile),
      .number("store.snapshots", \.snapshots, 0...1_000),
      .duration("store.snapshotEvery", \.snapshotEvery, .minutes(1)...(.days(366))),
      ConfigurationKey(
        path: "defaults.timezone", expected: "an IANA zone name such as \"Europe/Prague\", or \"local\"",
        set: { configuration, value in
          guard case .scalar(.string(let text)) = value else { return false }
          guard text == "local" || Zone.isValidIdentifier(text) else { return false }
          configuration.timezone = ZoneChoice(text)
          return true
        }, show: { TOMLText.quoted($0.timezone.text) }),
      ConfigurationKey(
        path: "defaults.channels", expected: "an array of channel names, such as [\"desktop\"], not empty",
        set: { configuration, value in
          guard let texts = value.strings, !texts.isEmpty else { return false }
          let channels = texts.map(ChannelName.init(rawValue:))
          guard channels.allSatisfy({ $0 == .desktop || $0.isValidForEndpoint }) else { return false }
          configuration.defaultChannels = channels
          return true
        }, show: { TOMLText.array($0.defaultChannels.map(\.rawValue)) }),
      .duration("defaults.grace", \.grace, .seconds(1)...(.days(3_660))),
      ConfigurationKey(
        path: "defaults.snooze",
        expected: "an array of durations of 1s to 366 days, such as [\"10m\", \"1h\"], not empty",
        set: { configuration, value in
          guard let texts = value.strings, !texts.isEmpty, texts.count <= 10 else { return false }
          let lengths = texts.compactMap { try? DurationText.parse($0) }
          guard lengths.count == texts.count, lengths.allSatisfy({ (.seconds(1)...(.days(366))).contains($0) }) else {
            return false
          }
          configuration.snooze = lengths
          return true
        }, show: { TOMLText.array($0.snooze.map(DurationText.format)) }),
      .choice("defaults.catchUpSuspend", \.catchUp.suspend, CatchUpRule.self),
      .choice("defaults.catchUpDowntime", \.catchUp.downtime, CatchUpRule.self),
      .duration("defaults.jitter", \.jitter, Reminder.jitters),
      ConfigurationKey(
        path: "quiet.hours",
        expected:
          "an array of spans, such as [\"22:00-07:00\", \"sat,sun 07:00-09:00\"], which must leave some minute of "
          + "the week free",
        set: { configuration, value in
          guard let texts = value.strings, let hours = try? QuietHours(texts) else { return false }
          configuration.quiet.hours = hours
          return true
        }, show: { TOMLText.array($0.quiet.hours.texts) }),
      ConfigurationKey(
        path: "quiet.rule", expected: "\"hold\" or \"drop\"",
        set: { configuration, value in
          guard case .scalar(.string(let text)) = value, let rule = QuietRule.Handling(rawValue: text), rule != .off
          else { return false }
          configuration.quiet.handling = rule
          return true
        }, show: { TOMLText.quoted($0.quiet.handling.rawValue) }),
      .duration("late.spread", \.lateSpread, .zero...(.hours(1))),
      ConfigurationKey(
        path: "late.tellDowntime", expected: "true or false",
        set: { configuration, value in
          guard case .scalar(.boolean(let isOn)) = value else { return false }
          configuration.tellsDowntime = isOn
          return true
        }, show: { String($0.tellsDowntime) }),
      .degrees("place.latitude", \.latitude, "north", 90),
      .degrees("place.longitude", \.longitude, "east", 180),
      .choice("desktop.transport", \.channels.desktopTransport, Configuration.Channels.DesktopTransport.self),
      .text("desktop.program", \.channels.desktopProgram, minimum: 1, maximum: 4_000),
      .number("desktop.maxWaiting", \.channels.desktopMaxWaiting, 1...1_000),
      .duration("desktop.timeout", \.channels.desktopTimeout, .milliseconds(100)...(.minutes(10))),
      .duration("webhook.connectTimeout", \.channels.webhookConnectTimeout, .milliseconds(10)...(.minutes(10))),
      .duration("webhook.timeout", \.channels.webhookTimeout, .milliseconds(10)...(.minutes(10))),
      .number("webhook.concurrency", \.channels.webhookConcurrency, 1...1_000),
      .blocks("webhook.allow", \.channels.webhookAllow),
      .blocks("webhook.deny", \.channels.webhookDeny),
      ConfigurationKey(
        path: "webhook.proxy",
        expected: "a proxy without user name and password, such as \"http://proxy.example.org:3128\" (or https://, "
          + "socks5h://), or \"\" for none",
        set: { configuration, value in
          guard case .scalar(.string(let text)) = value else { return false }
          guard text.isEmpty || (try? ProxyServer(text)) != nil else { return false }
          configuration.channels.webhookProxy = text
          return true
        }, show: { TOMLText.quoted($0.channels.webhookProxy) }),
      ConfigurationKey(
        path: "webhook.noProxy",
        expected: "an array of names, addresses and blocks of addresses, such as [\"localhost\", \".lan\"]",
        set: { configuration, value in
          guard let texts = value.strings, texts.count <= 100, texts.allSatisfy(ProxyServer.isException) else {
            return false
          }
          configuration.channels.webhookNoProxy = texts
          return true
        }, show: { TOMLText.array($0.channels.webhookNoProxy) }),
      ConfigurationKey(
        path: "webhook.caFile", expected: "the absolute path of a file, or \"\" for none",
        set: { configuration, value in
          guard case .scalar(.string(let text)) = value, text.isEmpty || text.hasPrefix("/"), text.utf8.count <= 4_000,
            !text.utf8.contains(0)
          else { return false }
          configuration.channels.webhookCertificateFile = text
          return true
        }, show: { TOMLText.quoted($0.channels.webhookCertificateFile) }),
      ConfigurationKey(
        path: "history.keepFor", expected: "a duration from 1d to 36600d, such as \"400d\", or \"\" for any age",
        set: { configuration, value in
          guard case .scalar(.string(let text)) = value else { return false }
          let age = text.isEmpty ? nil : try? DurationText.parse(text)
          guard text.isEmpty || age.map({ (.days(1)...(.days(36_600))).contains($0) }) == true else { return false }
          configuration.history.age = age
          return true
        }, show: { TOMLText.quoted($0.history.age.map(DurationText.format) ?? "") }),
      ConfigurationKey(
        path: "history.keepAtMost", expected: "a whole number from 1 to 1000000000, or 0 for any number",
        set: { configuration, value in
          guard case .scalar(.integer(let number)) = value, (0...1_000_000_000).contains(number) else { return false }
          configuration.history.count = number == 0 ? nil : Int(number)
          return true
        }, show: { String($0.history.count ?? 0) }),
      ConfigurationKey(
        path: "metrics.file", expected: "the absolute path of a file whose name ends in .prom, or \"\" for none",
        set: { configuration, value in
          guard case .scalar(.string(let text)) = value, text.utf8.count <= 4_000, !text.utf8.contains(0),
            text.isEmpty || text.hasPrefix("/") && text.hasSuffix(".prom") && !text.hasSuffix("/.prom")
          else { return false }
          configuration.metricsFile = text
          return true
        }, show: { TOMLText.quoted($0.metricsFile) }),
      .duration("metrics.every", \.metricsEvery, .seconds(1)...(.hours(1))),
      .text("heartbeat.url", \.heartbeat.url, maximum: 2_048),
      .text("heartbeat.command", \.heartbeat.command, maximum: 64),
      .text("heartbeat.failUrl", \.heartbeat.failURL, maximum: 2_048),
      .duration("heartbeat.every", \.heartbeat.every, .seconds(1)...(.days(1))),
      .duration("heartbeat.timeout", \.heartbeat.timeout, .milliseconds(10)...(.minutes(10))),
      .choice("heartbeat.method", \.heartbeat.method, HeartbeatMessage.Method.self),
      .secretFile("heartbeat.secretFile", \.heartbeat.secretFile),
      commandSwitch,
      .number("control.maxMessageBytes", \.maxMessageBytes, 4_096...(64 << 20)),
      .number("control.maxNesting", \.maxNesting, 8...512),
      .number("control.maxConnections", \.maxConnections, 1...100_000),
      .number("control.maxConnectionsPerUser", \.maxConnectionsPerUser, 1...100_000),
      .duration("control.messageTimeout", \.messageTimeout, .milliseconds(100)...(.hours(1))),
      .number("control.streamQueueBytes", \.streamQueueBytes, 4_096...(64 << 20)),
    ] + WordTimes.all.map(word) + [
      // This key comes last, because the user's own calendars follow in the same table.
      HolidayCountry.key
    ]

  private typealias LogLevels = Configuration.LogLevel

  static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
  static let tables = Set(all.compactMap { $0.path.split(separator: ".").first.map(String.init) })
    .union([ConfigurationFiles.calendars, ConfigurationFiles.tenants])

  typealias Spot<Value> = WritableKeyPath<Configuration, Value> & Sendable

  private static func text(
    _ path: String, _ place: any Spot<String>, minimum: Int = 0, maximum: Int
  ) -> ConfigurationKey {
    ConfigurationKey(
      path: path, expected: minimum > 0 ? "a string that is not empty" : "a string",
      set: { configuration, value in
        guard case .scalar(.string(let text)) = value, (minimum...maximum).contains(text.utf8.count),
          !text.utf8.contains(0)
        else { return false }
        configuration[keyPath: place] = text
        return true
      }, show: { TOMLText.quoted($0[keyPath: place]) })
  }

  /// The time of a word for a time of day.
  private static func word(_ word: WordTimes.Named) -> ConfigurationKey {
    let usual = WordTimes.usual[keyPath: word.time]
    return ConfigurationKey(
      path: "words.\(word.name)",
      expected: "a time from \(word.hours.lowerBound):00 to \(word.hours.upperBound):59, such as \"\(usual)\"",
      set: { configuration, value in
        guard case .scalar(.string(let text)) = value, let time = CivilTime(text), word.hours.contains(time.hour)
        else { return false }
        configuration.words[keyPath: word.time] = time
        return true
      }, show: { TOMLText.quoted($0.words[keyPath: word.time].description) })
  }

  private static func number(
    _ path: String, _ place: any Spot<Int>, _ range: ClosedRange<Int>
  ) -> ConfigurationKey {
    ConfigurationKey(
      path: path, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      set: { configuration, value in
        guard case .scalar(.integer(let number)) = value, let number = Int(exactly: number), range.contains(number)
        else {
          return false
        }
        configuration[keyPath: place] = number
        return true
      }, show: { String($0[keyPath: place]) })
  }

  private static func duration(
    _ path: String, _ place: any Spot<Milliseconds>, _ range: ClosedRange<Milliseconds>
  ) -> ConfigurationKey {
    ConfigurationKey(
      path: path,
      expected: "a duration from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound)), "
        + "such as \"\(DurationText.format(Configuration()[keyPath: place]))\"",
      set: { configuration, value in
        guard case .scalar(.string(let text)) = value, let length = try? DurationText.parse(text),
          range.contains(length)
        else { return false }
        configuration[keyPath: place] = length
        return true
      }, show: { TOMLText.quoted(DurationText.format($0[keyPath: place])) })
  }

  private static func blocks(_ path: String, _ place: any Spot<[AddressBlock]>) -> ConfigurationKey {
    ConfigurationKey(
      path: path,
      expected: "an array of addresses and blocks of addresses, such as [\"10.0.0.0/8\", \"::1\"]",
      set: { configuration, value in
        guard let texts = value.strings, texts.count <= 1_000 else { return false }
        let blocks = texts.compactMap(AddressBlock.init)
        guard blocks.count == texts.count else { return false }
        configuration[keyPath: place] = blocks
        return true
      }, show: { TOMLText.array($0[keyPath: place].map(\.description)) })
  }

  /// A coordinate; an empty string means none.
  private static func degrees(
    _ path: String, _ place: any Spot<Double?>, _ direction: String, _ limit: Double
  ) -> ConfigurationKey {
    ConfigurationKey(
      path: path,
      expected: "degrees \(direction) as a number from -\(Int(limit)) to \(Int(limit)), or \"\" for no place",
      set: { configuration, value in
        let degrees: Double?
        switch value {
        case .scalar(.float(let number)): degrees = number
        case .scalar(.integer(let number)): degrees = Double(number)
        case .scalar(.string("")): degrees = nil
        default: return false
        }
        guard degrees.map({ (-limit...limit).contains($0) }) ?? true else { return false }
        configuration[keyPath: place] = degrees
        return true
      }, show: { $0[keyPath: place].map { "\($0)" } ?? "\"\"" })
  }

  private static func choice<Choice: RawRepresentable & CaseIterable & Sendable>(
    _ path: String, _ place: any Spot<Choice>, _: Choice.Type
  ) -> ConfigurationKey where Choice.RawValue == String {
    ConfigurationKey(
      path: path, expected: "one of " + Choice.allCases.map { TOMLText.quoted($0.rawValue) }.joined(separator: ", "),
      set: { configuration, value in
        guard case .scalar(.string(let text)) = value, let choice = Choice(rawValue: text) else { return false }
        configuration[keyPath: place] = choice
        return true
      }, show: { TOMLText.quoted($0[keyPath: place].rawValue) })
  }
}

extension ConfigurationValue {
  /// The elements of an array of strings; nil for any other value.
  var strings: [String]? {
    guard case .array(let values) = self else { return nil }
    let texts = values.compactMap { value -> String? in
      if case .string(let text) = value { text } else { nil }
    }
    return texts.count == values.count ? texts : nil
  }
}
