public import ChimeSchedule

extension Reminder {
  /// How long after a scheduled time the reminder is looked at: the same whole seconds of 0…`jitter` for each of its
  /// times, on every machine and after every restart. None for an expectation: its ping counts from the very time on.
  ///
  /// The remainder, by the number of whole seconds in `jitter` and one, of a hash of the id's bytes (`SplitMix64.hash`).
  ///
  ///     reminder.jitterOffset   // r7k2 with a jitter of 10 minutes: 7 min 52 s
  public var jitterOffset: Milliseconds {
    guard jitter >= .seconds(1), !isExpectation else { return .zero }
    return .seconds(Int64(SplitMix64.hash(id.rawValue.utf8) % UInt64(jitter.rawValue / 1_000 + 1)))
  }

  /// What `jitter` may be.
  public static let jitters: ClosedRange<Milliseconds> = .zero...(.hours(24))
}
