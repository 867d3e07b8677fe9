public import ChimeSchedule
import ChimeTracking

/// A DegradedMode buffers what happens while the store can be read but not written: a full disk, a read-only file system.
///
/// Due times are read, decided as usual, and shown on the desktop at once. Decisions, outcomes and answers are
/// buffered in order, and recorded when the store takes writes again (`DegradedModeCommit`). Their consequences
/// overlay the store's data, so that reminders go on at their next times and nothing fires twice.
///
///     let query = degradedMode.query(now: now, limit: 500)
///     let answer = try await store.read { try query.run(in: $0) }
///     let work = degradedMode.fire(answer, policies, context, uptime, now: now, using: &random)
///
/// Webhooks and commands are not sent in degraded mode: their deliveries wait until they are recorded.
public struct DegradedMode: Sendable {
  /// The number of entries held in memory. When it is reached, further due times wait in the store.
  public static let limit = 10_000

  /// The buffered entries, oldest first.
  public private(set) var entries: [Entry] = []
  /// Claims to release.
  public private(set) var releases: [DeliveryID] = []
  /// Whether the claims of the previous daemon have yet to be released.
  public var needsStart = false

  // The overlay: consequences of the entries. A nil value means that the store's due time no longer exists.
  private var regular: [ReminderID: Due?] = [:]
  private var again: [OccurrenceID: Instant?] = [:]
  private var reminders: [ReminderID: Reminder] = [:]
  private var occurrences: [OccurrenceID: Occurrence] = [:]
  /// The delivery times of occurrences that are not in `occurrences`.
  private var delivered: [OccurrenceID: Instant] = [:]
  /// Per reminder, the scheduled time before which nothing is repeated any more.
  private var repeatsFrom: [ReminderID: Instant] = [:]
  /// Reminders that have changed in the store since the last look.
  private var changed: Set<ReminderID> = []
  /// The last of the store's due times that has been evaluated.
  private var seenTo: DueCursor?
  /// The version of the context behind all decisions; nil if it changed in between.
  private var version: Int?
  /// The latest `now` of a decision.
  private var decidedAt: Instant?
  /// Deliveries that were handed out to be shown.
  private var messages: Set<DeliveryID> = []
  /// *Done* answers that will log an entry once they are recorded, in order.
  private var loggings: [Logging] = []
  /// Messages that were released before they were shown. The store does not have them, so they are shown again from here.
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

  public var isEmpty: Bool { entries.isEmpty && releases.isEmpty && !needsStart }
  public var isFull: Bool { entries.count >= Self.limit }
  /// The number of times that have fired but are not recorded. Scans all entries.
  public var unrecorded: Int { entries.count { $0.wasDelivered } }

  /// Returns the occurrence with all buffered changes; `stored` is the store's version.
  public func current(_ id: OccurrenceID, stored: Occurrence?) -> Occurrence? {
    if let known = occurrences[id] { return known }
    guard let stored, stored.isOpen, let at = delivered[id] else { return stored }
    return stored.delivered(at: at)
  }

  /// The occurrences that fired and that the store does not know.
  public var unrecordedOccurrences: Set<OccurrenceID> { Set(occurrences.values.lazy.filter(\.wasDelivered).map(\.id)) }

  /// Returns the reminder with all buffered changes.
  public func current(_ stored: Reminder) -> Reminder { reminders[stored.id] ?? stored }

  // MARK: Buffering

  /// Buffers the outcome of an attempt.
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

  /// Takes back a message that it handed out and whose attempt has not begun.
  ///
  /// - Returns: false if the delivery belongs to the store.
  public mutating func takeBack(_ message: ClaimedMessage) -> Bool {
    guard messages.contains(message.claim.id) else { return false }
    unshown.append(message)
    return true
  }

  /// Notes that the store was replaced by an older one, which may have other due times.
  public mutating func storeIsAnother() { seenTo = nil }

  /// Buffers an answer without checking it, because the occurrence cannot be read.
  public mutating func keep(_ answer: OutboxTransaction.Answer, at now: Instant) {
    entries.append(.answered(answer, at: now))
  }

  /// Answers an occurrence and buffers the answer.
  ///
  /// - Parameters:
  ///   - stored: the occurrence as the store has it.
  ///   - reminder: the reminder as the store has it; nil if it was removed.
  ///   - followers: the reminders that count from when this one is done, as the store has them.
  /// - Returns: the answered occurrence; unchanged if it had that answer already.
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
    again[stored.id] = .some(answered.recursAt)
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

