import ChimeCore
import ChimeSchedule
import Glibc

// A restoration replaces a damaged store by the newest good snapshot and overwrites nothing.
//
// After an interruption at any step, the next start resumes: until the damaged database is renamed it is found damaged
// again. After that it is missing although there are snapshots, which counts as damage too. Only the last rename makes
// the copy the store.
extension Opening {
  /// Restores the store.
  ///
  /// - Throws: `.corrupt` with the path of the damaged files if there is no good snapshot; `.unavailable` if a good one
  ///   cannot be put in place; the damaged files are then unchanged.
  func restore(after damage: String) throws -> Restoration {
    var rejected: [String] = []
    guard let chosen = try newestGood(&rejected) else {
      let place = files.asidePlace
      try files.moveAside(to: place, restoreStep)
      throw StoreFailure.corrupt(
        ([damage] + rejected).joined(separator: "; ") + "; there is no usable snapshot of it", movedTo: place)
    }
    try restoreStep()
    progress("the store is damaged; restoring the snapshot of \(Self.time(chosen.takenAt))")
    let place = files.asidePlace
    let restoration = Restoration(
      at: Instant(seconds: Timestamp.now), snapshotTakenAt: chosen.takenAt,
      snapshotPath: chosen.path, damagedPath: place, reason: damage, rejected: rejected)
    try copy(chosen)
    remember(restoration)
    try restoreStep()
    try files.moveAside(to: place, restoreStep)
    try restoreStep()
    try files.takeRestored()
    return restoration
  }

  private func newestGood(_ rejected: inout [String]) throws -> StoreSnapshot? {
    for item in folder.items {
      progress("the store is damaged; checking the snapshot of \(Self.time(item.takenAt))")
      do {
        guard let fault = try Self.fault(of: item.path) else { return item }
        rejected.append("the snapshot \(item.path) is damaged too (\(fault))")
        folder.setAside(item)
      } catch let failure as StoreFailure {
        // The snapshot may be good: a newer program's, or temporarily unreadable.
        rejected.append("the snapshot \(item.path) cannot be used: \(failure)")
      }
    }
    return nil
  }

  /// Returns the fault of a snapshot; nil if it is a sound store that this program can read.
  private static func fault(of path: String) throws -> String? {
    do {
      let connection = try Self.connect(path)
      try Self.requireOurs(connection)
      if try Schema.version(of: connection) == 0 { return "it is empty" }
      return try Self.fault(of: connection, .quick)
    } catch StoreFailure.corrupt(let sentence, _) {
      return sentence
    }
  }

  private func copy(_ chosen: StoreSnapshot) throws {
    do {
      try SQLiteFiles.copy(chosen.path, to: files.restoringPath)
    } catch {
      // If there is no space for a copy, the snapshot itself becomes the store.
      unlink(files.restoringPath)
      guard rename(chosen.path, files.restoringPath) == 0 else { throw error }
      SQLiteFiles.synchronize(folder: folder.path)
    }
    SQLiteFiles.synchronize(folder: SQLiteFiles.folder(of: files.path))
  }

  /// Records the restoration in the store for later daemons. If there is no space for that, only the log has it.
  func remember(_ restoration: Restoration) {
    guard let connection = try? Self.connect(files.restoringPath) else { return }
    // A log would be left behind when the copy becomes the store.
    connection.setCheckpointOnClose(true)
    try? connection.run(
      "INSERT OR REPLACE INTO note (name, value) VALUES (?, ?)", Restoration.note, restoration.text)
  }

  static func time(_ instant: Instant) -> String { Timestamp.text(instant.milliseconds / 1_000) }
}
