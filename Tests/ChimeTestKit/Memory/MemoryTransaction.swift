import ChimeCore
import ChimeSchedule

/// Implements the store's operations on a value.
final class MemoryTransaction: StoreTransaction {
  var contents: MemoryContents
  /// The changes since this was last cleared.
  var changed = Changes()
  private(set) var tenantsWithMore: Set<UInt32> = []
  private(set) var listedThrough: ReminderPlace?
  /// The number of writes before the simulated disk is full; nil for no limit.
  var writesLeft: Int?
  private let isReadOnly: Bool
  var restorations = 0
  /// The part of its daemon; nil if no other daemon uses the store.
  var fleet: FleetFence?
  /// The change that this transaction has begun, and its owner.
  var change: (id: Int64, owner: UInt32)?

  struct Changes {
    /// Definitions and regular due times.
    var reminders: Set<ReminderID> = []
    var occurrences: Set<OccurrenceID> = []
    var deliveries: Set<DeliveryID> = []
  }

  init(_ contents: MemoryContents, isReadOnly: Bool) {
    self.contents = contents
    self.isReadOnly = isReadOnly
  }

  func put(_ occurrence: Occurrence) {
    changed.occurrences.insert(occurrence.id)
    contents.put(occurrence)
  }

  func put(_ entry: MemoryContents.Entry) {
    changed.deliveries.insert(entry.delivery.id)
    contents.put(entry)
  }

  func requireWriting() throws {
    if isReadOnly { throw StoreFailure.readOnly }
    guard let left = writesLeft else { return }
    if left == 0 { throw StoreFailure.unavailable("the disk is full") }
    writesLeft = left - 1
  }

  // Definitions and due times.

  func upsert(_ reminder: Reminder, next: Instant?, nextDueAt: Instant?, since: Instant?) throws {
    try requireWriting()
    if contents.order[reminder.id] == nil {
      contents.order[reminder.id] = (contents.order.values.max() ?? -1) + 1
    } else if reminder.generation == 0 {
      throw StoreFailure.idTaken(reminder.id)
    }
    changed.reminders.insert(reminder.id)
    if Tenant.isTenant(reminder.owner), next != nil, contents.regular[reminder.id] == nil {
      tenantsWithMore.insert(reminder.owner)
    }
    keepVersion(replacedBy: reminder, next: next, since: since)
    contents.reminders[reminder.id] = reminder
    if !reminder.isExpectation { contents.down[reminder.id] = nil }
    contents.regular[reminder.id] = next.map {
      .init($0, dueAt: nextDueAt, of: reminder)
    }
  }

  private func keepVersion(replacedBy reminder: Reminder, next: Instant?, since: Instant?) {
    let formerNext = contents.regular[reminder.id]?.scheduledAt
    if let former = contents.reminders[reminder.id] {
      if former.hasSameTimes(as: reminder), formerNext == next {
        if let since { cutVersions(of: reminder.id, at: since + .milliseconds(1)) }
        return
      }
      keepVersion(
        of: reminder.id, until: ReminderVersion.end(next: formerNext, before: next, since: since))
    }
    let begin = ReminderVersion.begin(next: next, since: since)
    contents.countsFrom[reminder.id] = begin
    if let begin { cutVersions(of: reminder.id, at: begin) }
  }

  private func cutVersions(of id: ReminderID, at begin: Instant) {
    guard var former = contents.replaced[id] else { return }
    let last = former.filter { $0.from < begin && $0.until ?? .latest >= begin }.map(\.from).max()
    if former.contains(where: { $0.until ?? .latest > begin }) {
      former.removeAll { $0.until ?? .latest >= begin && $0.from != last }
    }
    for place in former.indices { former[place].until = former[place].until.map { min($0, begin) } }
    contents.replaced[id] = former.isEmpty ? nil : former
  }

  private func keepVersion(of id: ReminderID, until: Instant) {
    guard let reminder = contents.reminders[id], let first = contents.countsFrom[id], first < until else { return }
    contents.replaced[id, default: []].removeAll { $0.until == until }
    contents.replaced[id, default: []].append(
      ReminderVersion(reminder: reminder, from: first, until: until, isInForce: false))
    contents.replaced[id]?.sort { $0.until ?? .latest < $1.until ?? .latest }
  }

