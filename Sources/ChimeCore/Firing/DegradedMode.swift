public import ChimeSchedule
import ChimeTracking

/// What the daemon knows and the store does not have, while the store can be read and not written: a full disk, a file
/// system that has become read-only.
///
/// Due times are read, decided as ever, and shown on the desktop at once. Each decision, each outcome and each answer is
/// kept in the order in which it came, and brought to the store when it takes changes again (`DegradedModeCommit`). On top of
/// what the store has lies what follows from them, so that a reminder goes on at its next times and none fires twice.
///
///     let look = degradedMode.look(now: now, limit: 500)
///     let seen = try await store.read { try look.run(in: $0) }
///     let work = degradedMode.fire(seen, policies, context, uptime, now: now, using: &random)
///
/// A webhook or a command never leaves from here: its delivery waits until it is recorded.
public struct DegradedMode: Sendable {
  /// How many entries are kept in memory. Beyond them due times wait in the store.
  public static let limit = 10_000

  /// Oldest first.
  public private(set) var entries: [Entry] = []
  /// Claims that go back.
  public private(set) var releases: [DeliveryID] = []
  /// Whether the claims of the daemon before this one are still to be let go.
  public var owesStart = false

  // What follows from the entries. A value of nil: there is no such due time any more.
  private var regular: [ReminderID: Due?] = [:]
  private var again: [OccurrenceID: Instant?] = [:]
  private var reminders: [ReminderID: Reminder] = [:]
  private var occurrences: [OccurrenceID: Occurrence] = [:]
  /// When a channel had occurrences that are not in `occurrences`.
  private var delivered: [OccurrenceID: Instant] = [:]
  /// Before which time of a reminder nothing is repeated any more.
  private var insistsFrom: [ReminderID: Instant] = [:]
  /// Reminders that have changed in the store since it was last looked at.
  private var changed: Set<ReminderID> = []
  /// What the store has as due up to here has been looked at.
  private var seenTo: DueCursor?
  /// That of the bearings with which all of it was decided; nil: they have changed since the first.
  private var version: Int?
  /// The latest time as of which any of it was decided.
  private var decidedAt: Instant?
  /// What was shown, or was to be.
  private var messages: Set<DeliveryID> = []
  /// *Done* that will log an entry once it is recorded, in the order in which it was said.
  private var loggings: [Logging] = []
  /// What was to be shown and went back unshown: the store does not have it, so it is shown from here again.
  private var unshown: [ClaimedMessage] = []

  private struct Due: Sendable {
    var scheduledAt: Instant
    var dueAt: Instant
  }

  private struct Logging: Sendable {
    var tracker: TrackerKey
    var link: TrackerLink
    var at: Instant
  }

  public init() {}

  public var isEmpty: Bool { entries.isEmpty && releases.isEmpty && !owesStart }
  public var isFull: Bool { entries.count >= Self.limit }
  /// How many times have fired and are not recorded. Looks at all entries.
  public var unrecorded: Int { entries.count { $0.isHeard } }

  /// The occurrence as it is with all that is known; `stored` is what the store has.
  public func current(_ id: OccurrenceID, stored: Occurrence?) -> Occurrence? {
    if let known = occurrences[id] { return known }
    guard let stored, stored.isOpen, let at = delivered[id] else { return stored }
    return stored.delivered(at: at)
  }

  /// The occurrences that were heard and of which the store does not know.
  public var heard: Set<OccurrenceID> { Set(occurrences.values.lazy.filter(\.wasHeard).map(\.id)) }

  /// The reminder as it is with all that is known.
  public func current(_ stored: Reminder) -> Reminder { reminders[stored.id] ?? stored }

  // MARK: What comes in

  /// Keeps what came of an attempt.
  public mutating func keep(_ outcome: Outcome) {
    let now = outcome.attempt.startedAt + outcome.attempt.took
    entries.append(.ended(outcome, at: now))
    guard outcome.next == .settled, outcome.message.delivery.event == nil else { return }
    let id = outcome.message.delivery.occurrence
    if let known = occurrences[id] {
      if known.isOpen { occurrences[id] = known.delivered(at: now) }
    } else {
      delivered[id] = delivered[id] ?? now
    }
  }

  public mutating func keep(releases ids: [DeliveryID]) { releases += ids }

