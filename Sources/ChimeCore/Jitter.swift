public import ChimeSchedule

extension Reminder {
  /// How long after a scheduled time the reminder is looked at: the same whole seconds of 0…`jitter` for each of its
  /// times, on every machine and after every restart.
  ///
  /// The remainder, by the number of whole seconds in `jitter` and one, of a hash of the id's bytes: FNV-1a of 64 bits
  /// (Fowler, Noll, Vo), mixed as SplitMix64 does with its state, because the high bits of FNV-1a hardly differ between ids as
  /// short as these.
  ///
  ///     reminder.jitterOffset   // r7k2 with a jitter of 10 minutes: 7 min 52 s
  public var jitterOffset: Milliseconds {
    guard jitter >= .seconds(1) else { return .zero }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in id.rawValue.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return .seconds(Int64(SplitMix64.mix(hash) % UInt64(jitter.rawValue / 1_000 + 1)))
  }

  /// What `jitter` may be.
  public static let jitters: ClosedRange<Milliseconds> = .zero...(.hours(24))
}
