import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Glibc

/// The photos of entries, items and milestones, in a folder for each owner. Each file is named by the hash of its content.
///
/// Files never change, so equal photos are stored once, and a backup may read them at any time.
struct Photos: Sendable {
  static let maxBytes = 20 << 20
  /// The time for which an unreferenced photo is kept: a day longer than a change can be undone.
  static let keptFor = TrackingChange.keptFor + .days(1)

  let folder: String

  /// The accepted image formats, detected by their first bytes.
  enum Kind: String, CaseIterable, Sendable {
    case jpeg = "jpg"
    case png
    case webp

    init?(_ bytes: some Collection<UInt8>) {
      let head = Array(bytes.prefix(12))
      if head.starts(with: [0xFF, 0xD8, 0xFF]) {
        // ITU-T T.81, B.1.1.3: SOI, and the marker that follows
        self = .jpeg
      } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
        // W3C PNG, 5.2
        self = .png
      } else if head.count == 12, head.starts(with: Array("RIFF".utf8)), head[8...].elementsEqual("WEBP".utf8) {
        // RFC 9649, 2.4
        self = .webp
      } else {
        return nil
      }
    }
  }

  /// Returns whether a text is a valid photo name. Such a name never leads out of the folder.
  static func isName(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, Kind(rawValue: String(parts[1])) != nil, parts[0].utf8.count == 64 else { return false }
    return parts[0].utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  /// Stores a photo and returns its name.
  func keep(_ bytes: [UInt8], of owner: UInt32) throws(ControlFailure) -> String {
    guard let kind = Kind(bytes) else {
      throw .invalidValue(field: "photo", "it is not a JPEG, PNG or WebP file")
    }
    guard bytes.count <= Self.maxBytes else {
      throw .limitExceeded("a photo has at most \(Self.maxBytes >> 20) MiB")
    }
    let name = "\(SHA256.digest(of: bytes)).\(kind.rawValue)"
    let path = path(name, owner)
    var status = stat()
    if stat(path, &status) == 0, Int(status.st_size) == bytes.count {
      unlink(mark(path))
      return name
    }
    do {
      try SystemFiles.makeFolder(folder(of: owner), mode: 0o700)
      try SystemFiles.replace(path, with: bytes, mode: 0o600)
    } catch {
      throw .storeUnavailable("the photo cannot be stored: \(error.reason)")
    }
    return name
  }

  /// Returns a photo's bytes from `offset` on, and its total size.
  func part(_ name: String, of owner: UInt32, from offset: Int, atMost limit: Int) throws(ControlFailure) -> (
    bytes: [UInt8], total: Int
  ) {
    func missing() -> ControlFailure { .notFound(what: "photo", id: TrackerFields.shown(name), similar: []) }
    guard Self.isName(name) else { throw missing() }
    let descriptor = open(path(name, owner), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw missing() }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw missing() }
    let total = Int(status.st_size)
    guard (0...total).contains(offset) else {
      throw .invalidValue(field: "offset", "the photo has \(total) bytes")
    }
    var bytes = [UInt8](repeating: 0, count: min(limit, total - offset))
    var have = 0
    while have < bytes.count {
      let count = bytes[have...].withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(offset + have))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .storeUnavailable("the photo cannot be read: \(SystemError("read").reason)") }
      have += count
    }
    return (bytes, total)
  }

  /// Returns the size of a photo in bytes; nil if it does not exist.
  func size(_ name: String, of owner: UInt32) -> Int? {
    var status = stat()
    guard Self.isName(name), stat(path(name, owner), &status) == 0 else { return nil }
    return Int(status.st_size)
  }

  /// The owners with photos.
  var owners: [UInt32] { SystemFiles.names(in: folder).compactMap { UInt32($0) } }

  /// Removes photos that nothing has referred to for a month, and returns their number. An unreferenced photo is first
  /// marked, and removed when the mark is old enough, so that an undo finds its photo.
  @discardableResult
  func clean(_ owner: UInt32, keeping used: Set<String>, now: Instant) -> Int {
    let folder = folder(of: owner)
    var removed = 0
    for name in SystemFiles.names(in: folder) where Self.isName(name) {
      let path = "\(folder)/\(name)"
      let mark = mark(path)
      var status = stat()
      let isMarked = stat(mark, &status) == 0
      if used.contains(name) {
        if isMarked { unlink(mark) }
      } else if !isMarked {
        let descriptor = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 {
          var times = [timespec(tv_sec: Int(now.seconds), tv_nsec: 0), timespec(tv_sec: Int(now.seconds), tv_nsec: 0)]
          futimens(descriptor, &times)
          close(descriptor)
        }
      } else if Instant(seconds: Int64(status.st_mtim.tv_sec)) + Self.keptFor < now {
        unlink(path)
        unlink(mark)
        removed += 1
      }
    }
    return removed
  }

  private func folder(of owner: UInt32) -> String { "\(folder)/\(owner)" }
  private func path(_ name: String, _ owner: UInt32) -> String { "\(folder(of: owner))/\(name)" }
  private func mark(_ path: String) -> String { "\(path).unused" }
}