  /// Gives a reminder its time counted from another that was just done, or makes a time due that waits for that one.
  private mutating func chain(_ record: ReminderRecord, to id: ReminderID, now: Instant) {
    var reminder = current(record.reminder)
    var known = regular[reminder.id]
    let next = known.map { $0?.scheduledAt } ?? record.next
    if let next, let released = reminder.released(next: next, by: id, now: now) {
      (reminder, known) = (released, .some(Due(scheduledAt: next, dueAt: now)))
      (reminders[reminder.id], regular[reminder.id]) = (reminder, known)
    }
    guard reminder.counts(from: .done, of: id), let time = reminder.schedule.chain?.time(after: now),
      let chained = reminder.chained(at: time, next: next)
    else { return }
    reminders[reminder.id] = chained.reminder
    guard let first = chained.next, first != next || known == nil else { return }
    let held = first == record.next ? record.nextDueAt : nil
    regular[reminder.id] = .some(Due(scheduledAt: first, dueAt: held ?? first + reminder.jitterOffset))
  }

  /// Discards what is known about a reminder that was changed or removed while the store briefly took writes.
  ///
  /// Repeats and snoozes of what has fired stay, unless the reminder was removed.
  public mutating func forget(_ id: ReminderID) {
    regular[id] = nil
    reminders[id] = nil
    changed.insert(id)
    seenTo = nil
  }

  /// Discards what is known about an occurrence that was answered while the store briefly took writes.
  ///
  /// The store's answer overrides a buffered snooze.
  public mutating func forget(_ id: OccurrenceID) {
    for index in entries.indices where entries[index].snoozes(id) { entries[index] = .superseded }
    occurrences[id] = nil
    delivered[id] = nil
    again[id] = nil
    unshown.removeAll { $0.message.delivery.occurrence == id }
    changed.insert(id.reminder)
    seenTo = nil
  }

  /// Returns whether the occurrence fired here at the end of that snooze.
  ///
  /// A reader of the store may see the snooze before the loop learns of its commit.
  public func hasFired(_ id: OccurrenceID, atEndOfSnoozeUntil until: Instant) -> Bool {
    entries.contains { entry in
      guard case .fired(let firing) = entry else { return false }
      return Self.id(firing.due) == id && firing.due.occurrence?.state == .snoozed(until: until)
    }
  }

  /// Returns the occurrences of a reminder that await a ping and that the store does not know.
  ///
  /// A ping that the store has recorded ends them.
  public func awaited(of id: ReminderID) -> [OccurrenceID] {
    occurrences.values.filter { $0.id.reminder == id && $0.isAwaited }.map(\.id)
  }

  // MARK: Firing

  public mutating func query(now: Instant, limit: Int) -> StoreQuery {
    changed = []
    // The clock went back: the store's due times may now lie before the cursor.
    if let seen = seenTo, seen.dueAt > now { seenTo = nil }
    let own = regular.compactMap { id, due in
      due.flatMap { $0.dueAt <= now ? OccurrenceID(reminder: id, scheduledAt: $0.scheduledAt) : nil }
    }
    let coming = own + again.compactMap { id, at in at.flatMap { $0 <= now ? id : nil } }
    return StoreQuery(
      now: now, limit: max(0, min(limit, Self.limit - entries.count)), after: seenTo,
      occurrences: own.filter { occurrences[$0] == nil },
      own: coming.sorted { $0.scheduledAt < $1.scheduledAt }.map { id in
        (id.reminder, reminders[id.reminder], id.scheduledAt)
      }, unknown: unknown)
  }

  /// Reminders with buffered times to come that may have been removed since.
  private var unknown: Set<ReminderID> {
    let coming = regular.compactMap { $1 == nil ? nil : $0 } + again.compactMap { $1 == nil ? nil : $0.reminder }
    return Set(coming.filter { reminders[$0] == nil })
  }

