import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Glibc
import Varlink

// Backups of someone's trackers and reminders, and restores; files in parts.
extension Desk {
  /// Whether a call is answered in parts.
  static func isStreamed(_ call: VarlinkCall) -> Bool {
    [Tracking.Backup.method, Tracking.Export.method].contains(call.method)
      || call.method == Tracking.Restore.method && call.more
  }

  func parts(of call: VarlinkCall) async throws -> any ReplyParts {
    switch call.method {
    case Tracking.Backup.method: try await backup()
    case Tracking.Export.method: try await exportEntries(call.parameters())
    case Tracking.Restore.method: try RestoreRun(call.parameters(), self)
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

  func restore(_ request: Tracking.Restore) async throws -> VarlinkReply {
    let run = try RestoreRun(request, self)
    var reply: VarlinkReply
    do {
      repeat { reply = try await run.next() } while reply.continues
    } catch {
      await run.end()
      throw error
    }
    await run.end()
    return reply
  }
}
