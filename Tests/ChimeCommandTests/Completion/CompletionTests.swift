import ChimeControl
import ChimeSchedule
import Testing

@testable import ChimeCommand

@Suite struct CompletionTests {
  private func complete(_ line: String, _ current: String, daemon: FakeDaemon? = nil) -> [String] {
    let outcome = chime(["complete", "fish", "--"] + words(line) + [current], daemon: daemon)
    #expect(outcome.status == .success)
    #expect(outcome.errors.isEmpty)
    return outcome.lines.filter { !$0.isEmpty }
  }

  private func values(_ line: String, _ current: String) -> [String] {
    complete(line, current).map { String($0.prefix { $0 != "\t" }) }.filter { !$0.isEmpty }
  }

  /// Every placeholder in the table of verbs has a kind of completion.
  @Test func everyPlaceholderHasAKindOfCompletion() {
    let table = CommandTable.standard
    for option in table.allOptions where option.value != nil {
      #expect(ArgumentKind.value(of: option) != nil, "--\(option.name) \(option.value ?? "")")
    }
    for verb in table.verbs {
      for path in verb.subverbs.isEmpty ? [[verb]] : verb.subverbs.map({ [verb, $0] }) {
        for verb in path.suffix(1) {
          for place in verb.usages.flatMap({ ArgumentKind.Usage($0, of: verb).places }) {
            #expect(ArgumentKind.word(place.name, of: path) != nil, "chime \(path.map(\.name)): \(place.name)")
          }
        }
      }
    }
  }

  @Test func completesVerbsAndSubverbs() {
    #expect(complete("", "sno") == ["snooze\tSnooze a reminder"])
    #expect(values("", "") == CommandTable.standard.verbs.map(\.name))
    #expect(values("endpoint", "te") == ["test", "templates"])
    #expect(values("--json", "lis") == ["list"])
    #expect(values("nonsense", "").isEmpty)
    #expect(values("--", "lis") == ["list"])
    #expect(values("help", "sno") == ["snooze"])
    #expect(values("help endpoint", "te") == ["test", "templates"])
    #expect(values("help list", "").isEmpty)
    #expect(values("completion", "") == ["bash", "zsh", "fish"])
  }

  @Test func completesOptionsThatMayStillBeGiven() {
    #expect(values("list", "--ta") == ["--tag"])
    #expect(values("list --tag x", "--ta").isEmpty, "it is given once")
    #expect(values("add --tag x", "--ta") == ["--tag"], "it may be given again")
    #expect(values("list --json", "--p").isEmpty)
    #expect(values("list --", "--t").isEmpty, "after -- there are no options")
    #expect(values("", "--vers") == ["--version"])
    #expect(Set(values("list", "-")) == Set(CommandTable.standard.accepted(by: List.verb).map { "--\($0.name)" }))
  }

  @Test func completesValuesOfOptions() {
    #expect(values("--color", "") == ["auto", "always", "never"])
    #expect(values("", "--color=al") == ["--color=always"])
    #expect(values("list --state", "") == ["active", "paused", "waiting", "finished"])
    #expect(values("list --tag x --state", "p") == ["paused"])
    #expect(values("list -n", "") == ["all"])
    #expect(values("add x --urgency", "l") == ["low"])
    #expect(complete("restore", "") == ["\tfiles"])
    #expect(complete("endpoint add x y --secret-file", "") == ["\tfiles"])
    #expect(values("add x --snooze", "10m,1") == ["10m,15m", "10m,1h", "10m,1d"])
    #expect(values("add x --snooze", "10m,").first == "10m,5m", "what was given already is not offered again")
    #expect(values("add x --to", "des") == ["desktop"], "without a daemon too")
    #expect(values("month --month", "").prefix(2) == ["2026-03", "2026-02"])
  }

  @Test func completesZonesRegionByRegion() {
    #expect(values("when --tz", "").prefix(3) == ["local", "UTC", "Africa/"])
    #expect(complete("when --tz", "Eur") == ["Europe/\t", "\tgoes on"])
    #expect(values("when --tz", "Europe/Pra") == ["Europe/Prague"])
    #expect(values("when --tz", "europe/pra") == [], "a folder has one name only")
    #expect(values("when --tz", "America/Arg") == ["America/Argentina/"])
    #expect(values("when --tz", "America/Argentina/Us") == ["America/Argentina/Ushuaia"])
    #expect(values("when --tz", "../").isEmpty)
  }

  @Test func completesWordsOfASchedule() {
    #expect(values("when", "ever") == ["every"])
    #expect(values("add x", "ever") == ["every"])
    #expect(values("add", "ever").isEmpty, "this is the title")
    #expect(values("add x every", "").contains("90m"))
    #expect(values("add x every", "").contains("day"))
    #expect(!values("add x every", "").contains("days"))
    #expect(values("add x every 3", "").contains("days"))
    #expect(!values("add x every 3", "").contains("day"))
    #expect(!values("add x every", "").contains("at"))
    #expect(values("add x every day", "a") == ["at", "after"])
    #expect(values("add x every 90m from 8:00", "") == ["to"])
    #expect(values("add x every 90m from 8:00 to 22:00", "o") == ["on"])
    #expect(values("add x first mon", "") == ["of"])
    #expect(values("when mon,wed", "a") == ["at", "and"])
    #expect(values("when", "mon,we") == ["mon,weekdays", "mon,weekends", "mon,weekly", "mon,wed"])
    #expect(values("when", "every 90m fr") == ["every 90m from", "every 90m fri"])
    #expect(values("edit r7k2 --when", "week") == ["weekdays", "weekends", "weekly"])
    #expect(values("in 5m Tea", "ever").isEmpty)
    #expect(values("in", "1") == ["10m", "15m", "1h", "1d"])
  }

