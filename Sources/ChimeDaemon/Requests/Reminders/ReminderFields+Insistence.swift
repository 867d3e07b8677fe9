import ChimeControl
import ChimeCore
import ChimeSchedule

// How a reminder insists, and when it is quiet.
extension ReminderFields {
  /// What is not given stays as it was.
  func nag(_ wire: RemindersInterface.Nag, over known: Nag?) throws -> Nag {
    var nag: Nag
    if let every = wire.every {
      nag = known ?? Nag(every: .zero)
      nag.every = try Self.duration(every, "nag", Nag.lengths)
    } else if let known {
      nag = known
    } else {
      throw ControlFailure.invalidValue(
        field: "nag", "give the interval of repeats until it is answered, such as every PT5M")
    }
    if let max = wire.max {
      guard Nag.counts.contains(max) else {
        throw ControlFailure.invalidValue(
          field: "nag", "a reminder has \(Nag.counts.lowerBound) to \(Nag.counts.upperBound) repeats, not \(max)")
      }
      nag.max = max
    }
    if let steps = wire.escalation {
      guard steps.count <= Nag.maxSteps else {
        throw ControlFailure.invalidValue(field: "nag", "give at most \(Nag.maxSteps) steps of escalation")
      }
      nag.escalation = try steps.map { .init(from: $0.from, channels: try channels($0.channels, "nag")) }
        .enumerated().sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }.map(\.element)
    }
    if let step = nag.escalation.first(where: { !(1...nag.max).contains($0.from) }) {
      throw ControlFailure.invalidValue(
        field: "nag", "there is no repeat \(step.from) to add channels to: there are repeats 1 to \(nag.max)")
    }
    return nag
  }

  /// What is not given stays as it was; without a rule and hours of its own it has the configured ones.
  func quiet(_ wire: RemindersInterface.Quiet, over known: QuietRule?) throws -> QuietRule? {
    var quiet = known ?? QuietRule()
    if let rule = wire.rule { quiet.handling = QuietRule.Handling(rawValue: rule.rawValue) }
    if let texts = wire.hours {
      do {
        quiet.hours = texts.isEmpty ? nil : try QuietHours(texts)
      } catch {
        throw ControlFailure.invalidValue(field: "quiet", error.message)
      }
    }
    return quiet == QuietRule() ? nil : quiet
  }
}
