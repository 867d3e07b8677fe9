public import ChimeSchedule

/// Until when nothing of one owner rings. What is critical rings all the same, unless it is silenced too. Times that pass
/// meanwhile are recorded as missed, as those of a paused reminder are.
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

  /// As a note of the store has it.
  var text: String { "\(until.milliseconds)\(coversCritical ? " critical" : "")" }

  init?(text: String) {
    let words = text.split(separator: " ")
    guard let first = words.first, let milliseconds = Int64(first) else { return nil }
    self.init(until: Instant(milliseconds: milliseconds), coversCritical: words.dropFirst() == ["critical"])
  }

  /// The names of the notes that have them.
  fileprivate static let notes = "silence "
}

extension StoreTransaction {
  /// One that is over stays until it is taken away: times that passed in it may be looked at later.
  public func silence(of owner: UInt32) throws -> Silence? {
    try note("\(Silence.notes)\(owner)").flatMap(Silence.init(text:))
  }

  public func setSilence(_ silence: Silence?, of owner: UInt32) throws {
    try setNote("\(Silence.notes)\(owner)", silence?.text)
  }

  /// Those of all owners.
  public func silences() throws -> [UInt32: Silence] {
    let found = try notes(named: Silence.notes).compactMap { name, text in
      UInt32(name.dropFirst(Silence.notes.utf8.count)).flatMap { owner in Silence(text: text).map { (owner, $0) } }
    }
    return Dictionary(found) { $1 }
  }
}