  func versions(of id: ReminderID) throws -> [ReminderVersion] {
    var versions = contents.replaced[id] ?? []
    if let reminder = contents.reminders[id], let first = contents.countsFrom[id] {
      let due = contents.regular[id]
      versions.append(
        ReminderVersion(reminder: reminder, from: first, until: due?.scheduledAt, dueAt: due?.dueAt, isInForce: true))
    }
    return versions
  }

  func versionedIDs(owner: UInt32?, after last: ReminderID?, limit: Int) throws -> [ReminderID] {
    let place = last.flatMap { contents.order[$0] } ?? -1
    return contents.order.filter { id, order in
      let owned = contents.reminders[id]?.owner ?? contents.replaced[id]?.last?.reminder.owner
      return order > place && owned.map { owner == nil || owner == $0 } ?? false
    }.sorted { $0.value < $1.value }.prefix(max(limit, 0)).map(\.key)
  }

  func forgetVersions(before end: Instant) throws {
    try requireWriting()
    for id in contents.replaced.keys {
      contents.replaced[id]?.removeAll { $0.until ?? .latest <= end }
      if contents.replaced[id]?.isEmpty == true { contents.replaced[id] = nil }
    }
  }

  func remove(_ id: ReminderID, now: Instant) throws -> Bool {
    try requireWriting()
    keepVersion(of: id, until: min(contents.regular[id]?.scheduledAt ?? now, now))
    cutVersions(of: id, at: now)
    guard contents.reminders.removeValue(forKey: id) != nil else { return false }
    changed.reminders.insert(id)
    contents.countsFrom[id] = nil
    contents.down[id] = nil
    contents.regular[id] = nil
    contents.again = contents.again.filter { $0.key.reminder != id }
    for key in contents.occurrenceIDs(of: id) {
      cancel(key, at: now) { $0.event == nil }
      guard var occurrence = contents.occurrences[key], occurrence.isOpen || occurrence.isAwaited else { continue }
      occurrence.state = .dismissed
      occurrence.endedAt = now
      occurrence.repeatAt = nil
      put(occurrence)
    }
    return true
  }

  func reminder(_ id: ReminderID) throws -> ReminderRecord? {
    guard let reminder = contents.reminders[id] else { return nil }
    let occurrences = contents.occurrences(of: id)
    func again(where match: (Occurrence) -> Bool) -> Instant? {
      occurrences.filter(match).compactMap { contents.again[$0.id] }.min()
    }
    return ReminderRecord(
      reminder: reminder, next: contents.regular[id]?.scheduledAt, nextDueAt: contents.regular[id]?.dueAt,
      last: occurrences.last, open: occurrences.count { $0.isOpen },
      snoozedUntil: again { $0.isSnoozed }, repeatAt: again { $0.isOpen && !$0.isSnoozed },
      pingDeadline: again(where: \.isAwaited), downSince: contents.down[id], awaitsOther: awaitsOther(reminder))
  }

  /// Returns whether a reminder that this one follows has a future time or an open occurrence.
  func awaitsOther(_ reminder: Reminder) -> Bool {
    var seen: Set<ReminderID> = []
    var next = reminder.follows
    while let id = next, seen.insert(id).inserted, let other = contents.reminders[id], other.owner == reminder.owner {
      let isOpen = contents.occurrenceIDs(of: id).contains { contents.occurrences[$0]?.isOpen == true }
      if isOpen || contents.regular[id] != nil || contents.again.contains(where: { $0.key.reminder == id }) {
        return true
      }
      next = other.follows
    }
    return false
  }

