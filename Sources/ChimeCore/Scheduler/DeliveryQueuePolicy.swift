public import ChimeSchedule

/// A DeliveryQueuePolicy says how fast and in which order one queue sends its deliveries.
///
///     DeliveryQueuePolicy(endpoint, concurrency: 8, attemptLimit: .seconds(15))   // a webhook's
public struct DeliveryQueuePolicy: Hashable, Sendable {
  /// The number of attempts that may be in flight at once, at least 1.
  public var concurrency: Int
  /// The most attempts per span of time; nil for no limit.
  public var rate: EndpointSettings.Rate?
  /// Whether a message is sent only after every earlier one of the queue has been settled.
  public var isOrdered: Bool
  /// Whether the queue claims nothing, so that its pending deliveries wait.
  public var isClosed: Bool
  /// Whether consecutive failures make the queue rest (`Breaker`).
  public var rests: Bool
  /// An upper bound on the duration of an attempt.
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

  /// - Parameter concurrency: the default for an endpoint without a setting of its own.
  public init(_ endpoint: Endpoint, concurrency: Int, attemptLimit: Milliseconds) {
    self.init(
      concurrency: endpoint.settings.concurrency ?? concurrency, rate: endpoint.settings.rate,
      isOrdered: endpoint.settings.inOrder ?? false, isClosed: endpoint.disabled != nil, rests: true,
      attemptLimit: attemptLimit)
  }

  /// How long a claim lasts beyond the longest attempt; a claim that cannot begin within this time is released.
  public static let hold = Milliseconds.minutes(1)

  /// How long a claim hides its delivery from other daemons.
  public var claimSpan: Milliseconds { attemptLimit + Self.hold }
}

/// DeliveryQueuePolicies holds the policies of all queues.
public struct DeliveryQueuePolicies: Hashable, Sendable {
  /// The policies of queues that have their own.
  public var queues: [DeliveryQueue: DeliveryQueuePolicy]
  /// Policies for all users' queues of a channel; these take precedence over `queues`.
  public var channels: [ChannelName: DeliveryQueuePolicy]
  /// The policy of every user's desktop queue.
  public var desktop: DeliveryQueuePolicy
  /// The policy of all other queues, such as those whose endpoint is unknown.
  public var usual: DeliveryQueuePolicy
  /// The rate that all queues of an owner share, in addition to each queue's own rate.
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

/// A DeliveryQueueOutcome is what one attempt says about its queue.
public enum DeliveryQueueOutcome: Hashable, Sendable {
  /// The receiver took the message, after this time.
  case arrived(took: Milliseconds)
  /// The receiver is there but refused the message: HTTP 3xx, HTTP 4xx about the message itself, SMTP 5xx.
  case declined
  /// The receiver is missing, unwell or asks for a pause of at least `asked`: no connection, timeout, HTTP 5xx, 408,
  /// 425, 429, SMTP 4xx.
  case failed(asked: Milliseconds?)
  /// The channel is unavailable for all deliveries of the queue, and may be available again after this time.
  case unavailable(Milliseconds)

  public init(_ attempt: Attempt, _ next: ChannelReport.NextStep) {
    switch next {
    case .settled: self = .arrived(took: attempt.took)
    case .blocked(let wait): self = .unavailable(wait)
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
