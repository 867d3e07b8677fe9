/// `io.chime.Daemon`, as `Interfaces/io.chime.Daemon.varlink` describes it.
public enum DaemonInterface {
  public static let name = "io.chime.Daemon"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.daemon }

  public enum Instance: String, Codable, Sendable, CaseIterable { case user, system }

  /// A consistent copy of the store, in a file beside it.
  public struct StoreSnapshot: Codable, Equatable, Sendable {
    public var takenAt: Wire.Time
    public var path: String
    public var bytes: Int
    /// The layout of the store that a newer chimed was about to change; null for a plain one.
    public var beforeUpgradeFrom: Int?

    public init(takenAt: Wire.Time, path: String, bytes: Int, beforeUpgradeFrom: Int? = nil) {
      self.takenAt = takenAt
      self.path = path
      self.bytes = bytes
      self.beforeUpgradeFrom = beforeUpgradeFrom
    }
  }

  public struct Health: Codable, Equatable, Sendable {
    public var version: String
    public var pid: Int
    public var instance: Instance
    public var startedAt: Wire.Time
    /// The machine's zone.
    public var zone: String
    public var store: String
    /// Null while the store works.
    public var storeProblem: String?
    /// Times that have fired from memory and are not in the store yet.
    public var unrecorded: Int?
    /// The newest; null when there is none yet.
    public var lastSnapshot: StoreSnapshot?
    public var reminders: Int
    public var openOccurrences: Int
    public var owedDeliveries: Int
    public var deadDeliveries: Int
    public var nextDue: Wire.Time?
    public var nextTitle: String?
    public var connections: Int
    /// Steps of the clock, changes of the zone and resumes from sleep that were noticed since the start.
    public var clockEvents: Int
    public var residentBytes: Int
    /// The one line that `systemctl status` shows.
    public var summary: String
    /// What a person should see to, in sentences: a store that was restored, a snapshot that could not be taken, a
    /// calendar that cannot be read, or that is gone.
    public var attention: [String]?
    /// The same, with what a program tells them apart by.
    public var notices: [Notice]?
    /// How many trackers there are.
    public var trackers: Int?
    /// The daemons that share the store, in the order in which they came; null where no other can.
    public var daemons: [Daemon]?
    /// The tenants for whom the caller may act; of a call for a tenant, that one. Null when there are none.
    public var tenants: [Tenant]?
    /// Until when everything of the caller's is silent; null when it is not.
    public var silence: Wire.Silence?

    public init(
      version: String, pid: Int, instance: Instance, startedAt: Wire.Time, zone: String, store: String,
      storeProblem: String? = nil, unrecorded: Int? = nil, lastSnapshot: StoreSnapshot? = nil, reminders: Int,
      openOccurrences: Int, owedDeliveries: Int, deadDeliveries: Int, nextDue: Wire.Time? = nil,
      nextTitle: String? = nil, connections: Int,
      clockEvents: Int, residentBytes: Int,
      summary: String, attention: [String]? = nil, notices: [Notice]? = nil, trackers: Int? = nil,
      daemons: [Daemon]? = nil,
      tenants: [Tenant]? = nil, silence: Wire.Silence? = nil
    ) {
      self.version = version
      self.pid = pid
      self.instance = instance
      self.startedAt = startedAt
      self.zone = zone
      self.store = store
      self.storeProblem = storeProblem
      self.unrecorded = unrecorded
      self.lastSnapshot = lastSnapshot
      self.reminders = reminders
      self.openOccurrences = openOccurrences
      self.owedDeliveries = owedDeliveries
      self.deadDeliveries = deadDeliveries
      self.nextDue = nextDue
      self.nextTitle = nextTitle
      self.connections = connections
      self.clockEvents = clockEvents
      self.residentBytes = residentBytes
      self.summary = summary
      self.attention = attention
      self.notices = notices
      self.trackers = trackers
      self.daemons = daemons
      self.tenants = tenants
      self.silence = silence
    }
  }

  /// An owner that is no user, how much it has and does, and how much it may. A limit that is null is none.
  public struct Tenant: Codable, Equatable, Sendable {
    public var name: String
    /// With a time to come.
    public var reminders: Int
    public var reminderLimit: Int?
    public var requestsPerSecond: Int?
    /// Since this daemon was started: those that were taken, and those that were refused because there were too many.
    public var requests: Int
    public var requestsRefused: Int
    public var deliveriesPerSecond: Int?
    /// What of that is this daemon's, of several that share a database.
    public var deliveriesHere: Double?
    /// Messages that are still to be sent.
    public var owedDeliveries: Int

    public init(
      name: String, reminders: Int, reminderLimit: Int? = nil, requestsPerSecond: Int? = nil, requests: Int,
      requestsRefused: Int, deliveriesPerSecond: Int? = nil, deliveriesHere: Double? = nil, owedDeliveries: Int
    ) {
      self.name = name
      self.reminders = reminders
      self.reminderLimit = reminderLimit
      self.requestsPerSecond = requestsPerSecond
      self.requests = requests
      self.requestsRefused = requestsRefused
      self.deliveriesPerSecond = deliveriesPerSecond
      self.deliveriesHere = deliveriesHere
      self.owedDeliveries = owedDeliveries
    }
  }

  /// Something that a person should see to. `kind` is one of: descriptors, zone, metrics, snapshots, calendarFile (about the
  /// calendar, whose file cannot be read), calendarGone (about the calendar, which is not configured any more), wake,
  /// endpointRests (about the endpoint); more may come.
  public struct Notice: Codable, Equatable, Sendable {
    public var kind: String
    public var about: String?
    public var sentence: String

    public init(
      kind: String, about: String? = nil, sentence: String
    ) {
      self.kind = kind
      self.about = about
      self.sentence = sentence
    }
  }

  /// What Monitor streams. `event` is one of: added, changed, removed, fired, missed, delivered, failed, done, dismissed,
  /// snoozed, closed, clock, zone, calendar, resumed, reloaded, store; more may come.
  public struct Event: Codable, Equatable, Sendable {
    public var at: Wire.Time
    public var event: String
    public var reminder: String?
    public var title: String?
    public var occurrence: String?
    public var delivery: String?
    public var channel: String?
    public var latenessMs: Int?
    public var message: String
    /// Of events of trackers: its id.
    public var tracker: String?
    /// The tenant whose it is; null for a user's.
    public var tenant: String?

    public init(
      at: Wire.Time, event: String, reminder: String? = nil, title: String? = nil, occurrence: String? = nil,
      delivery: String? = nil, channel: String? = nil, latenessMs: Int? = nil, message: String,
      tracker: String? = nil, tenant: String? = nil
    ) {
      self.at = at
      self.event = event
      self.reminder = reminder
      self.title = title
      self.occurrence = occurrence
      self.delivery = delivery
      self.channel = channel
      self.latenessMs = latenessMs
      self.message = message
      self.tracker = tracker
      self.tenant = tenant
    }
  }

  /// Methods about the daemon as a whole, which are for no tenant.
  public static let wholeMethods: Set<String> = [
    Examine.method, Metrics.method, GetFleet.method, Reload.method, TakeSnapshot.method, ListSnapshots.method,
  ]

  public enum Status {
    public static let method = "io.chime.Daemon.Status"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var status: Health

      public init(status: Health) {
        self.status = status
      }
    }
  }

  /// Looks at what the daemon stands on. Changes nothing; takes up to two seconds.
  public enum Examine {
    public static let method = "io.chime.Daemon.Examine"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var examination: Examination

      public init(examination: Examination) {
        self.examination = examination
      }
    }
  }

  /// Counters and gauges in Prometheus' text format 0.0.4. In the system's daemon root only may ask for them.
  public enum Metrics {
    public static let method = "io.chime.Daemon.Metrics"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var text: String

      public init(text: String) {
        self.text = text
      }
    }
  }

  /// Reads the configuration again. On an error the old one stays in force.
  public enum Reload {
    public static let method = "io.chime.Daemon.Reload"
    public typealias Parameters = Wire.Empty
    public typealias Reply = Wire.Empty
  }

  /// Takes a snapshot now. In the system's daemon root only may ask for it.
  public enum TakeSnapshot {
    public static let method = "io.chime.Daemon.TakeSnapshot"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var snapshot: StoreSnapshot

      public init(snapshot: StoreSnapshot) {
        self.snapshot = snapshot
      }
    }
  }

  /// Those that are there, newest first. In the system's daemon root only may ask for them.
  public enum ListSnapshots {
    public static let method = "io.chime.Daemon.ListSnapshots"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var snapshots: [StoreSnapshot]

      public init(snapshots: [StoreSnapshot]) {
        self.snapshots = snapshots
      }
    }
  }

  /// Call with `more`: the first reply is an empty list at once, then a list for each batch of events. A reader that does
  /// not keep up is dropped with LimitExceeded.
  public enum Monitor {
    public static let method = "io.chime.Daemon.Monitor"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var events: [Event]

      public init(events: [Event]) {
        self.events = events
      }
    }
  }
}
