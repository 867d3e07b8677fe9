import ChimeControl
import FoundationEssentials

/// The photos of a report, embedded as data: URIs.
///
/// The file must stay small enough for mail: a photo of more than 2 MB is left out, and so are those beyond 8 MB in
/// total; the newest come first. The camera's metadata (place, device, time) is always removed.
enum ReportPhotos {
  typealias T = TrackersInterface

  struct Photo: Sendable, Equatable {
    /// Such as `image/jpeg`.
    var kind: String
    var base64: String

    var uri: String { "data:\(kind);base64,\(base64)" }
  }

  static let largest = 2 << 20
  static let room = 8 << 20

  static func read(into contents: inout ReportContents, _ daemon: Daemon) throws {
    let shown = names(in: contents)
    var used = 0
    for name in shown where contents.photos[name] == nil {
      guard let bytes = try bytes(name, limit: min(largest, room - used), daemon), let clean = PhotoFile.clean(bytes)
      else {
        contents.photosOmitted += 1
        continue
      }
      used += clean.bytes.count
      contents.photos[name] = Photo(kind: clean.kind.rawValue, base64: Data(clean.bytes).base64EncodedString())
    }
  }

  /// The most photos of entries that a collection shows.
  static let mostOfEntries = 24

  /// Returns the names by priority: newest milestones, then most recently used items, then newest entries.
  private static func names(in contents: ReportContents) -> [String] {
    let stones = contents.parts.flatMap(\.milestones).filter { $0.photo != nil }.sorted { $0.day > $1.day }
    let items = contents.parts.flatMap(\.items).sorted { $0.lastDay ?? "" > $1.lastDay ?? "" }
    let entries = contents.parts.flatMap { $0.entries.filter { $0.photo != nil }.prefix(mostOfEntries) }
    var seen: Set<String> = []
    return (stones.map(\.photo) + items.map(\.photo) + entries.map(\.photo)).compactMap { $0 }.filter {
      seen.insert($0).inserted
    }
  }

  /// Returns the photo's bytes; nil if it is larger or gone.
  static func bytes(_ name: String, limit: Int, _ daemon: Daemon) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    while true {
      let part: T.Photo.Reply
      do {
        part = try daemon.call(T.Photo(name: name, offset: bytes.count))
      } catch let failure as Failure where failure.status == .failed {
        return nil
      }
      guard part.total <= limit, let data = Data(base64Encoded: part.data) else { return nil }
      bytes += data
      if bytes.count >= part.total || data.isEmpty { return bytes.count == part.total ? bytes : nil }
    }
  }
}