  /// Takes back what it gave to be shown, when that has not begun.
  ///
  /// - Returns: false when the store has it.
  public mutating func takeBack(_ message: ClaimedMessage) -> Bool {
    guard messages.contains(message.claim.id) else { return false }
    unshown.append(message)
    return true
  }

  /// Another store stands in the place of the one that was looked at: an older one, which may have as due what that one
  /// did not.
  public mutating func storeIsAnother() { seenTo = nil }

  /// Keeps an answer unseen, because the occurrence cannot be read.
  public mutating func keep(_ answer: OutboxTransaction.Answer, at now: Instant) {
    entries.append(.answered(answer, at: now))
  }

  /// Gives an answer to an occurrence.
  ///
  /// - Parameters:
  ///   - stored: the occurrence as the store has it.
  ///   - reminder: likewise; nil when it has been removed.
  ///   - followers: those that count from when it is done, likewise.
  /// - Returns: the occurrence as it is then; unchanged when it had that answer already.
  /// - Throws: `AnswerRefused`.
  public mutating func answer(
    _ answer: OutboxTransaction.Answer, _ stored: Occurrence, _ reminder: Reminder?, followers: [ReminderRecord] = [],
    _ context: ReminderContext, now: Instant
  ) throws(AnswerRefused) -> Occurrence {
    let before = current(stored.id, stored: stored) ?? stored
    var answered = try before.answered(answer.answer, at: now)
    guard answered != before else { return answered }
    answered.answeredBy = answer.way
    if case .snoozed = answered.state, reminder == nil { throw .removed }
    entries.append(.answered(answer, at: now))
    occurrences[stored.id] = answered
    again[stored.id] = .some(answered.comesAgain)
    guard let reminder else { return answered }
    var changed = current(reminder)
    if answered.state == .done, let link = changed.tracker, link.logsWhenDone {
      loggings.append(Logging(tracker: TrackerKey(owner: changed.owner, id: link.tracker), link: link, at: now))
    }
    if answered.state == .done, changed.countsFromDone {
      changed.lastDone = now
      changed.generation += 1
      let next = context.timetable(of: changed).next(after: now)
      regular[changed.id] = .some(next.map { Due(scheduledAt: $0, dueAt: $0 + changed.jitterOffset) })
    }
    reminders[changed.id] = changed
    if answered.state == .done { for follower in followers { chain(follower, to: reminder.id, now: now) } }
    return answered
  }

  /// Gives a reminder a time that counts from another that was just done, or lets the time come that waits for it.
  private mutating func chain(_ record: ReminderRecord, to id: ReminderID, now: Instant) {
    var reminder = current(record.reminder)
    var known = regular[reminder.id]
    let next = known.map { $0?.scheduledAt } ?? record.next
    if let next, let released = reminder.released(next: next, by: id, now: now) {
      (reminder, known) = (released, .some(Due(scheduledAt: next, dueAt: now)))
      (reminders[reminder.id], regular[reminder.id]) = (reminder, known)
    }
    guard reminder.follows == id, let time = reminder.schedule.chain?.time(after: now),
      let chained = reminder.chained(at: time, next: next)
    else { return }
    reminders[reminder.id] = chained.reminder
    guard let first = chained.next, first != next || known == nil else { return }
    let held = first == record.next ? record.nextDueAt : nil
    regular[reminder.id] = .some(Due(scheduledAt: first, dueAt: held ?? first + reminder.jitterOffset))
  }

  /// A reminder was changed or removed in the store, which took changes for a moment. What has fired of it comes again when
  /// it was to, unless it was removed.
  public mutating func forget(_ id: ReminderID) {
    regular[id] = nil
    reminders[id] = nil
    changed.insert(id)
    seenTo = nil
  }

  /// An occurrence was answered in the store, which took changes for a moment: when it comes again is for the store to say,
  /// and not for a snooze that was asked for before.
  public mutating func forget(_ id: OccurrenceID) {
    for index in entries.indices where entries[index].snoozes(id) { entries[index] = .overtaken }
    occurrences[id] = nil
    delivered[id] = nil
    again[id] = nil
    unshown.removeAll { $0.message.delivery.occurrence == id }
    changed.insert(id.reminder)
    seenTo = nil
  }

