import ChimeControl
import ChimeWords

/// One result of a check, and its remedies.
struct Finding: Equatable, Sendable {
  var check: Check
  var state: Output.Finding.State
  var message: Sentence
  var remedies: [Remedy]
}

/// The findings of one check.
struct CheckFindings {
  let check: Check
  private(set) var all: [Finding] = []

  var isEmpty: Bool { all.isEmpty }

  mutating func ok(_ message: Sentence) { add(.ok, message, []) }
  /// It works, but needs attention.
  mutating func warning(_ message: Sentence, _ remedies: Remedy...) { add(.warning, message, remedies) }
  mutating func error(_ message: Sentence, _ remedies: Remedy...) { add(.error, message, remedies) }
  /// The check could not run.
  mutating func skipped(_ message: Sentence) { add(.skipped, message, []) }

  mutating func add(_ state: Output.Finding.State, _ message: Sentence, _ remedies: [Remedy]) {
    all.append(Finding(check: check, state: state, message: message, remedies: remedies))
  }
}

/// An action that repairs a finding.
enum Remedy: Equatable, Sendable {
  /// A command to run.
  case run(String)
  /// A line to add to a file.
  case write(String, into: String)
  /// Any other advice.
  case advice(Sentence)
}

/// A sentence that is available in the user's language and, for programs, in English. `Packaging/words` collects its
/// literals, in which `%1`, `%2` … stand for the values.
///
///     Sentence("chimed \(version) runs").said(by: clock)
struct Sentence: Equatable, Sendable, ExpressibleByStringInterpolation {
  let key: String
  let values: [Value]

  /// A value for a placeholder of the sentence.
  enum Value: Equatable, Sendable, CustomStringConvertible {
    /// Shown unchanged: paths, names, output of other programs.
    case text(String)
    /// A sentence from the daemon, which is localized on display.
    case serverMessage(String)
    case time(Wire.Time)
    case bytes(Int)
    /// A day that a calendar leaves out, named in one of these languages.
    case excludedDay(Wire.ExcludedDay, PreferredLanguages)

    /// The English text.
    var description: String {
      switch self {
      case .text(let text), .serverMessage(let text): text
      case .time(let time): String(time.at.prefix(16))
      case .excludedDay(let day, _): "\(day.date), \(day.names?["en"] ?? day.calendar)"
      case .bytes(let count): Self.size(count) { whole, tenths in tenths.map { "\(whole).\($0)" } ?? "\(whole)" }
      }
    }

    func said(by clock: WallClock) -> String {
      switch self {
      case .text(let text): text
      case .serverMessage(let text): localizedServerMessage(text)
      case .time(let time): clock.text(time)
      case .excludedDay(let day, let preferredLanguages): ExcludedDays.text(day, preferredLanguages)
      case .bytes(let count):
        Self.size(count) { whole, tenths in
          LocalizedFormat.number(Double(whole) + Double(tenths ?? 0) / 10, decimals: tenths == nil ? 0 : 1)
        }
      }
    }

    /// Formats a size such as `2.5 GiB`.
    private static func size(_ bytes: Int, _ number: (_ whole: Int, _ tenths: Int?) -> String) -> String {
      // An if chain and not a loop over a table: the optimizer would unroll the loop and order its constants
      // differently in each build (docs/packaging.md, reproducible builds).
      let unit: Unicode.Scalar
      let rest: Int
      if bytes >= 1 << 30 {
        (unit, rest) = ("G", bytes >> 20)
      } else if bytes >= 1 << 20 {
        (unit, rest) = ("M", bytes >> 10)
      } else if bytes >= 1 << 10 {
        (unit, rest) = ("K", bytes)
      } else {
        return "\(number(bytes, nil)) B"
      }
      let tenths = rest * 10 / 1_024
      return "\(number(tenths / 10, tenths < 100 ? tenths % 10 : nil)) \(unit)iB"
    }
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var key = ""
    fileprivate var values: [Value] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) { key += literal }

    mutating func appendInterpolation(_ value: Value) {
      values.append(value)
      key += "%\(values.count)"
    }

    mutating func appendInterpolation(_ text: some CustomStringConvertible) {
      appendInterpolation(.text(text.description))
    }
  }

  init(stringLiteral key: String) { (self.key, values) = (key, []) }
  init(stringInterpolation: StringInterpolation) {
    (key, values) = (stringInterpolation.key, stringInterpolation.values)
  }

  func said(by clock: WallClock) -> String { localized(key: key, filling: values.map { $0.said(by: clock) }) }
  var english: String { Words.english(key, filling: values.map(\.description)) }
}
