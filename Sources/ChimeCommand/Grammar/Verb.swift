/// One verb of the command: a row of the table from which its help, its manual and its parser are made.
struct Verb: Sendable {
  /// Verbs that belong together in the overview.
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
  /// Its arguments as the usage line shows them, one for each form: `TITLE SCHEDULE…`.
  var arguments: [String]
  /// A sentence without a full stop.
  var summary: String
  /// Paragraphs of its help.
  var details: [String] = []
  var options: [Option] = []
  var examples: [Example] = []
  /// Words that people try for it; only ever suggested, never accepted.
  var alsoTried: [String] = []
  /// What `--json` prints, in a line.
  var json: String?
  var subverbs: [Verb] = []
  /// The one of them that is meant where none is named.
  var usualSubverb: String?
  var run: Run

  struct Example: Sendable {
    var command: String
    var remark: String = ""
  }

  /// An option, with a value when it has a `value` name.
  struct Option: Sendable {
    var name: String
    var short: Character?
    /// The name of its value in help texts, such as `ZONE`; `nil` for a flag.
    var value: String?
    var summary: String
    /// The only values accepted; any when empty.
    var choices: [String] = []
    /// Whether it may be given several times, each time adding to it.
    var repeats = false
    /// Whether an empty value is accepted beside the choices.
    var mayBeEmpty = false

    /// `-n, --count N`.
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
