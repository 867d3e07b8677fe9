import ChimeCore
import ChimeSchedule
import ChimeTracking
import ChimeWords

/// What a person is told by Chime itself, in the language and with the numbers of the daemon's locale.
struct SpokenWording: TrackingWording {
  var languages: [String] { Catalogs.languages }

  func goalMet(_ tracker: Tracker, _ standing: Standing) -> TrackingWords {
    let title = Words.say("Goal met: %1", text(tracker.title))
    let streak = standing.form.streak.length
    let body =
      switch standing.form.streak.unit {
      case _ where streak < 2: ""
      case .days: Words.say(count: streak, "%n day running", "%n days running")
      case .weeks: Words.say(count: streak, "%n week running", "%n weeks running")
      case .months: Words.say(count: streak, "%n month running", "%n months running")
      }
    return TrackingWords(title, body)
  }

  func limit(_ tracker: Tracker, _ standing: Standing) -> TrackingWords {
    let amounts = limitAmounts(tracker, standing)
    return TrackingWords(
      Words.say("%1: %2 of %3", text(tracker.title), amounts.reached, amounts.of),
      standing.limit == .passed
        ? Words.say("The limit is passed by %1", amounts.rest) : Words.say("%1 left today", amounts.rest))
  }

  func stock(_ tracker: Tracker, _ level: StockLevel) -> TrackingWords {
    let title = text(tracker.title)
    guard level.left > .zero else {
      return TrackingWords(
        Words.say("%1: used up", title),
        level.short == .zero
          ? "" : Words.say("%1 more was logged than there was", amount(level.short, of: tracker)))
    }
    return TrackingWords(
      Words.say("%1: %2 left", title, amount(level.left, of: tracker)),
      level.until.map { Words.say("Enough until %1", Figures.date($0)) } ?? "")
  }

  func unlocked(_ achievement: Achievement, of pack: Pack) -> TrackingWords {
    TrackingWords(Words.say("Unlocked: %1", text(achievement.title)), text(achievement.text))
  }

  func reached(_ level: LevelUp, of pack: Pack) -> TrackingWords {
    TrackingWords(
      Words.say("Level %1: %2", number(level.level), text(pack.title)), Words.say("%1 XP", number(level.experience)))
  }

  func reached(_ milestone: Milestone, of tracker: Tracker) -> TrackingWords {
    TrackingWords(Words.say("Milestone: %1", milestone.title), text(tracker.title))
  }

  func number(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String {
    Figures.number(quantity.value(in: unit), decimals: decimals)
  }

  func number(_ number: Int) -> String { Figures.number(Double(number)) }

  func button(_ verb: String?, _ amount: String) -> String {
    verb.map { "\($0) \(amount)" } ?? Words.say("Log %1", amount)
  }

  func title(of milestone: Quantity, of tracker: Tracker) -> String {
    tracker.unit.map { amount(milestone, $0, decimals: tracker.decimals) } ?? ""
  }

  func notice(_ sentence: String) -> String { Words.told(sentence) }

  func notPinged(_ title: String, since time: String, last: String?) -> TrackingWords {
    let heard = last.map { Words.say("The last good ping came at %1.", $0) } ?? Words.say("None has come yet.")
    return TrackingWords(
      Words.say("%1: no ping", title), "\(Words.say("One was expected from %1 on.", time)) \(heard)")
  }

  func failed(_ title: String, status: Int?, output: String?) -> TrackingWords {
    let end = status.map { Words.say("It ended with status %1.", String($0)) }
    return TrackingWords(Words.say("%1 failed", title), [end, output].compactMap { $0 }.joined(separator: "\n"))
  }

  func overruns(_ title: String, since time: String) -> TrackingWords {
    TrackingWords(
      Words.say("%1 takes too long", title), Words.say("It began at %1 and has not ended.", time))
  }

  func upAgain(_ title: String, after length: Milliseconds) -> TrackingWords {
    TrackingWords(
      Words.say("%1 is up again", title),
      Words.say("It was down for %1.", DurationText.format(PlainWording.rough(length))))
  }

  private func text(_ text: LocalizedText) -> String { text.text(in: languages) }
}
