import ChimeSchedule

// The text form of a plan: one action per line, its time first; `#` begins a comment.
//
//     seed 7
//     start 2026-03-01T00:00:00Z
//     days 365
//     zone Europe/Prague
//     0d 00:00:01.000 add r1 when="daily at 02:30" zone=local
//     27d 23:10:00.000 suspend 3h
extension SimulationPlan {
  public var text: String {
    var lines = ["seed \(seed)", "start \(RFC3339.format(start, in: .utc))", "days \(days)", "zone \(zone)"]
    if members > 1 { lines.append("members \(members)") }
    lines += actions.map(\.text)
    return lines.joined(separator: "\n") + "\n"
  }

  public struct Unreadable: Error, CustomStringConvertible {
    public var line: Int
    public var text: String
    public var description: String { "line \(line) is no part of a plan: \(text)" }
  }

  public init(text: String) throws {
    self.init(seed: 0, start: Instant(seconds: 1_767_225_600), days: 365, zone: "UTC", actions: [])
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = Self.words(String(line))
      guard let first = words.first else { continue }
      let rest = words.dropFirst().joined(separator: " ")
      let fault = Unreadable(line: number + 1, text: String(line))
      switch first {
      case "seed": seed = UInt64(rest) ?? 0
      case "start":
        guard let instant = try? RFC3339.parse(rest) else { throw fault }
        start = instant
      case "days": days = Int(rest) ?? 365
      case "zone": zone = rest
      case "members": members = max(1, Int(rest) ?? 1)
      default:
        guard let action = PlannedAction(words) else { throw fault }
        actions.append(action)
      }
    }
  }

  /// Splits a line into words: quoted parts stay together, a comment ends it.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isQuoted = false
    for character in line {
      switch character {
      case "\"": isQuoted.toggle()
      case "#" where !isQuoted && word.isEmpty: return words
      case " " where !isQuoted:
        if !word.isEmpty { words.append(word) }
        word = ""
      default: word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }
}

extension PlannedAction {
  public var text: String {
    let total = at.rawValue
    func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
    let (days, rest) = (total / 86_400_000, total % 86_400_000)
    let milliseconds = rest % 1_000
    let fraction = (milliseconds < 100 ? "0" : "") + two(milliseconds)
    let time = "\(two(rest / 3_600_000)):\(two(rest / 60_000 % 60)):\(two(rest / 1_000 % 60)).\(fraction)"
    var parts = ["\(days)d", time, verb.rawValue]
    if !subject.isEmpty { parts.append(subject) }
    if amount != 0 { parts.append(Self.isLength(verb) ? Self.length(amount) : "\(amount)") }
    for (key, value) in words.sorted(by: { $0.key < $1.key }) {
      let isPlain = value.allSatisfy { $0 != " " && $0 != "#" }
      parts.append(isPlain ? "\(key)=\(value)" : "\(key)=\"\(value)\"")
    }
    return parts.joined(separator: " ")
  }

  /// - Parameter parts: the words of a line.
  init?(_ parts: [String]) {
    guard parts.count >= 3, let days = Int64(parts[0].dropLast()), parts[0].hasSuffix("d"),
      let verb = Verb(rawValue: parts[2])
    else { return nil }
    let time = parts[1].split { $0 == ":" || $0 == "." }.compactMap { Int64($0) }
    guard time.count == 4 else { return nil }
    let seconds = (days * 24 + time[0]) * 3_600 + time[1] * 60 + time[2]
    self.init(.milliseconds(seconds * 1_000 + time[3]), verb)
    for part in parts[3...] {
      if let equals = part.firstIndex(of: "="), part[..<equals].allSatisfy(\.isLetter) {
        words[String(part[..<equals])] = String(part[part.index(after: equals)...])
      } else if let number = Self.isLength(verb) ? Self.length(part) : Int64(part) {
        amount = number
      } else {
        subject = part
      }
    }
  }

  /// Whether the amount is a length in milliseconds.
  private static func isLength(_ verb: Verb) -> Bool {
    [.pause, .snooze, .step, .suspend, .stop, .crash, .restart, .store, .channel, .cut, .lose].contains(verb)
  }

  private static let units: [(String, Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  /// Formats a length in the largest unit that divides it: `1h`, `-90s`.
  private static func length(_ milliseconds: Int64) -> String {
    let (name, size) = units.first { milliseconds % $0.1 == 0 } ?? ("ms", 1)
    return "\(milliseconds / size)\(name)"
  }

  private static func length(_ text: String) -> Int64? {
    let digits = text.prefix { $0 == "-" || $0.isNumber }
    guard let number = Int64(digits), let unit = units.first(where: { $0.0 == text.dropFirst(digits.count) }) else {
      return nil
    }
    return number * unit.1
  }
}
