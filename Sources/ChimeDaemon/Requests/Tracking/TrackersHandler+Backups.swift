import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import FoundationEssentials
import Glibc
import Varlink

/// Backs up and restores all that a user has.
extension TrackersHandler {
  /// Writes the records into a scratch file, in one read of the store. The backup is of one moment, and a slow reader does not
  /// hold the store.
  func backup(_ request: Tracking.Backup) async throws -> any ReplyParts {
    if let passphrase = request.passphrase, !SealedText.lengths.contains(passphrase.utf8.count) {
      throw ControlFailure.invalidValue(
        field: "passphrase",
        "it has \(SealedText.lengths.lowerBound) to \(SealedText.lengths.upperBound) bytes; this one has "
          + "\(passphrase.utf8.count)")
    }
    let file = try ScratchFile(loop.uploads)
    var (counts, names) = try await store.readApart { [self] transaction in
      var writer = BackupWriter { [life] in
        try life.goOn()
        try file.append($0)
      }
      try BackupRecords(of: caller.owner, in: transaction).each { try writer.put($0) }
      return (writer.counts, writer.photos.sorted())
    }
    let encoder = BackupFormat.encoder()
    for text in configurationTexts() {
      try file.append(BackupFormat.line("configuration", text, encoder)[...])
      counts.configuration += 1
    }
    if let passphrase = request.passphrase {
      let (sealed, count) = try await sealedSecrets(passphrase)
      if let sealed { try file.append(BackupFormat.line("secrets", sealed, encoder)[...]) }
      counts.secrets = count
    }
    try file.flush()
    let (photos, bytes) = photosThatAreThere(names)
    var shown = counts
    shown.photos = photos.count
    guard try file.size() + bytes / 3 * 4 + photos.count * 4_096 <= Uploads.maxBytes else {
      file.remove()
      throw ControlFailure.limitExceeded(
        "a backup has at most \(Uploads.maxBytes >> 20) MiB, and the photos make this one longer: save the folder "
          + "\(loop.photos.folder) separately, and remove photos from old entries")
    }
    let header = BackupFormat.Header(
      format: BackupFormat.format, version: BackupFormat.version, by: "chimed \(Product.version)",
      madeAt: RFC3339.format(Instant(seconds: now.seconds), in: .utc), counts: shown)
    return BackupParts(
      header: try BackupFormat.line("header", header, encoder), records: file, photos: photos,
      photoFiles: loop.photos, owner: caller.owner, partBytes: partBytes)
  }

  /// Seals the secrets of the caller's endpoints that are in files. Credentials stay with the service manager.
  private func sealedSecrets(_ passphrase: String) async throws -> (SealedText?, count: Int) {
    let queues = try await store.read { [owner = caller.owner] in try $0.endpoints(owner: owner).map(\.queue) }
    return try await Task(executorPreference: loop.requestExecutor) { [secrets] in
      let sheets = queues.compactMap { queue in
        secrets.text(of: queue).map { BackupFormat.EndpointSecrets(endpoint: queue.channel, text: $0) }
      }
      if sheets.isEmpty { return (nil, 0) }
      let plain = Array(try BackupFormat.encoder().encode(sheets))
      return (try SealedText(sealing: plain, with: passphrase), sheets.count)
    }.value
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

  // MARK: Configuration

  /// Returns the files of the configuration, for callers who see everything.
  private func configurationTexts() -> [BackupFormat.ConfigurationText] {
    guard caller.sees == nil else { return [] }
    return ConfigurationFiles.namesForBackup(at: loop.paths.configurationPath).compactMap { name, path in
      guard let bytes = try? SystemFiles.read(path, atMost: ConfigurationFiles.maxBytes) else { return nil }
      return String(validating: bytes, as: UTF8.self).map { .init(name: name, text: $0) }
    }
  }

  /// Returns the configuration files of a backup that differ from the ones here.
  func misplaced(_ files: [BackupFormat.ConfigurationText]) async -> [Tracking.ConfigurationFile] {
    guard caller.sees == nil else { return [] }
    let path = loop.paths.configurationPath
    let inForce = await loop.configuration
    let isFree = ConfigurationFiles.namesForBackup(at: path).isEmpty
    let canInstall = isFree && ConfigurationFiles.keepsStore(files.map { ($0.name, $0.text) }, inForce)
    return files.compactMap { file in
      let place = ConfigurationFiles.path(ofBackup: file.name, at: path)
      if let here = try? SystemFiles.read(place, atMost: ConfigurationFiles.maxBytes), here == Array(file.text.utf8) {
        return nil
      }
      return .init(path: place, text: file.text, canInstall: canInstall)
    }
  }

  // MARK: Photos

  /// Returns the photos that exist. A deleted photo does not fail the backup.
  private func photosThatAreThere(_ names: [String]) -> (names: [String], bytes: Int) {
    var found: (names: [String], bytes: Int) = ([], 0)
    for name in names {
      guard let size = loop.photos.size(name, of: caller.owner), size > 0 else { continue }
      found.names.append(name)
      found.bytes += size
    }
    return found
  }
}