  /// Whether an occurrence has come again from here at the end of that snooze: what looked at the store may know of the snooze
  /// before the loop hears that it has committed.
  public func hasFired(_ id: OccurrenceID, atEndOfSnoozeUntil until: Instant) -> Bool {
    entries.contains { entry in
      guard case .fired(let firing) = entry else { return false }
      return Self.id(firing.due) == id && firing.due.occurrence?.state == .snoozed(until: until)
    }
  }

  /// The occurrences of a reminder whose ping is awaited, and of which the store does not know: one that the store has taken
  /// ends them.
  public func awaited(of id: ReminderID) -> [OccurrenceID] {
    occurrences.values.filter { $0.id.reminder == id && $0.isAwaited }.map(\.id)
  }

  // MARK: Firing

  public mutating func look(now: Instant, limit: Int) -> Look {
    changed = []
    // The clock went back, and what the store has as due since may stand before what was seen.
    if let seen = seenTo, seen.dueAt > now { seenTo = nil }
    let own = regular.compactMap { id, due in
      due.flatMap { $0.dueAt <= now ? OccurrenceID(reminder: id, scheduledAt: $0.scheduledAt) : nil }
    }
    let coming = own + again.compactMap { id, at in at.flatMap { $0 <= now ? id : nil } }
    return Look(
      now: now, limit: max(0, min(limit, Self.limit - entries.count)), after: seenTo,
      occurrences: own.filter { occurrences[$0] == nil },
      own: coming.sorted { $0.scheduledAt < $1.scheduledAt }.map { id in
        (id.reminder, reminders[id.reminder], id.scheduledAt)
      }, unknown: unknown)
  }

  /// Those of which something comes again, and of which it is not known whether they are still there.
  private var unknown: Set<ReminderID> {
    let coming = regular.compactMap { $1 == nil ? nil : $0 } + again.compactMap { $1 == nil ? nil : $0.reminder }
    return Set(coming.filter { reminders[$0] == nil })
  }

  /// Decides on what is due, keeps the decisions, and says what is to be shown.
  public mutating func fire(
    _ seen: Seen, _ policies: DeliveryQueuePolicies, _ context: ReminderContext, _ uptime: Uptime, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) -> Work {
    var work = Work(unreadable: seen.unreadable)
    version = entries.isEmpty || version == context.version ? context.version : nil
    decidedAt = max(decidedAt ?? now, now)
    let decision = FiringDecision(now: now, uptime: uptime, silences: seen.silences)
    work.messages = showAgain(policies, now: now)
    adopt(seen.reminders)
    // What has changed since it was asked for is asked for anew.
    if changed.isEmpty, !isFull { seenTo = seen.page.end ?? seenTo }
    let found = seen.page.due.filter { isNews($0) && !changed.contains($0.reminder.id) }
    let due = (found + ownDue(seen.occurrences, now: now)).sorted {
      ($0.dueAt, $0.isRegular ? 0 : 1) < ($1.dueAt, $1.isRegular ? 0 : 1)
    }
    for due in due where !isFull {
      // One of those before it may have ended it.
      guard let due = upToDate(due) else {
        again[Self.id(due)] = .some(nil)
        continue
      }
      let zone = context.zone(of: due.reminder)
      if zone == nil { work.withoutZone.append(due.reminder) }
      var firing = decision.decide(
        due, timetable: context.timetable(of: due.reminder, in: zone), quiet: context.quiet(of: due.reminder),
        link: link(of: due.reminder, seen), condition: condition(of: due.reminder, seen, in: zone), using: &generator)
      firing.passOver { occurrences[$0]?.wasHeard ?? seen.heard.contains($0) }
      firing.say(seen.reports[due.reminder.id]?.title ?? due.reminder.title)
      work.firings.append(firing)
      work.messages += take(firing, policies, now: now).map { shown in
        var shown = shown
        shown.message.report = seen.reports[due.reminder.id]
        return shown
      }
    }
    if !isFull {
      let own = regular.values.compactMap { $0?.dueAt } + again.values.compactMap { $0 }
      work.next = ((seen.page.isWhole && changed.isEmpty ? [] : [now]) + own + [seen.page.next].compactMap { $0 }).min()
    }
    work.nextWake = [nextWake(after: now), seen.page.nextWake].compactMap { $0 }.filter { $0 > now }.min()
    return work
  }

