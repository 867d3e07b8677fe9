package import ChimeCore

/// The JSON of the `reminders` column: a pack's reminders by key, and how they were created.
///
///     {"languages":["cs"],"made":{"drink":"r7k2"},"removed":[]}
package struct PackReminders: Codable, Hashable {
  package var made: [String: ReminderID]
  package var languages: [String]
  /// The reminders as they were when their pack was removed.
  package var removed: [Reminder]
  package var set: String?

  package init(of pack: InstalledPack) {
    (made, languages, removed, set) = (pack.reminders, pack.languages, pack.removed, pack.set)
  }
}

/// Identifies one definition of one pack.
package struct PackFingerprint: Hashable {
  var key: Int64
  var print: Int64

  /// Returns the FNV-1a hash (64 bits; Fowler, Noll, Vo), which practically never collides.
  package static func print(of text: String) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int64(bitPattern: hash)
  }
}
