/// `io.chime.Reminders`, as `Interfaces/io.chime.Reminders.varlink` describes it.
public enum RemindersInterface {
  public static let name = "io.chime.Reminders"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.reminders }

  public enum State: String, Codable, Sendable, CaseIterable { case active, paused, waiting, finished }
  public enum Resettable: String, Codable, Sendable, CaseIterable {
    case gap, fold, place, jitter, nag, quiet, snooze, tracker, amount
  }

  /// A reminder as the daemon keeps it.
  public struct Reminder: Codable, Equatable, Sendable {
    public var id: String
    public var title: String
    public var body: String?
    /// The schedule in its canonical form.
    public var when: String
    /// An IANA name, or "local" for the machine's zone, whichever it is at the time. A schedule that names a zone itself
    /// is read in that one; it is the zone of the times below.
    public var timezone: String
    /// What becomes of a wall-clock time that a DST gap removes; null for the dialect's own rule.
    public var gap: Wire.Gap?
    /// What becomes of one that a DST fold repeats; null for the dialect's own rule.
    public var fold: Wire.Fold?
    /// Where its sun is watched from, in degrees north and east; null for the configured place.
    public var latitude: Double?
    public var longitude: Double?
    public var channels: [String]
    public var tags: [String]
    public var urgency: Wire.Urgency
    public var icon: String?
    public var sound: String?
    public var url: String?
    /// The notification's category (Desktop Notifications Specification).
    public var category: String?
    public var catchUp: Wire.CatchUp
    /// How late is still useful.
    public var grace: String
    /// It comes up to this much after each of its times; null for not at all.
    public var jitter: String?
    /// Null when it fires once and waits.
    public var nag: Nag?
    /// Null for quiet hours as configured.
    public var quiet: Quiet?
    /// Whether the machine is woken for it from its sleep; null for no.
    public var wake: Bool?
    /// Why it is not woken although it is to be, and what to do; null when it is, and when it is not to be.
    public var wakeProblem: String?
    /// The lengths of a snooze; the first is the default.
    public var snooze: [String]
    /// waiting: it fired and nobody has answered; finished: it has no further time.
    public var state: State
    /// Until when it is paused; null when it is not, or without end.
    public var pausedUntil: Wire.Time?
    /// How many of the next times are passed over.
    public var skipNext: Int
    /// When it next comes: at a time of its schedule, later by its jitter or by quiet hours, or at the end of a snooze
    /// when that comes first.
    public var next: Wire.Time?
    /// The time of its schedule that quiet hours hold until `next`; null when they hold none.
    public var held: Wire.Time?
    /// When it is repeated, unless someone answers.
    public var repeatAt: Wire.Time?
    /// When it last came due.
    public var last: Wire.Time?
    /// When it was last done; kept for schedules that count from there.
    public var lastDone: Wire.Time?
    public var createdAt: Wire.Time
    /// Null when it is linked to no tracker.
    public var tracker: TrackerLink?
    /// Of List and Get: why nobody will hear of `next`, as things stand; null when it is heard.
    public var passedOver: OccurrencesInterface.PassedOver?
    /// The set of files that declares it (Apply); null for one that was set by hand.
    public var set: String?
    /// The tenant whose it is; null for a user's.
    public var tenant: String?

    public init(
      id: String, title: String, body: String? = nil, when: String, timezone: String, gap: Wire.Gap? = nil,
      fold: Wire.Fold? = nil, latitude: Double? = nil, longitude: Double? = nil, channels: [String], tags: [String],
      urgency: Wire.Urgency, icon: String? = nil, sound: String? = nil, url: String? = nil, category: String? = nil,
      catchUp: Wire.CatchUp, grace: String, jitter: String? = nil, nag: Nag? = nil, quiet: Quiet? = nil,
      wake: Bool? = nil, wakeProblem: String? = nil, snooze: [String], state: State, pausedUntil: Wire.Time? = nil,
      skipNext: Int, next: Wire.Time? = nil,
      held: Wire.Time? = nil, repeatAt: Wire.Time? = nil, last: Wire.Time? = nil, lastDone: Wire.Time? = nil,
      createdAt: Wire.Time, tracker: TrackerLink? = nil,
      passedOver: OccurrencesInterface.PassedOver? = nil, set: String? = nil, tenant: String? = nil
    ) {
      self.id = id
      self.title = title
      self.body = body
      self.when = when
      self.timezone = timezone
      self.gap = gap
      self.fold = fold
      self.latitude = latitude
      self.longitude = longitude
      self.channels = channels
      self.tags = tags
      self.urgency = urgency
      self.icon = icon
      self.sound = sound
      self.url = url
      self.category = category
      self.catchUp = catchUp
      self.grace = grace
      self.jitter = jitter
      self.nag = nag
      self.quiet = quiet
      self.wake = wake
      self.wakeProblem = wakeProblem
      self.snooze = snooze
      self.state = state
      self.pausedUntil = pausedUntil
      self.skipNext = skipNext
      self.next = next
      self.held = held
      self.repeatAt = repeatAt
      self.last = last
      self.lastDone = lastDone
      self.createdAt = createdAt
      self.tracker = tracker
      self.passedOver = passedOver
      self.set = set
      self.tenant = tenant
    }
  }

  /// Which reminders List gives; all that is named must hold.
  public struct Filter: Codable, Equatable, Sendable {
    public var tag: String?
    public var state: State?
    /// Occurs in the title, the id or a tag.
    public var text: String?
    /// Next time at or after; RFC 3339.
    public var dueFrom: String?
    /// Next time before; RFC 3339.
    public var dueBefore: String?
    /// Whether finished ones are in the list; false when null.
    public var all: Bool?

    public init(
      tag: String? = nil, state: State? = nil, text: String? = nil, dueFrom: String? = nil, dueBefore: String? = nil,
      all: Bool? = nil
    ) {
      self.tag = tag
      self.state = state
      self.text = text
      self.dueFrom = dueFrom
      self.dueBefore = dueBefore
      self.all = all
    }
  }

  /// Adds a reminder. The reply leaves when it is durable. The same token again gives the first answer instead of a second
  /// reminder; tokens are kept for a day. Warnings are sentences, such as one about a channel that is not there yet.
  public enum Add {
    public static let method = "io.chime.Reminders.Add"

    public struct Parameters: Codable, Equatable, Sendable {
      public var reminder: Draft
      public var token: String?

      public init(reminder: Draft, token: String? = nil) {
        self.reminder = reminder
        self.token = token
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder
      public var warnings: [String]

      public init(reminder: Reminder, warnings: [String]) {
        self.reminder = reminder
        self.warnings = warnings
      }
    }
  }

  public enum Update {
    public static let method = "io.chime.Reminders.Update"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String
      public var change: Change

      public init(id: String, change: Change) {
        self.id = id
        self.change = change
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder
      public var warnings: [String]

      public init(reminder: Reminder, warnings: [String]) {
        self.reminder = reminder
        self.warnings = warnings
      }
    }
  }

  /// Removes it; its history stays.
  public enum Remove {
    public static let method = "io.chime.Reminders.Remove"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String

      public init(id: String) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder

      public init(reminder: Reminder) {
        self.reminder = reminder
      }
    }
  }

  public enum Get {
    public static let method = "io.chime.Reminders.Get"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String

      public init(id: String) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder

      public init(reminder: Reminder) {
        self.reminder = reminder
      }
    }
  }

  /// In the order of their next time. Warnings name reminders that cannot be read and are not listed. A page has `limit` (100 when null, 10000 at most); `cursor` of the answer asks for
  /// the next one and is null on the last.
  public enum List {
    public static let method = "io.chime.Reminders.List"

    public struct Parameters: Codable, Equatable, Sendable {
      public var filter: Filter?
      public var limit: Int?
      public var cursor: String?

      public init(filter: Filter? = nil, limit: Int? = nil, cursor: String? = nil) {
        self.filter = filter
        self.limit = limit
        self.cursor = cursor
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminders: [Reminder]
      public var cursor: String?
      public var warnings: [String]?

      public init(reminders: [Reminder], cursor: String? = nil, warnings: [String]? = nil) {
        self.reminders = reminders
        self.cursor = cursor
        self.warnings = warnings
      }
    }
  }

  /// Keeps everything of the caller's silent until a time (RFC 3339), what is added meanwhile too; what is critical rings,
  /// unless `critical`. Times that pass are recorded as missed. It ends by itself; a second one takes the place of the first.
  public enum PauseAll {
    public static let method = "io.chime.Reminders.PauseAll"

    public struct Parameters: Codable, Equatable, Sendable {
      public var until: String
      public var critical: Bool?

      public init(until: String, critical: Bool? = nil) {
        self.until = until
        self.critical = critical
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var silence: Wire.Silence

      public init(silence: Wire.Silence) {
        self.silence = silence
      }
    }
  }

  /// Ends that. Null: nothing was silent.
  public enum ResumeAll {
    public static let method = "io.chime.Reminders.ResumeAll"

    public struct Reply: Codable, Equatable, Sendable {
      public var silence: Wire.Silence?

      public init(silence: Wire.Silence? = nil) {
        self.silence = silence
      }
    }
  }

  /// Keeps silent until a time (RFC 3339), or without end. Times that pass meanwhile are recorded as missed.
  public enum Pause {
    public static let method = "io.chime.Reminders.Pause"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String
      public var until: String?

      public init(id: String, until: String? = nil) {
        self.id = id
        self.until = until
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder

      public init(reminder: Reminder) {
        self.reminder = reminder
      }
    }
  }

  public enum Resume {
    public static let method = "io.chime.Reminders.Resume"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String

      public init(id: String) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder

      public init(reminder: Reminder) {
        self.reminder = reminder
      }
    }
  }

  /// Passes over the next `count` times (1 when null); 0 takes it back.
  public enum Skip {
    public static let method = "io.chime.Reminders.Skip"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String
      public var count: Int?

      public init(id: String, count: Int? = nil) {
        self.id = id
        self.count = count
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var reminder: Reminder

      public init(reminder: Reminder) {
        self.reminder = reminder
      }
    }
  }
}