  /// When the machine is to be woken for what is known here; nil: for nothing.
  public func nextWake(after now: Instant) -> Instant? { ownWakes.filter { $0 > now }.min() }

  /// The times that wake the machine. Of a reminder that has changed it is not known whether it does.
  private var ownWakes: [Instant] {
    let coming = regular.compactMap { id, due in
      due.flatMap { reminders[id]?.wakes(at: $0.dueAt, isRegular: true) ?? true ? $0.dueAt : nil }
    }
    return coming
      + again.compactMap { id, at in at.flatMap { reminders[id.reminder]?.wakes(at: $0) ?? true ? $0 : nil } }
  }

  /// Takes up the reminders that have changed, and lets go what was to come again of those that are gone.
  private mutating func adopt(_ found: [ReminderID: Reminder?]) {
    for (id, reminder) in found where reminders[id] == nil && !changed.contains(id) {
      reminders[id] = reminder
      guard reminder == nil else { continue }
      for key in again.keys where key.reminder == id { again[key] = .some(nil) }
    }
  }

  /// What is known of the reminder's tracker, with what will have been logged.
  private func link(of reminder: Reminder, _ seen: Seen) -> LinkedTracker? {
    guard var linked = seen.links[reminder.id] else { return nil }
    for logging in loggings where logging.tracker == linked.tracker.key {
      guard let portion = linked.tracker.portion(of: logging.link) else { continue }
      let (day, minute) = linked.tracker.day(at: logging.at, in: linked.zone)
      linked.add(
        ChimeTracking.Entry(
          id: EntryID(rawValue: 0), tracker: linked.tracker.id, owner: reminder.owner, at: logging.at, day: day,
          minute: minute, quantity: portion.quantity))
    }
    return linked
  }

  /// What is known of the reminder that it waits for, with what was done without the store.
  private func condition(of reminder: Reminder, _ seen: Seen, in zone: Zone?) -> DoneCondition? {
    guard var condition = seen.conditions[reminder.id], let other = reminder.onlyIfDone else { return nil }
    // The zone may have changed since the store was asked.
    condition.zone = zone ?? .utc
    condition.add(occurrences.values.lazy.filter { $0.id.reminder == other })
    return condition
  }

  /// Whether nothing is known of it here.
  private func isNews(_ due: DueReminder) -> Bool {
    due.isRegular ? regular[due.reminder.id] == nil : again[Self.id(due)] == nil
  }

  private func ownDue(_ stored: [OccurrenceID: Occurrence], now: Instant) -> [DueReminder] {
    var found: [DueReminder] = []
    for case (let id, let due?) in regular where due.dueAt <= now {
      guard let reminder = reminders[id] else { continue }
      let occurrence = OccurrenceID(reminder: id, scheduledAt: due.scheduledAt)
      found.append(
        DueReminder(
          reminder: reminder, scheduledAt: due.scheduledAt, dueAt: due.dueAt,
          occurrence: current(occurrence, stored: stored[occurrence])))
    }
    for case (let id, let at?) in again where at <= now {
      guard let reminder = reminders[id.reminder] else { continue }
      found.append(
        DueReminder(
          reminder: reminder, scheduledAt: id.scheduledAt, dueAt: at, isRegular: false, occurrence: occurrences[id]))
    }
    return found
  }

  /// The due time with all that is known by now; nil when it is none any more.
  private func upToDate(_ due: DueReminder) -> DueReminder? {
    var due = due
    due.reminder = current(due.reminder)
    due.occurrence = current(Self.id(due), stored: due.occurrence)
    if due.isRegular { return due }
    guard let occurrence = due.occurrence, occurrence.comesAgain != nil else { return nil }
    if case .snoozed = occurrence.state { return due }
    if occurrence.isAwaited { return due }
    // One that only the store knows has not heard that a later time has fired here.
    if occurrences[occurrence.id] == nil, let from = insistsFrom[due.reminder.id], due.scheduledAt < from { return nil }
    return due
  }

