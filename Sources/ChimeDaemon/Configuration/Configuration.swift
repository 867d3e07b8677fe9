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
    package var isEnabled: Bool { !url.isEmpty || !command.isEmpty }
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

/// The keys of the configuration.
extension TOMLKey<Configuration> {
  static let all: [Self] =
    [
      .choice("log.level", \.logLevel),
      .choice("store.engine", \.storeEngine),
      .text("store.path", \.storePath),
      .text(
        "store.connection", \.storeConnection,
        "keywords and values of libpq without a password, such as \"host=db.example dbname=chime\""),
      .secretFile("store.passwordFile", \.storePasswordFile),
      .number("store.snapshots", \.snapshots, 0...1_000),
      .duration("store.snapshotEvery", \.snapshotEvery, .minutes(1)...(.days(366))),
      .string(
        "defaults.timezone", \.timezone, "an IANA zone name such as \"Europe/Prague\", or \"local\"",
        read: { $0 == "local" || Zone.isValidIdentifier($0) ? ZoneChoice($0) : nil }, write: \.text),
      .array(
        "defaults.channels", \.defaultChannels, "an array of channel names, such as [\"desktop\"], not empty",
        1...Int.max,
        read: { text in
          let channel = ChannelName(rawValue: text)
          return channel == .desktop || channel.isValidForEndpoint ? channel : nil
        }, write: \.rawValue),
      .duration("defaults.grace", \.grace, .seconds(1)...(.days(3_660))),
      .array(
        "defaults.snooze", \.snooze,
        "an array of durations of 1s to 366 days, such as [\"10m\", \"1h\"], not empty", 1...10,
        read: { Milliseconds($0, in: .seconds(1)...(.days(366))) }, write: DurationText.format),
      .choice("defaults.catchUpSuspend", \.catchUp.suspend),
      .choice("defaults.catchUpDowntime", \.catchUp.downtime),
      .duration("defaults.jitter", \.jitter, Reminder.jitters),
      Self(
        "quiet.hours", \.quiet.hours,
        "an array of spans, such as [\"22:00-07:00\", \"sat,sun 07:00-09:00\"], which must leave some minute of the "
          + "week free", read: { $0.strings.flatMap { try? QuietHours($0) } }, write: { TOMLText.array($0.texts) }),
      .string(
        "quiet.rule", \.quiet.handling, "\"hold\" or \"drop\"",
        read: { QuietRule.Handling(rawValue: $0).flatMap { $0 == .off ? nil : $0 } }, write: \.rawValue),
      .duration("late.spread", \.lateSpread, .zero...(.hours(1))),
      .flag("late.notifyDowntime", \.tellsDowntime),
      .degrees("place.latitude", \.latitude, "north", 90),
      .degrees("place.longitude", \.longitude, "east", 180),
      .choice("desktop.transport", \.channels.desktopTransport),
      .text("desktop.program", \.channels.desktopProgram, "a string that is not empty", 1...4_000),
      .number("desktop.maxWaiting", \.channels.desktopMaxWaiting, 1...1_000),
      .duration("desktop.timeout", \.channels.desktopTimeout, .milliseconds(100)...(.minutes(10))),
      .duration("webhook.connectTimeout", \.channels.webhookConnectTimeout, .milliseconds(10)...(.minutes(10))),
      .duration("webhook.timeout", \.channels.webhookTimeout, .milliseconds(10)...(.minutes(10))),
      .number("webhook.concurrency", \.channels.webhookConcurrency, 1...1_000),
      .blocks("webhook.allow", \.channels.webhookAllow),
      .blocks("webhook.deny", \.channels.webhookDeny),
      .text(
        "webhook.proxy", \.channels.webhookProxy,
        "a proxy without user name and password, such as \"http://proxy.example.org:3128\" (or https://, socks5h://), "
          + "or \"\" for none", where: { $0.isEmpty || (try? ProxyServer($0)) != nil }),
      .array(
        "webhook.noProxy", \.channels.webhookNoProxy,
        "an array of names, addresses and blocks of addresses, such as [\"localhost\", \".lan\"]", 0...100,
        read: { ProxyServer.isException($0) ? $0 : nil }, write: { $0 }),
      .text(
        "webhook.caFile", \.channels.webhookCertificateFile, "the absolute path of a file, or \"\" for none",
        where: { $0.isEmpty || $0.hasPrefix("/") }),
      .string(
        "history.retention", \.history.age, "a duration from 1d to 36600d, such as \"400d\", or \"\" for any age",
        read: { $0.isEmpty ? .some(nil) : Milliseconds($0, in: .days(1)...(.days(36_600))).map(Optional.some) },
        write: { $0.map(DurationText.format) ?? "" }),
      .limit(
        "history.maxOccurrences", \.history.count, "a whole number from 1 to 1000000000, or 0 for any number",
        1_000_000_000
      ),
      .text(
        "metrics.file", \.metricsFile, "the absolute path of a file whose name ends in .prom, or \"\" for none",
        where: { $0.isEmpty || $0.hasPrefix("/") && $0.hasSuffix(".prom") && !$0.hasSuffix("/.prom") }),
      .duration("metrics.every", \.metricsEvery, .seconds(1)...(.hours(1))),
      .text("heartbeat.url", \.heartbeat.url, "a string", 0...2_048),
      .text("heartbeat.command", \.heartbeat.command, "a string", 0...64),
      .text("heartbeat.failUrl", \.heartbeat.failURL, "a string", 0...2_048),
      .duration("heartbeat.every", \.heartbeat.every, .seconds(1)...(.days(1))),
      .duration("heartbeat.timeout", \.heartbeat.timeout, .milliseconds(10)...(.minutes(10))),
      .choice("heartbeat.method", \.heartbeat.method),
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

  static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
  static let tables = Set(all.compactMap { $0.path.split(separator: ".").first.map(String.init) })
    .union([ConfigurationFiles.calendars, ConfigurationFiles.tenants])

  /// The time of a word for a time of day.
  private static func word(_ word: WordTimes.Named) -> Self {
    let usual = WordTimes.usual[keyPath: word.time]
    return Self(
      path: "words.\(word.name)",
      expected: "a time from \(word.hours.lowerBound):00 to \(word.hours.upperBound):59, such as \"\(usual)\"",
      set: { configuration, value in
        guard let time = value.string.flatMap({ CivilTime($0) }), word.hours.contains(time.hour) else { return false }
        configuration.words[keyPath: word.time] = time
        return true
      }, show: { TOMLText.quoted($0.words[keyPath: word.time].description) })
  }

  private static func duration(
    _ path: String, _ place: any Spot<Milliseconds>, _ range: ClosedRange<Milliseconds>
  ) -> Self {
    .duration(path, place, range, such: DurationText.format(Configuration()[keyPath: place]))
  }

  private static func blocks(_ path: String, _ place: any Spot<[AddressBlock]>) -> Self {
    .array(
      path, place, "an array of addresses and blocks of addresses, such as [\"10.0.0.0/8\", \"::1\"]", 0...1_000,
      read: AddressBlock.init, write: \.description)
  }

  /// The path of a file with a secret.
  private static func secretFile(_ path: String, _ place: any Spot<String>) -> Self {
    .text(
      path, place,
      "the absolute path of a file, the name of a credential of the service manager, or \"\" for none",
      where: { $0.hasPrefix("/") || (!$0.contains("/") && $0 != "." && $0 != "..") })
  }

  /// A coordinate; an empty string means none.
  private static func degrees(_ path: String, _ place: any Spot<Double?>, _ direction: String, _ limit: Double) -> Self
  {
    Self(
      path, place, "degrees \(direction) as a number from -\(Int(limit)) to \(Int(limit)), or \"\" for no place",
      read: { value in
        let degrees: Double?
        switch value {
        case .scalar(.float(let number)): degrees = number
        case .scalar(.integer(let number)): degrees = Double(number)
        case .scalar(.string("")): return .some(nil)
        default: return nil
        }
        return degrees.flatMap { (-limit...limit).contains($0) ? .some($0) : nil }
      }, write: { $0.map { "\($0)" } ?? "\"\"" })
  }
}
