import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Glibc
import Varlink

// Backups of someone's trackers and reminders; files in parts.
extension Desk {
  /// Whether a call is answered in parts.
  static func isStreamed(_ method: String) -> Bool {
    method == Tracking.Backup.method || method == Tracking.Export.method
  }

  func parts(of call: VarlinkCall) async throws -> any ReplyParts {
    switch call.method {
    case Tracking.Backup.method: try await backup()
    case Tracking.Export.method: try await exportEntries(call.parameters())
    default: throw ServiceError.methodNotImplemented(method: call.method)
    }
  }

  /// Has the records written into a file beside the store, in one reading of it, so that they are of one moment however long
  /// the reader takes, and the store is held for as long as writing takes and no longer.
  private func backup() async throws -> any ReplyParts {
    let file = try ScratchFile(loop.uploads)
    let (counts, names) = try await store.readApart { [self] transaction in
      let records = BackupRecords(transaction: transaction, owner: caller.owner) { [life] in
        try life.goOn()
        try file.append($0)
      }
      let all = try records.all()
      try file.flush()
      return all
    }
    let (photos, bytes) = photosThatAreThere(names)
    var shown = counts
    shown.photos = photos.count
    guard try file.size() + bytes / 3 * 4 + photos.count * 4_096 <= Uploads.maxBytes else {
      file.remove()
      throw ControlFailure.limitExceeded(
        "a backup has at most \(Uploads.maxBytes >> 20) MiB, and the photos make this one longer: keep the folder "
          + "\(loop.photos.folder) by itself, and take photos from old entries")
    }
    let header = BackupFormat.Header(
      format: BackupFormat.format, version: BackupFormat.version, by: "chimed \(Product.version)",
      madeAt: RFC3339.format(Instant(seconds: now.seconds), in: .utc), counts: shown)
    return BackupParts(
      header: try BackupFormat.line("header", header, BackupFormat.encoder()), records: file, photos: photos,
      shelf: loop.photos, owner: caller.owner, partBytes: partBytes)
  }

  /// A photo that somebody has deleted from the folder keeps nobody from a backup of the rest.
  private func photosThatAreThere(_ names: [String]) -> (names: [String], bytes: Int) {
    var found: (names: [String], bytes: Int) = ([], 0)
    for name in names {
      guard let size = loop.photos.size(name, of: caller.owner), size > 0 else { continue }
      found.names.append(name)
      found.bytes += size
    }
    return found
  }

  func restore(_ request: Tracking.Restore.Parameters) async throws -> Tracking.Restore.Reply {
    let path = try loop.uploads.path(of: request.upload, of: caller.owner)
    let contents = try BackupReader.read(path) { [fields] in
      try fields.judge($0)
      try fields.requireBoundedSearch($0)
    }
    let counts = contents.counts
    let reply = Tracking.Restore.Reply(
      contents: Tracking.Contents(
        trackers: counts.trackers, entries: counts.entries, items: counts.items, milestones: counts.milestones,
        packs: counts.packs, unlocks: counts.unlocks, photos: counts.photos, reminders: counts.reminders,
        madeAt: contents.madeAt.map { wire.time($0) }))
    guard request.dryRun != true else { return reply }
    for photo in contents.photos { try keep(photo, from: path) }
    try await commit { [self] transaction in
      var generator = PooledRandom()
      let (outcome, reminders) = try TrackingRestore(tracking(transaction)).run(contents, using: &generator)
      let told = TrackingNotices.of(
        outcome, owner: caller.owner, saying: "restored: \(counts.trackers) trackers, \(counts.entries) entries")
      return ((), told + reminders)
    }
    loop.uploads.remove(request.upload, of: caller.owner)
    return reply
  }

  private func keep(_ photo: BackupContents.Photo, from path: String) throws {
    guard loop.photos.size(photo.name, of: caller.owner) != photo.bytes else { return }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw ControlFailure.storeUnavailable("the upload is gone: send it again") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    for range in photo.lines {
      var line = [UInt8](repeating: 0, count: range.count)
      var have = 0
      while have < line.count {
        let count = line[have...].withUnsafeMutableBytes {
          pread(descriptor, $0.baseAddress, $0.count, off_t(range.lowerBound + have))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw ControlFailure.storeUnavailable("the upload cannot be read: send it again") }
        have += count
      }
      bytes += try BackupReader.photoPart(line)
    }
    guard try loop.photos.keep(bytes, of: caller.owner) == photo.name else {
      throw ControlFailure.conflict("the upload has changed since it was judged: send it again")
    }
  }
}