  /// Decides on what is due, buffers the decisions, and returns what to show.
  public mutating func fire(
    _ answer: StoreAnswer, _ policies: DeliveryQueuePolicies, _ context: ReminderContext, _ uptime: Uptime,
    now: Instant,
    using generator: inout some RandomNumberGenerator
  ) -> Work {
    var work = Work(unreadable: answer.unreadable)
    version = entries.isEmpty || version == context.version ? context.version : nil
    decidedAt = max(decidedAt ?? now, now)
    let decision = FiringDecision(now: now, uptime: uptime, silences: answer.silences)
    work.messages = showAgain(policies, now: now)
    adopt(answer.reminders)
    // The cursor stays if something changed after the question was asked, so that the store is asked again.
    if changed.isEmpty, !isFull { seenTo = answer.page.end ?? seenTo }
    let found = answer.page.due.filter { isNews($0) && !changed.contains($0.reminder.id) }
    let due = (found + ownDue(answer)).sorted {
      ($0.dueAt, $0.isRegular ? 0 : 1) < ($1.dueAt, $1.isRegular ? 0 : 1)
    }
    for due in due where !isFull {
      // An earlier one in this loop may have ended this due time.
      guard let due = upToDate(due) else {
        again[Self.id(due)] = .some(nil)
        continue
      }
      let zone = context.zone(of: due.reminder)
      if zone == nil { work.withoutZone.append(due.reminder) }
      var firing = decision.decide(
        due, timetable: context.timetable(of: due.reminder, in: zone), quiet: context.quiet(of: due.reminder),
        link: link(of: due.reminder, answer), condition: condition(of: due.reminder, answer, in: zone),
        using: &generator)
      firing.passOver { occurrences[$0]?.wasDelivered ?? answer.delivered.contains($0) }
      firing.say(answer.reports[due.reminder.id]?.title ?? due.reminder.title)
      firing.zone = zone
      work.firings.append(firing)
      work.messages += take(firing, policies, doneBefore: answer.doneAlready, now: now).map { shown in
        var shown = shown
        shown.message.report = answer.reports[due.reminder.id]
        return shown
      }
    }
    if !isFull {
      let own = regular.values.compactMap { $0?.dueAt } + again.values.compactMap { $0 }
      work.next = ((answer.page.isWhole && changed.isEmpty ? [] : [now]) + own + [answer.page.next].compactMap { $0 })
        .min()
    }
    work.nextWake = [nextWake(after: now), answer.page.nextWake].compactMap { $0 }.filter { $0 > now }.min()
    return work
  }

  /// Returns when to wake the machine for the buffered times; nil for none.
  public func nextWake(after now: Instant) -> Instant? { ownWakes.filter { $0 > now }.min() }

  /// The due times that wake the machine. Times of a changed reminder are included, because its setting is unknown.
  private var ownWakes: [Instant] {
    let coming = regular.compactMap { id, due in
      due.flatMap { reminders[id]?.wakes(at: $0.dueAt, isRegular: true) ?? true ? $0.dueAt : nil }
    }
    return coming
      + again.compactMap { id, at in at.flatMap { reminders[id.reminder]?.wakes(at: $0) ?? true ? $0 : nil } }
  }

  /// Adopts the reminders that changed, and drops the repeats and snoozes of those that were removed.
  private mutating func adopt(_ found: [ReminderID: Reminder?]) {
    for (id, reminder) in found where reminders[id] == nil && !changed.contains(id) {
      reminders[id] = reminder
      guard reminder == nil else { continue }
      for key in again.keys where key.reminder == id { again[key] = .some(nil) }
    }
  }