  /// Keeps a decision and what follows from it.
  ///
  /// - Returns: what it has to show.
  private mutating func take(_ firing: FiringResult, _ policies: DeliveryQueuePolicies, now: Instant)
    -> [ClaimedMessage]
  {
    let (due, own) = (firing.due, Self.id(firing.due))
    entries.append(.fired(firing))
    reminders[due.reminder.id] = due.reminder
    var heard: [OccurrenceID: Occurrence] = [:]
    for occurrence in firing.occurrences {
      // As the store takes them: what was heard is not heard again, unless this decision was made for it.
      if let known = occurrences[occurrence.id], known.wasHeard, occurrence.id != own || firing.advances {
        continue
      }
      if case .missed = occurrence.state, occurrence.id != own { continue }
      occurrences[occurrence.id] = occurrence
      again[occurrence.id] = .some(occurrence.comesAgain)
      heard[occurrence.id] = occurrence
      if due.reminder.nag != nil, occurrence.state == .fired, occurrence.rounds == 1 {
        endRepeats(before: occurrence.id)
      }
    }
    if firing.advances {
      reminders[due.reminder.id]?.skipNext = firing.skipNext
      regular[due.reminder.id] = .some(
        firing.next.map { Due(scheduledAt: $0, dueAt: firing.nextDueAt ?? $0 + due.reminder.jitterOffset) })
    } else if firing.occurrences.isEmpty {
      again[own] = .some(nil)
    }
    let shown = firing.deliveries.filter { heard[$0.occurrence] != nil }
    let popups = shown.filter { $0.queue.channel == .desktop }.compactMap { delivery in
      heard[delivery.occurrence].map {
        ClaimedMessage(
          claim: Claim(id: delivery.id, queue: delivery.queue, until: now + policies[delivery.queue].claimSpan),
          message: OutboundMessage(delivery: delivery, occurrence: $0, reminder: due.reminder))
      }
    }
    messages.formUnion(popups.map(\.claim.id))
    return popups
  }

  /// What went back unshown, claimed anew; without what has been answered or has come again since.
  private mutating func showAgain(_ policies: DeliveryQueuePolicies, now: Instant) -> [ClaimedMessage] {
    defer { unshown = [] }
    return unshown.compactMap { message in
      let delivery = message.message.delivery
      if let known = occurrences[delivery.occurrence], !known.isOpen || known.rounds > delivery.round { return nil }
      var message = message
      message.claim.until = now + policies[delivery.queue].claimSpan
      return message
    }
  }

  /// A time that fires leaves nothing to insist on for those before it.
  private mutating func endRepeats(before id: OccurrenceID) {
    insistsFrom[id.reminder] = max(insistsFrom[id.reminder] ?? .earliest, id.scheduledAt)
    for (key, occurrence) in occurrences
    where key.reminder == id.reminder && key.scheduledAt < id.scheduledAt && occurrence.isOpen {
      if case .snoozed = occurrence.state { continue }
      occurrences[key]?.repeatAt = nil
      again[key] = .some(nil)
    }
  }

  private static func id(_ due: DueReminder) -> OccurrenceID {
    OccurrenceID(reminder: due.reminder.id, scheduledAt: due.scheduledAt)
  }

  // MARK: What goes out

  public func part(limit: Int = OutboxTransaction.limit) -> Part {
    Part(entries: Array(entries.prefix(limit)), releases: releases, owesStart: owesStart)
  }

  /// The reminders whose next times were computed with other bearings than these, or as of a later time than `now`, before
  /// the clock went back; they may be others now.
  public func outdated(in part: Part, _ context: ReminderContext, now: Instant) -> [ReminderID] {
    guard version != context.version || decidedAt.map({ $0 > now }) ?? false else { return [] }
    return part.entries.compactMap { entry in
      if case .fired(let firing) = entry, firing.advances { firing.due.reminder.id } else { nil }
    }
  }

  /// That part is in the store.
  public mutating func recorded(_ part: Part) {
    // Of what was said while nothing could be read it is not known whether it logs.
    for case .answered(let answer, let at) in part.entries where answer.answer.isDone {
      if let index = loggings.firstIndex(where: { $0.at == at }) { loggings.remove(at: index) }
    }
    entries.removeFirst(part.entries.count)
    releases.removeFirst(part.releases.count)
    if part.owesStart { owesStart = false }
    seenTo = nil
    if entries.isEmpty {
      let (releases, owesStart) = (releases, owesStart)
      self = DegradedMode()
      (self.releases, self.owesStart) = (releases, owesStart)
    }
  }
}
