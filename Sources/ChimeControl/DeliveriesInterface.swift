/// `io.chime.Deliveries`, as `Interfaces/io.chime.Deliveries.varlink` describes it.
public enum DeliveriesInterface {
  public static let name = "io.chime.Deliveries"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.deliveries }

  public enum Outcome: String, Codable, Sendable, CaseIterable { case delivered, failed, refused }
  public enum State: String, Codable, Sendable, CaseIterable {
    case pending, waiting, delivered, dead, cancelled
  }

  public struct Attempt: Codable, Equatable, Sendable {
    public var number: Int
    public var startedAt: Wire.Time
    public var tookMs: Int
    public var outcome: Outcome
    /// HTTP status, or a program's exit status.
    public var status: Int?
    /// The first 1 KiB of what came back.
    public var answer: String?
    public var error: String?

    public init(
      number: Int, startedAt: Wire.Time, tookMs: Int, outcome: Outcome, status: Int? = nil, answer: String? = nil,
      error: String? = nil
    ) {
      self.number = number
      self.startedAt = startedAt
      self.tookMs = tookMs
      self.outcome = outcome
      self.status = status
      self.answer = answer
      self.error = error
    }
  }

  public struct Delivery: Codable, Equatable, Sendable {
    /// The same for all attempts; a webhook sends it as webhook-id.
    public var id: String
    public var reminder: String
    public var occurrence: String
    public var title: String
    public var channel: String
    public var state: State
    /// Which firing of the occurrence: 1, and one more after each snooze.
    public var round: Int
    public var attempts: Int
    public var createdAt: Wire.Time
    /// When it is tried again.
    public var nextAttempt: Wire.Time?
    /// When it arrived, was given up or cancelled.
    public var endedAt: Wire.Time?
    /// What the latest attempt came to, in a few words.
    public var lastResult: String?

    public init(
      id: String, reminder: String, occurrence: String, title: String, channel: String, state: State, round: Int,
      attempts: Int, createdAt: Wire.Time, nextAttempt: Wire.Time? = nil, endedAt: Wire.Time? = nil,
      lastResult: String? = nil
    ) {
      self.id = id
      self.reminder = reminder
      self.occurrence = occurrence
      self.title = title
      self.channel = channel
      self.state = state
      self.round = round
      self.attempts = attempts
      self.createdAt = createdAt
      self.nextAttempt = nextAttempt
      self.endedAt = endedAt
      self.lastResult = lastResult
    }
  }

  public struct Filter: Codable, Equatable, Sendable {
    public var reminder: String?
    public var channel: String?
    public var state: State?
    /// Of the time at which it was due to leave (RFC 3339): from `since` on, and before `before`.
    public var since: String?
    public var before: String?

    public init(
      reminder: String? = nil, channel: String? = nil, state: State? = nil, since: String? = nil, before: String? = nil
    ) {
      self.reminder = reminder
      self.channel = channel
      self.state = state
      self.since = since
      self.before = before
    }
  }

  /// Which deliveries are meant: one by its id; or those that fit all that is given; or, with nothing else given, `all`.
  public struct Selection: Codable, Equatable, Sendable {
    public var id: String?
    public var reminder: String?
    public var channel: String?
    public var since: String?
    public var before: String?
    public var all: Bool?

    public init(
      id: String? = nil, reminder: String? = nil, channel: String? = nil, since: String? = nil, before: String? = nil,
      all: Bool? = nil
    ) {
      self.id = id
      self.reminder = reminder
      self.channel = channel
      self.since = since
      self.before = before
      self.all = all
    }
  }

  /// Newest first. Paged as in io.chime.Reminders.
  public enum List {
    public static let method = "io.chime.Deliveries.List"

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
      public var deliveries: [Delivery]
      public var cursor: String?

      public init(deliveries: [Delivery], cursor: String? = nil) {
        self.deliveries = deliveries
        self.cursor = cursor
      }
    }
  }

  public enum Get {
    public static let method = "io.chime.Deliveries.Get"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String

      public init(id: String) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var delivery: Delivery
      public var attempts: [Attempt]

      public init(delivery: Delivery, attempts: [Attempt]) {
        self.delivery = delivery
        self.attempts = attempts
      }
    }
  }

  /// Sends messages again, under the same id, and counts the attempts of the retry schedule anew.
  public enum Redeliver {
    public static let method = "io.chime.Deliveries.Redeliver"

    public struct Parameters: Codable, Equatable, Sendable {
      public var which: Selection
      public var limit: Int?
      public var dryRun: Bool?

      public init(which: Selection, limit: Int? = nil, dryRun: Bool? = nil) {
        self.which = which
        self.limit = limit
        self.dryRun = dryRun
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var count: Int
      public var skipped: Int
      /// The first 100.
      public var deliveries: [Delivery]
      public var notes: [String]

      public init(count: Int, skipped: Int, deliveries: [Delivery], notes: [String]) {
        self.count = count
        self.skipped = skipped
        self.deliveries = deliveries
        self.notes = notes
      }
    }
  }

  /// Gives up messages that are still owed.
  public enum Cancel {
    public static let method = "io.chime.Deliveries.Cancel"

    public struct Parameters: Codable, Equatable, Sendable {
      public var which: Selection
      public var dryRun: Bool?

      public init(which: Selection, dryRun: Bool? = nil) {
        self.which = which
        self.dryRun = dryRun
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var count: Int
      /// The first 100.
      public var deliveries: [Delivery]

      public init(count: Int, deliveries: [Delivery]) {
        self.count = count
        self.deliveries = deliveries
      }
    }
  }
}