  /// Returns the reminder's tracker data, including entries that buffered answers will log.
  private func link(of reminder: Reminder, _ answer: StoreAnswer) -> LinkedTracker? {
    guard var linked = answer.links[reminder.id] else { return nil }
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

  /// Returns the state of the reminder that this one waits for, including buffered answers.
  private func condition(of reminder: Reminder, _ answer: StoreAnswer, in zone: Zone?) -> DoneCondition? {
    guard var condition = answer.conditions[reminder.id], let other = reminder.onlyIfDone else { return nil }
    // The zone may have changed since the store was read.
    condition.zone = zone ?? .utc
    condition.add(occurrences.values.lazy.filter { $0.id.reminder == other })
    return condition
  }

  /// Returns whether nothing is buffered about this due time.
  private func isNews(_ due: DueReminder) -> Bool {
    due.isRegular ? regular[due.reminder.id] == nil : again[Self.id(due)] == nil
  }

  /// Returns the buffered due times that the store was asked about.
  ///
  /// What became due since then waits for the next answer: a suspend may lie between the question and the decision.
  private func ownDue(_ answer: StoreAnswer) -> [DueReminder] {
    var found: [DueReminder] = []
    for case (let id, let due?) in regular where due.dueAt <= answer.askedAt {
      guard let reminder = reminders[id] else { continue }
      let occurrence = OccurrenceID(reminder: id, scheduledAt: due.scheduledAt)
      found.append(
        DueReminder(
          reminder: reminder, scheduledAt: due.scheduledAt, dueAt: due.dueAt,
          occurrence: current(occurrence, stored: answer.occurrences[occurrence])))
    }
    for case (let id, let at?) in again where at <= answer.askedAt {
      guard let reminder = reminders[id.reminder] else { continue }
      found.append(
        DueReminder(
          reminder: reminder, scheduledAt: id.scheduledAt, dueAt: at, isRegular: false, occurrence: occurrences[id]))
    }
    return found
  }

  /// Returns the due time with all buffered changes; nil if it is no longer due.
  private func upToDate(_ due: DueReminder) -> DueReminder? {
    var due = due
    due.reminder = current(due.reminder)
    due.occurrence = current(Self.id(due), stored: due.occurrence)
    if due.isRegular { return due }
    guard let occurrence = due.occurrence, occurrence.recursAt != nil else { return nil }
    if case .snoozed = occurrence.state { return due }
    if occurrence.isAwaited { return due }
    // The store does not know yet that a later time fired here, which ended this one's repeats.
    if occurrences[occurrence.id] == nil, let from = repeatsFrom[due.reminder.id], due.scheduledAt < from { return nil }
    return due
  }

  /// Buffers a decision and its consequences.
  ///
  /// - Parameter doneBefore: what the store has as done already, which keeps the moment at which it was.
  /// - Returns: the popups to show.
  private mutating func take(
    _ firing: FiringResult, _ policies: DeliveryQueuePolicies, doneBefore: Set<OccurrenceID>, now: Instant
  ) -> [ClaimedMessage] {
    let (due, own) = (firing.due, Self.id(firing.due))
    entries.append(.fired(firing))
    reminders[due.reminder.id] = due.reminder
    var fired: [OccurrenceID: Occurrence] = [:]
    for occurrence in firing.occurrences {
      // The same rule as in the store: what fired does not fire again, unless this decision was made for it.
      if let known = occurrences[occurrence.id], known.wasDelivered, occurrence.id != own || firing.advances {
        continue
      }
      if case .missed = occurrence.state, occurrence.id != own { continue }
      if occurrence.state == .missed(.doneAlready), doneBefore.contains(occurrence.id) { continue }
      occurrences[occurrence.id] = occurrence
      again[occurrence.id] = .some(occurrence.recursAt)
      fired[occurrence.id] = occurrence
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
    let shown = firing.deliveries.filter { fired[$0.occurrence] != nil }
    let popups = shown.filter { $0.queue.channel == .desktop }.compactMap { delivery in
      fired[delivery.occurrence].map {
        ClaimedMessage(
          claim: Claim(id: delivery.id, queue: delivery.queue, until: now + policies[delivery.queue].claimSpan),
          message: OutboundMessage(delivery: delivery, occurrence: $0, reminder: due.reminder))
      }
    }
    messages.formUnion(popups.map(\.claim.id))
    return popups
  }

  /// Returns the unshown messages, claimed anew, without those that have been answered or repeated since.
  private mutating func showAgain(_ policies: DeliveryQueuePolicies, now: Instant) -> [ClaimedMessage] {
    defer { unshown = [] }
    return unshown.compactMap { message in
      let delivery = message.message.delivery
      if let known = occurrences[delivery.occurrence], !known.isShown || known.rounds > delivery.round { return nil }
      var message = message
      message.claim.until = now + policies[delivery.queue].claimSpan
      return message
    }
  }

  /// Ends the repeats of all earlier times of the reminder: only the latest time that fired repeats.
  private mutating func endRepeats(before id: OccurrenceID) {
    repeatsFrom[id.reminder] = max(repeatsFrom[id.reminder] ?? .earliest, id.scheduledAt)
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

  // MARK: Recording

  public func part(limit: Int = OutboxTransaction.limit) -> Part {
    Part(entries: Array(entries.prefix(limit)), releases: releases, needsStart: needsStart)
  }

  /// Returns the reminders whose next times may be wrong: computed with another context, or before the clock went back.
  public func outdated(in part: Part, _ context: ReminderContext, now: Instant) -> [ReminderID] {
    guard version != context.version || decidedAt.map({ $0 > now }) ?? false else { return [] }
    return part.entries.compactMap { entry in
      if case .fired(let firing) = entry, firing.advances { firing.due.reminder.id } else { nil }
    }
  }

  /// Removes a part that the store has recorded.
  public mutating func recorded(_ part: Part) {
    // For an answer that was given while nothing could be read, it is unknown whether it logs an entry.
    for case .answered(let answer, let at) in part.entries where answer.answer.isDone {
      if let index = loggings.firstIndex(where: { $0.at == at }) { loggings.remove(at: index) }
    }
    entries.removeFirst(part.entries.count)
    releases.removeFirst(part.releases.count)
    if part.needsStart { needsStart = false }
    seenTo = nil
    if entries.isEmpty {
      let (releases, needsStart) = (releases, needsStart)
      self = DegradedMode()
      (self.releases, self.needsStart) = (releases, needsStart)
    }
  }
}
