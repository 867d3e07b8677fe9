public import ChimeSchedule
public import ChimeTracking

/// A TrackerReport holds what a message can say about its reminder's tracker at the time of sending.
///
/// Texts are filled in and numbers formatted, because channels know neither trackers nor languages.
public struct TrackerReport: Hashable, Sendable {
  /// Values by the names of `TextValues.Name`; unknown ones are missing and become empty text.
  public var values: [String: String] = [:]
  /// The reminder's title and body with placeholders filled in; nil if there were none.
  public var title: String?
  public var body: String?
  /// The label of the button that logs, such as `Drank 250 ml`; nil for *Done*.
  public var button: String?
  /// The items on buttons instead of *Done*: the most used ones of a collection, at most three.
  public var items: [Choice] = []
  /// The amount on an additional button, where *Done* logs nothing.
  public var log: Amount?
  /// The data for programs; nil for a reminder without a tracker.
  public var facts: Facts?

  /// A Choice is an item with its button label.
  public struct Choice: Hashable, Sendable {
    public var item: String
    public var title: String

    public init(_ item: String, _ title: String) {
      self.item = item
      self.title = title
    }
  }

  /// An Amount is an amount with its button label.
  public struct Amount: Hashable, Sendable {
    /// The amount in units of `Quantity.grains`.
    public var grains: Int64
    public var title: String

    public init(grains: Int64, title: String) {
      self.grains = grains
      self.title = title
    }
  }

  /// Facts are the tracker's state as data; numbers are in the tracker's unit.
  public struct Facts: Hashable, Sendable, Codable {
    public var id: String
    public var title: String
    public var unit: String?
    public var day: String
    public var entries: Int
    public var reached: Double?
    public var goal: Double?
    public var remaining: Double?
    public var percent: Int?
    public var isMet: Bool
    public var streak: Int
  }

  public init() {}

  /// - Parameter reminder: any reminder; nothing is read for one without a link and without `{{`.
  public static func read(
    for reminder: Reminder, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws -> TrackerReport? {
    let isFilled = ReminderText.hasPlaces(reminder.title) || ReminderText.hasPlaces(reminder.body ?? "")
    guard reminder.tracker != nil || isFilled else { return nil }
    var report = TrackerReport()
    do {
      report = try Reading(reminder, transaction, context, now).report()
    } catch StoreFailure.internalError {
      // An unreadable tracker must not block the message.
    }
    if ReminderText.hasPlaces(reminder.title) {
      report.title = ReminderText.filled(reminder.title, report.values)
    }
    if let body = reminder.body, ReminderText.hasPlaces(body) {
      report.body = ReminderText.filled(body, report.values)
    }
    return report
  }
}

extension Reminder {
  /// Returns the reminder with the placeholders in its title and body filled in.
  public func filled(in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant) throws -> Reminder
  {
    guard ReminderText.hasPlaces(title) || ReminderText.hasPlaces(body ?? "") else { return self }
    let report = try TrackerReport.read(for: self, in: transaction, context, now: now)
    var reminder = self
    reminder.title = report?.title ?? title
    reminder.body = report?.body ?? body
    return reminder
  }

  /// Returns the title with placeholders filled in, as history records it.
  public func filledTitle(
    in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant
  ) throws -> String {
    guard ReminderText.hasPlaces(title) else { return title }
    return try TrackerReport.read(for: self, in: transaction, context, now: now)?.title ?? title
  }
}

extension Reminder {
  /// Returns whether its texts contain one of these names, whose values are costly to read.
  fileprivate func names(_ names: [TextValues.Name]) -> Bool {
    names.contains { name in [title, body ?? ""].contains { $0.contains(name.rawValue) } }
  }
}

extension MoodText {
  /// Returns the text with the day's values for `{{streak}}`, `{{done}}` and `{{due}}`.
  public func filled(_ day: DayCount, number: (Int) -> String) -> MoodText {
    let values = day.values(number: number)
    func filled(_ text: LocalizedText) -> LocalizedText {
      LocalizedText(text.texts.mapValues { ReminderText.hasPlaces($0) ? ReminderText.filled($0, values) : $0 })
    }
    return MoodText(title: filled(title), message: filled(message), next: filled(next))
  }
}

/// ReminderText fills placeholders of the form `{{name}}`.
public enum ReminderText {
  private static let names = Set(TextValues.Name.allCases.map(\.rawValue))

