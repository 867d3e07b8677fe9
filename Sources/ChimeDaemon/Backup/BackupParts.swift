import ChimeControl
import ChimeDelivery
import FoundationEssentials
import Glibc
import Varlink

/// The parts of a streamed reply. The next part is requested when the client has taken the previous one.
protocol ReplyParts: AnyObject {
  /// Returns the next part. The last one has no `continues`; no call may follow it.
  func next() async throws -> VarlinkReply
  /// Releases the resources, whether or not the last part was reached.
  func end() async
  /// Whether the reply occupies its owner's turn until it ends. Replies that only read do not.
  var keepsTurn: Bool { get }
}

extension ReplyParts {
  var keepsTurn: Bool { false }
}

/// A BackupParts streams a backup: the header, the records from a file, the photos, and the checksum, which is computed
/// on the way. It keeps at most two parts in memory.
final class BackupParts: ReplyParts {
  /// The stages of a backup, in their order.
  private enum Stage {
    case records
    case photo(Int, offset: Int)
    case over
  }

  private let records: ScratchFile
  private let photos: [String]
  private let photoFiles: Photos
  private let owner: UInt32
  private let partBytes: Int
  private let encoder = BackupFormat.encoder()
  private var sum: SHA256? = SHA256()
  private var pending: [UInt8]
  private var stage = Stage.records

  init(
    header: [UInt8], records: ScratchFile, photos: [String], photoFiles: Photos, owner: UInt32, partBytes: Int
  ) {
    (self.records, self.photos, self.photoFiles, self.owner, self.partBytes) = (
      records, photos, photoFiles, owner, partBytes
    )
    pending = header
    sum?.add(header)
  }

  func next() throws -> VarlinkReply {
    while pending.count <= partBytes, try addMore() {}
    let part = pending.prefix(partBytes)
    pending.removeFirst(part.count)
    return try VarlinkReply(
      TrackersInterface.Backup.Reply(data: Data(part).base64EncodedString()), continues: !isOver || !pending.isEmpty)
  }

  func end() { records.remove() }

  private var isOver: Bool { if case .over = stage { true } else { false } }

  /// Adds more bytes. Returns false at the end.
  private func addMore() throws -> Bool {
    switch stage {
    case .records:
      let bytes = try records.read(atMost: 1 << 18)
      if bytes.isEmpty { stage = .photo(0, offset: 0) } else { add(bytes) }
    case .photo(let index, let offset):
      guard index < photos.count else {
        guard let last = sum.take()?.finish() else { return false }
        pending += try BackupFormat.line("sum", BackupFormat.Sum(sha256: last), encoder)
        stage = .over
        return true
      }
      try addPhoto(index, offset)
    case .over: return false
    }
    return true
  }

  private func addPhoto(_ index: Int, _ offset: Int) throws {
    let name = photos[index]
    let (bytes, total) = try photoFiles.part(name, of: owner, from: offset, atMost: BackupFormat.photoPart)
    if offset == 0 { add(try BackupFormat.line("photo", BackupFormat.PhotoHead(name: name, bytes: total), encoder)) }
    let part = BackupFormat.PhotoPart(name: name, offset: offset, data: Data(bytes).base64EncodedString())
    add(try BackupFormat.line("part", part, encoder))
    let end = offset + bytes.count
    stage = end < total ? .photo(index, offset: end) : .photo(index + 1, offset: 0)
  }

  private func add(_ bytes: [UInt8]) {
    sum?.add(bytes)
    pending += bytes
  }
}

/// A TextParts streams a text in parts of whole characters.
final class TextParts: ReplyParts {
  private let file: ScratchFile
  private let partBytes: Int
  private var pending: [UInt8] = []

  init(_ file: ScratchFile, partBytes: Int) { (self.file, self.partBytes) = (file, partBytes) }

  func next() throws -> VarlinkReply {
    while pending.count <= partBytes {
      let bytes = try file.read(atMost: 1 << 18)
      if bytes.isEmpty { break }
      pending += bytes
    }
    var count = min(partBytes, pending.count)
    // Do not split a character: its continuation bytes are 10xxxxxx (RFC 3629).
    while count < pending.count, count > 0, pending[count] & 0xC0 == 0x80 { count -= 1 }
    let text = String(decoding: pending.prefix(count), as: UTF8.self)
    pending.removeFirst(count)
    return try VarlinkReply(TrackersInterface.Export.Reply(text: text), continues: !pending.isEmpty)
  }

  func end() { file.remove() }
}

/// A ScratchFile is a private temporary file that is written once and read once.
final class ScratchFile: @unchecked Sendable {
  // `@unchecked Sendable`: the store's thread creates it and hands it to the single task that reads it.
  private let descriptor: Int32
  private let path: String
  private var offset = 0
  private var unwritten: [UInt8] = []

  init(_ uploads: Uploads) throws {
    path = try uploads.scratch()
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
  }

  deinit { remove() }

  private var isOpen = true

  func append(_ bytes: ArraySlice<UInt8>) throws {
    unwritten += bytes
    if unwritten.count >= 1 << 18 { try flush() }
  }

  func flush() throws {
    var written = 0
    while written < unwritten.count {
      let count = unwritten[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw ControlFailure.storeUnavailable(
          "the data to send cannot be written beside the store: \(SystemError("write").reason)")
      }
      written += count
    }
    unwritten.removeAll(keepingCapacity: true)
  }

  /// Returns the number of bytes written.
  func size() throws -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat \(path)") }
    return Int(status.st_size)
  }

  /// Returns the next bytes; none at the end.
  func read(atMost limit: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    while true {
      let count = pread(descriptor, &bytes, limit, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ControlFailure.storeUnavailable("the data to send cannot be read: \(SystemError("read").reason)")
      }
      offset += count
      return Array(bytes.prefix(count))
    }
  }

  func remove() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
    unlink(path)
  }
}
