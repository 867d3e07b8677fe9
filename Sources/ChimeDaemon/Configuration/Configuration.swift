package import ChimeCore
package import ChimeDelivery
package import ChimeSchedule

/// What is in force, whichever file it came from. The defaults are those that `Config/chimed.toml` states.
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

  /// Where reminders and their history are kept.
  package enum StoreEngine: String, Hashable, Sendable, CaseIterable {
    /// A file of this machine.
    case sqlite
    /// A database of PostgreSQL, here or elsewhere.
    case postgres
  }

  package var storeEngine = StoreEngine.sqlite
  /// Which database, as libpq takes it, and the file of its password; for `postgres`.
  package var storeConnection = ""
  package var storePasswordFile = ""
  /// Empty: `chime.db` in the state folder.
  package var storePath = ""
  /// How many snapshots of the store are kept; 0: none is taken.
  package var snapshots = 3
  package var snapshotEvery = Milliseconds.days(1)

  package var timezone = ZoneChoice.local
  package var defaultChannels: [ChannelName] = [.desktop]
  package var grace = Milliseconds.hours(12)
  package var snooze: [Milliseconds] = [.minutes(10), .hours(1)]
  package var catchUp = CatchUp()
  package var jitter = Milliseconds.zero

  package var quiet = QuietDefaults()

  /// When `morning`, a day without a time and their like are.
  package var words = WordTimes.usual

  /// Degrees north and east; both or none.
  package var latitude: Double?
  package var longitude: Double?
  /// Where the sun is watched from.
  package var place: Place? {
    guard let latitude, let longitude else { return nil }
    return Place(latitude: latitude, longitude: longitude)
  }

  /// Named days that schedules may leave out (`except on holidays`).
  package var calendars: [String: CalendarSource] = [:]
  /// Whose public holidays the calendar `holidays` has: `CZ`, `DE-BY`; empty: the locale says it.
  package var holidayCountry = ""

  /// Owners that are no users, by name.
  package var tenants: [String: TenantDefinition] = [:]

  /// Programs that reminders may run, by the name that `--to` takes.
  package var commands: [ChannelName: CommandDefinition] = [:]
  package var commandSwitch = CommandSwitch.user

  /// What the channels are made with.
  package struct Channels: Hashable, Sendable {
    /// How popups reach the screen.
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
    /// Empty: none.
    package var webhookProxy = ""
    package var webhookNoProxy: [String] = []
    /// Empty: none.
    package var webhookCertificateFile = ""
  }

  package var channels = Channels()

  /// Over how long the messages of what fires late are spread.
  package var lateSpread = CatchUpSpread.usualSpan
  /// Whether owners are told of a time in which no daemon ran.
  package var tellsDowntime = true

  /// How much history is kept.
  package var history = HistoryLimits(age: .days(400), count: 100_000)

  /// Where the metrics are written for node_exporter; empty: nowhere.
  package var metricsFile = ""
  package var metricsEvery = Milliseconds.seconds(30)

  /// Whom the daemon tells, again and again, that it can fire.
  package struct Heartbeat: Hashable, Sendable {
    /// Empty: nobody.
    package var url = ""
    /// The command that tells it instead; empty: none.
    package var command = ""
    /// Who is told once that it cannot; empty: nobody.
    package var failURL = ""
    package var method = HeartbeatMessage.Method.post
    package var every = Milliseconds.minutes(1)
    package var timeout = Milliseconds.seconds(10)
    /// The file of what it is signed with; empty: it is not.
    package var secretFile = ""

    /// Whether anybody is told.
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

/// One key: its path in the file, how a value is taken, and how the value in force is written.
struct ConfigurationKey: Sendable {
  let path: String
  /// What a value has to be, for the sentence of an error.
  let expected: String
  /// Sets the value; false when it is none that the key can take.
  let set: @Sendable (inout Configuration, ConfigurationValue) -> Bool
  /// The value as TOML.
  let show: @Sendable (Configuration) -> String
}

/// A value as a key takes it: a scalar, or an array of scalars.
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
      // The last, since the calendars by their own names follow it in the same table.
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

  /// When a word for a time of day is.
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

  /// A coordinate, or an empty string for none.
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
  /// The elements of an array of strings; nil for anything else.
  var strings: [String]? {
    guard case .array(let values) = self else { return nil }
    let texts = values.compactMap { value -> String? in
      if case .string(let text) = value { text } else { nil }
    }
    return texts.count == values.count ? texts : nil
  }
}