  // By character: filling goes by characters too.
  public static func hasPlaces(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "{")) && text.contains("{{") }

  /// Returns the text with values in place of their names.
  ///
  /// A known name without a value becomes empty; unknown names stay as written. Values are not searched for
  /// placeholders. In a text of several sentences, one whose values are all missing is left out.
  ///
  ///     ReminderText.filled("Still {{remaining}} to go", ["remaining": "750 ml"])       // Still 750 ml to go
  ///     ReminderText.filled("Well done. Next: {{nextAchievement}}.", [:])               // Well done.
  public static func filled(_ text: String, _ values: [String: String]) -> String {
    let sentences = sentences(of: text)
    let filled = sentences.filter { sentence in
      let known = places(in: sentence).filter { names.contains($0) }
      return known.isEmpty || known.contains { values[$0]?.isEmpty == false }
    }
    guard filled.count < sentences.count, !filled.isEmpty else { return fill(text, values) }
    return fill(trimmedEnd(filled.joined()), values)
  }

  /// Returns the sentences, each with the whitespace after it.
  private static func sentences(of text: String) -> [String] {
    var sentences: [String] = []
    var sentence = ""
    var isEnded = false
    // By character: the parts are joined to the same text again.
    for character in text {
      if isEnded, !character.isWhitespace {
        sentences.append(sentence)
        sentence = ""
        isEnded = false
      }
      if character.isNewline || character.isWhitespace, sentence.last.map({ ".!?…".contains($0) }) ?? false {
        isEnded = true
      }
      if character.isNewline { isEnded = true }
      sentence.append(character)
    }
    return sentence.isEmpty ? sentences : sentences + [sentence]
  }

  /// Returns the names between `{{` and `}}`.
  public static func places(in text: String) -> [String] {
    var places: [String] = []
    var rest = text[...]
    while let opening = rest.firstRange(of: "{{") {
      rest = rest[opening.upperBound...]
      guard let closing = rest.firstRange(of: "}}") else { break }
      places.append(String(rest[..<closing.lowerBound].filter { !$0.isWhitespace }))
      rest = rest[closing.upperBound...]
    }
    return places
  }

  private static func trimmedEnd(_ text: String) -> String {
    var text = text[...]
    // By character, because a line break may be two scalars.
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }

  private static func fill(_ text: String, _ values: [String: String]) -> String {
    var result = ""
    var rest = text[...]
    while let opening = rest.firstRange(of: "{{") {
      let inside = rest[opening.upperBound...]
      guard let closing = inside.firstRange(of: "}}") else { break }
      let name = String(inside[..<closing.lowerBound].filter { !$0.isWhitespace })
      if names.contains(name) {
        result += rest[..<opening.lowerBound] + (values[name] ?? "")
      } else {
        result += rest[..<closing.upperBound]
      }
      rest = inside[closing.upperBound...]
    }
    return result + rest
  }
}

extension StringProtocol {
  /// Returns where `pattern` first occurs.
  fileprivate func firstRange(of pattern: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(pattern) { return start..<index(start, offsetBy: pattern.count) }
      start = index(after: start)
    }
    return nil
  }
}

/// A Reading gathers the data of one report.
private struct Reading {
  let reminder: Reminder
  let transaction: any StoreTransaction
  let context: ReminderContext
  let now: Instant
  let tracker: Tracker?
  /// The tracker's pack, or else the first installed one with moods or quotes.
  let pack: InstalledPack?
  let zone: Zone

  init(_ reminder: Reminder, _ transaction: any StoreTransaction, _ context: ReminderContext, _ now: Instant) throws {
    self.reminder = reminder
    self.transaction = transaction
    self.context = context
    self.now = now
    zone = context.zones.local
    let owner = reminder.owner
    tracker = try reminder.tracker.flatMap { try transaction.tracker(TrackerKey(owner: owner, id: $0.tracker)) }
    if let own = try tracker?.pack.flatMap({ try transaction.pack($0, owner: owner) }) {
      pack = own
    } else {
      let packs = try transaction.packs(owner: owner)
      pack = packs.first { !$0.pack.moods.isEmpty || !$0.pack.quotes.isEmpty } ?? packs.first
    }
  }

  var languages: [String] {
    pack.flatMap { $0.languages.isEmpty ? nil : $0.languages } ?? context.wording.languages
  }

  func report() throws -> TrackerReport {
    var report = TrackerReport()
    let work = TrackingOperations(in: transaction, owner: reminder.owner, context, now: now)
    if let tracker {
      let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
      let progress = try work.progress(of: tracker, on: day(of: tracker), summary)
      for (name, value) in try texts(tracker, progress).pairs(
        quantity: { context.wording.amount($0, $1, decimals: $2) }, number: { context.wording.number($0) })
      {
        if !value.isEmpty { report.values[name.rawValue] = value }
      }
      report.facts = TrackerReport.Facts(tracker, progress, in: languages)
      (report.button, report.log) = buttons(tracker)
      if tracker.hasItems, reminder.tracker?.logsWhenDone == true {
        report.items = try transaction.likelyItems(of: tracker.key, on: progress.day, limit: 3).map {
          TrackerReport.Choice($0.id.rawValue, $0.title)
        }
      }
    } else {
      try addDay(to: &report)
    }
    return report
  }

  private func day(of tracker: Tracker) -> CivilDate { tracker.day(at: now, in: zone).day }

