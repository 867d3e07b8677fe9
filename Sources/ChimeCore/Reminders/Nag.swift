public import ChimeSchedule

/// A Nag says how an unanswered occurrence repeats, and which channels join.
///
///     Nag(every: .minutes(5), max: 6, escalation: [.init(from: 3, channels: [ChannelName(rawValue: "phone")])])
public struct Nag: Hashable, Sendable, Codable {
  /// The time from one repeat to the next.
  public var every: Milliseconds
  /// The most repeats after a firing.
  public var max: Int
  /// Steps in ascending order of their repeats; several steps for one repeat all count.
  public var escalation: [Step]

  /// A Step adds channels.
  public struct Step: Hashable, Sendable, Codable {
    /// The repeat from which on they are used; 1 is the first after the firing.
    public var from: Int
    public var channels: [ChannelName]

    public init(from: Int, channels: [ChannelName]) {
      self.from = from
      self.channels = channels
    }
  }

  /// The range of `every`.
  public static let lengths: ClosedRange<Milliseconds> = .seconds(10)...(.days(7))
  /// The range of `max`.
  public static let counts = 1...100
  /// The default of `max`.
  public static let usualMax = 10
  public static let maxSteps = 10

  public init(every: Milliseconds, max: Int = Nag.usualMax, escalation: [Step] = []) {
    self.every = every
    self.max = max
    self.escalation = escalation
  }

  /// Returns the channels that have joined by a repeat, in the order in which they joined.
  public func joined(by repetition: Int) -> [ChannelName] {
    escalation.filter { $0.from <= repetition }.flatMap(\.channels)
  }
}
