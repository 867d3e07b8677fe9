public import ChimeSchedule

/// A TrackerNews is the data of an event about a tracker or a pack, frozen when it happened: every attempt says the same.
public struct TrackerNews: Hashable, Sendable, Codable {
  /// The tracker's state afterwards; nil if the event concerns a whole pack.
  public var facts: TrackerReport.Facts?
  /// How its entries changed.
  public var change: Change?
  /// The one entry that the event concerns.
  public var entry: LoggedEntry?
  /// The achievement, level or milestone reached.
  public var unlocked: Unlocked?

  public enum Change: String, Hashable, Sendable, Codable, CaseIterable {
    case added, changed, removed
    /// Several entries at once: of an import, an undo or a restore.
    case several
  }

  public struct LoggedEntry: Hashable, Sendable, Codable {
    public var id: Int64
    public var at: Instant
    public var day: String
    /// In the tracker's unit; nil for a check.
    public var value: Double?
    public var item: String?

    public init(id: Int64, at: Instant, day: String, value: Double? = nil, item: String? = nil) {
      self.id = id
      self.at = at
      self.day = day
      self.value = value
      self.item = item
    }
  }

  public struct Unlocked: Hashable, Sendable, Codable {
    public enum Kind: String, Hashable, Sendable, Codable { case achievement, level, milestone }

    public var kind: Kind
    /// The achievement's name in the pack, or the number of the level or milestone.
    public var id: String
    public var pack: String?
    public var title: String

    public init(_ kind: Kind, id: String, pack: String?, title: String) {
      self.kind = kind
      self.id = id
      self.pack = pack
      self.title = title
    }
  }

  public init(
    facts: TrackerReport.Facts? = nil, change: Change? = nil, entry: LoggedEntry? = nil, unlocked: Unlocked? = nil
  ) {
    self.facts = facts
    self.change = change
    self.entry = entry
    self.unlocked = unlocked
  }
}

extension TrackerNews {
  private static let partCount = 21

  /// The values as texts without tabs, empty for missing ones.
  var parts: [String] {
    func number(_ value: Double?) -> String? { value.map { "\($0)" } }
    let values: [String?] = [
      facts?.id, facts?.title, facts?.unit, facts?.day, facts.map { String($0.entries) }, number(facts?.reached),
      number(facts?.goal), number(facts?.remaining), facts?.percent.map { String($0) },
      facts.map { $0.isMet ? "1" : "0" }, facts.map { String($0.streak) }, change?.rawValue,
      entry.map { String($0.id) }, entry.map { String($0.at.milliseconds) }, entry?.day, number(entry?.value),
      entry?.item, unlocked?.kind.rawValue, unlocked?.id, unlocked?.pack, unlocked?.title,
    ]
    return values.map { Self.escaped($0 ?? "") }
  }

  /// - Parameter parts: nil for empty values.
  /// - Returns: nil for malformed parts.
  init?(parts: ArraySlice<String?>) {
    guard parts.count == Self.partCount else { return nil }
    var rest = parts.map { $0.map(Self.unescaped) }[...]
    func text() -> String? { rest.popFirst() ?? nil }
    func int() -> Int? { text().flatMap { Int($0) } }
    func double() -> Double? { text().flatMap { Double($0) } }
    func instant() -> Instant? { text().flatMap { Int64($0) }.map { Instant(milliseconds: $0) } }
    let (id, title, unit, day, entries) = (text(), text(), text(), text(), int())
    let (reached, goal, remaining, percent, isMet, streak) = (double(), double(), double(), int(), text(), int())
    change = text().flatMap(Change.init)
    if let id, let title, let day, let entries, let streak {
      facts = TrackerReport.Facts(
        id: id, title: title, unit: unit, day: day, entries: entries, reached: reached, goal: goal,
        remaining: remaining, percent: percent, isMet: isMet == "1", streak: streak)
    }
    let (number, at, entryDay, value, item) = (int(), instant(), text(), double(), text())
    if let number, let at, let entryDay {
      entry = LoggedEntry(id: Int64(number), at: at, day: entryDay, value: value, item: item)
    }
    let (kind, name, pack, words) = (text().flatMap(Unlocked.Kind.init), text(), text(), text())
    if let kind, let name, let words { unlocked = Unlocked(kind, id: name, pack: pack, title: words) }
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\\") }) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\t": result += "\\t"
      case "\\": result += "\\\\"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func unescaped(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
    var (result, isEscaped) = ("", false)
    for scalar in text.unicodeScalars {
      if !isEscaped, scalar == "\\" {
        isEscaped = true
      } else {
        result.unicodeScalars.append(isEscaped && scalar == "t" ? "\t" : scalar)
        isEscaped = false
      }
    }
    return result
  }
}
