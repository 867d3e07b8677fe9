public import ChimeSchedule

/// A StoreSnapshot is a consistent copy of a store, in a file beside it.
public struct StoreSnapshot: Hashable, Sendable {
  /// When it was taken, by the clock at that time.
  public var takenAt: Instant
  public var path: String
  public var bytes: Int64
  /// The schema version that an upgrade was about to change; nil for a regular snapshot.
  public var beforeUpgradeFrom: Int?

  public init(takenAt: Instant, path: String, bytes: Int64, beforeUpgradeFrom: Int? = nil) {
    self.takenAt = takenAt
    self.path = path
    self.bytes = bytes
    self.beforeUpgradeFrom = beforeUpgradeFrom
  }
}

/// A Restoration records that a damaged store was replaced by its newest good snapshot.
public struct Restoration: Hashable, Sendable {
  public var at: Instant
  /// When the snapshot was taken. Later changes are lost.
  public var snapshotTakenAt: Instant
  /// The snapshot's file; empty if the store was salvaged from its own file.
  public var snapshotPath: String
  /// Where the damaged file was moved; nil if there was none left.
  public var damagedPath: String?
  /// The damage, as a sentence.
  public var reason: String
  /// Newer snapshots that were damaged too.
  public var rejected: [String]

  public init(
    at: Instant, snapshotTakenAt: Instant, snapshotPath: String, damagedPath: String?, reason: String,
    rejected: [String] = []
  ) {
    self.at = at
    self.snapshotTakenAt = snapshotTakenAt
    self.snapshotPath = snapshotPath
    self.damagedPath = damagedPath
    self.reason = reason
    self.rejected = rejected
  }

  /// Whether nothing is lost. A snapshot of the same second may lack what came after it.
  public var isWhole: Bool { snapshotPath.isEmpty && snapshotTakenAt >= at }

  /// The name of the store's note that holds its latest restoration.
  public static let note = "restoration"

  /// The text form for the store's note, one line per value. `init(text:)` reads it back.
  public var text: String {
    var lines = [
      "at \(at.milliseconds)", "snapshot \(snapshotTakenAt.milliseconds) \(snapshotPath.isEmpty ? "-" : snapshotPath)",
    ]
    if let damagedPath { lines.append("damaged \(damagedPath)") }
    lines.append("reason \(reason)")
    lines += rejected.map { "passed \($0)" }
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
      rejected: (values["passed"] ?? []).map(String.init))
  }
}

/// A StoreIncident reports damage to an open store.
public enum StoreIncident: Hashable, Sendable {
  /// The store was restored from a snapshot: everything in memory about it is out of date.
  case restored(Restoration)
  /// The damage was not in the file: the store goes on, and nothing is lost.
  case spared(String)
  /// The store cannot go on and refuses every call from now on.
  case ended(StoreFailure)
}

/// A SnapshotManager takes and keeps snapshots of its store.
public protocol SnapshotManager: Sendable {
  /// Copies what has committed, checks the copy, and removes all but the newest `count` snapshots.
  ///
  /// The caller ensures that only one call runs at a time.
  ///
  /// - Throws: `StoreFailure.unavailable` if the disk is full or the copy is bad; earlier snapshots stay.
  func takeSnapshot(keeping count: Int) async throws -> StoreSnapshot
  /// Returns the existing snapshots, newest first.
  func snapshots() -> [StoreSnapshot]
  /// Whether the store was written after its newest snapshot and before this program opened it.
  var wasChangedSinceSnapshot: Bool { get }
  /// Reports incidents from now on, on any thread.
  func watch(_ handler: @escaping @Sendable (StoreIncident) -> Void)
}
