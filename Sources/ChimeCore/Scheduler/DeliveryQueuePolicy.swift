public import ChimeSchedule

/// How one queue of the outbox is worked off.
///
///     DeliveryQueuePolicy(endpoint, concurrency: 8, attemptLimit: .seconds(15))   // a webhook's
public struct DeliveryQueuePolicy: Hashable, Sendable {
  /// Attempts that may be under way at once, at least 1.
  public var concurrency: Int
  /// At most so many attempts in a span of time; nil for as many as there is room for.
  public var rate: EndpointSettings.Rate?
  /// Whether a message is sent only when every earlier one of the queue has been settled.
  public var isOrdered: Bool
  /// Nothing is claimed: what is owed stays owed.
  public var isClosed: Bool
  /// Whether consecutive failures make the queue rest (`Breaker`).
  public var rests: Bool
  /// Longer than any attempt takes.
  public var attemptLimit: Milliseconds

  public init(
    concurrency: Int, rate: EndpointSettings.Rate? = nil, isOrdered: Bool = false, isClosed: Bool = false,
    rests: Bool = false, attemptLimit: Milliseconds = .minutes(1)
  ) {
    self.concurrency = max(1, concurrency)
    self.rate = rate
    self.isOrdered = isOrdered
    self.isClosed = isClosed
    self.rests = rests
    self.attemptLimit = attemptLimit
  }

  /// - Parameter concurrency: for an endpoint that has no number of its own.
  public init(_ endpoint: Endpoint, concurrency: Int, attemptLimit: Milliseconds) {
    self.init(
      concurrency: endpoint.settings.concurrency ?? concurrency, rate: endpoint.settings.rate,
      isOrdered: endpoint.settings.inOrder ?? false, isClosed: endpoint.disabled != nil, rests: true,
      attemptLimit: attemptLimit)
  }

  /// How long a claim is kept beyond the longest attempt: what was claimed and could not be begun within it goes back.
  public static let hold = Milliseconds.minutes(1)

  /// How long a claim hides its delivery from others.
  public var claimSpan: Milliseconds { attemptLimit + Self.hold }
}

/// The policies of all queues.
public struct DeliveryQueuePolicies: Hashable, Sendable {
  /// Of queues that have one of their own.
  public var queues: [DeliveryQueue: DeliveryQueuePolicy]
  /// Of every user's queue of a channel, whatever that queue has of its own.
  public var channels: [ChannelName: DeliveryQueuePolicy]
  /// Of every user's desktop.
  public var desktop: DeliveryQueuePolicy
  /// Of all others, such as queues whose endpoint is not known.
  public var usual: DeliveryQueuePolicy
  /// At most so many attempts in a span of time for all queues of an owner together, whatever each may by itself.
  public var owners: [UInt32: EndpointSettings.Rate]

  public init(
    queues: [DeliveryQueue: DeliveryQueuePolicy] = [:], channels: [ChannelName: DeliveryQueuePolicy] = [:],
    desktop: DeliveryQueuePolicy = DeliveryQueuePolicy(concurrency: 8),
    usual: DeliveryQueuePolicy = DeliveryQueuePolicy(concurrency: 8),
    owners: [UInt32: EndpointSettings.Rate] = [:]
  ) {
    self.owners = owners
    self.queues = queues
    self.channels = channels
    self.desktop = desktop
    self.usual = usual
  }

  public subscript(queue: DeliveryQueue) -> DeliveryQueuePolicy {
    channels[queue.channel] ?? queues[queue] ?? (queue.channel == .desktop ? desktop : usual)
  }
}

/// What an attempt tells of its queue.
public enum DeliveryQueueOutcome: Hashable, Sendable {
  /// The message was taken, and how long that took.
  case arrived(took: Milliseconds)
  /// The message was not taken, but the other side is there (HTTP 3xx, and 4xx that are about the message; SMTP 5xx).
  case declined
  /// The other side is not there, not well or asks for a pause, at least this long when it says so: no connection, no
  /// answer in time, HTTP 5xx, 408, 425, 429, SMTP 4xx.
  case failed(asked: Milliseconds?)
  /// The way is shut for all that the queue owes, and may be open again after this long.
  case shut(Milliseconds)

  public init(_ attempt: Attempt, _ next: ChannelReport.NextStep) {
    switch next {
    case .settled: self = .arrived(took: attempt.took)
    case .blocked(let wait): self = .shut(wait)
    case .retryAfter(let asked): self = .failed(asked: asked)
    case .disable, .cancel, .giveUp: self = .declined
    case .retry:
      switch attempt.status {
      case 408?, 425?, 429?, nil: self = .failed(asked: nil)
      case let status?: self = (300..<500).contains(status) ? .declined : .failed(asked: nil)
      }
    }
  }
}
