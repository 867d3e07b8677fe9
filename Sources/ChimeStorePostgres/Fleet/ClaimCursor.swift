import ChimeSchedule

/// A ClaimCursor remembers where the next claim of due times continues.
///
/// Due times lie in 16 buckets. Each daemon starts at a random bucket and continues where its last claim stopped. A
/// watermark for each bucket marks the due time below which nothing is left to claim. Claims therefore do not scan
/// fired rows again, which remain as dead rows until vacuum removes them; an old snapshot delays that. Watermarks are a
/// guess: other daemons may have released or added rows below them. So they expire after a second, and end with a claim
/// that is not full. If finding them again is slow, they hold for ten times as long as that takes.
///
/// The cursor has one owner, which uses it on its queue.
final class ClaimCursor {
  static let buckets = 16
  /// The lifetime of watermarks in milliseconds. Finding them again takes at most a tenth of the time.
  static let life: Int64 = 1_000
  static let longestLife: Int64 = 15_000

  /// The bucket where the next claim begins.
  private(set) var first: Int
  private var watermarks = Array(repeating: Instant.earliest, count: buckets)
  /// The monotonic time when the watermarks were last cleared.
  private var clearedAt: Int64 = 0
  private var life = ClaimCursor.life
  /// Whether the last claim was full, so that the next one continues from it.
  private(set) var goesOn = false
  /// Whether the earliest due time of each bucket is known.
  private var isSeen = false
  /// The maximum size of a claim. It is reduced for a while after a claim that the server canceled because it took too long.
  private var most = Int.max
  /// The number of due times claimed by the present body.
  private var claimed = 0

  init(first: Int = Int.random(in: 0..<buckets)) { self.first = first }

  /// Whether no watermark is set.
  var isClear: Bool { watermarks.allSatisfy { $0 == .earliest } }

  /// The watermarks of the buckets in claim order, from `first` on.
  var floorsInTurn: [Instant] { (0..<Self.buckets).map { watermarks[(first + $0) % Self.buckets] } }

  /// The watermarks by bucket number.
  var floorsByBucket: [Instant] { watermarks }

  /// Begins a claim, and returns how many rows of `limit` it may take.
  func begin(_ limit: Int, at clock: Int64) -> Int {
    if clock - clearedAt >= life || clock < clearedAt { clear(at: clock) }
    return min(limit, most)
  }

  /// Ends a claim that found these rows, in that order, with at most `limit`.
  func end(_ found: [(bucket: Int, dueAt: Instant)], limit: Int, at clock: Int64) {
    claimed += found.count
    guard found.count >= limit, let last = found.last else {
      // All available rows were claimed. The rest belongs to other daemons or lies below a watermark.
      life = Self.life
      return clear(at: clock)
    }
    goesOn = true
    for (bucket, dueAt) in found { watermarks[bucket] = max(watermarks[bucket], dueAt) }
    first = last.bucket
    if most < .max { most = most > .max / 2 ? .max : most * 2 }
  }

  /// Raises the watermarks to the earliest due time of each bucket, locked or not; nil if a bucket has none.
  func saw(_ earliest: [Instant?], at clock: Int64) {
    guard goesOn else { return }
    for (bucket, dueAt) in earliest.enumerated() { watermarks[bucket] = max(watermarks[bucket], dueAt ?? .latest) }
    if !isSeen, clearedAt > 0 { life = min(max((clock - clearedAt) * 10, Self.life), Self.longestLife) }
    isSeen = true
  }

  /// Lowers the watermark for a due time that was set.
  func lower(_ reminder: Int64, to dueAt: Instant) {
    let bucket = Int(reminder % Int64(Self.buckets))
    watermarks[bucket] = min(watermarks[bucket], dueAt)
  }

  func clear(at clock: Int64 = 0) {
    for bucket in watermarks.indices { watermarks[bucket] = .earliest }
    (clearedAt, goesOn, isSeen) = (clock, false, false)
  }

  /// Begins a body.
  func forget() { claimed = 0 }

  /// Undoes the claims of a rolled-back body. If the session is lost, the server may have ended a claim that took too long.
  func undo(isLost: Bool) {
    if isLost, claimed > 1 { most = max(1, claimed / 4) }
    claimed = 0
    clear()
  }
}
