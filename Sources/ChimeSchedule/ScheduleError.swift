/// A ScheduleError says why a schedule's text was refused: the column, what was expected, and what would work.
///
///     every 90n: "n" is no unit of time (column 9); did you mean 90m?
public struct ScheduleError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, Codable {
    /// The text is not a schedule.
    case invalidSchedule
    /// The schedule is valid, but it has no occurrence in the future.
    case neverOccurs
    /// The text names a year outside 1970–9999 or a number beyond its bounds.
    case outOfRange
    /// The schedule is valid, but the search for its occurrences takes too long, or one of its rules has none.
    case tooCostly
    /// The schedule is valid, but another dialect cannot express it (``Schedule/converted(to:now:in:)``).
    case inexpressible
  }

  public let code: Code
  /// The refused text: its first 60 characters at most, with control characters escaped.
  public let text: String
  /// The column where the fault begins, in characters from 1; `nil` if the whole text is at fault.
  public let column: Int?
  /// What would be right there, as a noun phrase: `a unit of time (s, m, h, d or w)`. May be empty.
  public let expected: String
  /// A whole text that would be accepted instead.
  public internal(set) var suggestion: String?
  /// Whole texts to choose from, if the refused text is ambiguous.
  public var choices: [String] = []
  /// The error as one sentence for people.
  public let message: String

  public init(code: Code, text: String, column: Int?, expected: String, suggestion: String?, message: String) {
    self.code = code
    self.text = text
    self.column = column
    self.expected = expected
    self.suggestion = suggestion
    self.message = message
  }

  public var description: String { message }
}

/// A Fault is a parser's error before it is worded. It carries a byte range instead of a column.
struct Fault: Error {
  var code: ScheduleError.Code = .invalidSchedule
  /// The bytes at fault; an empty range is a position between two bytes.
  var range: Range<Int>
  /// What is wrong: `"n" is no unit of time`.
  var problem: String
  var expected: String = ""
  /// The replacement that repairs the text, and the part of it to show.
  var repair: Repair?
  /// Whether the words were understood but their meaning is impossible. Such a fault outranks one about words.
  var isMeaning = false
  /// Whether the words were understood up to here as written form. If spoken language does not understand the text
  /// either, this fault tells more than its fault.
  var isConclusive = false
  /// The possible readings of an ambiguous text, for the user to choose from.
  var choices: [Repair] = []
  /// The byte at which an incremental parse failed. No text that starts with the same bytes and continues past this
  /// point can be parsed.
  var stop: Int?
  /// Whether the text is valid but names something that is missing: a place, a calendar, a zone.
  var isElsewhere = false
  /// The faults to report if the repair does not give a schedule.
  var otherwise: [Fault] = []

  /// Returns the same fault, marked as one of meaning.
  func ofMeaning() -> Fault {
    var fault = self
    fault.isMeaning = true
    return fault
  }

  /// Returns the same fault, marked as conclusive.
  func concluding() -> Fault {
    var fault = self
    fault.isConclusive = true
    return fault
  }

  struct Repair {
    var range: Range<Int>
    var replacement: String
    /// The part of the repaired text that the message shows.
    var shown: String

    init(_ range: Range<Int>, _ replacement: String, shown: String? = nil) {
      self.range = range
      self.replacement = replacement
      self.shown = shown ?? replacement
    }
  }
}

/// Refuses a text unless it follows a rule. `range` has the bytes that break it.
func need(
  _ rule: Bool, _ code: ScheduleError.Code = .invalidSchedule, at range: @autoclosure () -> Range<Int>,
  _ problem: @autoclosure () -> String, expected: @autoclosure () -> String = ""
) throws(Fault) {
  guard rule else { throw Fault(code: code, range: range(), problem: problem(), expected: expected()) }
}

/// The longest excerpt of user text in a message, in characters.
private let excerptLength = 60

/// Returns at most `limit` characters of untrusted text on one line, with unprintable characters escaped.
func excerpt(_ text: some StringProtocol, limit: Int = excerptLength) -> String {
  var result = ""
  var count = 0
  for scalar in text.unicodeScalars {
    guard count < limit else { return result + "…" }
    count += 1
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
      result += "\\u{\(String(scalar.value, radix: 16))}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// The length in bytes up to which columns count grapheme clusters; in longer texts they count code points.
private let longestLine = 4_096

/// Returns the column of a byte, in characters from 1.
func column(of offset: Int, in bytes: [UInt8]) -> Int {
  let prefix = bytes.prefix(offset)
  if prefix.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) { return prefix.count + 1 }
  let text = String(decoding: prefix, as: UTF8.self)
  return (prefix.count <= longestLine ? text.count : text.unicodeScalars.count) + 1
}
