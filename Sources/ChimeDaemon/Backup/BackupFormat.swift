import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking
import FoundationEssentials

/// The format of a backup: UTF-8 lines, each ended by a line feed and each a JSON object with one member, whose name is
/// the kind of the line.
///
///     {"header":{"by":"chimed 1.0","counts":{…},"format":"chime-backup","madeAt":"2026-12-01T09:00:00Z","version":1}}
///     {"tracker":{…}}
///     {"entry":{"at":"2026-11-30T08:00:00.000Z","day":"2026-11-30","minute":540,"quantity":4000000000,"tracker":"water"}}
///     …
///     {"sum":{"sha256":"…"}}
///
/// The last line has the SHA-256 of all bytes before it. A backup contains no uid and no key of the store.
enum BackupFormat {
  static let format = "chime-backup"
  static let version = 1
  /// The maximum length of a line in bytes: a part of a photo in base64, or a pack of 512 KiB as JSON.
  static let maxLine = 4 << 20
  static let maxNesting = 24
  /// The number of a photo's bytes in one line.
  static let photoPart = 384 << 10
  static let maxEntries = 2_000_000

  struct Header: Codable, Hashable {
    var format: String
    var version: Int
    var by: String
    var madeAt: String
    var counts: Counts
  }

  struct Counts: Codable, Hashable, Sendable {
    var trackers = 0
    var entries = 0
    var items = 0
    var milestones = 0
    var packs = 0
    var unlocks = 0
    var photos = 0
    var reminders = 0
    var endpoints = 0
    var occurrences = 0
    var pings = 0
    var secrets = 0
    var configuration = 0
  }

  /// An entry without its id and owner.
  struct EntryLine: Codable, Hashable, Sendable {
    var tracker: TrackerID
    var at: String
    var day: CivilDate
    var minute: Int
    var quantity: Quantity?
    var fields: [String: Quantity]?
    var item: ItemID?
    var note: String?
    var photo: String?

    init(_ entry: Entry) {
      tracker = entry.tracker
      at = RFC3339.format(entry.at, in: .utc)
      (day, minute, quantity) = (entry.day, entry.minute, entry.quantity)
      fields = entry.fields.isEmpty ? nil : entry.fields
      (item, note, photo) = (entry.item, entry.note, entry.photo)
    }
  }

  /// The goal by which a day was evaluated, if it differs from the tracker's.
  struct Judged: Codable, Hashable, Sendable {
    var tracker: TrackerID
    var day: CivilDate
    var goal: Goal?
  }

  struct Experience: Codable, Hashable, Sendable {
    var pack: PackID
    var points: Int
  }

  /// A ping with the reminder that expects it.
  struct PingLine: Codable, Hashable, Sendable {
    var reminder: ReminderID
    var ping: Ping
  }

  /// A configuration file by its name: `chimed.toml`, or `chimed.toml.d/NAME.toml`.
  struct ConfigurationText: Codable, Hashable, Sendable {
    var name: String
    var text: String
  }

  /// The secrets of an endpoint. The backup contains a sealed list of these.
  struct EndpointSecrets: Codable, Hashable, Sendable {
    var endpoint: ChannelName
    var text: String
  }

  struct PhotoHead: Codable, Hashable {
    var name: String
    var bytes: Int
  }

  struct PhotoPart: Codable, Hashable {
    var name: String
    var offset: Int
    var data: String
  }

  struct Sum: Codable, Hashable { var sha256: String }

  /// A decoded line, of which one member is set.
  struct Line: Decodable {
    var header: Header?
    var tracker: Tracker?
    var item: Item?
    var milestone: Milestone?
    var entry: EntryLine?
    var judged: Judged?
    var pack: InstalledPack?
    var progress: AchievementProgress?
    var experience: Experience?
    var reminder: Reminder?
    var endpoint: Endpoint?
    var occurrence: Occurrence?
    var ping: PingLine?
    var configuration: ConfigurationText?
    var secrets: SealedText?
    var photo: PhotoHead?
    var part: PhotoPart?
    var sum: Sum?
  }

  static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Encodes one line with its line feed.
  static func line(_ name: String, _ value: some Encodable, _ encoder: JSONEncoder) throws -> [UInt8] {
    Array(try encoder.encode([name: value])) + [UInt8(ascii: "\n")]
  }
}
