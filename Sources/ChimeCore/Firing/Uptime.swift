public import ChimeSchedule

/// An Uptime distinguishes times that passed during downtime from those that passed during sleep.
public struct Uptime: Hashable, Sendable {
  /// The start of this daemon, or of the oldest daemon in the fleet that it joined. Earlier due times fell into downtime.
  public var runningSince: Instant

  public init(runningSince: Instant) { self.runningSince = runningSince }

  /// Creates the uptime of a daemon that joins others, which were there to fire earlier due times.
  ///
  /// - Parameter members: the daemons that share the store; those whose lease has expired do not count.
  public init(startedAt: Instant, among members: [FleetMember]) {
    runningSince = members.filter(\.isLiving).map(\.startedAt).reduce(startedAt, min)
  }

  /// Extends the uptime to `now` after the clock was set back, because times from `now` on come while this daemon runs.
  public mutating func clockWentBack(to now: Instant) { runningSince = min(runningSince, now) }

  /// The span within which a time fires on time; later ones are marked late and fall under the catch-up rule.
  public static let tolerance = Milliseconds.seconds(60)

  /// Returns why a time that fires at `now` is late; nil if it is on time.
  ///
  /// - Parameter due: when it was to fire: its scheduled time plus jitter, or the end of the quiet hours that held it.
  public func cause(of due: Instant, now: Instant) -> LateCause? {
    guard now - due > Self.tolerance else { return nil }
    return due < runningSince ? .downtime : .suspend
  }

  /// Returns why no ping could arrive at `moment`; nil if one could.
  ///
  /// Even a short downtime counts, because a job that finds no daemon has not pinged.
  func whyNoPingCame(at moment: Instant, now: Instant) -> LateCause? {
    moment < runningSince ? .downtime : cause(of: moment, now: now)
  }
}
