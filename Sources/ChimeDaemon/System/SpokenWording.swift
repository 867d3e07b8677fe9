import ChimeCore
import ChimeSchedule
import ChimeTracking
import ChimeWords

/// A SpokenWording builds Chime's own notices in the language and number format of the daemon's locale.
struct SpokenWording: TrackingWording {
  var languages: [String] { Catalogs.languages }

  func goalMet(_ tracker: Tracker, _ progress: GoalProgress) -> TrackingWords {
    let title = localized("Goal met: %1", text(tracker.title))
    let streak = progress.form.streak.length
    let body =
      switch progress.form.streak.unit {
      case _ where streak < 2: ""
      case .days: localized(count: streak, "%n day running", "%n days running")
      case .weeks: localized(count: streak, "%n week running", "%n weeks running")
      case .months: localized(count: streak, "%n month running", "%n months running")
      }
    return TrackingWords(title, body)
  }

  func limit(_ tracker: Tracker, _ progress: GoalProgress) -> TrackingWords {
    let amounts = limitAmounts(tracker, progress)
    return TrackingWords(
      localized("%1: %2 of %3", text(tracker.title), amounts.reached, amounts.of),
      progress.limit == .exceeded
        ? localized("The limit is exceeded by %1", amounts.rest) : localized("%1 left today", amounts.rest))
  }

  func stock(_ tracker: Tracker, _ level: StockLevel) -> TrackingWords {
    let title = text(tracker.title)
    guard level.left > .zero else {
      return TrackingWords(
        localized("%1: used up", title),
        level.shortfall == .zero
          ? "" : localized("%1 more was logged than the stock had", amount(level.shortfall, of: tracker)))
    }
    return TrackingWords(
      localized("%1: %2 left", title, amount(level.left, of: tracker)),
      level.until.map { localized("Enough until %1", LocalizedFormat.date($0)) } ?? "")
  }

  func unlocked(_ achievement: Achievement, of pack: Pack) -> TrackingWords {
    TrackingWords(localized("Unlocked: %1", text(achievement.title)), text(achievement.text))
  }

  func reached(_ level: LevelUp, of pack: Pack) -> TrackingWords {
    TrackingWords(
      localized("Level %1: %2", number(level.level), text(pack.title)), localized("%1 XP", number(level.experience)))
  }

  func reached(_ milestone: Milestone, of tracker: Tracker) -> TrackingWords {
    TrackingWords(localized("Milestone: %1", milestone.title), text(tracker.title))
  }

  func number(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String {
    LocalizedFormat.number(quantity.value(in: unit), decimals: decimals)
  }

  func number(_ number: Int) -> String { LocalizedFormat.number(Double(number)) }

  func button(_ verb: String?, _ amount: String) -> String {
    verb.map { "\($0) \(amount)" } ?? localized("Log %1", amount)
  }

  func title(of milestone: Quantity, of tracker: Tracker) -> String {
    tracker.unit.map { amount(milestone, $0, decimals: tracker.decimals) } ?? ""
  }

  func notice(_ sentence: String) -> String { localizedServerMessage(sentence) }

  func notPinged(_ title: String, since time: String, last: String?) -> TrackingWords {
    let lastPing =
      last.map { localized("The last successful ping came at %1.", $0) } ?? localized("No ping has come yet.")
    return TrackingWords(
      localized("%1: no ping", title), "\(localized("A ping was expected from %1 on.", time)) \(lastPing)")
  }

  func failed(_ title: String, status: Int?, output: String?) -> TrackingWords {
    let end = status.map { localized("The run ended with status %1.", String($0)) }
    return TrackingWords(localized("%1 failed", title), [end, output].compactMap { $0 }.joined(separator: "\n"))
  }

  func overruns(_ title: String, since time: String) -> TrackingWords {
    TrackingWords(
      localized("%1 takes too long", title), localized("The run began at %1 and has not ended.", time))
  }

  func upAgain(_ title: String, after length: Milliseconds) -> TrackingWords {
    TrackingWords(
      localized("%1 is up again", title),
      localized("It was down for %1.", DurationText.format(PlainWording.rough(length))))
  }

  private func text(_ text: LocalizedText) -> String { text.text(in: languages) }
}
