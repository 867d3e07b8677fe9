import ChimeControl
import Testing
import Varlink

@testable import ChimeCommand

/// A complete reminder in one line: `chime add Call mum tomorrow at 5pm #family !critical @phone //bring the photos`.
@Suite struct OneLineTests {
  /// Returns the command's outcome and the draft that the daemon was asked to add.
  private func added(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) throws -> (outcome: Outcome, draft: String?) {
    let daemon = try VerbTests.daemon()
    let outcome = chime(
      arguments, daemon: daemon, isTerminal: !input.isEmpty, input: input, isInputTerminal: !input.isEmpty,
      environment: environment)
    let call = daemon.calls.first { $0.method.hasSuffix("Reminders.Add") }
    return (outcome, call?.parameters.description)
  }

  static let lines: [(line: String, draft: String)] = [
    (
      "add Call mum tomorrow at 5pm #family",
      #"{"reminder":{"tags":["family"],"title":"Call mum","when":"tomorrow at 5pm"}}"#
    ),
    (
      "add #home #garden Water the plants !critical every monday @phone @desktop",
      #"{"reminder":{"channels":["phone","desktop"],"tags":["home","garden"],"title":"Water the plants","urgency":"critical","when":"every monday"}}"#
    ),
    (
      "at 18:30 Call home // ask for the key, and when",
      #"{"reminder":{"body":"ask for the key, and when","title":"Call home","when":"at 18:30"}}"#
    ),
    ("in 25m Tea !low", #"{"reminder":{"title":"Tea","urgency":"low","when":"in 25m"}}"#),
    (
      "remind me to stretch #health in 20 minutes",
      #"{"reminder":{"tags":["health"],"title":"stretch","when":"in 20 minutes"}}"#
    ),
    // Text that is no mark stays where it was.
    ("add Mend #12 tomorrow @5pm", #"{"reminder":{"title":"Mend #12","when":"tomorrow @5pm"}}"#),
    (
      "add Read https://example.org//a tomorrow",
      #"{"reminder":{"title":"Read https://example.org//a","when":"tomorrow"}}"#
    ),
    (
      "add \"Learn C# and #hashing\" tomorrow --tag work",
      #"{"reminder":{"tags":["work"],"title":"Learn C# and #hashing","when":"tomorrow"}}"#
    ),
    (
      "add Tea tomorrow #home --tag work,home",
      #"{"reminder":{"tags":["work","home"],"title":"Tea","when":"tomorrow"}}"#
    ),
  ]

  @Test(arguments: lines) func marksAreParsed(_ line: String, _ draft: String) throws {
    let (outcome, added) = try added(words(line))
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(added == draft)
    // A line quoted as one word, as # and ! require, is the same.
    guard !line.contains("\""), !line.contains("--") else { return }
    let verb = String(line.prefix { $0 != " " })
    #expect(try self.added([verb, String(line.dropFirst(verb.count + 1))]).draft == draft)
  }

  @Test(arguments: [
    ("add Tea tomorrow !urgent", "\"!urgent\" is not an urgency: there are !low, !normal, !critical"),
    ("add Tea tomorrow !low !critical", "a reminder has one urgency, not !low and !critical"),
    ("add Tea tomorrow !low --urgency critical", "!low and --urgency contradict each other"),
    ("add Tea tomorrow //hot --body cold", "// and --body contradict each other"),
    ("add tomorrow #home", "a title is missing"),
  ])
  func invalidMarksAreRefused(_ line: String, _ sentence: String) throws {
    let (outcome, added) = try added(words(line))
    #expect(outcome.status == .usage)
    #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    #expect(added == nil)
  }

  @Test func marksAreExplainedWithoutADaemon() {
    let outcome = chime(["when", "--line", "Tea 2027-03-05 at 9 #home @phone !low //hot", "--json"])
    #expect(
      outcome.output.hasPrefix(
        #"{"title":"Tea","tags":["home"],"urgency":"low","channels":["phone"],"body":"hot","#
          + #""canonical":"at 2027-03-05 09:00","dialect":"phrase","zone":"Europe/Prague","#
          + #""next":["2027-03-05T09:00:00+01:00"]"#),
      "\(outcome.output)")
    let batch = chime(["when", "--batch"], input: "{\"line\": \"Tea 2027-03-05 at 9 #home\"}\n")
    #expect(
      batch.output == #"{"title":"Tea","tags":["home"],"canonical":"at 2027-03-05 09:00","dialect":"phrase","#
        + #""next":[1804233600]}"# + "\n")
    // A suggestion contains the title too.
    let asked = chime(["when", "--batch"], input: "{\"line\": \"next year plan the trip\"}\n")
    #expect(asked.output.contains(#""suggestion":"2027-01-01 plan the trip"#), "\(asked.output)")
    let wrong = chime(["when", "--batch"], input: "{\"line\": \"Tea tomorrow at 9 !urgent\"}\n")
    #expect(wrong.output.contains(#""code":"invalidValue""#), "\(wrong.output)")
  }

  /// An ambiguous line is asked about where somebody can answer; one key chooses.
  @Test func ambiguousLineIsChosenByOneKey() throws {
    for (key, draft) in [
      ("1", #"{"reminder":{"title":"Dentist","when":"saturday"}}"#),
      ("2", #"{"reminder":{"title":"Dentist","when":"saturday next week"}}"#),
    ] {
      let (outcome, added) = try added(words("add Dentist next saturday"), input: key)
      #expect(outcome.status == .success, "\(outcome.errors)")
      #expect(outcome.errors.contains("  1  chime add Dentist saturday\n  2  chime add Dentist saturday next week\n"))
      #expect(added == draft)
    }
    // The line as shown can be typed.
    let (shown, _) = try added(["add", "Pay $HOME \"now\"", "next", "saturday"], input: "q")
    #expect(shown.errors.contains("  1  chime add 'Pay $HOME \"now\"' saturday\n"), "\(shown.errors)")
    for key in ["4", "0", "q", "\n", "\u{3}", ""] {
      let (outcome, added) = try added(words("add Dentist next saturday"), input: key + " ")
      #expect(outcome.status == .usage)
      #expect(outcome.errors.contains("nothing was added"), "\(outcome.errors)")
      #expect(added == nil)
    }
    // Marks and options are kept.
    let (_, marked) = try added(words("add Dentist next saturday #health --body card"), input: "1")
    #expect(
      marked == #"{"reminder":{"body":"card","tags":["health"],"title":"Dentist","when":"saturday"}}"#)
    // A script is not asked.
    let (scripted, none) = try added(words("add Dentist next saturday"))
    #expect(scripted.status == .usage && none == nil)
    #expect(scripted.errors.contains("did you mean"), "\(scripted.errors)")
  }

  @Test func leftoverWordsAreAskedAbout() throws {
    let (outcome, added) = try added(words("add Pills every morning 9 30"), input: "1")
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(added?.contains("Pills") == true)
  }

  /// In a Czech locale; the daemon receives English.
  @Test func czechLinesAreParsed() throws {
    let czech = ["LC_ALL": "cs_CZ.UTF-8"]
    let (outcome, added) = try added(words("add Zavolat mámě zítra v 17 #rodina"), environment: czech)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(added == #"{"reminder":{"tags":["rodina"],"title":"Zavolat mámě","when":"tomorrow at 17"}}"#)
    let (_, reminded) = try self.added(words("remind mi protáhnout se za 20 minut"), environment: czech)
    #expect(reminded == #"{"reminder":{"title":"protáhnout se","when":"in 20 minutes"}}"#)
    let daemon = try VerbTests.daemon()
    #expect(chime(words("snooze r7k2 do pondělí v 9"), daemon: daemon, environment: czech).status == .success)
    #expect(daemon.calls.last?.parameters.description == #"{"id":"r7k2","until":"2026-03-30T09:00:00+02:00"}"#)
    let edited = try VerbTests.daemon()
    #expect(
      chime(["edit", "r7k2", "--when", "každé úterý v 9"], daemon: edited, environment: czech).status == .success)
    #expect(edited.calls.last?.parameters.description.contains(#""when":"every tuesday at 9""#) == true)
    let english = try self.added(words("add Zavolat zítra v 17"))
    #expect(english.outcome.status == .usage && english.draft == nil)
  }
}
