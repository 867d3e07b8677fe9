public import ChimeSchedule

/// When nobody could fire: what tells a time that passed during downtime from one that passed during sleep.
public struct Uptime: Hashable, Sendable {
  /// When this daemon began to run, or the eldest of those that it joined. What was due before passed during downtime.
  public var runningSince: Instant

  public init(runningSince: Instant) { self.runningSince = runningSince }

  /// Of a daemon that joins others: what was due before it began to run was theirs to fire.
  ///
  /// - Parameter members: those that have its store; who has not been heard of within its lease does not count.
  public init(startedAt: Instant, among members: [FleetMember]) {
    runningSince = members.filter(\.isLiving).map(\.startedAt).reduce(startedAt, min)
  }

  /// The clock was set back: what comes from `now` on comes while this daemon runs.
  public mutating func clockWentBack(to now: Instant) { runningSince = min(runningSince, now) }

  /// A time is on time when it fires within this span; what is later is marked late and falls under the catch-up rule.
  public static let tolerance = Milliseconds.seconds(60)

  /// Why a time that fires at `now` is late; nil when it is on time.
  ///
  /// - Parameter due: when it was to fire: its scheduled time, later by its jitter or by the quiet hours that held it.
  public func cause(of due: Instant, now: Instant) -> LateCause? {
    guard now - due > Self.tolerance else { return nil }
    return due < runningSince ? .downtime : .suspend
  }

  /// Why no ping could come at a moment at which one was to begin to be awaited, or to have come; nil: one could. A job
  /// that finds no daemon has not pinged, however short that was.
  func whyNoPingCame(at moment: Instant, now: Instant) -> LateCause? {
    moment < runningSince ? .downtime : cause(of: moment, now: now)
  }
}
