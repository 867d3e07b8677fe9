import ChimeControl
import FoundationEssentials

/// The photos of a report: within the file, as data: URIs, so that nothing has to be fetched to see them.
///
/// The file has to stay one that can be sent by mail: a photo of more than 2 MB, and what goes beyond 8 MB in all, is left
/// out; the newest come first. What a camera wrote into a photo (the place, the device, the time) is left out always.
enum ReportPhotos {
  typealias T = TrackersInterface

  struct Photo: Sendable, Equatable {
    /// `image/jpeg`
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
        contents.photosLeftOut += 1
        continue
      }
      used += clean.bytes.count
      contents.photos[name] = Photo(kind: clean.kind.rawValue, base64: Data(clean.bytes).base64EncodedString())
    }
  }

  /// How many photos of entries a collection shows.
  static let mostOfEntries = 24

  /// Milestones first, the newest of them; then items, those that were used last before others; then entries, the newest.
  private static func names(in contents: ReportContents) -> [String] {
    let stones = contents.parts.flatMap(\.milestones).filter { $0.photo != nil }.sorted { $0.day > $1.day }
    let items = contents.parts.flatMap(\.items).sorted { $0.lastDay ?? "" > $1.lastDay ?? "" }
    let entries = contents.parts.flatMap { $0.entries.filter { $0.photo != nil }.prefix(mostOfEntries) }
    var seen: Set<String> = []
    return (stones.map(\.photo) + items.map(\.photo) + entries.map(\.photo)).compactMap { $0 }.filter {
      seen.insert($0).inserted
    }
  }

  /// nil for one that is larger, or gone.
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
