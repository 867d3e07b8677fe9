import ChimeControl
import Foundation
import Testing
import Varlink

@testable import ChimeCommand

/// `chime init`, answered line by line.
@Suite struct WizardTests {
  private static func run(
    _ answers: String, _ arguments: [String] = [], fake: FakeTrackerDaemon = FakeTrackerDaemon(), width: Int = 80
  ) throws -> (outcome: Outcome, daemon: FakeDaemon) {
    let daemon = try fake.daemon()
    let outcome = chime(
      ["init"] + arguments, daemon: daemon, width: width, isTerminal: true, input: answers, isInputTerminal: true,
      environment: ["NO_COLOR": "1"])
    return (outcome, daemon)
  }

  private static func installed(_ daemon: FakeDaemon) -> [String] {
    daemon.calls.filter { $0.method.hasSuffix("InstallPack") && $0.parameters["dryRun"] == nil }
      .map { $0.parameters.description }
  }

  /// The answers, and the resulting installations.
  @Test(
    arguments: [
      // Return accepts the value in brackets everywhere.
      (
        "\n\n\n\n", [],
        [#"{"choices":{"language":"en","reminders":{"drink":true}},"name":"hydration"}"#]
      ),
      (
        "1\n3000\n200 ml\nno\n", [],
        [
          #"{"choices":{"goals":{"water":3000},"language":"en","reminders":{"drink":false},"usual":{"water":200}},"#
            + #""name":"hydration"}"#
        ]
      ),
      // A custom schedule, after an invalid one.
      (
        "hyd\n2.5l\n\nevery 90n\nevery 2h from 9:00 to 21:00\n", [],
        [
          #"{"choices":{"goals":{"water":2500},"language":"en","reminders":{"drink":true},"#
            + #""when":{"drink":"every 2h from 9:00 to 21:00"}},"name":"hydration"}"#
        ]
      ),
      // Refused values are asked for again.
      (
        "7\nhydraton\nhydration\n9999\n2600\nmuch\n2750\nskip\nskip\n", [],
        [#"{"choices":{"goals":{"water":2750},"language":"en","reminders":{"drink":false}},"name":"hydration"}"#]
      ),
      (
        "weight\nlb\n\n170\n10\nyes\n", [],
        [
          #"{"choices":{"goals":{"weight":170},"language":"en","milestoneSteps":{"weight":10},"reminders":{"weigh":true},"#
            + #""units":{"weight":"lb"}},"name":"weight"}"#
        ]
      ),
      (
        "3\nLearn Czech\nmon-fri\nyes\n", [],
        [
          #"{"choices":{"language":"en","reminders":{"goal":true},"titles":{"goal":"Learn Czech"},"#
            + #""weekdays":{"goal":"mon,tue,wed,thu,fri"}},"name":"goal"}"#
        ]
      ),
      // Values given as options are not asked for.
      (
        "\n", ["--pack", "hydration", "--goal", "2000", "--reminders", "no"],
        [#"{"choices":{"goals":{"water":2000},"language":"en","reminders":{"drink":false}},"name":"hydration"}"#]
      ),
      (
        "", ["--pack", "hydration", "--yes"], [#"{"choices":{"language":"en"},"name":"hydration"}"#]
      ),
      // Nothing is chosen.
      ("skip\n", [], []), ("-\n", [], []),
    ] as [(String, [String], [String])])
  func wizardInstallsTheAnswers(_ answers: String, _ arguments: [String], _ expected: [String]) throws {
    let (outcome, daemon) = try Self.run(answers, arguments)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(Self.installed(daemon) == expected)
    if expected.isEmpty {
      #expect(outcome.errors.contains("Nothing was installed."))
    } else {
      #expect(outcome.output.contains("Now type:") && outcome.output.contains("chime today"))
    }
  }

  /// Wherever the answers end, nothing is half done.
  @Test func endOfInputBeforeTheLastAnswerChangesNothing() throws {
    let answers = ["1,2,3", "3000", "lb", "180", "170", "Czech", "daily", "200", "5", "no", "yes", "yes"]
    for count in 0..<answers.count {
      let (outcome, daemon) = try Self.run(answers[..<count].map { $0 + "\n" }.joined())
      #expect(outcome.status == .failed)
      #expect(outcome.errors.contains("nothing was changed"), "\(count): \(outcome.errors)")
      #expect(!daemon.methods.contains("Trackers.InstallPack"))
    }
    let (outcome, daemon) = try Self.run(answers.map { $0 + "\n" }.joined())
    #expect(outcome.status == .success && Self.installed(daemon).count == 3, "\(outcome.errors)")
  }

  @Test func wizardNumbersItsSteps() throws {
    let (outcome, _) = try Self.run("\n\n\n\n")
    for step in [
      "1 of 4  What would you like", "2 of 4  How much", "3 of 4  In what portions", "4 of 4  Shall I remind",
    ] {
      #expect(outcome.errors.contains(step))
    }
    #expect(
      outcome.errors.contains("[2500 ml]") && outcome.errors.contains("[250 ml]") && outcome.errors.contains("[yes]"))
  }

  @Test(arguments: [40, 80])
  func wizardFitsEveryWidth(_ width: Int) throws {
    let (outcome, _) = try Self.run("1,2,3\n" + String(repeating: "\n", count: 13), width: width)
    #expect(outcome.status == .success)
    // Put a prompt and what follows on separate lines, because no terminal echoes the answers.
    for line in outcome.errors.replacing("]: ", with: "]\n").split(separator: "\n") {
      #expect(TextWidth.of(line) <= width, "\(line)")
    }
    for line in outcome.lines { #expect(TextWidth.of(line) <= width, "\(line)") }
  }

  /// Running it again shows the current settings, and Return keeps them.
  @Test func wizardShowsCurrentSettingsWhenRunAgain() throws {
    var fake = FakeTrackerDaemon()
    fake.packs[0].installedAt = Samples.time(1_774_500_000)
    let (outcome, daemon) = try Self.run("\n", fake: fake)
    #expect(outcome.errors.contains("(installed)") && outcome.errors.contains("[none]"))
    #expect(outcome.errors.contains("Nothing was changed. Installed now:"))
    #expect(outcome.errors.contains("chime log water"))
    #expect(Self.installed(daemon).isEmpty)
  }

  @Test func wizardValidatesAllPacksBeforeInstalling() throws {
    let daemon = try FakeDaemon { method, parameters in
      if method.hasSuffix("InstallPack"), parameters["name"] == "goal" {
        return .error("InvalidValue", Wire.InvalidValue(field: "days", message: "no day is left"))
      }
      return FakeTrackerDaemon().answer(method, parameters)
    }
    let outcome = chime(["init", "--pack", "hydration,goal"], daemon: daemon)
    #expect(outcome.status == .failed && outcome.errors.contains("no day is left"))
    #expect(Self.installed(daemon).isEmpty)
  }
}