  /// Every sequence of offered words is a schedule or the start of one.
  @Test func offeredWordsLeadToSchedules() {
    var ended = 0
    for first in ScheduleCompletion.words(after: "", beginningWith: "", now: Samples.now) {
      for second in ScheduleCompletion.words(after: first.value + " ", beginningWith: "", now: Samples.now) {
        let text = "\(first.value) \(second.value)"
        #expect(ScheduleCompletion.fits(text, now: Samples.now), "\(text)")
        if (try? Schedule.parse(text, now: Samples.now, zone: .utc)) != nil { ended += 1 }
      }
    }
    #expect(ended > 20)
  }

  @Test func completesRemindersByIDAndTitle() throws {
    let daemon = try FakeDaemon { method, parameters in
      switch method {
      case RemindersInterface.List.method:
        let text = "\(parameters)"
        let all = [Samples.reminder("r7k2", "Drink water"), Samples.reminder("d3mo", "Demo")]
        return .reply(
          RemindersInterface.List.Reply(reminders: text.contains("Drink") ? [all[0]] : all, cursor: nil, warnings: nil))
      default: return .hangUp
      }
    }
    #expect(complete("show", "", daemon: daemon) == ["r7k2\tDrink water", "d3mo\tDemo"])
    #expect(complete("show", "r", daemon: daemon) == ["r7k2\tDrink water"])
    #expect(complete("show", "Drink", daemon: daemon) == ["Drink water\tr7k2"])
    #expect(complete("show", "dRiNk", daemon: daemon) == ["Drink water\tr7k2"], "in any case of letters")
    #expect(complete("show Drink", "w", daemon: daemon) == ["water\tr7k2"], "without quotes")
    #expect(complete("show Drink", "x", daemon: daemon).isEmpty)
    #expect(complete("deliveries --to x", "r", daemon: daemon) == ["r7k2\tDrink water"])
    #expect(complete("redeliver --of", "r", daemon: daemon) == ["r7k2\tDrink water"])
  }

  /// A daemon that hangs up or is missing causes no message.
  @Test func completionIsSilentWithoutADaemon() throws {
    let mute = try FakeDaemon { _, _ in .hangUp }
    for line in ["done", "show", "log", "pack add", "endpoint test", "command test", "entry edit", "redeliver"] {
      #expect(complete(line, "").filter { $0 != "\tfiles" }.isEmpty)
      #expect(complete(line, "", daemon: mute).filter { $0 != "\tfiles" }.isEmpty)
    }
    #expect(chime(["complete"]).output.isEmpty)
    #expect(chime(["complete", "tcsh", "x"]).output.isEmpty)
    #expect(chime(["complete", "bash"]).status == .success)
  }

  /// Cutting a line and inserting a word as readline does.
  @Test(
    arguments: [
      ("chime show Dr", ["chime", "show", "Dr"], "Drink water", "Drink\\ water"),
      ("chime show \"Dr", ["chime", "show", "Dr"], "Drink $5", "Drink \\$5"),
      ("chime show 'Ann", ["chime", "show", "Ann"], "Ann's tea", "Ann'\\''s tea"),
      ("chime show Ann\\'s\\ t", ["chime", "show", "Ann's t"], "Ann's tea", "Ann\\'s\\ tea"),
      ("chime show \"a b\" ", ["chime", "show", "a b", ""], "c", "c"),
      ("chime add x --to=te", ["chime", "add", "x", "--to=te"], "--to=team", "team"),
      ("chime at 8:", ["chime", "at", "8:"], "8:00", "00"),
      ("chime show r7k2@1", ["chime", "show", "r7k2@1"], "r7k2@1774852200", "1774852200"),
      ("chime show \"8:", ["chime", "show", "8:"], "8:00 x", "8:00 x"),
      ("chime show Ča", ["chime", "show", "Ča"], "Čaj & chléb", "Čaj\\ \\&\\ chléb"),
      ("chime show \"a\"b", ["chime", "show", "ab"], "abc", "bc"),
    ] as [(String, [String], String, String)])
  func splitsLinesAsBashDoes(_ line: String, _ words: [String], _ value: String, _ text: String) {
    let cut = BashLine(line, breaks: " \t\n\"'@><=;|&(:")
    #expect(cut.words.map(\.value) == words)
    #expect(cut.text(for: value) == text)
  }

  @Test func bashShowsADescriptionOfEachCandidate() {
    func ask(_ line: String, type: String = "9") -> [String] {
      chime(["complete", "bash", type, "60", " \t\n\"'@><=;|&(:", line]).lines.filter { !$0.isEmpty }
    }
    #expect(
      ask("chime sn") == ["snooze    (Snooze a reminder)", "snapshot  (Take a snapshot of the store now)"])
    #expect(ask("chime sno") == ["snooze"], "what is put in has no note")
    #expect(ask("chime sn", type: "37") == ["snooze", "snapshot"], "menu-complete puts each of them in")
    #expect(ask("chime sn", type: "9").allSatisfy { TextWidth.of($0) < 60 })
    #expect(ask("chime").isEmpty)
  }

  @Test func eachShellHasACompletionScript() {
    for shell in ["bash", "zsh", "fish"] {
      let outcome = chime(["completion", shell])
      #expect(outcome.status == .success)
      #expect(outcome.output.contains("complete \(shell)"))
    }
    #expect(chime(["completion", "tcsh"]).status == .usage)
    #expect(chime(["completion"]).status == .usage)
  }
}
