public import ChimeSchedule
public import ChimeTracking

/// A TrackingWording phrases Chime's own messages to a person. Core knows no language; the daemon supplies a localized one.
public protocol TrackingWording: Sendable {
  /// The languages of multilingual texts, best first.
  var languages: [String] { get }
  func goalMet(_ tracker: Tracker, _ progress: GoalProgress) -> TrackingWords
  /// Returns the warning that a day is near its limit or past it.
  func limit(_ tracker: Tracker, _ progress: GoalProgress) -> TrackingWords
  /// Returns the warning that a stock runs low or is used up.
  func stock(_ tracker: Tracker, _ level: StockLevel) -> TrackingWords
  func unlocked(_ achievement: Achievement, of pack: Pack) -> TrackingWords
  func reached(_ level: LevelUp, of pack: Pack) -> TrackingWords
  func reached(_ milestone: Milestone, of tracker: Tracker) -> TrackingWords
  /// Returns a number without the unit: `2,500`.
  func number(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String
  func number(_ number: Int) -> String
  /// Returns the label of a button that logs an amount: `Drank 250 ml`, or `Log 250 ml` for a tracker without a verb.
  func button(_ verb: String?, _ amount: String) -> String
  /// Returns a milestone's title: `80 kg`.
  func title(of milestone: Quantity, of tracker: Tracker) -> String
  /// Returns the translation of an English notice, such as about a disabled endpoint or a restored store.
  func notice(_ sentence: String) -> String
  /// Returns the alert that no ping came since a scheduled time; times as `2026-11-25 03:00`.
  func notPinged(_ title: String, since time: String, last: String?) -> TrackingWords
  /// Returns the alert that a run failed, with its exit status and the end of its output.
  func failed(_ title: String, status: Int?, output: String?) -> TrackingWords
  /// Returns the alert that a run takes too long.
  func overruns(_ title: String, since time: String) -> TrackingWords
  func upAgain(_ title: String, after length: Milliseconds) -> TrackingWords
}

extension TrackingWording {
  public func notice(_ sentence: String) -> String { sentence }

  public func notPinged(_ title: String, since time: String, last: String?) -> TrackingWords {
    let lastPing = last.map { "The last successful ping came at \($0)." } ?? "No ping has come yet."
    return TrackingWords("\(title): no ping", "A ping was expected from \(time) on. \(lastPing)")
  }

  public func failed(_ title: String, status: Int?, output: String?) -> TrackingWords {
    let end = status.map { "The run ended with status \($0)." }
    return TrackingWords("\(title) failed", [end, output].compactMap { $0 }.joined(separator: "\n"))
  }

  public func overruns(_ title: String, since time: String) -> TrackingWords {
    TrackingWords("\(title) takes too long", "The run began at \(time) and has not ended.")
  }

  /// Rounds to whole minutes from an hour on, and to whole seconds below.
  public static func rough(_ length: Milliseconds) -> Milliseconds {
    let unit: Int64 = length < .hours(1) ? 1_000 : 60_000
    return Milliseconds(rawValue: max(unit, (length.rawValue + unit / 2) / unit * unit))
  }

  public func upAgain(_ title: String, after length: Milliseconds) -> TrackingWords {
    TrackingWords("\(title) is up again", "It was down for \(DurationText.format(Self.rough(length))).")
  }

  /// Returns an amount with the unit: `2,500 ml`.
  public func amount(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String {
    "\(number(quantity, unit, decimals: decimals)) \(unit)"
  }
}

extension TrackingWording {
  /// Returns an amount of a tracker, with its unit if it has one: `6`, `500 ml`.
  public func amount(_ quantity: Quantity, of tracker: Tracker) -> String {
    guard let unit = tracker.unit else { return number(Int(quantity.grains / Quantity.one.grains)) }
    return amount(quantity, unit, decimals: tracker.decimals)
  }

  /// Returns the amount reached, the limit, and the rest or excess: `220`, `300 mg`, `80 mg`.
  public func limitAmounts(_ tracker: Tracker, _ progress: GoalProgress) -> (reached: String, of: String, rest: String)
  {
    let (limit, reached) = (progress.wanted?.quantity ?? .zero, progress.reached ?? .zero)
    let rest = reached > limit ? reached - limit : limit - reached
    let plain = tracker.unit.map { number(reached, $0, decimals: tracker.decimals) }
    return (plain ?? amount(reached, of: tracker), amount(limit, of: tracker), amount(rest, of: tracker))
  }
}

/// TrackingWords are a message's title and body.
public struct TrackingWords: Hashable, Sendable {
  public var title: String
  public var body: String

  public init(_ title: String, _ body: String) {
    self.title = title
    self.body = body
  }
}

/// PlainWording is English, with unlocalized numbers.
public struct PlainWording: TrackingWording {
  public init() {}

  public var languages: [String] { ["en"] }

  public func goalMet(_ tracker: Tracker, _ progress: GoalProgress) -> TrackingWords {
    TrackingWords("Goal met: \(tracker.title.text(in: languages))", "")
  }

  public func limit(_ tracker: Tracker, _ progress: GoalProgress) -> TrackingWords {
    let amounts = limitAmounts(tracker, progress)
    return TrackingWords(
      "\(tracker.title.text(in: languages)): \(amounts.reached) of \(amounts.of)",
      progress.limit == .exceeded
        ? "The limit is exceeded by \(amounts.rest)" : "\(amounts.rest) left today")
  }

  public func stock(_ tracker: Tracker, _ level: StockLevel) -> TrackingWords {
    let title = tracker.title.text(in: languages)
    if level.shortfall > .zero {
      return TrackingWords(
        "\(title): used up",
        "\(amount(level.shortfall, of: tracker)) more was logged than the stock had")
    }
    if level.left == .zero { return TrackingWords("\(title): used up", "") }
    return TrackingWords(
      "\(title): \(amount(level.left, of: tracker)) left", level.until.map { "Enough until \($0)" } ?? "")
  }

  public func unlocked(_ achievement: Achievement, of pack: Pack) -> TrackingWords {
    TrackingWords("Unlocked: \(achievement.title.text(in: languages))", achievement.text.text(in: languages))
  }

  public func reached(_ level: LevelUp, of pack: Pack) -> TrackingWords {
    TrackingWords("Level \(level.level): \(pack.title.text(in: languages))", "\(level.experience) XP")
  }

  public func reached(_ milestone: Milestone, of tracker: Tracker) -> TrackingWords {
    TrackingWords("Milestone: \(milestone.title)", tracker.title.text(in: languages))
  }

  public func number(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String {
    quantity.plain(in: unit, decimals: decimals)
  }

  public func number(_ number: Int) -> String { String(number) }

  public func button(_ verb: String?, _ amount: String) -> String { "\(verb ?? "Log") \(amount)" }

  public func title(of milestone: Quantity, of tracker: Tracker) -> String {
    guard let unit = tracker.unit else { return "" }
    return amount(milestone, unit, decimals: tracker.decimals)
  }
}
