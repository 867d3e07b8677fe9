/// A Chain is a schedule without times of its own: it counts from the outcome of another reminder.
///
///     try Schedule(canonical: "30m after missed of k3f2").chain    // 30 minutes, missed, "k3f2"
public struct Chain: Sendable, Hashable {
  /// The outcome of the other reminder that the chain waits for.
  public enum Event: String, Sendable, Hashable, Codable, CaseIterable {
    case done, missed
  }

  /// The delay after that outcome: whole seconds, within ``delays``.
  public var delay: Milliseconds
  public var event: Event
  /// The other reminder as written: its id, a prefix of the id, or its title. The daemon stores the id.
  public var reminder: String

  public static let delays: ClosedRange<Milliseconds> = .zero...(.days(366))
  /// The longest name of the other reminder, in bytes of UTF-8.
  public static let longestName = 1_600

  public init(_ event: Event, of reminder: String, delay: Milliseconds = .zero) {
    (self.event, self.reminder, self.delay) = (event, reminder, delay)
  }

  /// Returns its time if the other occurrence ended at `end`, rounded up to whole seconds so that it never comes early.
  public func time(after end: Instant) -> Instant {
    Instant(seconds: (end.milliseconds + 999) / 1_000) + delay
  }

  /// Returns the chain, counting from the reminder with that id.
  public func following(_ id: String) -> Chain { Chain(event, of: id, delay: delay) }
}

extension Schedule {
  /// The reminder and outcome from which it counts; `nil` for a schedule with times of its own.
  public var chain: Chain? { if case .chain(let chain) = rule { chain } else { nil } }

  /// Makes a schedule that counts from another reminder.
  public init(_ chain: Chain) { self.init(.chain(chain)) }
}

extension Chain: DialectSchedule {
  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault) {
    guard let chain = try Chain.read(bytes, context) else {
      throw Fault(
        range: 0..<bytes.count, problem: "the other reminder is missing",
        expected: "its id or its title, as in \"after done of backup\"")
    }
    self = chain
  }

  var canonical: String {
    // The delay is written as elapsed time, because days would mean calendar days.
    let head = delay == .zero ? [] : [Phrase.length(delay.rawValue / 1_000)]
    let name = Chain.isPlain(reminder) ? reminder : "\"\(reminder)\""
    return (head + ["after", event.rawValue, "of", name]).joined(separator: " ")
  }

  /// Returns whether a name needs no quotation marks.
  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy {
        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x5F
      }
  }

  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    Timetable(
      zone: zone, gap: .shift, fold: .first,
      engine: .instants(ContiguousArray(scheduleContext.chainedTimes.map(\.seconds).sorted())))
  }
}
