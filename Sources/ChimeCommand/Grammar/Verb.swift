import ChimeWords

/// One verb of the command: a row of the table from which help, manual and parser are made.
struct Verb: Sendable {
  /// The sections of the overview.
  enum Group: String, Sendable, CaseIterable {
    case set = "Set reminders"
    case look = "See what is set and what happened"
    case answer = "Answer a reminder that has fired"
    case change = "Change reminders"
    case track = "Log what you did, and see your progress"
    case keep = "Trackers, packs and their data"
    case deliver = "Where messages go"
    case about = "The service and this command"
  }

  typealias Run = @Sendable (Context) throws -> ExitCode

  var name: String
  var group: Group
  /// The arguments of each usage line: `TITLE SCHEDULE…`. Without any, see `usages`.
  var arguments: [String] = []
  /// One sentence without a full stop.
  var summary: String
  /// The paragraphs of its help.
  var details: [String] = []
  var options: [Option] = []
  var examples: [Example] = []
  /// Words that users try for it; suggested, but not accepted.
  var alsoTried: [String] = []
  /// A one-line description of the `--json` output.
  var json: String?
  var subverbs: [Verb] = []
  /// The nested verb that runs if the line names none.
  var usualSubverb: String?
  var run: Run = { context in
    let names = context.line.path.last?.subverbs.map(\.name) ?? []
    throw Failure.usage(localized("%1: one of them is missing", names.joined(separator: ", ")))
  }

  /// The arguments of each usage line; by default none, or the names of the nested verbs.
  var usages: [String] {
    guard arguments.isEmpty else { return arguments }
    return [subverbs.isEmpty ? "" : subverbs.map(\.name).joined(separator: "|") + " …"]
  }

  struct Example: Sendable, ExpressibleByStringLiteral {
    var command: String
    var remark: String

    init(command: String, remark: String) { (self.command, self.remark) = (command, remark) }
    init(stringLiteral command: String) { self.init(command: command, remark: "") }
  }

  /// An option; it takes a value if `value` is set.
  struct Option: Sendable {
    var name: String
    var short: Character?
    /// The placeholder of its value in help texts, such as `ZONE`; `nil` for a flag.
    var value: String?
    var summary: String
    /// The only accepted values; any if empty.
    var choices: [String] = []
    /// Whether it may be given several times, each time adding a value.
    var repeats = false
    /// Whether an empty value is accepted in addition to the choices.
    var mayBeEmpty = false

    /// Such as `-n, --count N`.
    var usage: String {
      let long = value.map { "--\(name) \($0)" } ?? "--\(name)"
      return short.map { "-\($0), \(long)" } ?? long
    }

    static func flag(_ name: String, _ short: Character? = nil, _ summary: String) -> Option {
      Option(name: name, short: short, value: nil, summary: summary)
    }

    static func value(
      _ name: String, _ short: Character? = nil, _ value: String, _ summary: String, choices: [String] = [],
      repeats: Bool = false, mayBeEmpty: Bool = false
    ) -> Option {
      Option(
        name: name, short: short, value: value, summary: summary, choices: choices, repeats: repeats,
        mayBeEmpty: mayBeEmpty)
    }
  }
}
