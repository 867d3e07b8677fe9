public import ChimeSchedule

/// A Reminder says what to remind of, when, and through which channels.
///
/// It is a definition only: occurrences hold what happened to its times, and the store holds its next time.
public struct Reminder: Hashable, Sendable, Codable {
  public var id: ReminderID
  /// The user id of its owner (SO_PEERCRED), or a tenant's number.
  public var owner: UInt32
  public var title: String
  public var body: String?
  public var schedule: Schedule
  public var timezone: ZoneChoice
  /// How times that a clock change skips are handled; nil for the dialect's own rule.
  public var gap: GapRule?
  /// How times that a clock change repeats are handled; nil for the dialect's own rule.
  public var fold: FoldRule?
  /// The location for sunrise and sunset; nil for the configured one.
  public var place: Place?
  /// The channels that get its messages; never empty.
  public var channels: [ChannelName]
  public var tags: [String]
  public var urgency: Urgency
  public var icon: String?
  public var sound: String?
  public var url: String?
  /// Where to do it, such as `Kitchen`.
  public var location: String?
  /// The notification's category (Desktop Notifications Specification, "Categories"), such as `email.arrived`.
  public var category: String?
  public var catchUp: CatchUp
  /// How late it may fire; later times are recorded as missed.
  public var grace: Milliseconds
  /// The longest delay of its evaluation, so that many reminders do not fire at once; see `jitterOffset`.
  public var jitter: Milliseconds
  /// How it repeats until answered; nil for not at all.
  public var nag: Nag?
  /// Its own quiet hours; nil for the configured ones.
  public var quiet: QuietRule?
  /// Whether it wakes the machine, if the system allows that.
  public var wake: Bool
  /// Whether its popup stays on the screen until it is answered.
  public var stay: Bool
  /// For an expectation: how long after each time a ping may come, and how long a run may take after its start ping. If
  /// none comes, it fires. Nil for a reminder that fires at its times.
  public var within: Milliseconds?
  /// The snooze lengths on offer; the first is the default. Never empty.
  public var snoozeLengths: [Milliseconds]
  public var pause: Pause
  /// The number of next times to skip; in `skips`.
  public var skipNext: Int
  /// The tracker that knows whether it was done, if any.
  public var tracker: TrackerLink?
  /// The reminder that must be done first: its times are held until that one is done on their day. Nil for none.
  public var onlyIfDone: ReminderID?
  /// When it was last done; set only if its times count from there (`countsFromDone`).
  public var lastDone: Instant?
  /// The times that it got because another reminder was done or missed (`Schedule.chain`), ascending; nil for none yet.
  public var chainedTimes: [Instant]?
  /// The name of the manifest that declares it (`chime apply`); nil if it was set by hand.
  public var set: String?
  public var createdAt: Instant
  /// A counter of changes to the definition; a decision made from an older one is stale.
  public var generation: Int64

  public init(
    id: ReminderID, owner: UInt32, title: String, body: String? = nil, schedule: Schedule,
    timezone: ZoneChoice = .local, gap: GapRule? = nil, fold: FoldRule? = nil, place: Place? = nil,
    channels: [ChannelName] = [.desktop], tags: [String] = [], urgency: Urgency = .normal, icon: String? = nil,
    sound: String? = nil, url: String? = nil, location: String? = nil, category: String? = nil,
    catchUp: CatchUp = CatchUp(), grace: Milliseconds = .hours(12), jitter: Milliseconds = .zero, nag: Nag? = nil,
    quiet: QuietRule? = nil, wake: Bool = false, stay: Bool = false, within: Milliseconds? = nil,
    snoozeLengths: [Milliseconds] = [.minutes(10), .hours(1)], pause: Pause = .none, skipNext: Int = 0,
    tracker: TrackerLink? = nil, onlyIfDone: ReminderID? = nil, lastDone: Instant? = nil,
    chainedTimes: [Instant]? = nil, set: String? = nil,
    createdAt: Instant,
    generation: Int64 = 0
  ) {
    self.id = id
    self.owner = owner
    self.title = title
    self.body = body
    self.schedule = schedule
    self.timezone = timezone
    self.gap = gap
    self.fold = fold
    self.place = place
    self.channels = channels
    self.tags = tags
    self.urgency = urgency
    self.icon = icon
    self.sound = sound
    self.url = url
    self.location = location
    self.category = category
    self.catchUp = catchUp
    self.grace = grace
    self.jitter = jitter
    self.nag = nag
    self.quiet = quiet
    self.wake = wake
    self.stay = stay
    self.within = within
    self.snoozeLengths = snoozeLengths
    self.pause = pause
    self.skipNext = skipNext
    self.tracker = tracker
    self.onlyIfDone = onlyIfDone
    self.lastDone = lastDone
    self.chainedTimes = chainedTimes
    self.set = set
    self.createdAt = createdAt
    self.generation = generation
  }

  /// A Text describes an optional one-line text of a reminder. Stores, messages and calendars all read this table.
  public struct Text: Sendable {
    /// Its name in the store, on the wire, in templates and in webhooks.
    public var name: String
    public var path: any WritableKeyPath<Reminder, String?> & Sendable
    /// Whether it must be a link (`isLink`).
    public var isLink = false
    /// Whether messages include it; the other texts only affect how a popup looks.
    public var isInMessages = false
    /// The iCalendar property that holds it (RFC 5545, 3.8.1), if any.
    public var calendarProperty: String?
  }

  /// All texts, in the order in which messages have them.
  public static let texts = [
    Text(name: "icon", path: \.icon), Text(name: "sound", path: \.sound), Text(name: "category", path: \.category),
    Text(name: "location", path: \.location, isInMessages: true, calendarProperty: "LOCATION"),
    Text(name: "url", path: \.url, isLink: true, isInMessages: true, calendarProperty: "URL"),
  ]
  /// The texts that messages include.
  public static let messageTexts = texts.filter(\.isInMessages)

