import ChimeControl
import Foundation
import Testing

@testable import ChimeCommand

@Suite struct GrammarTests {
  @Test(
    arguments: [
      ("add Tea every 90m", "add", ["Tea", "every", "90m"], [:]),
      (
        "add \"Stand-up\" weekdays at 9:25 --to desktop --to team --tz Europe/Prague", "add",
        ["Stand-up", "weekdays", "at", "9:25"], ["to": "desktop|team", "tz": "Europe/Prague"]
      ),
      ("add --to=team Tea --urgency low every 90m", "add", ["Tea", "every", "90m"], ["to": "team", "urgency": "low"]),
      ("--json list", "list", [], ["json": ""]),
      ("--tz UTC when daily at 8", "when", ["daily", "at", "8"], ["tz": "UTC"]),
      ("when -n8 daily at 8", "when", ["daily", "at", "8"], ["count": "8"]),
      ("when -n 8 daily at 8", "when", ["daily", "at", "8"], ["count": "8"]),
      ("when -n=8 daily at 8", "when", ["daily", "at", "8"], ["count": "8"]),
      ("list -qan3", "list", [], ["quiet": "", "all": "", "limit": "3"]),
      ("done -- --json", "done", ["--json"], [:]),
      ("-- done -q", "done", ["-q"], [:]),
      ("show - x", "show", ["-", "x"], [:]),
      ("add Tea every 2h --body=", "add", ["Tea", "every", "2h"], ["body": ""]),
      ("add Tea every 2h --body \"a=b --c\"", "add", ["Tea", "every", "2h"], ["body": "a=b --c"]),
      ("endpoint add team http://x", "endpoint add", ["team", "http://x"], [:]),
      ("endpoint --json list", "endpoint list", [], ["json": ""]),
      ("done list", "done", ["list"], [:]),
    ] as [(String, String, [String], [String: String])])
  func acceptsValidLines(_ line: String, _ verb: String, _ expected: [String], _ options: [String: String]) throws {
    let parsed = try ParsedLine.parse(words(line))
    #expect(parsed.verbName == verb)
    #expect(parsed.words == expected)
    let given = Dictionary(grouping: parsed.given, by: \.option.name).mapValues {
      $0.map(\.value).joined(separator: "|")
    }
    #expect(given == options)
  }