  func reminders(_ filter: ReminderFilter, page: Page) throws -> [ReminderRecord] {
    func plain(_ text: String) -> [UInt8] { text.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
    func occurs(_ text: [UInt8], in other: String) -> Bool { text.isEmpty || plain(other).firstRange(of: text) != nil }
    let records = try contents.reminders.keys.compactMap(reminder).filter { record in
      let reminder = record.reminder
      if let owner = filter.owner, reminder.owner != owner { return false }
      if filter.expectationsOnly, !reminder.isExpectation { return false }
      if let tag = filter.tag, !reminder.tags.contains(tag) { return false }
      if let titles = filter.titles, !titles.contains(reminder.title) { return false }
      if let prefix = filter.idPrefix, !reminder.id.rawValue.hasPrefix(prefix) { return false }
      if let from = filter.dueFrom, record.coming.map({ $0 < from }) ?? true { return false }
      if let before = filter.dueBefore, record.coming.map({ $0 >= before }) ?? true { return false }
      if !filter.includesFinished, record.coming == nil, record.open == 0, !record.awaitsOther { return false }
      guard let text = filter.text.map(plain) else { return true }
      return ([reminder.title, reminder.id.rawValue] + reminder.tags).contains { occurs(text, in: $0) }
    }
    func precedes(_ left: ReminderPlace, _ right: ReminderPlace) -> Bool {
      switch (left.coming, right.coming) {
      case (let one?, let other?) where one != other: one < other
      case (.some, nil): true
      case (nil, .some): false
      default: left.id < right.id
      }
    }
    let found = records.filter { record in filter.after.map { precedes($0, record.place) } ?? true }
      .sorted { precedes($0.place, $1.place) }.prefix(page.limit)
    listedThrough = found.last?.place
    return Array(found)
  }

  func reminderIDs(_ selection: ReminderSelection, after last: ReminderID?, limit: Int) throws -> [ReminderID] {
    let place = last.flatMap { contents.order[$0] } ?? -1
    let fitting = contents.reminders.values.filter { reminder in
      switch selection {
      case .all: true
      case .zone(let zone): reminder.timezone == zone
      case .withExceptions: reminder.schedule.canonical.contains("except")
      case .linked(let key): reminder.owner == key.owner && reminder.tracker?.tracker == key.id
      case .chained(let owner): reminder.follows != nil && owner.map { $0 == reminder.owner } ?? true
      case .following(let id, let owner): reminder.follows == id && reminder.owner == owner
      case .conditional: reminder.onlyIfDone != nil
      case .needing(let id, let owner): reminder.onlyIfDone == id && reminder.owner == owner
      }
    }
    return fitting.map { (place: contents.order[$0.id] ?? -1, id: $0.id) }
      .filter { $0.place > place }.sorted { $0.place < $1.place }.prefix(max(limit, 0)).map(\.id)
  }

  // Occurrences.

  func occurrence(_ id: OccurrenceID) throws -> Occurrence? { contents.occurrences[id] }

  func answered(among ids: [OccurrenceID]) throws -> Set<OccurrenceID> {
    Set(
      ids.filter { id in
        switch contents.occurrences[id]?.state {
        case .fired, .delivered: false
        case .snoozed, .awaited, .done, .dismissed, .missed, nil: true
        }
      })
  }

  func occurrences(_ filter: OccurrenceFilter, page: Page) throws -> [Occurrence] {
    func matches(_ occurrence: Occurrence) -> Bool {
      if let owner = filter.owner, occurrence.owner != owner { return false }
      if filter.openOnly, !occurrence.isOpen { return false }
      if let from = filter.from, occurrence.id.scheduledAt < from { return false }
      if let before = filter.before, occurrence.id.scheduledAt >= before { return false }
      return filter.after.map { place(occurrence.id) < place($0) } ?? true
    }
    if let reminder = filter.reminder {
      var found: [Occurrence] = []
      for id in contents.occurrenceIDs(of: reminder, from: filter.from, before: filter.before).reversed() {
        guard found.count < page.limit else { break }
        if let occurrence = contents.occurrences[id], matches(occurrence) { found.append(occurrence) }
      }
      return found
    }
    // Sort small keys, not the occurrences themselves.
    var places: [(at: Instant, order: Int, id: OccurrenceID)] = []
    for (id, occurrence) in contents.occurrences where matches(occurrence) {
      places.append((id.scheduledAt, order(id), id))
    }
    places.sort { ($0.at, $0.order) > ($1.at, $1.order) }
    return places.prefix(page.limit).compactMap { contents.occurrences[$0.id] }
  }

  func doneTimes(of id: ReminderID, from first: Instant) throws -> [Instant] {
    contents.occurrences(of: id)
      .compactMap { $0.chainEvent == .done ? $0.endedAt : nil }.filter { $0 >= first }.sorted().suffix(10_000)
  }

  // Pings.

  func awaited(of id: ReminderID) throws -> [Occurrence] {
    contents.occurrences(of: id).filter(\.isAwaited)
  }

  func setDown(_ id: ReminderID, since: Instant?) throws {
    try requireWriting()
    guard contents.reminders[id]?.isExpectation == true else { return }
    contents.down[id] = since.map { contents.down[id] ?? $0 }
    changed.reminders.insert(id)
  }

  func add(_ ping: Ping, to id: ReminderID) throws {
    try requireWriting()
    contents.pings[id, default: []].insert(ping, at: 0)
    if contents.pings[id, default: []].count > Ping.maxStored { contents.pings[id]?.removeLast() }
  }

  func pings(of id: ReminderID, among kinds: Set<Ping.Kind>, withOutput: Bool, limit: Int) throws -> [Ping] {
    (contents.pings[id] ?? []).filter { kinds.contains($0.kind) }.prefix(limit).map { ping in
      var ping = ping
      if !withOutput { ping.output = nil }
      return ping
    }
  }

  private func place(_ id: OccurrenceID) -> (at: Instant, order: Int) { (id.scheduledAt, order(id)) }

  func order(_ id: OccurrenceID) -> Int { contents.order[id.reminder] ?? -1 }

  func update(_ occurrence: Occurrence, now: Instant) throws {
    try requireWriting()
    guard contents.occurrences[occurrence.id] != nil else {
      throw StoreFailure.internalError("there is no occurrence \(occurrence.id) to update")
    }
    put(occurrence)
    let isPresent = contents.reminders[occurrence.id.reminder] != nil
    contents.again[occurrence.id] = isPresent ? occurrence.recursAt : nil
    if !occurrence.isShown { cancel(occurrence.id, at: now) { $0.event == nil } }
  }

  /// Cancels the pending deliveries of an occurrence that `match` selects.
  func cancel(_ id: OccurrenceID, at now: Instant, where match: (Delivery) -> Bool) {
    for delivery in contents.deliveriesOf[id] ?? [] {
      guard var entry = contents.outbox[delivery], entry.delivery.isPending, match(entry.delivery) else { continue }
      entry.delivery.state = .cancelled(at: now)
      put(entry)
    }
  }

  // Firing.

  // Values in memory are always readable.
  var unreadable: [UnreadableReminder] { [] }

  func claimDue(now: Instant, limit: Int) throws -> [DueReminder] {
    let due = try due(now: now, limit: fleet == nil ? limit : .max, after: nil).due
    guard let fleet else { return due }
    return Array(due.filter { !fleet.locked.contains($0.reminder.id) }.prefix(limit))
  }

  func due(now: Instant, limit: Int, after place: DueCursor?) throws -> DuePage {
    // Ties go to the older reminder, and within a reminder to the regular time.
    var due: [(rank: (Instant, Int64, Int64), id: OccurrenceID)] = []
    for (id, time) in contents.regular {
      let rank = (time.dueAt, Int64(contents.order[id] ?? -1), Int64(-1))
      due.append((rank, OccurrenceID(reminder: id, scheduledAt: time.scheduledAt)))
    }
    for (id, at) in contents.again { due.append(((at, Int64(order(id)), id.scheduledAt.milliseconds), id)) }
    let start = place.map { ($0.dueAt, $0.reminder, $0.again) }
    let behind = due.filter { due in due.rank.0 <= now && (start.map { due.rank > $0 } ?? true) }
    let taken = behind.sorted { $0.rank < $1.rank }.prefix(max(limit, 0))
    return DuePage(
      due: taken.compactMap { rank, id in
        contents.reminders[id.reminder].map {
          DueReminder(
            reminder: $0, scheduledAt: id.scheduledAt, dueAt: rank.0, isRegular: rank.2 < 0,
            occurrence: contents.occurrences[id])
        }
      }, end: taken.last.map { DueCursor(dueAt: $0.rank.0, reminder: $0.rank.1, again: $0.rank.2) },
      isWhole: taken.count == behind.count, next: due.lazy.map(\.rank.0).filter { $0 > now }.min(),
      nextWake: wakes.filter { $0 > now }.min())
  }

  func reevaluateHeld(now: Instant) throws {
    try requireWriting()
    for (id, time) in contents.regular where time.scheduledAt <= now && time.dueAt > now {
      changed.reminders.insert(id)
      contents.regular[id]?.dueAt = now
    }
  }

  func record(_ firings: [FiringResult]) throws {
    try requireWriting()
    for firing in firings { record(firing) }
  }

  private func record(_ firing: FiringResult) {
    let due = firing.due
    guard let reminder = contents.reminders[due.reminder.id] else { return }
    let own = OccurrenceID(reminder: reminder.id, scheduledAt: due.scheduledAt)
    var skipped: Set<OccurrenceID> = []
    for occurrence in firing.occurrences {
      let known = contents.occurrences[occurrence.id]
      // An occurrence fires again only by the decision made for it.
      let isMadeForIt =
        !firing.advances && occurrence.id == own && known?.recursAt != nil
        && known?.recursAt == due.occurrence?.recursAt
      if let known, known.wasDelivered, !isMadeForIt {
        skipped.insert(occurrence.id)
        continue
      }
      if due.reminder.nag != nil, occurrence.state == .fired, occurrence.rounds == 1 {
        endRepeats(before: occurrence.id)
      }
      put(occurrence)
      contents.again[occurrence.id] = occurrence.recursAt
    }
    for delivery in firing.deliveries where !skipped.contains(delivery.occurrence) {
      owe(delivery)
    }
    if firing.advances {
      guard reminder.generation == due.reminder.generation,
        contents.regular[reminder.id]?.scheduledAt == due.scheduledAt
      else { return }
      var reminder = reminder
      reminder.skipNext = firing.skipNext
      changed.reminders.insert(reminder.id)
      contents.regular[reminder.id] = firing.next.map { .init($0, dueAt: firing.nextDueAt, of: reminder) }
      contents.reminders[reminder.id] = reminder
    } else if contents.again[own] == due.dueAt, skipped.contains(own) || firing.occurrences.isEmpty {
      contents.again[own] = nil
    }
  }

  private func owe(_ delivery: Delivery) {
    if delivery.event == nil {
      cancel(delivery.occurrence, at: delivery.createdAt) {
        $0.queue == delivery.queue && $0.round < delivery.round && $0.event == nil
      }
    }
    changed.deliveries.insert(delivery.id)
    contents.append(delivery)
  }

  func owe(_ deliveries: [Delivery]) throws {
    try requireWriting()
    for delivery in deliveries where contents.order[delivery.occurrence.reminder] != nil { owe(delivery) }
  }

  func sent(of id: OccurrenceID) throws -> [Delivery] {
    (contents.deliveriesOf[id] ?? []).compactMap { contents.outbox[$0] }.filter { entry in
      let delivery = entry.delivery
      guard delivery.event == nil else { return false }
      if case .delivered = delivery.state { return true }
      return delivery.isPending && (delivery.attempts > 0 || entry.visibleAt > delivery.ownTime)
    }.map(\.delivery)
  }

  /// Ends the repeats of earlier occurrences, because a later one has fired.
  private func endRepeats(before id: OccurrenceID) {
    for key in contents.repeating[id.reminder] ?? [] where key.scheduledAt < id.scheduledAt {
      guard var occurrence = contents.occurrences[key], occurrence.isOpen, !occurrence.isSnoozed else { continue }
      occurrence.repeatAt = nil
      put(occurrence)
      contents.again[key] = nil
    }
  }

  /// All due times that wake the machine.
  private var wakes: [Instant] {
    let regular = contents.regular.filter { $0.value.wakes }
    let again = contents.again.filter { id, time in contents.reminders[id.reminder]?.wakes(at: time) == true }
    return regular.values.map(\.dueAt) + again.values
  }

  func wakeups() throws -> NextWakeups {
    var wakeups = NextWakeups(
      nextDue: (contents.regular.values.map(\.dueAt) + contents.again.values).min(), nextWake: wakes.min())
    for queue in contents.pending.keys where fleet?.lets(queue) != false {
      wakeups.outbox[queue] = triable(in: queue).map(\.visibleAt).min()
    }
    return wakeups
  }
}

extension MemoryContents.Regular {
  fileprivate init(_ scheduledAt: Instant, dueAt: Instant?, of reminder: Reminder) {
    let dueAt = dueAt ?? scheduledAt + reminder.jitterOffset
    self.init(scheduledAt: scheduledAt, dueAt: dueAt, wakes: reminder.wakes(at: dueAt, isRegular: true))
  }
}

extension Occurrence {
  fileprivate var isSnoozed: Bool { if case .snoozed = state { true } else { false } }
}

extension ReminderRecord {
  fileprivate var place: ReminderPlace { ReminderPlace(coming: coming, id: reminder.id) }
}

extension Collection where Element == UInt8 {
  /// Returns where `pattern` first occurs.
  func firstRange(of pattern: [UInt8]) -> Index? {
    indices.first { self[$0...].starts(with: pattern) }
  }
}
