extension DaemonInterface {
  /// One of the daemons that share a store.
  public struct Daemon: Codable, Equatable, Sendable {
    /// `running`: heard of within its lease of six seconds; `leaving`: so too, and about to end; `lost`: not heard of, for a
    /// day at most; `replaced`: so too, and another one of its machine has come since.
    public enum State: String, Codable, Sendable, CaseIterable { case running, leaving, lost, replaced }

    /// A number that is given once.
    public var id: Int
    public var host: String
    public var pid: Int
    public var version: String
    public var startedAt: Wire.Time
    public var state: State
    /// How long ago it was last heard of, in milliseconds, by the store's clock.
    public var unheardMs: Int
    /// Whether it is the one that answers.
    public var isAsked: Bool
    /// How many of the parts of the outbox it has.
    public var shares: Int

    public init(
      id: Int, host: String, pid: Int, version: String, startedAt: Wire.Time, state: State, unheardMs: Int,
      isAsked: Bool, shares: Int
    ) {
      self.id = id
      self.host = host
      self.pid = pid
      self.version = version
      self.startedAt = startedAt
      self.state = state
      self.unheardMs = unheardMs
      self.isAsked = isAsked
      self.shares = shares
    }
  }

  /// What one of the daemons has of the outbox: messages that are owed, and the age of the oldest in milliseconds.
  public struct Share: Codable, Equatable, Sendable {
    public var daemon: Int
    public var channels: Int
    public var owed: Int
    public var oldestOwedMs: Int?

    public init(daemon: Int, channels: Int, owed: Int, oldestOwedMs: Int? = nil) {
      self.daemon = daemon
      self.channels = channels
      self.owed = owed
      self.oldestOwedMs = oldestOwedMs
    }
  }

  /// A channel to which messages are owed, and the daemon whose it is; null: nobody's at this moment.
  public struct OwedChannel: Codable, Equatable, Sendable {
    public var channel: String
    /// Its owner, of the system's daemon.
    public var uid: Int?
    public var daemon: Int?
    public var owed: Int
    public var oldestOwedMs: Int?

    public init(channel: String, uid: Int? = nil, daemon: Int? = nil, owed: Int, oldestOwedMs: Int? = nil) {
      self.channel = channel
      self.uid = uid
      self.daemon = daemon
      self.owed = owed
      self.oldestOwedMs = oldestOwedMs
    }
  }

  /// What the daemons of a store do together. In the system's daemon whoever is not root is told of channels and messages
  /// of their own only.
  public struct Fleet: Codable, Equatable, Sendable {
    /// Whether others can share the store.
    public var isShared: Bool
    public var store: String
    public var daemons: [Daemon]
    /// How many parts the outbox has, and how many of them no daemon has that runs.
    public var shares: Int
    public var freeShares: Int
    /// What each daemon has, those that owe something.
    public var outbox: [Share]
    /// Those that owe most, 64 at most.
    public var channels: [OwedChannel]
    /// Messages that are owed, and the age of the oldest.
    public var owed: Int
    public var oldestOwedMs: Int?
    /// Times that have come and have not fired yet, and for how long the oldest has waited; everybody's.
    public var overdue: Int
    public var oldestOverdueMs: Int?

    public init(
      isShared: Bool, store: String, daemons: [Daemon], shares: Int, freeShares: Int, outbox: [Share],
      channels: [OwedChannel], owed: Int, oldestOwedMs: Int? = nil, overdue: Int, oldestOverdueMs: Int? = nil
    ) {
      self.isShared = isShared
      self.store = store
      self.daemons = daemons
      self.shares = shares
      self.freeShares = freeShares
      self.outbox = outbox
      self.channels = channels
      self.owed = owed
      self.oldestOwedMs = oldestOwedMs
      self.overdue = overdue
      self.oldestOverdueMs = oldestOverdueMs
    }
  }

  /// The daemons that share the store, and what they have to do. Each answers for all.
  public enum GetFleet {
    public static let method = "io.chime.Daemon.GetFleet"
    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var fleet: Fleet

      public init(fleet: Fleet) { self.fleet = fleet }
    }
  }
}
