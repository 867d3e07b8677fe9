import ChimeCore

import ChimeTracking

/// A BackupWriter writes records line by line, and counts them.
struct BackupWriter {
  private(set) var counts = BackupFormat.Counts()
  /// The names of all photos that the records refer to.
  private(set) var photos: Set<String> = []
  private let encoder = BackupFormat.encoder()
  private let write: (ArraySlice<UInt8>) throws -> Void

  init(_ write: @escaping (ArraySlice<UInt8>) throws -> Void) { self.write = write }

  mutating func put(_ record: BackupRecord) throws {
    switch record {
    case .tracker(let tracker): try put("tracker", tracker, \.trackers)
    case .item(let item): try put("item", item, \.items, item.photo)
    case .milestone(let milestone): try put("milestone", milestone, \.milestones, milestone.photo)
    case .entry(let entry): try put("entry", BackupFormat.EntryLine(entry), \.entries, entry.photo)
    case .judged(let tracker, let day, let goal):
      try put("judged", BackupFormat.Judged(tracker: tracker, day: day, goal: goal))
    case .pack(let pack): try put("pack", pack, \.packs)
    case .progress(let progress): try put("progress", progress, progress.unlockedAt == nil ? nil : \.unlocks)
    case .experience(let pack, let points):
      try put("experience", BackupFormat.Experience(pack: pack, points: points))
    case .reminder(let reminder): try put("reminder", reminder, \.reminders)
    case .endpoint(let endpoint): try put("endpoint", endpoint, \.endpoints)
    case .occurrence(let occurrence): try put("occurrence", occurrence, \.occurrences)
    case .ping(let ping, let reminder):
      try put("ping", BackupFormat.PingLine(reminder: reminder, ping: ping), \.pings)
    }
  }

  private mutating func put(
    _ name: String, _ value: some Encodable, _ count: WritableKeyPath<BackupFormat.Counts, Int>? = nil,
    _ photo: String? = nil
  ) throws {
    try write(BackupFormat.line(name, value, encoder)[...])
    if let count { counts[keyPath: count] += 1 }
    if let photo { photos.insert(photo) }
  }
}
