/// What a text is read against: what its relative words count from, and what its names refer to.
struct Anchor {
  var now: Instant
  /// Whether nobody reads why a text is refused, which takes longer to put into words than all else.
  var isQuiet = false
  private let box: Box

  /// Each reader of a text copies its anchor, which in a box is one reference and not one for each name it knows.
  private final class Box {
    let surroundings: Surroundings
    init(_ surroundings: Surroundings) { self.surroundings = surroundings }
  }

  init(now: Instant, surroundings: Surroundings) {
    self.now = now
    box = Box(surroundings)
  }

  var surroundings: Surroundings { _read { yield box.surroundings } }

  /// The zone of the surroundings.
  var zone: Zone { surroundings.zone }
  /// The second that has begun.
  var second: Int64 { now.seconds }
  /// When the words for times of day are.
  func words() -> WordTimes { surroundings.words() }
  var civil: CivilDateTime { zone.civil(at: now) }

  /// Whether a reading of the wall clock, with the usual rules for gaps and folds, still lies ahead.
  func isAhead(_ civil: CivilDateTime) -> Bool {
    zone.table.instant(civil.wallSeconds, gap: .shift, fold: .first) > second
  }
}
