/// Why a schedule's text was refused: where, what was expected instead, and what would work.
///
///     every 90n: "n" is no unit of time (column 9); did you mean 90m?
public struct ScheduleError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, Codable {
    /// The text is no schedule.
    case invalidSchedule
    /// It is one, but no occurrence of it lies ahead.
    case neverOccurs
    /// It names a year outside 1970–9999 or a number beyond its bounds.
    case outOfRange
    /// It is one, but looking for its occurrences takes too long, or one of its rules has none.
    case tooCostly
    /// It is one, but another dialect has no words for it (``Schedule/converted(to:now:in:)``).
    case inexpressible
  }

  public let code: Code
  /// The refused text: at most 60 characters of it, with control characters escaped.
  public let text: String
  /// Where the fault begins, counted in characters from 1; `nil` when it lies in the whole.
  public let column: Int?
  /// What would have been right there, as a noun phrase: `a unit of time (s, m, h, d or w)`. May be empty.
  public let expected: String
  /// A whole text that would be accepted in place of the refused one.
  public internal(set) var suggestion: String?
  /// Whole texts, each of which may have been meant, where the refused one can be read in several ways.
  public var choices: [String] = []
  /// All of this as one sentence for people.
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

/// A refusal inside a parser, before it is put into words: a place in the bytes instead of a column.
struct Fault: Error {
  var code: ScheduleError.Code = .invalidSchedule
  /// Bytes of the text that are at fault; an empty range is a place between two.
  var range: Range<Int>
  /// What is wrong: `"n" is no unit of time`.
  var problem: String
  var expected: String = ""
  /// What to put in the place of some bytes to mend it, and what to show of that.
  var repair: Repair?
  /// Whether the words were understood, and what they say cannot be meant: such a fault is worth more than one about words.
  var isMeaning = false
  /// The texts that may have been meant, where it is not for the reader to choose.
  var choices: [Repair] = []
  /// The byte before which a reading stopped that goes from part to part: no text with the same beginning is read that
  /// goes on behind it.
  var stop: Int?
  /// Whether the text is sound, and something lacks that it names: a place, a calendar, a zone.
  var isElsewhere = false
  /// What to say where the repair gives no schedule.
  var otherwise: [Fault] = []

  /// The same as a fault of what the words say together.
  func ofMeaning() -> Fault {
    var fault = self
    fault.isMeaning = true
    return fault
  }

  struct Repair {
    var range: Range<Int>
    var replacement: String
    /// The part of the mended text that the sentence shows.
    var shown: String

    init(_ range: Range<Int>, _ replacement: String, shown: String? = nil) {
      self.range = range
      self.replacement = replacement
      self.shown = shown ?? replacement
    }
  }
}

/// The longest excerpt of a foreign text in a message, in characters.
private let excerptLength = 60

/// At most `limit` characters of a text that nobody vouches for, on one line, with everything unprintable escaped.
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

/// How many bytes of a text are looked at for what readers take for one character; further on, each code point counts.
private let longestLine = 4_096

/// The column, in characters from 1, of a byte in a text.
func column(of offset: Int, in bytes: [UInt8]) -> Int {
  let prefix = bytes.prefix(offset)
  if prefix.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) { return prefix.count + 1 }
  let text = String(decoding: prefix, as: UTF8.self)
  return (prefix.count <= longestLine ? text.count : text.unicodeScalars.count) + 1
}
