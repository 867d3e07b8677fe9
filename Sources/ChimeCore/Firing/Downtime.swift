public import ChimeSchedule

/// A Downtime reports a time without a daemon: each owner gets one message about missed and late reminders.
///
///     Chime was down from 02:10 to 07:45
///     3 reminders were missed, 2 came late
///     missed: "Tea", at 02:30
///     late: "Water", 5 times from 03:00 to 07:00
public struct Downtime: Hashable, Sendable {
  /// The last time at which a daemon is known to have run; nil if unknown.
  public var from: Instant?
  /// Whether the daemon stopped at `from`. Otherwise it may have run on without a trace.
  public var isExact: Bool
  /// The channels for the message; each owner gets it on those that they have.
  public var channels: [ChannelName]

  /// - Parameters:
  ///   - trace: the previous daemon's trace; nil if there is none.
  ///   - start: when this daemon began to run.
  public init(after trace: Trace?, until start: Instant, channels: [ChannelName]) {
    // After a clock step back, the trace says nothing about when the daemon stopped.
    let trace = trace.flatMap { $0.at < start ? $0 : nil }
    from = trace?.at
    isExact = trace?.isExact ?? false
    self.channels = channels
  }

  // MARK: Last sign of life

  /// A Trace is the last sign of life of the previous daemon.
  public struct Trace: Hashable, Sendable {
    public var at: Instant
    /// Whether the daemon stopped within a minute after `at`.
    public var isExact: Bool
  }

  private static let aliveNote = "alive"
  private static let reportedNote = "downtime"

  /// Records that a daemon runs now.
  public static func noteAlive(in transaction: any StoreTransaction, now: Instant) throws {
    try transaction.setNote(aliveNote, String(now.milliseconds))
  }

