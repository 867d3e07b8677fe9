import ChimeWords

/// One thing that the doctor found, and what helps.
struct Finding: Hashable, Sendable {
  enum State: String, Hashable, Sendable, CaseIterable {
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
enum Remedy: Hashable, Sendable {
  /// A command to type.
  case run(String)
  /// A line to write, and into which file.
  case write(String, into: String)
  /// Anything else.
  case advice(Sentence)

  /// What a program tells the three apart by.
  var kind: String {
    switch self {
    case .run: "command"
    case .write: "line"
    case .advice: "advice"
    }
  }
}

/// A sentence that can be said in the user's language and, to programs, in English.
///
///     Sentence(Words.mark("chimed %1 runs"), "0.1.0").said
struct Sentence: Hashable, Sendable {
  let key: String
  let values: [String]

  init(_ key: String, _ values: any CustomStringConvertible...) {
    self.key = key
    self.values = values.map(\.description)
  }

  var said: String { Words.say(key: key, filling: values.map { Words.told($0) }) }
  var english: String { Words.english(key, filling: values) }
}