  /// Returns the counts of the owner's day.
  private func count() throws -> DayCount { try count(of: progress()) }

  private func count(of progress: [GoalProgress]) throws -> DayCount {
    let trackers = try transaction.trackers(owner: reminder.owner).filter { $0.pack == pack?.pack.id }
    let work = TrackingOperations(in: transaction, owner: reminder.owner, context, now: now)
    return DayCount(progress, streak: try work.streakOfAny(trackers).length)
  }

  private func progress() throws -> [GoalProgress] {
    let work = TrackingOperations(in: transaction, owner: reminder.owner, context, now: now)
    return try transaction.trackers(owner: reminder.owner).map { tracker in
      let summary = try transaction.summary(of: tracker.key) ?? TrackerSummary()
      return try work.progress(of: tracker, on: day(of: tracker), summary)
    }
  }

  private func texts(_ tracker: Tracker, _ progress: GoalProgress) throws -> TextValues {
    let next = try nextAchievement(on: progress.day)
    let experience = try pack.map { try transaction.experience(of: $0.pack.id, owner: reminder.owner) }
    var values = TextValues(
      tracker, progress, mood: try mood(), quote: pack.flatMap { Quote.ofTheDay(progress.day, among: $0.pack.quotes) },
      next: next, level: pack?.pack.levels.flatMap { curve in experience.map { curve.level(at: $0) } },
      experience: experience, day: reminder.names([.done, .due]) ? try count() : nil, languages: languages)
    if let next, let pack {
      let work = TrackingOperations(in: transaction, owner: reminder.owner, context, now: now)
      values.nextShown = try work.progress(of: next.achievement, in: pack.pack, reached: next.reached)
    }
    return values
  }

  /// Adds the day's values for a reminder without a tracker.
  private func addDay(to report: inout TrackerReport) throws {
    let day = zone.civil(at: now).date
    func add(_ name: TextValues.Name, _ text: String?) { report.values[name.rawValue] = text }
    let mood = try mood()
    add(.moodTitle, mood?.title.text(in: languages))
    add(.moodMessage, mood?.message.text(in: languages))
    add(.moodNext, mood?.next.text(in: languages))
    let quote = pack.flatMap { Quote.ofTheDay(day, among: $0.pack.quotes) }
    add(.quote, quote?.text)
    add(.quoteTranslation, quote?.translation?.text(in: languages))
    add(.quoteSource, quote?.source)
    add(.nextAchievement, try nextAchievement(on: day)?.achievement.title.text(in: languages))
    guard reminder.names(DayCount.names) else { return }
    report.values.merge(try count().values { context.wording.number($0) }) { _, new in new }
  }

  private func nextAchievement(on day: CivilDate) throws -> (achievement: Achievement, reached: Int)? {
    guard let pack else { return nil }
    let progress = try transaction.progress(of: pack.pack.id, owner: reminder.owner)
    return Achievement.next(
      among: pack.pack.achievements, progress: progress, on: day,
      minute: Int(zone.civil(at: now).time.secondOfDay) / 60)
  }

  /// Returns the mood of the day over all trackers of the owner, in the pack's words.
  private func mood() throws -> MoodText? {
    guard let pack, !pack.pack.moods.isEmpty else { return nil }
    let progress = try progress()
    return try pack.pack.moods[Mood.of(progress.map { MoodShare($0) })]?.filled(
      count(of: progress), number: { context.wording.number($0) })
  }

  /// Returns the label of the button if *Done* logs an amount, or else the amount of an additional button.
  private func buttons(_ tracker: Tracker) -> (done: String?, log: TrackerReport.Amount?) {
    guard let link = reminder.tracker, let unit = tracker.unit, let quantity = tracker.portion(of: link)?.quantity
    else { return (nil, nil) }
    let title = context.wording.button(
      tracker.verb?.text(in: languages), context.wording.amount(quantity, unit, decimals: tracker.decimals))
    return link.logsWhenDone ? (title, nil) : (nil, .init(grains: quantity.grains, title: title))
  }
}

extension TrackerReport.Facts {
  init(_ tracker: Tracker, _ progress: GoalProgress, in languages: [String]) {
    func number(_ quantity: Quantity?) -> Double? {
      quantity.map { quantity in
        switch progress.wanted?.kind {
        case .entries, .days: Double(quantity.grains) / Double(Quantity.one.grains)
        case .total, .value, nil: tracker.unit.map { quantity.value(in: $0) } ?? Double(quantity.grains)
        }
      }
    }
    self.init(
      id: tracker.id.rawValue, title: tracker.title.text(in: languages), unit: tracker.unit?.symbol,
      day: progress.day.description, entries: progress.total?.count ?? 0, reached: number(progress.reached),
      goal: number(progress.wanted?.quantity), remaining: number(progress.remaining), percent: progress.percent,
      isMet: progress.isMet, streak: progress.form.streak.length)
  }
}
