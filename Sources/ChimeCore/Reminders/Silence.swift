public import ChimeSchedule

/// A Silence silences all reminders of one owner until a moment, by default except critical ones.
///
/// Times that pass meanwhile are recorded as missed, like those of a paused reminder.
public struct Silence: Hashable, Sendable, Codable {
  public var until: Instant
  public var coversCritical: Bool

  public init(until: Instant, coversCritical: Bool = false) {
    self.until = until
    self.coversCritical = coversCritical
  }

  public func holds(_ reminder: Reminder, at time: Instant) -> Bool {
    time < until && (coversCritical || reminder.urgency != .critical)
  }

  /// The text form for the store's note.
  var text: String { "\(until.milliseconds)\(coversCritical ? " critical" : "")" }

  init?(text: String) {
    let words = text.split(separator: " ")
    guard let first = words.first, let milliseconds = Int64(first) else { return nil }
    self.init(until: Instant(milliseconds: milliseconds), coversCritical: words.dropFirst() == ["critical"])
  }

  /// The prefix of the notes' names.
  fileprivate static let notes = "silence "
}

extension StoreTransaction {
  /// Returns the owner's silence, even if it is over, because times that passed in it may be evaluated later.
  public func silence(of owner: UInt32) throws -> Silence? {
    try note("\(Silence.notes)\(owner)").flatMap(Silence.init(text:))
  }

  public func setSilence(_ silence: Silence?, of owner: UInt32) throws {
    try setNote("\(Silence.notes)\(owner)", silence?.text)
  }

  /// Returns the silences of all owners.
  public func silences() throws -> [UInt32: Silence] {
    let found = try notes(named: Silence.notes).compactMap { name, text in
      UInt32(name.dropFirst(Silence.notes.utf8.count)).flatMap { owner in Silence(text: text).map { (owner, $0) } }
    }
    return Dictionary(found) { $1 }
  }
}
