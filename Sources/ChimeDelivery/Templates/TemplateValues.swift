package import ChimeCore
package import ChimeSchedule

/// A Placeholder names a value of a message: a `Name`, or a text of the reminder (`Reminder.messageTexts`).
/// `docs/delivery.md` documents them.
struct Placeholder: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  let description: String

  init(_ name: Name) { description = name.rawValue }

  init(_ text: Reminder.Text) { description = text.name }

  /// Nil for an unknown name.
  init?(named name: String) {
    guard let known = Self.allCases.first(where: { $0.description == name }) else { return nil }
    self = known
  }

  static let allCases = Name.allCases.map { Self($0) } + Reminder.messageTexts.map { Self($0) }

  /// Whether the value is a secret.
  var isSecret: Bool { self == Self(.token) || self == Self(.withdrawalToken) }
}

extension Placeholder {
  enum Name: String, CaseIterable {
    case title, body, tags, urgency
    case scheduledAt, scheduledTime, firedAt, late, lateNote, latenessMs, repeatNote
    case reminder, occurrence, delivery, channel, round
    // Event values (`DeliveryEvent`).
    case event, by, until, message, receipt
    // Values of the reminder's tracker (`TextValues.Name`).
    case tracker, reached, remaining, goal, percent, streak
    case longestStreak = "streak.longest"
    case moodTitle = "mood.title"
    case moodMessage = "mood.message"
    case moodNext = "mood.next"
    case quote
    case quoteTranslation = "quote.translation"
    case quoteSource = "quote.source"
    case nextAchievement
    case nextAchievementText = "nextAchievement.text"
    case nextAchievementProgress = "nextAchievement.progress"
    case level, experience
    // Offered answers (`OfferedAnswers`); missing if the endpoint reads no answers.
    case answersAddress = "answers.address"
    case answersDone = "answers.done"
    case answersDoneLabel = "answers.done.label"
    case answersSnooze = "answers.snooze"
    case answersSnoozeLabel = "answers.snooze.label"
    case answersDismiss = "answers.dismiss"
    case answersDismissLabel = "answers.dismiss.label"
    case answersLog = "answers.log"
    case answersLogLabel = "answers.log.label"
    case token
    case withdrawalToken = "token.withdraw"
  }
}

extension Sequence<Placeholder> {
  func contains(_ name: Placeholder.Name) -> Bool { contains(Placeholder(name)) }
}

/// The value of a placeholder.
enum TemplateValue: Hashable, Sendable {
  case missing
  case text(String)
  case number(Int64)
  case list([String])

  init(_ text: String?) { self = text.map { .text($0) } ?? .missing }

  /// The value as text: lists are joined by commas, and a missing value is empty.
  var text: String {
    switch self {
    case .missing: ""
    case .text(let text): text
    case .number(let number): "\(number)"
    case .list(let items): items.joined(separator: ", ")
    }
  }

  /// Upper bound of `text` in bytes.
  var bound: Int {
    switch self {
    case .missing: 0
    case .text(let text): text.utf8.count
    case .number: 20
    case .list(let items): items.reduce(0) { $0 + $1.utf8.count + 2 }
    }
  }

  /// The value as JSON; nil if it is missing.
  var json: TemplateJSON? {
    switch self {
    case .missing: nil
    case .text(let text): .string(text)
    case .number(let number): .integer(number)
    case .list(let items): .list(items.map { .string($0) })
    }
  }
}

/// The placeholder values of one message.
package struct TemplateValues: Sendable {
  private var values: [Placeholder: TemplateValue] = [:]

  subscript(placeholder: Placeholder) -> TemplateValue {
    get { values[placeholder] ?? .missing }
    set { values[placeholder] = newValue }
  }

  subscript(name: Placeholder.Name) -> TemplateValue {
    get { self[Placeholder(name)] }
    set { self[Placeholder(name)] = newValue }
  }

  init() {}

  /// - Parameter timeOfDay: Formats a time in the user's clock format, such as `08:30`.
  package init(_ message: OutboundMessage, timeOfDay: (Instant) -> String) {
    let occurrence = message.occurrence
    let reminder = message.reminder
    self[.title] = .text(message.title)
    self[.body] = TemplateValue(message.body)
    self[.tags] = .list(reminder?.tags ?? [])
    self[.urgency] = .text((reminder?.urgency ?? .normal).rawValue)
    for text in Reminder.messageTexts { self[Placeholder(text)] = TemplateValue(reminder?[keyPath: text.path]) }
    self[.scheduledAt] = .text(Timestamp.rfc3339(occurrence.id.scheduledAt))
    self[.scheduledTime] = .text(timeOfDay(occurrence.id.scheduledAt))
    self[.firedAt] = TemplateValue(occurrence.firedAt.map(Timestamp.rfc3339))
    self[.late] = TemplateValue(occurrence.late?.rawValue)
    self[.lateNote] = TemplateValue(Presentation.lateRemark(occurrence, timeOfDay: timeOfDay))
    self[.repeatNote] = TemplateValue(Presentation.repeatRemark(message, timeOfDay: timeOfDay))
    self[.latenessMs] = occurrence.lateness.map { .number($0.rawValue) } ?? .missing
    self[.reminder] = .text(occurrence.id.reminder.rawValue)
    self[.occurrence] = .text(occurrence.id.description)
    self[.delivery] = .text(message.delivery.id.rawValue)
    self[.channel] = .text(message.delivery.queue.channel.rawValue)
    self[.round] = .number(Int64(message.delivery.round))
    let event = message.delivery.event
    self[.event] = .text(message.kind.name)
    self[.by] = TemplateValue(event?.person)
    self[.until] = TemplateValue(event?.until.map(Timestamp.rfc3339))
    // A withdrawal names its message by the id of the original delivery.
    self[.message] = TemplateValue(event?.message?.rawValue)
    self[.receipt] = TemplateValue(message.receipt)
    if let facts = event?.news?.facts { self[.tracker] = .text(facts.title) }
    for (name, value) in message.report?.values ?? [:] {
      if let placeholder = Placeholder(named: name) { self[placeholder] = .text(value) }
    }
  }

  /// Creates the values of the made-up reminder of `chime endpoint test`.
  init(sampleFor channel: ChannelName, delivery: DeliveryID, at now: Instant, timeOfDay: (Instant) -> String) {
    self[.title] = .text("A test of Chime")
    self[.body] = .text("No reminder has fired.")
    self[.tags] = .list(["test"])
    self[.urgency] = .text(Urgency.normal.rawValue)
    self[.scheduledAt] = .text(Timestamp.rfc3339(now))
    self[.scheduledTime] = .text(timeOfDay(now))
    self[.firedAt] = .text(Timestamp.rfc3339(now))
    self[.latenessMs] = .number(0)
    self[.reminder] = .text("test")
    self[.occurrence] = .text("test@\(now.seconds)")
    self[.delivery] = .text(delivery.rawValue)
    self[.channel] = .text(channel.rawValue)
    self[.round] = .number(1)
    self[.event] = .text(OccurrenceEvent.fired.rawValue)
  }
}
