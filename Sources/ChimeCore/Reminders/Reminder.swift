public import ChimeSchedule

/// Something to be remembered: what to say, when, and through which channels.
///
/// A definition only: what has become of its times stands in its occurrences, and its next time in the store.
public struct Reminder: Hashable, Sendable, Codable {
  public var id: ReminderID
  /// The user it belongs to, by number (SO_PEERCRED).
  public var owner: UInt32
  public var title: String
  public var body: String?
  public var schedule: Schedule
  public var timezone: ZoneChoice
  /// Nil: the dialect's own rule.
  public var gap: GapRule?
  /// Nil: the dialect's own rule.
  public var fold: FoldRule?
  /// Where its sun is watched from. Nil: at the configured place.
  public var place: Place?
  /// In the order in which they are tried; never empty.
  public var channels: [ChannelName]
  public var tags: [String]
  public var urgency: Urgency
  public var icon: String?
  public var sound: String?
  public var url: String?
  /// Where it is to be done, such as `Kitchen`.
  public var location: String?
  /// What kind of notification it is (Desktop Notifications Specification, "Categories"), such as `email.arrived`.
  public var category: String?
  public var catchUp: CatchUp
  /// How late is still useful; later it is recorded as missed.
  public var grace: Milliseconds
  /// It is looked at up to this much after each of its times, so that many do not come at once; see `jitterOffset`.
  public var jitter: Milliseconds
  /// Nil: it fires once and waits.
  public var nag: Nag?
  /// Nil: quiet hours as configured.
  public var quiet: QuietRule?
  /// Whether the machine is woken for it, where the system allows that.
  public var wake: Bool
  /// Whether its popup stays on the screen until it is answered.
  public var stay: Bool
  /// Of an expectation: how long after each of its times a ping may come, and how long a run may take that says when it
  /// starts. It is told when none has come. Nil: it is no expectation, and tells at its times.
  public var within: Milliseconds?
  /// The lengths of a snooze that are offered; the first is the default. Never empty.
  public var snoozeLengths: [Milliseconds]
  public var pause: Pause
  /// How many of the next times are passed over; one of `skips`.
  public var skipNext: Int
  /// The tracker that knows whether it was done; nil: none.
  public var tracker: TrackerLink?
  /// Its times are held until that reminder is done on their day; nil: they wait for none.
  public var onlyIfDone: ReminderID?
  /// When it was last done; kept where its times count from there (`countsFromDone`).
  public var lastDone: Instant?
  /// When it is to come for what has become of another reminder, ascending; kept where its schedule counts from one
  /// (`Schedule.chain`). Nil: nothing has yet.
  public var chainedTimes: [Instant]?
  /// The set of files that declares it, by name (`chime apply`); nil: it was set by hand.
  public var set: String?
  public var createdAt: Instant
  /// Grows by one with each change of the definition, so that a decision made from an older one is seen to be stale.
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

  /// A text of one line that may go with a reminder, and where it goes: the stores, what is sent, and calendars read these rows.
  public struct Text: Sendable {
    /// What it is called in the store, on the wire, in templates and in what webhooks carry.
    public var name: String
    public var path: any WritableKeyPath<Reminder, String?> & Sendable
    /// Whether it has to be an address (`isLink`).
    public var isLink = false
    /// Whether it is part of what a message says; the others are for the look of a popup.
    public var isTold = false
    /// The property of an iCalendar event that has it (RFC 5545, 3.8.1); nil: none has.
    public var calendarProperty: String?
  }

  /// In the order in which a message has them.
  public static let texts = [
    Text(name: "icon", path: \.icon), Text(name: "sound", path: \.sound), Text(name: "category", path: \.category),
    Text(name: "location", path: \.location, isTold: true, calendarProperty: "LOCATION"),
    Text(name: "url", path: \.url, isLink: true, isTold: true, calendarProperty: "URL"),
  ]
  /// Those of them that a message says.
  public static let toldTexts = texts.filter(\.isTold)

  /// What `within` may be.
  public static let withins: ClosedRange<Milliseconds> = .seconds(1)...(.days(366))

  /// What `skipNext` may be.
  public static let skips = 0...10_000

  /// Whether a text is an address as RFC 3986 has it, so far as any program can tell: a scheme, a colon, and more without a
  /// space.
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

  /// Whether the machine is woken for it at `instant`; `isRegular`: at a time of its schedule, which may be passed over.
  public func wakes(at instant: Instant, isRegular: Bool = false) -> Bool {
    wake && !pause.holds(at: instant) && !(isRegular && skipNext > 0)
  }

  /// The zone whose wall clock its times follow: the one that the schedule names itself, as calendar expressions and
  /// recurrence rules can, else `timezone`.
  public var governingZone: ZoneChoice { schedule.zoneIdentifier.map(ZoneChoice.named) ?? timezone }

  /// Whether its times count from when it was last done: its schedule says so, or an entry of its tracker moves them.
  public var countsFromDone: Bool {
    schedule.countsFromDone || tracker?.followsEntries == true && schedule.canFollowEntries
  }

  /// The reminder's times. What it has of its own, a place, the time of its last answer and its chained times, goes
  /// before what the surroundings bring.
  ///
  /// - Parameter surroundings: their zone is the one that `governingZone` names.
  public func timetable(in scheduleContext: ScheduleContext) -> Timetable {
    var scheduleContext = scheduleContext
    scheduleContext.place = place ?? scheduleContext.place
    scheduleContext.lastDone = lastDone
    scheduleContext.chainedTimes = chainedTimes ?? []
    scheduleContext.followsDone = tracker?.followsEntries == true
    return schedule.timetable(in: scheduleContext, gap: gap, fold: fold)
  }

  /// The reminder's times in `zone`, where it depends on nothing else.
  public func timetable(in zone: Zone) -> Timetable { timetable(in: ScheduleContext(zone: zone)) }
}

/// The zone whose wall clock a reminder follows.
public enum ZoneChoice: Hashable, Sendable, Codable {
  /// The machine's, whichever it is at the time.
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

/// How a notification may interrupt (Desktop Notifications Specification, "Urgency Levels").
public enum Urgency: String, Hashable, Sendable, Codable, CaseIterable { case low, normal, critical }

/// What a time becomes that passed while nobody could fire it.
public enum CatchUpRule: String, Hashable, Sendable, Codable, CaseIterable {
  /// One occurrence, the latest, marked late; the earlier ones are recorded as missed.
  case latest
  /// Each of them, up to `CatchUp.cap`.
  case all
  /// None: all are recorded as missed.
  case skip
}

/// The rules of catching up, apart for the two reasons to be late.
public struct CatchUp: Hashable, Sendable, Codable {
  /// After the machine slept, or the daemon was stopped (SIGSTOP), or the clock was set forward.
  public var suspend: CatchUpRule
  /// After the daemon was not running.
  public var downtime: CatchUpRule

  /// The most occurrences that `all` fires for one absence; the earlier ones are recorded as missed (over the cap).
  public static let cap = 100

  public init(suspend: CatchUpRule = .latest, downtime: CatchUpRule = .latest) {
    self.suspend = suspend
    self.downtime = downtime
  }
}

/// Whether a reminder keeps silent for a while. Its times are recorded as missed meanwhile.
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
