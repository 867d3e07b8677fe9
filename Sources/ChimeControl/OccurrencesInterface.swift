/// `io.chime.Occurrences`, as `Interfaces/io.chime.Occurrences.varlink` describes it.
public enum OccurrencesInterface {
  public static let name = "io.chime.Occurrences"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.occurrences }

  public enum State: String, Codable, Sendable, CaseIterable {
    case fired, delivered, snoozed, done, dismissed, missed
  }
  public enum Late: String, Codable, Sendable, CaseIterable { case suspend, downtime, quiet }
  public enum Missed: String, Codable, Sendable, CaseIterable {
    case suspend, downtime, paused, skipped, overCap, quiet, doneAlready
  }
  /// Why nobody will hear of a time to come, as things stand: of the tracker that its reminder is linked to.
  public enum PassedOver: String, Codable, Sendable, CaseIterable { case doneAlready, paused, skipped }

  public struct Occurrence: Codable, Equatable, Sendable {
    /// Such as r7k2@1774852200.
    public var id: String
    public var reminder: String
    /// The reminder's title when it fired.
    public var title: String
    public var state: State
    public var scheduledAt: Wire.Time
    public var firedAt: Wire.Time?
    public var deliveredAt: Wire.Time?
    /// When it was done, dismissed, or found to be missed.
    public var endedAt: Wire.Time?
    public var snoozedUntil: Wire.Time?
    /// Why it came late; null when it was on time.
    public var late: Late?
    /// Scheduled time to firing, in milliseconds.
    public var latenessMs: Int?
    /// Why it was missed.
    public var missed: Missed?
    /// For a run of missed times recorded as one: how many.
    public var missedCount: Int?
    /// How often it has fired: 1, and one more after each snooze and with each repeat.
    public var rounds: Int
    /// How often it has been repeated since it fired, or since its last snooze.
    public var repeats: Int?
    /// When it is repeated next, unless someone answers.
    public var repeatAt: Wire.Time?

    public init(
      id: String, reminder: String, title: String, state: State, scheduledAt: Wire.Time, firedAt: Wire.Time? = nil,
      deliveredAt: Wire.Time? = nil, endedAt: Wire.Time? = nil, snoozedUntil: Wire.Time? = nil, late: Late? = nil,
      latenessMs: Int? = nil, missed: Missed? = nil, missedCount: Int? = nil, rounds: Int,
      repeats: Int? = nil, repeatAt: Wire.Time? = nil
    ) {
      self.id = id
      self.reminder = reminder
      self.title = title
      self.state = state
      self.scheduledAt = scheduledAt
      self.firedAt = firedAt
      self.deliveredAt = deliveredAt
      self.endedAt = endedAt
      self.snoozedUntil = snoozedUntil
      self.late = late
      self.latenessMs = latenessMs
      self.missed = missed
      self.missedCount = missedCount
      self.rounds = rounds
      self.repeats = repeats
      self.repeatAt = repeatAt
    }
  }

  public struct Filter: Codable, Equatable, Sendable {
    public var reminder: String?
    /// Only those that wait for an answer.
    public var open: Bool?
    /// Scheduled at or after; RFC 3339.
    public var since: String?
    /// Scheduled before; RFC 3339.
    public var before: String?

    public init(reminder: String? = nil, open: Bool? = nil, since: String? = nil, before: String? = nil) {
      self.reminder = reminder
      self.open = open
      self.since = since
      self.before = before
    }
  }

  /// A time that is to come.
  public struct Coming: Codable, Equatable, Sendable {
    public var reminder: String
    public var title: String
    public var at: Wire.Time
    public var snoozed: Bool
    public var last: Wire.Time?
    public var paused: Bool
    public var when: String
    /// The time of the schedule that quiet hours hold until then.
    public var held: Wire.Time?
    /// Whether it is a repeat of what nobody has answered.
    public var repeats: Bool?
    /// Why nobody will hear of it, as things stand; null when it is heard.
    public var passedOver: PassedOver?

    public init(
      reminder: String, title: String, at: Wire.Time, snoozed: Bool, last: Wire.Time? = nil, paused: Bool, when: String,
      held: Wire.Time? = nil, repeats: Bool? = nil, passedOver: PassedOver? = nil
    ) {
      self.reminder = reminder
      self.title = title
      self.at = at
      self.snoozed = snoozed
      self.last = last
      self.paused = paused
      self.when = when
      self.held = held
      self.repeats = repeats
      self.passedOver = passedOver
    }
  }

  /// Newest first. Paged as in io.chime.Reminders.
  public enum List {
    public static let method = "io.chime.Occurrences.List"

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
      public var occurrences: [Occurrence]
      public var cursor: String?

      public init(occurrences: [Occurrence], cursor: String? = nil) {
        self.occurrences = occurrences
        self.cursor = cursor
      }
    }
  }

  /// The next time at which each reminder is heard, earliest first; with `before` every time until then.
  public enum Upcoming {
    public static let method = "io.chime.Occurrences.Upcoming"

    public struct Parameters: Codable, Equatable, Sendable {
      public var limit: Int?
      /// RFC 3339.
      public var before: String?

      public init(limit: Int? = nil, before: String? = nil) {
        self.limit = limit
        self.before = before
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var upcoming: [Coming]

      public init(upcoming: [Coming]) {
        self.upcoming = upcoming
      }
    }
  }

  /// The three answers. `id` is an occurrence's, or a reminder's (its latest open occurrence); null means the one that
  /// fired last and is still open.
  public enum Done {
    public static let method = "io.chime.Occurrences.Done"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String?

      public init(id: String? = nil) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var occurrence: Occurrence

      public init(occurrence: Occurrence) {
        self.occurrence = occurrence
      }
    }
  }

  /// `length` is an ISO 8601 duration of 1 s to 366 days; the reminder's first snooze length when null.
  public enum Snooze {
    public static let method = "io.chime.Occurrences.Snooze"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String?
      public var length: String?
      public var until: String?

      public init(id: String? = nil, length: String? = nil, until: String? = nil) {
        self.id = id
        self.length = length
        self.until = until
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var occurrence: Occurrence

      public init(occurrence: Occurrence) {
        self.occurrence = occurrence
      }
    }
  }

  public enum Dismiss {
    public static let method = "io.chime.Occurrences.Dismiss"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String?

      public init(id: String? = nil) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var occurrence: Occurrence

      public init(occurrence: Occurrence) {
        self.occurrence = occurrence
      }
    }
  }

  /// Has the next time of a reminder come at another one; those after it stay. `by` is an ISO 8601 duration by which it
  /// comes later than it would, `to` a time within 366 days (RFC 3339): one of the two.
  public enum Move {
    public static let method = "io.chime.Occurrences.Move"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String
      public var by: String?
      public var to: String?

      public init(id: String, by: String? = nil, to: String? = nil) {
        self.id = id
        self.by = by
        self.to = to
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var occurrence: Occurrence

      public init(occurrence: Occurrence) {
        self.occurrence = occurrence
      }
    }
  }

  /// Fires a reminder now, beside its schedule.
  public enum Fire {
    public static let method = "io.chime.Occurrences.Fire"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String

      public init(id: String) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var occurrence: Occurrence

      public init(occurrence: Occurrence) {
        self.occurrence = occurrence
      }
    }
  }
}
