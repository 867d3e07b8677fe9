import ChimeControl
import ChimeCore
import ChimeDelivery
import FoundationEssentials
import Glibc
import Varlink

/// An answer in parts; asked for the next when the one before has been taken.
protocol ReplyParts: AnyObject {
  /// The last is without `continues`; to be asked for none after it.
  func next() async throws -> VarlinkReply
  /// Lets go what it has; whether or not it came to its end.
  func end() async
  /// Whether it is its owner's turn until it has come to its end. What is only read takes nobody's time.
  var keepsTurn: Bool { get }
}

extension ReplyParts {
  var keepsTurn: Bool { false }
}

/// A backup: its first line, the records that lie in a file, the photos, and the sum of it all, which is added up as it
/// leaves. Whatever it costs, it holds no more than two parts in memory.
final class BackupParts: ReplyParts {
  private enum Stage {
    case records
    case photo(Int, offset: Int)
    case over
  }

  private let records: ScratchFile
  private let photos: [String]
  private let shelf: Photos
  private let owner: UInt32
  private let partBytes: Int
  private let encoder = BackupFormat.encoder()
  private var sum: SHA256? = SHA256()
  private var pending: [UInt8]
  private var stage = Stage.records

  init(
    header: [UInt8], records: ScratchFile, photos: [String], shelf: Photos, owner: UInt32, partBytes: Int
  ) {
    (self.records, self.photos, self.shelf, self.owner, self.partBytes) = (records, photos, shelf, owner, partBytes)
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

  /// - Returns: whether there was more.
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
    let (bytes, total) = try shelf.part(name, of: owner, from: offset, atMost: BackupFormat.photoPart)
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

/// Text in parts, each of whole characters.
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
    // Not within a character: its further bytes are 10xxxxxx (RFC 3629).
    while count < pending.count, count > 0, pending[count] & 0xC0 == 0x80 { count -= 1 }
    let text = String(decoding: pending.prefix(count), as: UTF8.self)
    pending.removeFirst(count)
    return try VarlinkReply(TrackersInterface.Export.Reply(text: text), continues: !pending.isEmpty)
  }

  func end() { file.remove() }
}

/// A file without a name for anybody else, written once and read once.
final class ScratchFile: @unchecked Sendable {
  // Unchecked: made in the store's thread, and handed to the one task that reads it.
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

  /// How many bytes were written.
  func size() throws -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat \(path)") }
    return Int(status.st_size)
  }

  /// The next bytes; none at the end.
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
