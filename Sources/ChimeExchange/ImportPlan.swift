public import ChimeCore
public import ChimeSchedule

/// ImportSettings are the context of an import.
public struct ImportSettings: Sendable {
  public var now: Instant
  /// The zone of times without one, and what schedules may refer to.
  public var scheduleContext: ScheduleContext
  /// The time of day for an event without a time and without an alarm.
  public var allDayAt: CivilTime

  public init(now: Instant, scheduleContext: ScheduleContext, allDayAt: CivilTime = ImportSettings.usualAllDayTime) {
    self.now = now
    self.scheduleContext = scheduleContext
    self.allDayAt = allDayAt
  }

  public static let usualAllDayTime = CivilTime(hour: 9) ?? .midnight
}

/// A ReminderDraft is a reminder that a file asks for. It has a future time.
public struct ReminderDraft: Sendable, Hashable {
  /// The line in the file, from 1.
  public var line: Int
  public var title: String
  public var body: String?
  public var schedule: Schedule
  /// An IANA name; `nil` for the zone of the import.
  public var timezone: String?
  public var tags: [String] = []
  public var urgency: Urgency = .normal
  /// The values of `Reminder.texts`, by name.
  public var texts: [String: String] = [:]
  /// `nil`, here and below, means the configured default.
  public var catchUp: CatchUp?
  public var jitter: Milliseconds?
  public var wake: Bool?
}

/// An ImportRemark is a message about a line of a file.
public struct ImportRemark: Sendable, Hashable {
  /// Why something was skipped; `note` if it was not.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// It has no future time.
    case past
    /// It is canceled, or a completed to-do.
    case closed
    /// It cannot be imported; the message says why.
    case refused
    /// It was imported, but not completely.
    case note
  }

  /// The line, from 1; `nil` if the remark is not about one line.
  public var line: Int?
  /// The title, if it has one.
  public var title: String?
  public var kind: Kind
  /// A sentence without a full stop: `it is cancelled`.
  public var message: String
}

/// An ImportPlan is the result of reading a file: the reminders to add, and remarks on the rest.
public struct ImportPlan: Sendable, Hashable {
  public var drafts: [ReminderDraft] = []
  /// The remarks in file order.
  public var remarks: [ImportRemark] = []

  /// The most reminders from one file.
  public static let maximumCount = 10_000

  mutating func add(_ draft: ReminderDraft) throws(ExchangeError) {
    try need(
      drafts.count < Self.maximumCount, line: draft.line, "the text asks for more than \(Self.maximumCount) reminders")
    drafts.append(draft)
  }

  mutating func remark(_ line: Int?, _ title: String?, _ kind: ImportRemark.Kind, _ message: String) {
    remarks.append(ImportRemark(line: line, title: title, kind: kind, message: message))
  }
}

extension ImportSettings {
  /// Parses a schedule that a file gives, in a zone or in the import's.
  func schedule(_ text: String, in zone: Zone? = nil) throws(NoSchedule) -> Schedule {
    var scheduleContext = scheduleContext
    if let zone { scheduleContext.zone = zone }
    do {
      return try Schedule.parse(text, now: now, in: scheduleContext)
    } catch {
      throw error.code == .neverOccurs ? .past : .refused(error.message)
    }
  }
}

/// A NoSchedule says why a file's schedule gives no reminder.
enum NoSchedule: Error, Hashable {
  case past
  case refused(String)
}

/// DraftText makes foreign text fit for a reminder.
enum DraftText {
  static let maximumTitle = 1_000
  static let maximumBody = 16_384
  static let maximumTag = 64
  static let maximumTags = 32
  static let maximumURL = 2_048

  /// Returns one line without control characters, cut to `maximum` bytes; `nil` if nothing is left.
  static func line(_ text: String, maximum: Int = maximumTitle) -> String? {
    if text.utf8.count <= maximum, isPlain(text) { return text }
    let blank = Unicode.Scalar(0x20 as UInt8)
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let shown = isControl(scalar) ? blank : scalar
      if shown == blank, scalars.last == blank { continue }
      scalars.append(shown)
    }
    let line = cut(trimmed(String(scalars)), to: maximum)
    return line.isEmpty ? nil : line
  }

  /// Returns an address unchanged; `nil` if it is not an address or would need changes.
  static func link(_ text: String) -> String? {
    let link = trimmed(text)
    return Reminder.isLink(link) && line(link, maximum: maximumURL) == link ? link : nil
  }

  /// Returns several lines without other control characters; `nil` if nothing is left.
  static func body(_ text: String) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !isControl(scalar) || scalar == "\n" || scalar == "\t" {
      scalars.append(scalar)
    }
    let body = cut(trimmed(String(scalars)), to: maximumBody)
    return body.isEmpty ? nil : body
  }

  /// Returns several lines with line feeds only, without other control characters, and unchanged otherwise.
  static func lines(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      defer { last = scalar }
      if scalar == "\r" {
        scalars.append("\n")
      } else if !isControl(scalar) || scalar == "\t" || scalar == "\n" && last != "\r" {
        scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// Returns whether the text is visible ASCII with single spaces, as most titles are.
  private static func isPlain(_ text: String) -> Bool {
    var last: UInt8 = 0x20
    for byte in text.utf8 {
      guard (0x20...0x7E).contains(byte), byte != 0x20 || last != 0x20 else { return false }
      last = byte
    }
    return last != 0x20
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Returns at most `maximum` bytes, with `…` for what is cut off.
  private static func cut(_ text: String, to maximum: Int) -> String {
    guard text.utf8.count > maximum else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: maximum - 3)
    while end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
    return trimmed(text[..<end]) + "…"
  }
}
