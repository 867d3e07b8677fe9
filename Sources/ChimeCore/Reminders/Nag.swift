public import ChimeSchedule

/// How an occurrence that nobody answers insists: it is repeated, and further channels join.
///
///     Nag(every: .minutes(5), max: 6, escalation: [.init(from: 3, channels: [ChannelName(rawValue: "phone")])])
public struct Nag: Hashable, Sendable, Codable {
  /// From one repeat to the next.
  public var every: Milliseconds
  /// How often it is repeated after it has fired, at most.
  public var max: Int
  /// In ascending order of their repeats; several for one repeat all count.
  public var escalation: [Step]

  /// Channels that join.
  public struct Step: Hashable, Sendable, Codable {
    /// The repeat from which on they do: 1 is the first after the firing.
    public var from: Int
    public var channels: [ChannelName]

    public init(from: Int, channels: [ChannelName]) {
      self.from = from
      self.channels = channels
    }
  }

  /// What `every` may be.
  public static let lengths: ClosedRange<Milliseconds> = .seconds(10)...(.days(7))
  /// What `max` may be.
  public static let counts = 1...100
  /// `max` where none is given.
  public static let usualMax = 10
  /// The most steps.
  public static let maxSteps = 10

  public init(every: Milliseconds, max: Int = Nag.usualMax, escalation: [Step] = []) {
    self.every = every
    self.max = max
    self.escalation = escalation
  }

  /// The channels that have joined by a repeat, in the order of their joining.
  public func joined(by repetition: Int) -> [ChannelName] {
    escalation.filter { $0.from <= repetition }.flatMap(\.channels)
  }
}

extension Reminder {
  /// Where a firing goes: its own channels, and those that have joined by that repeat, each once.
  ///
  /// - Parameter repetition: 0 for a firing that is no repeat.
  public func channels(atRepeat repetition: Int) -> [ChannelName] {
    var result = channels
    for channel in nag?.joined(by: repetition) ?? [] where !result.contains(channel) { result.append(channel) }
    return result
  }
}
