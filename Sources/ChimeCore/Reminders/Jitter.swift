public import ChimeSchedule

extension Reminder {
  /// The delay from a scheduled time to its evaluation: whole seconds in 0…`jitter`.
  ///
  /// It is the same for all times of the reminder, on every machine and after every restart: the hash of the id's bytes
  /// (`SplitMix64.hash`) modulo the number of seconds in `jitter` plus one. Zero for an expectation, whose ping counts
  /// from the exact time.
  ///
  ///     reminder.jitterOffset   // r7k2 with a jitter of 10 minutes: 7 min 52 s
  public var jitterOffset: Milliseconds {
    guard jitter >= .seconds(1), !isExpectation else { return .zero }
    return .seconds(Int64(SplitMix64.hash(id.rawValue.utf8) % UInt64(jitter.rawValue / 1_000 + 1)))
  }

  /// The range of `jitter`.
  public static let jitters: ClosedRange<Milliseconds> = .zero...(.hours(24))
}