  @Test(
    arguments: [
      ("lsit", "\"lsit\" is not a verb of chime", "did you mean chime list?"),
      ("rm r7k2", "\"rm\" is not a verb of chime", "did you mean chime remove?"),
      ("li", "\"li\" is not a verb of chime", "did you mean chime list?"),
      ("xyzzy", "\"xyzzy\" is not a verb of chime", "to set a reminder: chime add \"TITLE\" SCHEDULE"),
      ("endpoint lits", "\"lits\" is not a verb of chime endpoint", "did you mean chime endpoint list?"),
      ("list --jsno", "chime list has no option --jsno", "did you mean --json?"),
      ("list --urgency low", "chime list has no option --urgency", "`chime list --help` lists its options"),
      ("list --js", "chime list has no option --js", "did you mean --json?"),
      ("add Tea sunset -30m", "chime add has no option -3", "write words that begin with - after --"),
      ("add Tea every 2h --urgency hihg", "--urgency must be one of low, normal, critical, not \"hihg\"", nil),
      (
        "add Tea every 2h --urgency crticial", "--urgency must be one of low, normal, critical, not \"crticial\"",
        "did you mean critical?"
      ),
      ("list --json=yes", "--json takes no value", nil),
      ("add Tea --to", "--to needs a value: --to CHANNEL", nil),
      ("list -n", "--limit needs a value: --limit N", nil),
      ("list -n 0", "--limit needs a number from 1 to 1000000, not \"0\"", nil),
      ("list -n x", "--limit needs a number from 1 to 1000000 or all, not \"x\"", nil),
      ("list --json --plain", "--json and --plain cannot be used together", nil),
      ("add", "a title and a schedule are missing", "chime add \"Drink water\" every 90m"),
      ("add \"Tea\"", "when? a schedule is missing", nil),
      ("next week", "chime next takes no \"week\"", nil),
      ("show", "which reminder? ID or TITLE is missing", "`chime list` shows them"),
      ("endpoint", "chime endpoint needs one of its subcommands", nil),
      ("endpoint add team", "a name and a URL are missing", nil),
      ("edit r7k2", "what should change? Without a terminal there is no editor", nil),
      ("copy r7k2", "what should change? Without a terminal there is no editor", nil),
      ("in 25m", "a title is missing after the time", "chime in 25m \"Tea\""),
      (
        "pause r7k2 --until someday", "--until needs a date, a time, or a length such as \"3 days\", not \"someday\"",
        nil
      ),
      ("pause r7k2 --until 2020-01-01", "--until 2020-01-01 is in the past", nil),
      ("pause until friday", "which reminder? ID or TITLE is missing", "`chime list` shows them"),
      ("move r7k2", "to when? A length such as +1h or a time after \"to\" is missing", "chime move Stand-up +1h"),
      ("move r7k2 to yesterday", "to when? \"yesterday\" is not a future time", nil),
      ("move +1h", "which reminder? ID or TITLE is missing", "`chime list` shows them"),
      ("snooze until someday", "until when? \"someday\" is not a future time", "chime snooze until \"tomorrow at 9\""),
      ("snooze r7k2 --until 2020-01-01", "until when? \"2020-01-01\" is not a future time", nil),
      ("snooze --for 1h --until 18:00", "--for and --until cannot be used together", nil),
      ("add Tea every 2h --grace 5x", "--grace needs a length of time such as 10m or 1h30m, not \"5x\"", nil),
      (
        "add Tea every 2h --catch-up sikp",
        "--catch-up must be one of latest, all, skip, or suspend=RULE,downtime=RULE, "
          + "not \"sikp\"", "did you mean skip?"
      ),
    ] as [(String, String, String?)])
  func refusesInvalidLines(_ line: String, _ message: String, _ hint: String?) {
    let outcome = chime(words(line))
    #expect(outcome.status == .usage)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("chime: \(message)\n"), "\(outcome.errors)")
    if let hint { #expect(outcome.errors.contains("  \(hint)\n"), "\(outcome.errors)") }
  }

  @Test(arguments: [
    ("list", "list", 0), ("lsit", "list", 1), ("lst", "list", 1), ("lits", "list", 1), ("", "list", 4),
    ("ca", "abc", 3),
    ("kitten", "sitting", 3), ("ä", "a", 1),
  ])
  func spellingDistanceIsSymmetric(_ left: String, _ right: String, _ distance: Int) {
    #expect(SpellingSuggestions.distance(left, right) == distance)
    #expect(SpellingSuggestions.distance(right, left) == distance)
  }

  /// An option has the same syntax for every verb, so options may precede the verb.
  @Test func optionHasTheSameSyntaxForEveryVerb() {
    for option in CommandTable.standard.allOptions {
      for other in CommandTable.standard.allOptions where other.name == option.name {
        #expect((other.value == nil) == (option.value == nil), "--\(option.name)")
      }
      for other in CommandTable.standard.allOptions where other.short != nil && other.short == option.short {
        #expect((other.value == nil) == (option.value == nil), "-\(String(describing: option.short))")
      }
    }
    for verb in CommandTable.standard.allVerbs {
      let names = CommandTable.standard.accepted(by: verb).map(\.name)
      #expect(Set(names).count == names.count, "\(verb.name)")
      let shorts = CommandTable.standard.accepted(by: verb).compactMap(\.short)
      #expect(Set(shorts).count == shorts.count, "\(verb.name)")
    }
  }

  @Test func everyVerbAndOptionIsInTheHelp() {
    let overview = chime(["--help"])
    #expect(overview.status == .success)
    for verb in CommandTable.standard.verbs { #expect(overview.output.contains("\n  \(verb.name) "), "\(verb.name)") }
    for verb in CommandTable.standard.verbs {
      for path in [[verb]] + verb.subverbs.map({ [verb, $0] }) {
        let names = path.map(\.name)
        let help = chime(names + ["--help"])
        #expect(help.status == .success)
        #expect(help.output == chime(["help"] + names).output)
        for option in CommandTable.standard.accepted(by: path.last) { #expect(help.output.contains(option.usage)) }
        #expect(help.lines.allSatisfy { TextWidth.of($0) <= 100 }, "\(names)")
        #expect(!(path.last?.examples.isEmpty ?? true), "\(names)")
      }
    }
  }

  /// The parser accepts all examples.
  @Test func examplesParse() throws {
    for verb in CommandTable.standard.allVerbs {
      for example in verb.examples {
        let parsed = try ParsedLine.parse(Array(words(example.command).dropFirst()))
        #expect(parsed.path.contains { $0.name == verb.name })
      }
    }
  }

  /// The extraction of texts finds every text of the help, wherever its verb or option is declared.
  @Test func everyTextOfTheHelpCanBeTranslated() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let template = try String(contentsOf: root.appending(path: "po/chime.pot"), encoding: .utf8)
    func isThere(_ text: String) -> Bool {
      // Some defaults are values of one sentence.
      [text, text.replacing(/\(default \d+\)/, with: "(default %1)")].contains { sentence in
        let quoted = sentence.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return template.contains("\nmsgid \"\(quoted)\"\n")
      }
    }
    for verb in CommandTable.standard.allVerbs {
      for text in [verb.summary] + verb.details { #expect(isThere(text), "\(verb.name)") }
    }
    for option in CommandTable.standard.allOptions { #expect(isThere(option.summary), "--\(option.name)") }
  }
}
