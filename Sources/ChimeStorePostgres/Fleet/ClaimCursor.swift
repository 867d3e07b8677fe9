import ChimeCore
import ChimeSchedule

/// Where the next claim of due times goes on.
///
/// Due times lie in 16 buckets. Each daemon begins at another, and goes on where the claim before has stopped: with a floor
/// to each bucket, below which nothing is left that can be had, so that what has fired (dead rows, until they are cleared
/// away, which an old snapshot keeps them from) is not walked over again for each claim. Floors are a guess: what others had
/// locked and let go, or have added, may lie below. So they hold for a second, and as long as claims are full. Where there
/// is so much to be walked over that to look for them anew takes long, they hold for ten times that.
///
/// One owner, used on its queue.
final class ClaimCursor {
  static let buckets = 16
  /// How long floors hold, in milliseconds: a tenth of the time at most goes into looking for them.
  static let life: Int64 = 1_000
  static let longestLife: Int64 = 15_000

  /// The bucket at which the next claim begins.
  private(set) var first: Int
  private var watermarks = Array(repeating: Instant.earliest, count: buckets)
  /// When the floors were last at zero, by a clock that nobody sets.
  private var clearedAt: Int64 = 0
  private var life = ClaimCursor.life
  /// Whether the claim before was full, so that the next one is to go on from it.
  private(set) var goesOn = false
  /// Whether it is known where each bucket begins.
  private var isSeen = false
  /// The most that one claim takes: less for a while after one that took so long that the server gave it up.
  private var most = Int.max
  /// How much this body has claimed.
  private var claimed = 0

  init(first: Int = Int.random(in: 0..<buckets)) { self.first = first }

  /// Whether nothing is passed over.
  var isClear: Bool { watermarks.allSatisfy { $0 == .earliest } }

  /// From when on each bucket is looked at, from `first` on.
  var floorsInTurn: [Instant] { (0..<Self.buckets).map { watermarks[(first + $0) % Self.buckets] } }

  /// From when on each bucket is looked at, by its number.
  var floorsByBucket: [Instant] { watermarks }

  /// Begins a claim.
  ///
  /// - Returns: how much it may take of `limit`.
  func begin(_ limit: Int, at clock: Int64) -> Int {
    if clock - clearedAt >= life || clock < clearedAt { clear(at: clock) }
    return min(limit, most)
  }

  /// A claim of at most `limit` has found this, in the order in which it was found.
  func end(_ found: [(bucket: Int, dueAt: Instant)], limit: Int, at clock: Int64) {
    claimed += found.count
    guard found.count >= limit, let last = found.last else {
      // Whatever could be had has been: what is left belongs to others, or is to be looked for from the start.
      life = Self.life
      return clear(at: clock)
    }
    goesOn = true
    for (bucket, dueAt) in found { watermarks[bucket] = max(watermarks[bucket], dueAt) }
    first = last.bucket
    if most < .max { most = most > .max / 2 ? .max : most * 2 }
  }

  /// The earliest due time of each bucket, locked or not, from its floor on; nil: there is none.
  func saw(_ earliest: [Instant?], at clock: Int64) {
    guard goesOn else { return }
    for (bucket, dueAt) in earliest.enumerated() { watermarks[bucket] = max(watermarks[bucket], dueAt ?? .latest) }
    if !isSeen, clearedAt > 0 { life = min(max((clock - clearedAt) * 10, Self.life), Self.longestLife) }
    isSeen = true
  }

  /// A due time has been set.
  func lower(_ reminder: Int64, to dueAt: Instant) {
    let bucket = Int(reminder % Int64(Self.buckets))
    watermarks[bucket] = min(watermarks[bucket], dueAt)
  }

  func clear(at clock: Int64 = 0) {
    for bucket in watermarks.indices { watermarks[bucket] = .earliest }
    (clearedAt, goesOn, isSeen) = (clock, false, false)
  }

  /// A body begins.
  func forget() { claimed = 0 }

  /// What was claimed is not: the body was undone, and the session with it when the server had waited too long.
  func undo(isLost: Bool) {
    if isLost, claimed > 1 { most = max(1, claimed / 4) }
    claimed = 0
    clear()
  }
}
