import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// The trackers' verbs with a daemon that answers from a person's year: their calls and their output.
@Suite struct TrackingVerbTests {
  /// The command line, its last call, that call's parameters, and parts of the output.
  @Test(
    arguments: [
      (
        "log water", "Trackers.Log", #"{"tracker":"water"}"#,
        ["✔ Water: 250 ml  #4711", "1750 of 2500 ml, 70 %; 750 ml to go"]
      ),
      ("log water 330ml", "Trackers.Log", #"{"amount":330,"tracker":"water","unit":"ml"}"#, []),
      ("log Water 0,5 l", "Trackers.Log", #"{"amount":0.5,"tracker":"water","unit":"l"}"#, []),
      ("log wate 330", "Trackers.Log", #"{"amount":330,"tracker":"water"}"#, []),
      (
        "log weight 82.4kg --note \"After the holidays\" --field fat=18.5%", "Trackers.Log",
        #"{"amount":82.4,"fields":{"fat":18.5},"note":"After the holidays","tracker":"weight","unit":"kg"}"#, []
      ),
      (
        "log Morning adhkar --at \"yesterday 21:00\"", "Trackers.Log",
        #"{"at":"2026-03-26T21:00:00+01:00","tracker":"adkhar-morning"}"#, []
      ),
      ("log A page of reading --token t1", "Trackers.Log", #"{"token":"t1","tracker":"adkhar-reading"}"#, []),
      ("log watches Speedmaster", "Trackers.Log", #"{"item":"speedmaster","tracker":"watches"}"#, []),
      ("log watches cocktail time", "Trackers.Log", #"{"item":"cocktail","tracker":"watches"}"#, []),
      ("today", "Trackers.Day", #"{}"#, ["Fri 2026-03-27", "1500 of 2500 ml", "إِنَّ مَعَ الْعُسْرِ يُسْرًا\n", "Level 7"]),
      ("today yesterday", "Trackers.Day", #"{"day":"2026-03-26"}"#, []),
      ("week", "Trackers.Week", #"{}"#, ["Mon Tue Wed Thu Fri Sat Sun", "Water", "all"]),
      ("week last", "Trackers.Week", #"{"day":"2026-03-20"}"#, []),
      (
        "achievements watches --locked", "Trackers.Achievements", #"{"pack":"watches"}"#,
        ["29 of 50 unlocked", "12 of 14"]
      ),
      ("stats", "Trackers.Day", #"{}"#, ["TRACKER", "STREAK", "Watches"]),
      (
        "stats weight --range 6M --average 14", "Trackers.Stats",
        #"{"averageDays":14,"range":{"from":"2025-09-28","to":"2026-03-27"},"tracker":"weight"}"#, ["forecast", "last"]
      ),
      (
        "tracker add reading --days mon,wed,fri --time-of-day evening", "Trackers.Put",
        #"{"tracker":{"counting":{"weekdays":["mon","wed","fri"]},"id":"reading","kind":"check","timeOfDay":"evening","#
          + #""title":{"en":"Reading"}}}"#, ["reading  Reading\n", "Mon, Wed, Fri"]
      ),
      (
        "tracker add pages --unit pages --goal 20 --per week --presets 5,10 --usual 10 --dry-run", "Trackers.Put",
        #"{"dryRun":true,"tracker":{"goal":{"period":"week","total":20},"id":"pages","kind":"amount","presets":[5,10],"#
          + #""title":{"en":"Pages"},"unit":"pages","usual":10}}"#, ["20 pages a week"]
      ),
      (
        "tracker add juice --unit ml --goal 3l --presets 250,0.5l --usual 0.25L", "Trackers.Put",
        #"{"tracker":{"goal":{"total":3000},"id":"juice","kind":"amount","presets":[250,500],"#
          + #""title":{"en":"Juice"},"unit":"ml","usual":250}}"#, ["3000 ml a day"]
      ),
      (
        "tracker add caffeine --unit mg --limit 0.3g --usual 80", "Trackers.Put",
        #"{"tracker":{"goal":{"atMost":true,"total":300},"id":"caffeine","kind":"amount","title":{"en":"Caffeine"},"#
          + #""unit":"mg","usual":80}}"#, ["at most 300 mg a day"]
      ),
      (
        "tracker edit water --goal 3l --usual 3", "Trackers.Put",
        #"{"tracker":{"goal":{"period":"day","total":3000},"id":"water","usual":3}}"#, ["3000 ml a day"]
      ),
      ("entry edit 42 0.5 L", "Trackers.EditEntry", #"{"amount":0.5,"id":42,"unit":"l"}"#, ["✔ Water"]),
      (
        "tracker add \"Evening walk\" --times 3/week --day-starts 4 --skips 2", "Trackers.Put",
        #"{"tracker":{"counting":{"per":"week","times":3},"dayStartsAt":"04:00","id":"evening-walk","kind":"check","#
          + #""skipsEachMonth":2,"title":{"en":"Evening walk"}}}"#, ["3 days a week"]
      ),
      (
        "tracker add Mass --kind measure --unit kg --goal 80.5kg --milestones 2 --fields fat=%,waist=cm --since 2026-01-01",
        "Trackers.Put",
        #"{"tracker":{"decimals":1,"fields":{"fat":"%","waist":"cm"},"goal":{"value":80.5},"id":"mass","kind":"measure","#
          + #""milestoneStep":2,"startedOn":"2026-01-01","title":{"en":"Mass"},"unit":"kg"}}"#,
        ["80.5 kg", "every 2.0 kg"]
      ),
      (
        "tracker add Push-ups --times \"5 in 10\" --items --icon go", "Trackers.Put",
        #"{"tracker":{"counting":{"days":10,"per":"days","times":5},"hasItems":true,"icon":"go","id":"push-ups","#
          + #""kind":"check","title":{"en":"Push-ups"}}}"#, ["5 days in any 10"]
      ),
      (
        "tracker edit water --goal 3000 --usual \"\"", "Trackers.Put",
        #"{"tracker":{"goal":{"period":"day","total":3000},"id":"water","reset":["usual"]}}"#, ["3000 ml a day"]
      ),
      ("tracker edit water --goal \"\"", "Trackers.Put", #"{"tracker":{"id":"water","reset":["goal"]}}"#, []),
      (
        "tracker pause water --from 2026-07-04 --to 2026-07-18", "Trackers.Put",
        #"{"tracker":{"id":"water","pauses":[{"from":"2025-08-04","to":"2025-08-17"},{"from":"2026-07-04","to":"2026-07-18"}]}}"#,
        ["2026-07-04 – 2026-07-18"]
      ),
      ("tracker skip water", "Trackers.Put", #"{"tracker":{"id":"water","skips":["2026-03-27"]}}"#, []),
      ("tracker skip water --day yesterday", "Trackers.Put", #"{"tracker":{"id":"water","skips":["2026-03-26"]}}"#, []),
      ("tracker list", "Trackers.List", #"{}"#, ["ID ", "adkhar-morning  Morning adhkar"]),
      ("tracker show goal", "Trackers.List", #"{}"#, ["Mon, Tue, Thu, Fri, Sat"]),
      ("tracker remove water --yes", "Trackers.Remove", #"{"id":"water"}"#, ["`chime undo` restores it"]),
      (
        "item add watches \"Omega Speedmaster\" --brand Omega --set strap=nato --since 2024-05-01", "Trackers.PutItem",
        #"{"attributes":{"brand":"Omega","strap":"nato"},"since":"2024-05-01","title":"Omega Speedmaster","tracker":"watches"}"#,
        ["omega-speedmaster  Omega Speedmaster", "brand: Omega"]
      ),
      (
        "item edit watches tank --set strap=steel --note \"\"", "Trackers.PutItem",
        #"{"attributes":{"brand":"Cartier","strap":"steel"},"id":"tank","note":"","tracker":"watches"}"#, []
      ),
      ("item list watches", "Trackers.Items", #"{"tracker":"watches"}"#, ["Submariner", "2026-03-25"]),
      ("item remove watches tank", "Trackers.RemoveItem", #"{"id":"tank","tracker":"watches"}"#, []),
      (
        "milestone add goal First draft --day yesterday --note Hooray", "Trackers.PutMilestone",
        #"{"day":"2026-03-26","note":"Hooray","title":"First draft","tracker":"goal"}"#,
        ["★ First draft  Thu 2026-03-26  #7"]
      ),
      ("milestone edit 90 --title Debut", "Trackers.PutMilestone", #"{"id":90,"title":"Debut","tracker":"goal"}"#, []),
      ("milestone list goal", "Trackers.Milestones", #"{"tracker":"goal"}"#, ["2026-01-17", "First concert"]),
      ("milestone remove 3", "Trackers.RemoveMilestone", #"{"id":3}"#, []),
      (
        "entry list weight --range 2026-03 --days weekends --notes --text bad -n 3", "Trackers.Entries",
        #"{"limit":3,"range":{"from":"2026-03-01","to":"2026-03-31"},"text":"bad","tracker":"weight","#
          + #""weekdays":["sat","sun"],"withNotes":true}"#, []
      ),
      ("entry list weight -n 3", "Trackers.Entries", #"{"limit":3,"tracker":"weight"}"#, ["79.2 kg"]),
      ("entry edit 42 330ml", "Trackers.EditEntry", #"{"amount":330,"id":42,"unit":"ml"}"#, ["✔ Water"]),
      (
        "entry edit #42 --at \"20m ago\" --note \"\"", "Trackers.EditEntry",
        #"{"at":"2026-03-27T09:06:40+01:00","id":42,"note":""}"#, []
      ),
      ("entry remove 42", "Trackers.RemoveEntry", #"{"id":42}"#, ["1 entry removed"]),
      (
        "entry remove --all water --range 2025 --yes", "Trackers.RemoveEntry",
        #"{"range":{"from":"2025-01-01","to":"2025-12-31"},"tracker":"water"}"#, ["412 entries removed"]
      ),
      ("pack list", "Trackers.Packs", #"{}"#, ["hydration  not installed  Drink enough water"]),
      ("pack show weight", "Trackers.Packs", #"{}"#, ["weigh   Step on the scales: daily at 07:00, optional"]),
      (
        "pack add hydration --goal 2000 --usual water=200 --no-reminder drink --dry-run", "Trackers.InstallPack",
        #"{"choices":{"goals":{"water":2000},"language":"en","reminders":{"drink":false},"usual":{"water":200}},"#
          + #""dryRun":true,"name":"hydration"}"#, ["Hydration would be installed"]
      ),
      (
        "pack add hydration --when \"drink=every 2h from 9:00 to 21:00\" --goal 2.5l", "Trackers.InstallPack",
        #"{"choices":{"goals":{"water":2500},"language":"en","reminders":{"drink":true},"#
          + #""when":{"drink":"every 2h from 9:00 to 21:00"}},"name":"hydration"}"#,
        ["✔ Hydration is installed", "10 achievements to unlock"]
      ),
      (
        "init --pack weight,goal --unit lb --goal weight=170 --milestones 5 --title \"goal=Learn Czech\" --days goal=mon-fri "
          + "--reminders yes --reminder weigh", "Trackers.InstallPack",
        #"{"choices":{"language":"en","reminders":{"goal":true},"titles":{"goal":"Learn Czech"},"#
          + #""weekdays":{"goal":"mon,tue,wed,thu,fri"}},"name":"goal"}"#,
        ["✔ Weight is installed", "✔ Goal is installed", "Now type:", "chime log goal"]
      ),
      ("undo", "Trackers.Undo", #"{"change":12}"#, ["Undone: logged: 250 ml of water", "17 min ago"]),
      ("undo --dry-run", "Trackers.Undo", #"{"dryRun":true}"#, ["Would undo"]),
      ("undo --list -n 5", "Trackers.Changes", #"{"limit":5}"#, ["WHEN", "250 ml of water"]),
    ] as [(String, String, String, [String])])
  func verbsCallAndPrint(_ line: String, _ method: String, _ parameters: String, _ parts: [String]) throws {
    let daemon = try FakeTrackerDaemon().daemon()
    let outcome = chime(words(line), daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(daemon.methods.last == method)
    #expect(daemon.calls.last?.parameters.description == parameters)
    for part in parts { #expect(outcome.output.contains(part), "\(part) in \(outcome.output)") }
    #expect(outcome.lines.allSatisfy { !$0.hasSuffix(" ") }, "\(outcome.output)")
  }

  @Test(
    arguments: [
      ("log", .usage, "which tracker?", "there are: water, weight"),
      ("log watr", .failed, "there is no tracker \"watr\"", "did you mean water?"),
      ("log adkhar", .failed, "\"adkhar\" matches more than one tracker", "choose one by its id"),
      ("log weight", .usage, "how much? weight has no usual amount", "chime log weight 76kg"),
      ("log water lots", .usage, "\"lots\" is not an amount", "chime log water 250ml"),
      ("log water 250ml now", .usage, "\"now\" after the amount is too much", nil),
      ("log water 1,750", .usage, "\"1,750\" is ambiguous", nil),
      ("log goal 3", .usage, "goal is a check: it takes no \"3\"", "--note \"3\""),
      ("log watches", .usage, "which one?", "chime log watches"),
      ("log watches Spedmaster", .failed, "watches has no item \"Spedmaster\"", "did you mean Speedmaster?"),
      ("log watches s", .failed, "\"s\" matches more than one item", nil),
      ("log water --field fat=3", .usage, "this tracker has no further measures, and so no \"fat\"", nil),
      ("log weight 80 --field fet=3", .usage, "this tracker has no measure \"fet\"", "there are: fat"),
      ("log weight 80 --field fat", .usage, "--field needs NAME=VALUE, not \"fat\"", nil),
      ("log water --at 21:00", .usage, "--at 21:00 is in the future", "--at \"yesterday 21:00\""),
      ("log water --photo /nonexistent.jpg", .failed, "cannot read /nonexistent.jpg: No such file or directory", nil),
      ("log water --photo /dev/null", .failed, "/dev/null is empty", nil),
      ("today tomorow", .usage, "\"tomorow\" is not a day", nil),
      ("stats --range 1M", .usage, "--range needs one tracker: chime stats TRACKER", nil),
      ("achievements --locked --unlocked", .usage, "--unlocked and --locked cannot be used together", nil),
      ("tracker", .usage, "chime tracker needs one of its subcommands", "chime tracker add"),
      ("tracker add", .usage, "a title is missing", "chime tracker add reading"),
      ("tracker add water", .failed, "there is a tracker \"water\" already", "`chime tracker edit water` changes it"),
      ("tracker add 日本語", .usage, "cannot make an id from \"日本語\"", "--id reading"),
      ("tracker add x --goal 2.5", .usage, "the goal of a check is a number of times", "--unit makes it an amount"),
      ("tracker add x --unit ml --goal 2kg", .usage, "--goal is in ml, not in kg", nil),
      ("tracker add x --limit 2 --goal 2", .usage, "--goal and --limit cannot be used together", nil),
      ("tracker add x --limit 2 --per week", .usage, "--limit is for a day", nil),
      ("tracker add x --limit 2.5", .usage, "the limit of a check is a number of times", "--unit makes it an amount"),
      ("tracker add x --kind measure --unit kg --limit 2", .usage, "a measure has no limit", "--goal is the value"),
      ("tracker add x --goal 2l", .usage, "--goal is in l, and the tracker has no unit", "--unit l"),
      ("tracker add x --days mon --times 3/week", .usage, "--days and --times cannot be used together", nil),
      ("tracker add x --times often", .usage, "--times needs 3/week", nil),
      ("tracker add x --day-starts noon", .usage, "--day-starts needs a time of day such as 4:00, not \"noon\"", nil),
      ("tracker add x --days mnday", .usage, "--days needs days of the week", "did you mean monday?"),
      ("tracker edit water", .usage, "what should change? Give an option", nil),
      ("tracker edit goal --per week --title \"\"", .usage, "a title cannot be empty", nil),
      ("tracker resume water", .failed, "water is not paused today", nil),
      ("tracker pause water --from 2026-07-04 --to 2026-07-01", .usage, "the pause ends before it begins", nil),
      ("tracker skip water --back", .failed, "water was not skipped on 2026-03-27", nil),
      ("item add water Glass", .failed, "water is not a collection", "`chime tracker edit water --items` makes it one"),
      ("item edit watches tank", .usage, "what should change? Give an option", nil),
      ("milestone edit 4711 --title x", .failed, "there is no milestone 4711", "`chime milestone list` shows them"),
      ("milestone remove first", .usage, "\"first\" is not a number", nil),
      ("entry edit", .usage, "a number is missing", "`chime entry list` shows them"),
      ("entry edit 42", .usage, "what should change? Give an option", nil),
      ("entry edit 42 much", .usage, "\"much\" is not an amount", nil),
      ("entry remove --all water", .usage, "without a terminal, removing all needs --yes", nil),
      ("entry remove 4 --range 1W", .usage, "--range needs --all TRACKER", nil),
      ("entry import", .usage, "a file is missing", nil),
      ("pack add hydraton --goal 3", .failed, "there is no pack \"hydraton\"", "did you mean hydration?"),
      ("pack add hydration --goal tea=3", .usage, "--goal tea=3: no tracker of the pack takes it", "there are: water"),
      (
        "pack add hydration --no-reminder tea", .usage, "--no-reminder tea: the pack has no such reminder",
        "there are: drink"
      ),
      ("pack add hydration --goal 2kg", .usage, "--goal is in ml, not in kg", nil),
      ("pack remove weight", .failed, "the pack \"weight\" is not installed", nil),
      ("init", .usage, "without a terminal, --pack has to name the pack to install", "chime init --pack hydration"),
      ("init --pack hydration --goal 1 --usual tea=1", .usage, "--usual tea=1: no tracker of the pack takes it", nil),
      ("restore x", .usage, "a restore replaces everything; without a terminal it needs --yes", nil),
      ("restore /nonexistent --yes", .failed, "cannot read /nonexistent", nil),
      ("undo --limit 3", .usage, "--limit needs --list", nil),
    ] as [(String, ExitCode, String, String?)])
  func invalidLinesAreRefused(_ line: String, _ status: ExitCode, _ message: String, _ hint: String?) throws {
    let daemon = try FakeTrackerDaemon().daemon()
    let outcome = chime(words(line), daemon: daemon)
    #expect(outcome.status == status)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("chime: \(message)"), "\(outcome.errors)")
    if let hint { #expect(outcome.errors.contains(hint), "\(outcome.errors)") }
    let changes = [
      "Log", "Put", "PutItem", "PutMilestone", "EditEntry", "RemoveEntry", "Remove", "InstallPack", "Restore",
    ]
    #expect(!daemon.methods.contains { changes.map { "Trackers.\($0)" }.contains($0) })
  }

  /// Reading verbs say what to do next when there is nothing, and succeed.
  @Test(arguments: [
    ("today", "chime init"), ("week", "chime init"), ("stats", "chime init"), ("tracker list", "chime tracker add"),
    ("achievements", "chime pack list"), ("item list", "chime item add"), ("milestone list", "chime milestone add"),
    ("entry list", "chime init"), ("pack list", "chime pack add FILE.toml"),
  ])
  func emptyStatesSayWhatToDo(_ line: String, _ hint: String) throws {
    let daemon = try FakeTrackerDaemon(reading: FakeTrackers(year: .empty), packs: []).daemon()
    let outcome = chime(words(line), daemon: daemon)
    #expect(outcome.status == .success)
    #expect(outcome.output.isEmpty && outcome.errors.contains(hint), "\(outcome.errors)")
    let json = try JSON(parsing: chime(words(line) + ["--json"], daemon: daemon).output)
    #expect(json.description.contains("[]"))
  }

  @Test func reachedGoalIsCelebrated() throws {
    let daemon = try FakeTrackerDaemon(change: FakeTrackerDaemon.change(goalMet: true)).daemon()
    let outcome = chime(["log", "water"], daemon: daemon, width: 80)
    #expect(
      outcome.output == """
        ✔ Water: 250 ml  #4711
          ★ Goal reached: 2500 ml a day!
          ★ Unlocked: Daily Champion
            Reach your daily goal for the first time
          ★ Level 4 in hydration!
          ━━━━━━━━━━━━━━━━━━━━  2500 of 2500 ml, 100 %
          4 days in a row: your longest streak

        """)
    #expect(chime(["log", "water", "--quiet"], daemon: daemon).output.isEmpty)
    let plain = chime(["log", "water", "--plain"], daemon: daemon)
    #expect(plain.lines[1] == "4711\twater\t2026-03-27\t250\tml\t\t2500\t0\t100\ttrue\t4\tgoal_reached\t\t4")
  }

  @Test(
    arguments: [
      ("log water", "change", ["entry", "progress", "goalMet", "unlocked", "milestones", "levelUp"]),
      ("today", "day", ["day", "mood", "quote", "progress", "nextAchievement", "levels", "week"]),
      ("week", "week", ["from", "trackers", "summaries"]),
      ("tracker show water", "tracker", ["id", "title", "goal", "counting", "pauses", "startedOn"]),
      ("stats water", "statistics", ["tracker", "range", "entries", "averages", "prediction", "streak"]),
      ("pack show hydration", "pack", ["id", "installedAt", "reminders", "choices", "milestoneSteps"]),
      ("item add watches X", "item", ["id", "attributes", "since"]),
      ("milestone add goal X", "milestone", ["id", "day", "value"]),
      ("undo", "undone", ["id", "at", "kind", "subject"]),
      ("entry remove 4", "removed", []),
    ] as [(String, String, [String])])
  func jsonOutputHasItsFields(_ line: String, _ member: String, _ fields: [String]) throws {
    let json = try JSON(parsing: chime(words(line) + ["--json"], daemon: FakeTrackerDaemon().daemon()).output)
    let value = try #require(json[member])
    for field in fields { #expect(value[field] != nil, "\(field) in \(line)") }
  }

  @Test func packTextsAreInTheUsersLanguage() throws {
    let daemon = try FakeTrackerDaemon().daemon()
    let czech = chime(["achievements", "hydration"], daemon: daemon, environment: ["LANG": "cs_CZ.UTF-8"])
    #expect(czech.output.contains("Ranní ptáče") && !czech.output.contains("Early Bird"))
    let json = chime(["achievements", "hydration", "--json"], daemon: daemon, environment: ["LANG": "cs_CZ.UTF-8"])
    #expect(json.output.contains("\"title\":\"Ranní ptáče\""))
  }

  /// A value that the daemon suspects to be a typo is asked about where somebody can answer, and accepted with --force.
  @Test func unlikelyValueIsAskedAbout() throws {
    let fake = FakeTrackerDaemon()
    let daemon = try FakeDaemon { method, parameters in
      guard method == TrackersInterface.Log.method, parameters["force"] != .bool(true) else {
        return fake.answer(method, parameters)
      }
      return .error(
        "Unlikely",
        TrackersInterface.Unlikely(field: "amount", message: "28.4 kg is far from the 82.4 kg of 2026-06-01"))
    }
    let script = chime(["log", "weight", "28.4"], daemon: daemon)
    #expect(script.status == .failed && script.errors.contains("28.4 kg is far from the 82.4 kg of 2026-06-01"))
    #expect(script.errors.contains("--force") && script.output.isEmpty)
    let no = chime(["log", "weight", "28.4"], daemon: daemon, isTerminal: true, input: "n\n", isInputTerminal: true)
    #expect(no.status == .failed && no.errors.contains("Record it anyway? [y/N]"), "\(no.errors)")
    let yes = chime(["log", "weight", "28.4"], daemon: daemon, isTerminal: true, input: "y\n", isInputTerminal: true)
    #expect(yes.status == .success, "\(yes.errors)")
    #expect(chime(["log", "weight", "28.4", "--force"], daemon: daemon).status == .success)
    let forced = daemon.calls.filter { $0.method == TrackersInterface.Log.method }.map { $0.parameters["force"] != nil }
    #expect(forced == [false, false, false, true, true])
  }

  /// *Done* for a collection asks which item it was where somebody can answer; otherwise it lists the items.
  @Test func doneAsksForTheItem() throws {
    let fake = FakeTrackerDaemon()
    let daemon = try FakeDaemon { method, parameters in
      guard method == OccurrencesInterface.Done.method else { return fake.answer(method, parameters) }
      guard parameters["item"] != nil else {
        return .error(
          "InvalidValue",
          Wire.InvalidValue(field: "item", message: "choose one of watches: speedmaster, f-91w, black-bay"))
      }
      return .reply(OccurrencesInterface.Done.Reply(occurrence: Samples.occurrence(.done)))
    }
    let script = chime(["done"], daemon: daemon)
    #expect(script.status == .usage && script.errors.contains("which one?") && script.errors.contains("  f-91w"))
    #expect(script.errors.contains("chime done --item speedmaster"), "\(script.errors)")
    let asked = chime(["done"], daemon: daemon, isTerminal: true, input: "Black\n", isInputTerminal: true)
    #expect(asked.status == .success && asked.errors.contains("speedmaster, f-91w, black-bay"), "\(asked.errors)")
    #expect(chime(["done", "--item", "f-91w"], daemon: daemon).status == .success)
    #expect(chime(["done", "--item", "rolex"], daemon: daemon).errors.contains("there is no item \"rolex\""))
    #expect(chime(["done"], daemon: daemon, isTerminal: true, input: "\n", isInputTerminal: true).status == .usage)
    let items = daemon.calls.filter { $0.method == OccurrencesInterface.Done.method }.map { $0.parameters["item"] }
    #expect(items == [nil, nil, "black-bay", "f-91w", nil])
  }

  /// *Done* has no measured value: the command asks for it or says how to log it, unless one was logged already.
  @Test func doneAsksForTheMeasuredValue() throws {
    func daemon(logged: Bool) throws -> FakeDaemon {
      var fake = FakeTrackerDaemon()
      if !logged { fake.reading.year = .fresh }
      return try FakeDaemon { [fake] method, parameters in
        switch method {
        case OccurrencesInterface.Done.method:
          return .reply(OccurrencesInterface.Done.Reply(occurrence: Samples.occurrence(.done)))
        case RemindersInterface.Get.method:
          var reminder = Samples.reminder()
          reminder.tracker = RemindersInterface.TrackerLink(tracker: "weight", logs: true)
          return .reply(RemindersInterface.Get.Reply(reminder: reminder))
        default: return fake.answer(method, parameters)
        }
      }
    }
    func logged(_ daemon: FakeDaemon) -> [JSON?] {
      daemon.calls.filter { $0.method == TrackersInterface.Log.method }.map { $0.parameters["amount"] }
    }
    let fresh = try daemon(logged: false)
    let script = chime(["done"], daemon: fresh)
    #expect(script.status == .success && script.errors.contains("`chime log weight 76kg`"), "\(script.errors)")
    let asked = chime(["done"], daemon: fresh, isTerminal: true, input: "82.4 kg\n", isInputTerminal: true)
    #expect(asked.status == .success && asked.errors.contains("how much? (76kg)"), "\(asked.errors)")
    #expect(logged(fresh) == [82.4])
    let passed = chime(["done"], daemon: fresh, isTerminal: true, input: "\n", isInputTerminal: true)
    #expect(passed.status == .success && passed.errors.contains("`chime log weight 76kg`"))
    let wrong = chime(["done"], daemon: fresh, isTerminal: true, input: "much\n", isInputTerminal: true)
    #expect(wrong.status == .usage && wrong.errors.contains("\"much\" is not an amount"), "\(wrong.errors)")
    #expect(logged(fresh).count == 1 && chime(["done", "--json"], daemon: fresh).errors.isEmpty)
    let full = try daemon(logged: true)
    #expect(chime(["done"], daemon: full).errors.isEmpty && logged(full).isEmpty)
  }

  /// A declined reminder is not reported as set.
  @Test func declinedReminderIsNotReported() throws {
    var fake = FakeTrackerDaemon()
    let index = try #require(fake.packs.firstIndex { $0.id == "hydration" })
    let when = fake.packs[index].reminders[0].when
    fake.packs[index].installedAt = Samples.time(1_774_600_000)
    for reminder in fake.packs[index].reminders.indices { fake.packs[index].reminders[reminder].id = nil }
    let daemon = try fake.daemon()
    let shown = chime(["pack", "show", "hydration"], daemon: daemon, isTerminal: true).output
    #expect(shown.contains("not set"), "\(shown)")
    let keys = fake.packs[index].reminders.flatMap { ["--no-reminder", $0.key] }
    let added = chime(["pack", "add", "hydration"] + keys, daemon: daemon, isTerminal: true).output
    #expect(!added.contains(when) && added.contains("none"), "\(added)")
  }

  /// The strip has the sign of the row: a day begun is neither done nor missed.
  @Test(arguments: [(0, 0, "○"), (0, 1, "◐"), (1, 0, "◐"), (2, 0, "●")])
  func weekStripAndRowHaveTheSameSign(_ met: Int, _ started: Int, _ sign: String) {
    let strip = WeekStrip(style: Style(when: "never", isTerminal: false, environment: [:]))
    let mark = TrackersInterface.DaySummary(day: "2026-03-27", met: met, due: 2, started: started)
    #expect(strip.mark(WeekStrip.mark(mark)) == sign)
  }

  @Test(arguments: ["today", "achievements adkhar", "stats", "stats morning"])
  func usersStreakIsShown(_ line: String) throws {
    let outcome = chime(words(line), daemon: try FakeTrackers().daemon(), isTerminal: true)
    #expect(outcome.output.contains("12 days in a row with at least one"), "\(outcome.output)")
  }
}
