import ChimeControl
import ChimeSchedule
import ChimeWords

/// Texts about a reminder that follows another, or waits for it.
enum ChainText {
  /// Returns a sentence about what a due occurrence waits for.
  static func waits(_ condition: Wire.Condition) -> String {
    localized("waits until \"%1\" is done", TerminalSanitizer.line(condition.title ?? condition.reminder))
  }

  static func waits(_ awaiting: OccurrencesInterface.Awaiting) -> String {
    [awaiting.follows.map { waits($0) }, awaiting.follows == nil ? awaiting.onlyIfDone.map { waits($0) } : nil]
      .compactMap { $0 }.joined(separator: "; ")
  }

  /// Returns the schedule with the title in place of the id: `30m after done of "Check the figures"`.
  static func schedule(_ chain: Wire.Chain) -> String {
    let name = "\"\(TerminalSanitizer.line(chain.title ?? chain.reminder))\""
    let delay = chain.delay.map { LengthText.human($0) + " " } ?? ""
    return "\(delay)after \(chain.event.rawValue) of \(name)"
  }

  /// Returns a sentence about what a reminder waits for.
  static func waits(_ chain: Wire.Chain) -> String {
    guard let title = chain.title.map({ TerminalSanitizer.line($0) }) else {
      return localized("it counts from %1, which no longer exists", TerminalSanitizer.line(chain.reminder))
    }
    let delay = chain.delay.map { LengthText.human($0) }
    return switch (chain.event, delay) {
    case (.done, nil): localized("comes when \"%1\" is done", title)
    case (.done, let delay?): localized("comes %1 after \"%2\" is done", delay, title)
    case (.missed, nil): localized("comes when \"%1\" is missed", title)
    case (.missed, let delay?): localized("comes %1 after \"%2\" is missed", delay, title)
    }
  }
}

extension Wire.Chain {
  /// Describes the chain of a schedule that is not saved yet: the other reminder's title is the text in the schedule.
  init(_ chain: Chain) {
    self.init(
      event: .init(rawValue: chain.event.rawValue) ?? .done, reminder: chain.reminder, title: chain.reminder,
      delay: chain.delay == .zero ? nil : DurationText.formatISO8601(chain.delay))
  }
}
