import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import Glibc
import Varlink

/// A TrackingPart answers requests about trackers.
protocol TrackingPart: RequestPart {}

extension TrackingPart {
  typealias Tracking = TrackersInterface

  func lookup(_ transaction: any StoreTransaction) -> TrackerLookup {
    TrackerLookup(transaction: transaction, owner: caller.owner)
  }

  func tracking(_ transaction: any StoreTransaction) -> TrackingOperations {
    TrackingOperations(in: transaction, owner: caller.owner, context, now: now)
  }

  /// Returns the current day of a tracker.
  func today(of tracker: Tracker) -> CivilDate { tracker.day(at: now, in: context.zones.local).day }

  var localToday: CivilDate { context.zones.local.civil(at: now).date }

  /// Changes trackers of the caller in one transaction, and publishes the effects.
  ///
  /// - Parameters:
  ///   - token: the idempotency token; a known one gets its first reply again.
  ///   - dryRun: whether to roll back.
  ///   - body: returns the reply, the outcome, and the words of the event; nil: they describe the logged entry.
  func changeTracking<Reply: JSONCodable & Sendable>(
    token: String? = nil, dryRun: Bool? = nil,
    _ body: @escaping @Sendable (TrackingOperations, inout PooledRandom) throws -> (Reply, TrackingOutcome, String?)
  ) async throws -> Reply {
    try check(token: token)
    if dryRun == true { return try await rehearse(body) }
    return try await commit(token: token) { [self] transaction in
      var generator = PooledRandom()
      let (reply, outcome, words) = try body(tracking(transaction), &generator)
      return (reply, TrackingNotices.of(outcome, owner: caller.owner, saying: outcome.change == nil ? nil : words))
    }
  }

  /// Returns the reply of a change that is rolled back.
  private func rehearse<Reply: JSONCodable & Sendable>(
    _ body: @escaping @Sendable (TrackingOperations, inout PooledRandom) throws -> (Reply, TrackingOutcome, String?)
  ) async throws -> Reply {
    do {
      return try await store.write { [self] transaction -> Reply in
        var generator = PooledRandom()
        let reply = try body(tracking(transaction), &generator).0
        try caller.requireRoom(in: transaction)
        throw Rehearsed(reply: reply)
      }
    } catch let rehearsed as Rehearsed<Reply> {
      return rehearsed.reply
    }
  }

  /// Returns the achievements that a change has unlocked.
  func unlocked(_ outcome: TrackingOutcome, _ transaction: any StoreTransaction) throws -> [Tracking.Achievement] {
    try outcome.unlocked.compactMap { unlock in
      guard let pack = try transaction.pack(unlock.pack, owner: caller.owner)?.pack else { return nil }
      let progress = try transaction.progress(of: unlock.pack, owner: caller.owner)
      return wire.achievement(
        unlock.achievement, of: pack, progress.first { $0.achievement == unlock.achievement.id })
    }
  }

  // MARK: Listings

  /// Checks the bounds of a list.
  func part(_ limit: Int?, _ offset: Int?) throws -> (limit: Int, offset: Int) {
    let (limit, offset) = (limit ?? 10_000, offset ?? 0)
    try need((0...10_000).contains(limit), "limit", "give a number from 0 to 10000")
    try need((0...1_000_000_000).contains(offset), "offset", "give the number of entries to skip")
    return (limit, offset)
  }

  /// Returns as many elements, from the first on, as fit into one message.
  func fitting<Element: JSONWritable>(_ all: [Element]) -> [Element] {
    var room = Int(Double(configuration.maxMessageBytes) * roomInMessage)
    // Most answers are much shorter. A note has at most 8,000 bytes, and JSON may need six for each.
    if all.count <= room / 65_536 { return all }
    var count = 0
    for element in all {
      room -= (try? length(element)) ?? 0
      guard room > 0 else { break }
      count += 1
    }
    return Array(all.prefix(count))
  }

  // MARK: Files

  /// Returns the change of a photo: nil: no change; `.some(nil)`: remove it; else the name of the photo that an upload became.
  /// The photo is durable before anything refers to it.
  func photo(_ upload: String?) throws -> String?? {
    guard let upload else { return nil }
    guard !upload.isEmpty else { return .some(nil) }
    let path = try loop.uploads.path(of: upload, of: caller.owner)
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles.read(path, atMost: Photos.maxBytes)
    } catch {
      throw error.code == EFBIG
        ? ControlFailure.limitExceeded("a photo has at most \(Photos.maxBytes >> 20) MiB")
        : ControlFailure.storeUnavailable("the upload cannot be read: \(error.reason)")
    }
    return try loop.photos.keep(bytes, of: caller.owner)
  }

  /// The bytes of one part. A part is half a message, because base64 and the rest need room.
  var partBytes: Int { min(Uploads.maxPart, configuration.maxMessageBytes / 2 / 3 * 3) }
}

/// Carries the reply out of a transaction that is rolled back because its body throws.
private struct Rehearsed<Reply: Sendable>: Error {
  let reply: Reply
}

/// The part of the longest message that may be filled with elements.
private let roomInMessage = 0.85

/// Returns the length of a value as JSON.
private func length(_ value: some JSONWritable) throws -> Int { try JSONWriter.bytes(of: value).count + 1 }