  /// The range of `within`.
  public static let withins: ClosedRange<Milliseconds> = .seconds(1)...(.days(366))

  /// The range of `skipNext`.
  public static let skips = 0...10_000

  /// Returns whether a text looks like a URI (RFC 3986): a scheme, a colon, and more text without whitespace.
  ///
  ///     Reminder.isLink("mailto:ann@example.org")   // true
  ///     Reminder.isLink("www.example.org")          // false
  public static func isLink(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
    func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
    return parts.count == 2 && isLetter(text.utf8.first ?? 0) && !text.contains(where: \.isWhitespace)
      && parts[0].allSatisfy {
        isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.".utf8.contains($0)
      }
  }

  /// Returns whether it wakes the machine at `instant`; `isRegular`: at a scheduled time, which a skip may cancel.
  public func wakes(at instant: Instant, isRegular: Bool = false) -> Bool {
    wake && !pause.holds(at: instant) && !(isRegular && skipNext > 0)
  }

  /// The zone that its times follow: the one in the schedule, as in calendar expressions and recurrence rules, else `timezone`.
  public var governingZone: ZoneChoice { schedule.zoneIdentifier.map(ZoneChoice.named) ?? timezone }

  /// Whether its times count from when it was last done, by its schedule or by entries of its tracker.
  public var countsFromDone: Bool {
    schedule.countsFromDone || tracker?.followsEntries == true && schedule.canFollowEntries
  }

  /// Returns the reminder's times. Its own location, last answer and chained times override those of the context.
  ///
  /// - Parameter scheduleContext: a context in the zone of `governingZone`.
  public func timetable(in scheduleContext: ScheduleContext) -> Timetable {
    var scheduleContext = scheduleContext
    scheduleContext.place = place ?? scheduleContext.place
    scheduleContext.lastDone = lastDone
    scheduleContext.chainedTimes = chainedTimes ?? []
    scheduleContext.followsDone = tracker?.followsEntries == true
    return schedule.timetable(in: scheduleContext, gap: gap, fold: fold)
  }

  /// Returns the reminder's times in `zone`, without a context.
  public func timetable(in zone: Zone) -> Timetable { timetable(in: ScheduleContext(zone: zone)) }
}

extension Reminder {
  /// Whether it alerts about what did not happen: pings close its times.
  public var isExpectation: Bool { within != nil }

  /// The delay from a scheduled time to its evaluation: whole seconds in 0…`jitter`.
  ///
  /// It is the same for all times of the reminder, on every machine and after every restart: the hash of the id's bytes
  /// (`SplitMix64.hash`) modulo the number of seconds in `jitter` plus one. Zero for an expectation, whose ping counts
  /// from the exact time.
  ///
  ///     reminder.jitterOffset   // r7k2 with a jitter of 10 minutes: 7 min 52 s
  public var jitterOffset: Milliseconds {
    guard jitter >= .seconds(1), !isExpectation else { return .zero }
    return .seconds(Int64(SplitMix64.hash(id.rawValue.utf8) % UInt64(jitter.rawValue / 1_000 + 1)))
  }

  /// The range of `jitter`.
  public static let jitters: ClosedRange<Milliseconds> = .zero...(.hours(24))

  /// Returns the channels of a firing: the reminder's own, and those that have joined by that repeat, each once.
  ///
  /// - Parameter repetition: 0 for a firing that is no repeat.
  public func channels(atRepeat repetition: Int) -> [ChannelName] {
    var result = channels
    for channel in nag?.joined(by: repetition) ?? [] where !result.contains(channel) { result.append(channel) }
    return result
  }
}

/// A ZoneChoice names the zone that a reminder follows.
public enum ZoneChoice: Hashable, Sendable, Codable {
  /// The machine's current zone.
  case local
  /// An IANA name.
  case named(String)

  public init(_ text: String) { self = text == "local" ? .local : .named(text) }

  public var text: String {
    switch self {
    case .local: "local"
    case .named(let name): name
    }
  }

  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// An Urgency says how a notification may interrupt (Desktop Notifications Specification, "Urgency Levels").
public enum Urgency: String, Hashable, Sendable, Codable, CaseIterable { case low, normal, critical }

/// A CatchUpRule says what happens to times that passed while no daemon could fire them.
public enum CatchUpRule: String, Hashable, Sendable, Codable, CaseIterable {
  /// The latest fires, marked late; the earlier ones are recorded as missed.
  case latest
  /// All fire, up to `CatchUp.cap`.
  case all
  /// None fires; all are recorded as missed.
  case skip
}

/// A CatchUp holds the catch-up rules for both causes of lateness.
public struct CatchUp: Hashable, Sendable, Codable {
  /// After the machine slept, the daemon was stopped (SIGSTOP), or the clock was set forward.
  public var suspend: CatchUpRule
  /// After the daemon did not run.
  public var downtime: CatchUpRule

  /// The most occurrences that `all` fires after one downtime; the earlier ones are recorded as missed.
  public static let cap = 100

  public init(suspend: CatchUpRule = .latest, downtime: CatchUpRule = .latest) {
    self.suspend = suspend
    self.downtime = downtime
  }
}

/// A Pause silences a reminder for a while; its times are then recorded as missed.
public enum Pause: Hashable, Sendable, Codable {
  case none
  case until(Instant)
  case indefinitely

  public func holds(at instant: Instant) -> Bool {
    switch self {
    case .none: false
    case .until(let end): instant < end
    case .indefinitely: true
    }
  }
}
