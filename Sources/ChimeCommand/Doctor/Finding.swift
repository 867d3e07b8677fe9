import ChimeControl
import ChimeWords

/// One thing that the doctor found, and what helps.
struct Finding: Equatable, Sendable {
  enum State: String, Equatable, Sendable, CaseIterable {
    /// All right.
    case good
    /// Works, and should be seen to.
    case caution
    /// Does not work.
    case bad
    /// Could not be looked at.
    case skipped
  }

  var check: Check
  var state: State
  var message: Sentence
  var remedies: [Remedy]

  static func good(_ check: Check, _ message: Sentence) -> Finding {
    Finding(check: check, state: .good, message: message, remedies: [])
  }

  static func caution(_ check: Check, _ message: Sentence, _ remedies: Remedy...) -> Finding {
    Finding(check: check, state: .caution, message: message, remedies: remedies)
  }

  static func bad(_ check: Check, _ message: Sentence, _ remedies: Remedy...) -> Finding {
    Finding(check: check, state: .bad, message: message, remedies: remedies)
  }

  static func skipped(_ check: Check, _ message: Sentence) -> Finding {
    Finding(check: check, state: .skipped, message: message, remedies: [])
  }
}

/// What to do about a finding.
enum Remedy: Equatable, Sendable {
  /// A command to type.
  case run(String)
  /// A line to write, and into which file.
  case write(String, into: String)
  /// Anything else.
  case advice(Sentence)
}

/// A sentence that can be said in the user's language and, to programs, in English.
///
///     Sentence(localizable("chimed %1 runs"), "0.1.0").said(by: clock)
struct Sentence: Equatable, Sendable {
  let key: String
  let values: [Value]

  /// What is put into it.
  enum Value: Equatable, Sendable, CustomStringConvertible {
    /// As it is: paths, names, what other programs said.
    case text(String)
    /// A sentence of the daemon's.
    case told(String)
    case time(Wire.Time)
    case bytes(Int)
    /// A day that a calendar leaves out, for somebody who reads these languages.
    case leftOut(Wire.LeftOut, PreferredLanguages)

    /// In English.
    var description: String {
      switch self {
      case .text(let text), .told(let text): text
      case .time(let time): String(time.at.prefix(16))
      case .leftOut(let day, _): "\(day.date), \(day.names?["en"] ?? day.calendar)"
      case .bytes(let count): Self.size(count) { whole, tenths in tenths.map { "\(whole).\($0)" } ?? "\(whole)" }
      }
    }

    func said(by clock: WallClock) -> String {
      switch self {
      case .text(let text): text
      case .told(let text): localizedServerMessage(text)
      case .time(let time): clock.text(time)
      case .leftOut(let day, let preferredLanguages): LeftOutDays.text(day, preferredLanguages)
      case .bytes(let count):
        Self.size(count) { whole, tenths in
          LocalizedFormat.number(Double(whole) + Double(tenths ?? 0) / 10, decimals: tenths == nil ? 0 : 1)
        }
      }
    }

    /// Such as `2.5 GiB`.
    private static func size(_ bytes: Int, _ number: (_ whole: Int, _ tenths: Int?) -> String) -> String {
      // No list of pairs is gone through: the optimizer would unroll it, and put constants into an order that is another in
      // each build (docs/packaging.md).
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

  init(_ key: String, _ values: any CustomStringConvertible...) {
    self.key = key
    self.values = values.map { $0 as? Value ?? .text($0.description) }
  }

  func said(by clock: WallClock) -> String { localized(key: key, filling: values.map { $0.said(by: clock) }) }
  var english: String { Words.english(key, filling: values.map(\.description)) }
}
