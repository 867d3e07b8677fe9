import ChimeCore
import ChimeSchedule

// Commands: programs of the configuration, which all owners share.
extension Simulation {
  /// `cmd1` runs once at a time, and `cmd2` several times.
  static let commands: [ChannelName: DeliveryQueuePolicy] = [
    ChannelName(rawValue: "cmd1"): DeliveryQueuePolicy(concurrency: 1, attemptLimit: .seconds(20)),
    ChannelName(rawValue: "cmd2"): DeliveryQueuePolicy(concurrency: 8, attemptLimit: .seconds(20)),
  ]

  func isCommand(_ channel: ChannelName) -> Bool { Self.commands[channel] != nil }

  /// Returns how many runs for one owner there may be at once.
  func commandConcurrency(_ channel: ChannelName) -> Int? {
    switch channel.rawValue {
    case "cmd1": 1
    case "cmd2": 8
    default: nil
    }
  }

  /// Returns how the run of a command ends, as `CommandRun` reports it: a command has no status but its exit status, and
  /// nothing disables it.
  static func result(of mood: ChannelBehavior.Kind, bits: UInt64) -> (
    outcome: Attempt.Outcome, next: ChannelReport.NextStep, status: Int?
  ) {
    switch mood {
    case .well: (.delivered, .settled, 0)
    case .flaky where bits % 2 == 0: (.delivered, .settled, 0)
    case .fail, .flaky: (.failed, .retry, Int(bits >> 1 % 255) + 1)
    // It is stopped at the time limit.
    case .hang: (.failed, .retry, nil)
    // It is skipped, because an earlier run goes on.
    case .omit: (.refused, .cancel, nil)
    // There is no such program, or it may not be run.
    case .decline, .busy, .gone, .unavailable: (.refused, .blocked(.minutes(5)), nil)
    }
  }
}
