public import ChimeSchedule

/// A consistent copy of a store, beside it.
public struct StoreSnapshot: Hashable, Sendable {
  /// When it was taken, by the clock of then.
  public var takenAt: Instant
  /// Its file.
  public var path: String
  public var bytes: Int64
  /// The layout of the store that a newer program was about to change; nil for a plain one.
  public var beforeUpgradeFrom: Int?

  public init(takenAt: Instant, path: String, bytes: Int64, beforeUpgradeFrom: Int? = nil) {
    self.takenAt = takenAt
    self.path = path
    self.bytes = bytes
    self.beforeUpgradeFrom = beforeUpgradeFrom
  }
}

/// What a damaged store came to: the newest good snapshot stands in its place.
public struct Restoration: Hashable, Sendable {
  /// When it was restored.
  public var at: Instant
  /// What was changed since then is lost.
  public var snapshotTakenAt: Instant
  /// Empty when it goes on with what was left of itself.
  public var snapshotPath: String
  /// Where the damaged file is now, as it was; nil when there was none any more.
  public var damagedPath: String?
  /// What was wrong, as a sentence.
  public var reason: String
  /// Newer snapshots that are damaged too.
  public var passedOver: [String]

  public init(
    at: Instant, snapshotTakenAt: Instant, snapshotPath: String, damagedPath: String?, reason: String,
    passedOver: [String] = []
  ) {
    self.at = at
    self.snapshotTakenAt = snapshotTakenAt
    self.snapshotPath = snapshotPath
    self.damagedPath = damagedPath
    self.reason = reason
    self.passedOver = passedOver
  }

  /// Whether nothing is lost. A snapshot of the same second may lack what came after it.
  public var isWhole: Bool { snapshotPath.isEmpty && snapshotTakenAt >= at }

  /// The note of the store in which its latest restoration stands.
  public static let note = "restoration"

  /// As the store keeps it: one line for each value. `init(text:)` reads it back.
  public var text: String {
    var lines = [
      "at \(at.milliseconds)", "snapshot \(snapshotTakenAt.milliseconds) \(snapshotPath.isEmpty ? "-" : snapshotPath)",
    ]
    if let damagedPath { lines.append("damaged \(damagedPath)") }
    lines.append("reason \(reason)")
    lines += passedOver.map { "passed \($0)" }
    return lines.map { String($0.map { $0.isNewline ? " " : $0 }) }.joined(separator: "\n")
  }

  public init?(text: String) {
    var values: [Substring: [Substring]] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      if parts.count == 2 { values[parts[0], default: []].append(parts[1]) }
    }
    let snapshot = values["snapshot"]?.first?.split(separator: " ", maxSplits: 1) ?? []
    guard let at = values["at"]?.first.flatMap({ Int64($0) }), snapshot.count == 2, let taken = Int64(snapshot[0])
    else { return nil }
    self.init(
      at: Instant(milliseconds: at), snapshotTakenAt: Instant(milliseconds: taken),
      snapshotPath: snapshot[1] == "-" ? "" : String(snapshot[1]),
      damagedPath: values["damaged"]?.first.map(String.init), reason: values["reason"]?.first.map(String.init) ?? "",
      passedOver: (values["passed"] ?? []).map(String.init))
  }
}

/// What befell a store under its feet.
public enum StoreIncident: Hashable, Sendable {
  /// It was damaged and goes on from a snapshot: what is known of it in memory is out of date.
  case restored(Restoration)
  /// Damage was met that is not in the file: it goes on as it is, and nothing is lost.
  case spared(String)
  /// It cannot go on: every call is refused from now on.
  case ended(StoreFailure)
}

/// A store that keeps snapshots of itself.
public protocol SnapshotManager: Sendable {
  /// Copies what has committed, checks the copy, and then keeps the newest `count` only. One at a time: the caller sees
  /// to it.
  ///
  /// - Throws: `StoreFailure.unavailable` when there is no room for one, or it turned out bad; what was there before
  ///   stays.
  func takeSnapshot(keeping count: Int) async throws -> StoreSnapshot
  /// Those that are there, newest first.
  func snapshots() -> [StoreSnapshot]
  /// Whether the store has been written to since its newest snapshot, before it was opened.
  var wasChangedSinceSnapshot: Bool { get }
  /// Tells of incidents from now on, on any thread.
  func watch(_ heard: @escaping @Sendable (StoreIncident) -> Void)
}
