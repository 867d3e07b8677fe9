public import ChimeSchedule
public import ChimeTracking

/// Puts into words what a person is told by Chime itself, of trackers and otherwise. Core knows no language; the daemon brings one that does.
public protocol TrackingWording: Sendable {
  /// The languages of texts that come in several, best first.
  var languages: [String] { get }
  func goalMet(_ tracker: Tracker, _ standing: GoalProgress) -> TrackingWords
  /// That a day has come near to its limit, or has passed it.
  func limit(_ tracker: Tracker, _ standing: GoalProgress) -> TrackingWords
  /// That a stock runs low, or is used up.
  func stock(_ tracker: Tracker, _ level: StockLevel) -> TrackingWords
  func unlocked(_ achievement: Achievement, of pack: Pack) -> TrackingWords
  func reached(_ level: LevelUp, of pack: Pack) -> TrackingWords
  func reached(_ milestone: Milestone, of tracker: Tracker) -> TrackingWords
  /// Without the unit: `2,500`.
  func number(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String
  func number(_ number: Int) -> String
  /// What a button says that logs an amount: `Drank 250 ml`, or `Log 250 ml` for a tracker without a word of its own.
  func button(_ verb: String?, _ amount: String) -> String
  /// A milestone's own title: `80 kg`.
  func title(of milestone: Quantity, of tracker: Tracker) -> String
  /// What Chime tells of itself, in English: an endpoint that was disabled, a store that was restored.
  func notice(_ sentence: String) -> String
  /// An expectation of which nothing was heard since one of its times; times as `2026-11-25 03:00`.
  func notPinged(_ title: String, since time: String, last: String?) -> TrackingWords
  /// A run that failed: its exit status and the end of its output.
  func failed(_ title: String, status: Int?, output: String?) -> TrackingWords
  /// A run that takes longer than it may.
  func overruns(_ title: String, since time: String) -> TrackingWords
  func upAgain(_ title: String, after length: Milliseconds) -> TrackingWords
}

extension TrackingWording {
  public func notice(_ sentence: String) -> String { sentence }

  public func notPinged(_ title: String, since time: String, last: String?) -> TrackingWords {
    let heard = last.map { "The last successful ping came at \($0)." } ?? "No ping has come yet."
    return TrackingWords("\(title): no ping", "A ping was expected from \(time) on. \(heard)")
  }

  public func failed(_ title: String, status: Int?, output: String?) -> TrackingWords {
    let end = status.map { "The run ended with status \($0)." }
    return TrackingWords("\(title) failed", [end, output].compactMap { $0 }.joined(separator: "\n"))
  }

  public func overruns(_ title: String, since time: String) -> TrackingWords {
    TrackingWords("\(title) takes too long", "The run began at \(time) and has not ended.")
  }

  /// To whole minutes from an hour on, to whole seconds below.
  public static func rough(_ length: Milliseconds) -> Milliseconds {
    let unit: Int64 = length < .hours(1) ? 1_000 : 60_000
    return Milliseconds(rawValue: max(unit, (length.rawValue + unit / 2) / unit * unit))
  }

  public func upAgain(_ title: String, after length: Milliseconds) -> TrackingWords {
    TrackingWords("\(title) is up again", "It was down for \(DurationText.format(Self.rough(length))).")
  }

  /// With the unit: `2,500 ml`.
  public func amount(_ quantity: Quantity, _ unit: Unit, decimals: Int) -> String {
    "\(number(quantity, unit, decimals: decimals)) \(unit)"
  }
}

extension TrackingWording {
  /// An amount of a tracker, with its unit where it has one: `6`, `500 ml`.
  public func amount(_ quantity: Quantity, of tracker: Tracker) -> String {
    guard let unit = tracker.unit else { return number(Int(quantity.grains / Quantity.one.grains)) }
    return amount(quantity, unit, decimals: tracker.decimals)
  }

  /// What a limit has, out of what, and what is left of it or beyond: `220`, `300 mg`, `80 mg`.
  public func limitAmounts(_ tracker: Tracker, _ standing: GoalProgress) -> (reached: String, of: String, rest: String)
  {
    let (limit, reached) = (standing.wanted?.quantity ?? .zero, standing.reached ?? .zero)
    let rest = reached > limit ? reached - limit : limit - reached
    let plain = tracker.unit.map { number(reached, $0, decimals: tracker.decimals) }
    return (plain ?? amount(reached, of: tracker), amount(limit, of: tracker), amount(rest, of: tracker))
  }
}

/// A title and what stands below it.
public struct TrackingWords: Hashable, Sendable {
  public var title: String
  public var body: String

  public init(_ title: String, _ body: String) {
    self.title = title
    self.body = body
  }
}

/// English, with numbers as programs write them.
public struct PlainWording: TrackingWording {
  public init() {}

  public var languages: [String] { ["en"] }

  public func goalMet(_ tracker: Tracker, _ standing: GoalProgress) -> TrackingWords {
    TrackingWords("Goal met: \(tracker.title.text(in: languages))", "")
  }

  public func limit(_ tracker: Tracker, _ standing: GoalProgress) -> TrackingWords {
    let amounts = limitAmounts(tracker, standing)
    return TrackingWords(
      "\(tracker.title.text(in: languages)): \(amounts.reached) of \(amounts.of)",
      standing.limit == .passed
        ? "The limit is exceeded by \(amounts.rest)" : "\(amounts.rest) left today")
  }

  public func stock(_ tracker: Tracker, _ level: StockLevel) -> TrackingWords {
    let title = tracker.title.text(in: languages)
    if level.short > .zero {
      return TrackingWords(
        "\(title): used up",
        "\(amount(level.short, of: tracker)) more was logged than the stock had")
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
