public import ChimeSchedule

/// What an endpoint is told of a tracker or a pack, as it was when it happened: every attempt says the same.
public struct TrackerNews: Hashable, Sendable, Codable {
  /// How the tracker stands since; nil: it is about a pack as a whole.
  public var facts: TrackerReport.Facts?
  /// What has become of its entries.
  public var change: Change?
  /// The one entry that it is about.
  public var entry: LoggedEntry?
  /// What was reached.
  public var unlocked: Unlocked?

  public enum Change: String, Hashable, Sendable, Codable, CaseIterable {
    case added, changed, removed
    /// Entries that are not told one by one: of an import, of what was undone or restored.
    case several
  }

  public struct LoggedEntry: Hashable, Sendable, Codable {
    public var id: Int64
    public var at: Instant
    public var day: String
    /// In the tracker's unit; nil: that it was done.
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
    /// Of an achievement its name in the pack, of a level and of a milestone the number.
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

  /// Its values as texts without tabs, the empty ones for what it does not have.
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

  /// - Parameter parts: nil for the empty ones.
  /// - Returns: nil for what `parts` has not written.
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