  /// Returns the previous daemon's trace. Call this before this daemon leaves traces of its own.
  public static func trace(in transaction: any StoreTransaction) throws -> Trace? {
    let noted = try transaction.note(aliveNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
    guard let latest = [noted, try Recompute.latestSeen(in: transaction)].compactMap({ $0 }).max() else { return nil }
    return Trace(at: latest, isExact: noted.map { latest - $0 <= Uptime.tolerance } ?? false)
  }

  // MARK: Report

  /// A Line is what happened to one reminder.
  struct Line: Hashable {
    var title: String
    var isMissed: Bool
    /// The first and last affected time, and their number.
    var first: Instant
    var last: Instant
    var count: Int
    var zone: Zone
  }

  struct Report: Hashable {
    /// Missed reminders first, then late ones, each in the order of their times.
    var lines: [Line] = []
    /// Whether some due times were not evaluated.
    var isPartial = false
  }

  /// The most due times, and times behind them, that a report evaluates. Firing waits for the report, so it may be partial.
  private static let mostDue = 5_000
  private static let mostTimes = 100_000
  /// The most reminders that a message names.
  static let named = 8

  /// Returns the reports by owner, for owners that have something to report.
  static func reports(
    in transaction: any StoreTransaction, _ context: ReminderContext, _ decision: FiringDecision
  ) throws -> [UInt32: Report] {
    var (reports, place, seen, times): ([UInt32: Report], DueCursor?, Int, Int) = ([:], nil, 0, 0)
    var isPartial = false
    while true {
      let page = try transaction.due(now: decision.uptime.runningSince, limit: 500, after: place)
      for due in page.due {
        let reminder = due.reminder
        let link = try LinkedTracker.read(
          for: reminder, from: due.scheduledAt, to: decision.now, in: transaction, context)
        let (missed, late) = decision.passedDuringDowntime(
          due, timetable: context.timetable(of: reminder), quiet: context.quiet(of: reminder), link: link,
          condition: try DoneCondition.read(for: reminder, from: due.scheduledAt, in: transaction, context))
        let all = (missed + late).sorted()
        times += all.count
        guard let first = all.first, let last = all.last else { continue }
        reports[reminder.owner, default: Report()].lines.append(
          Line(
            title: try reminder.filledTitle(in: transaction, context, now: decision.now), isMissed: late.isEmpty,
            first: first, last: last, count: all.count, zone: context.zone(of: reminder) ?? .utc))
      }
      seen += page.due.count
      if page.isWhole { break }
      isPartial = seen >= mostDue || times >= mostTimes
      if isPartial { break }
      place = page.end
    }
    for owner in reports.keys {
      reports[owner]?.isPartial = isPartial
      reports[owner]?.lines.sort { one, other in
        one.isMissed == other.isMissed ? (one.first, one.title) < (other.first, other.title) : one.isMissed
      }
    }
    return reports
  }

  /// Records the messages. Call it before anything fires; it does nothing if they have been recorded before.
  ///
  /// - Returns: the recorded messages.
  func tell(
    in transaction: any StoreTransaction, _ context: ReminderContext, _ decision: FiringDecision,
    using generator: inout some RandomNumberGenerator
  ) throws -> [Occurrence] {
    let reports = try Self.reports(in: transaction, context, decision)
    guard !reports.isEmpty else { return [] }
    // Of several daemons that start together, one reports: the others wait for this row's lock, then find the other
    // note. They may not know of each other yet, so each may have a slightly different start time.
    try transaction.setNote(Self.reportedNote + ".turn", String(decision.now.milliseconds))
    let start = decision.uptime.runningSince
    let last = try transaction.note(Self.reportedNote).flatMap { Int64($0) }.map(Instant.init(milliseconds:))
    if let last, start - last <= Uptime.tolerance, last - start <= Uptime.tolerance { return [] }
    try transaction.setNote(Self.reportedNote, String(start.milliseconds))
    var notices: [Occurrence] = []
    for (owner, report) in reports.sorted(by: { $0.key < $1.key }) {
      let channels = try channels.filter { channel in
        try channel == .desktop || transaction.endpoint(DeliveryQueue(owner: owner, channel: channel)) != nil
      }
      guard !channels.isEmpty else { continue }
      let (title, body) = words(report, context, until: decision.uptime.runningSince)
      notices.append(
        try DesktopNotice.record(
          title, body, to: owner, in: transaction, context, channels: channels, tags: ["downtime"],
          notBefore: hold(owner, context, decision), now: decision.now, using: &generator))
    }
    return notices
  }

  /// Returns when the owner's quiet time ends, at the earliest `now`.
  private func hold(_ owner: UInt32, _ context: ReminderContext, _ decision: FiringDecision) -> Instant? {
    var time = decision.now
    if let silence = decision.silences[owner] { time = max(time, silence.until) }
    return context.quiet.hours.end(ofQuietAt: time, in: context.zones.local) ?? time
  }

  /// Returns the title and body of the message.
  func words(_ report: Report, _ context: ReminderContext, until start: Instant) -> (title: String, body: String) {
    let (local, wording) = (context.zones.local, context.wording)
    func time(_ instant: Instant, _ zone: Zone? = nil) -> String {
      let civil = (zone ?? local).civil(at: instant)
      let clock = String(civil.time.description.prefix(5))
      return civil.date == local.civil(at: start).date ? clock : "\(civil.date) \(clock)"
    }
    var (title, lines) = ("Chime was down until \(time(start))", [String]())
    if let from {
      if isExact {
        title = "Chime was down from \(time(from)) to \(time(start))"
      } else {
        lines.append("its last trace before that is from \(time(from))")
      }
    }
    let missed = report.lines.count(where: \.isMissed)
    let late = report.lines.count - missed
    let missedWords = missed == 1 ? "1 reminder was missed" : "\(missed) reminders were missed"
    let lateWords = late == 1 ? "1 reminder came late" : "\(late) reminders came late"
    let counts = (missed > 0 ? [missedWords] : []) + (late > 0 ? [lateWords] : [])
    lines.append(counts.joined(separator: ", "))
    for line in report.lines.prefix(Self.named) {
      // A title takes one line here, even if it contains line breaks.
      let title = String(line.title.prefix(61).map { $0.isNewline ? " " : $0 })
      let name = title.count > 60 ? "\(title.prefix(59))…" : title
      let (first, last) = (time(line.first, line.zone), time(line.last, line.zone))
      let words =
        switch (line.isMissed, line.count) {
        case (true, 1): "missed: \"\(name)\", at \(first)"
        case (true, let count): "missed: \"\(name)\", \(count) times from \(first) to \(last)"
        case (false, 1): "late: \"\(name)\", at \(first)"
        case (false, let count): "late: \"\(name)\", \(count) times from \(first) to \(last)"
        }
      lines.append(words)
    }
    let rest = report.lines.count - Self.named
    if rest > 0 { lines.append("and \(rest) more; chime audit lists them all") }
    if report.isPartial, rest <= 0 { lines.append("there may be more: chime audit lists them all") }
    return (wording.notice(title), lines.map(wording.notice).joined(separator: "\n"))
  }
}
