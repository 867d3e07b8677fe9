/// A schedule that has no times of its own: it counts from what becomes of another reminder.
///
///     try Schedule(canonical: "30m after missed of k3f2").chain    // 30 minutes, missed, "k3f2"
public struct Chain: Sendable, Hashable {
  /// What has to become of a time of the other reminder.
  public enum Event: String, Sendable, Hashable, Codable, CaseIterable {
    case done, missed
  }

  /// How long after that it comes; whole seconds, one of ``delays``.
  public var delay: Milliseconds
  public var event: Event
  /// The other reminder as it is written: its id, a prefix of that, or its title. A daemon keeps the id.
  public var reminder: String

  public static let delays: ClosedRange<Milliseconds> = .zero...(.days(366))
  /// The longest name of the other reminder, in bytes of UTF-8.
  public static let longestName = 1_600

  public init(_ event: Event, of reminder: String, delay: Milliseconds = .zero) {
    (self.event, self.reminder, self.delay) = (event, reminder, delay)
  }

  /// When it comes, if the other's time ended at `end`: rounded up to whole seconds, so that it never comes early.
  public func time(after end: Instant) -> Instant {
    Instant(seconds: (end.milliseconds + 999) / 1_000) + delay
  }

  /// The same, counting from the reminder of that id.
  public func following(_ id: String) -> Chain { Chain(event, of: id, delay: delay) }
}

extension Schedule {
  /// What it counts from; nil for a schedule that has times of its own.
  public var chain: Chain? { if case .chain(let chain) = rule { chain } else { nil } }

  /// A schedule that counts from another reminder.
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
    // As an interval of elapsed time: days are those of the calendar.
    let head = delay == .zero ? [] : [Phrase.length(delay.rawValue / 1_000)]
    let name = Chain.isPlain(reminder) ? reminder : "\"\(reminder)\""
    return (head + ["after", event.rawValue, "of", name]).joined(separator: " ")
  }

  /// Whether a name needs no quotation marks.
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
