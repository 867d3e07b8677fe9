import Glibc
import Synchronization

/// Uploads keeps files that clients send in parts. No other user can read them, and no file name comes from a client.
///
/// Uploads do not outlive the daemon. A lock guards the table, because calls of several connections are answered concurrently.
final class Uploads: Sendable {
  /// The maximum size of a file in bytes, which is that of a backup.
  static let maxBytes = 256 << 20
  /// The maximum size of a part in bytes.
  static let maxPart = 512 << 10
  /// The maximum number of uploads for an owner.
  static let maxPerOwner = 4
  /// The time for which an upload is kept after its last part.
  static let lifetime = Duration.seconds(600)
  static let maxNameBytes = 128

  private struct Key: Hashable {
    var owner: UInt32
    var name: String
  }

  private struct Upload {
    var path: String
    var size: Int
    var touched: ContinuousClock.Instant
    /// Whether a call has used it. It may be used again, as after a trial, but is replaced first.
    var isUsed = false
  }

  private struct State {
    var uploads: [Key: Upload] = [:]
    var count = 0
  }

  let folder: String
  private let state = Mutex(State())

  init(folder: String) { self.folder = folder }

  /// Deletes files of an earlier daemon. Call it at the start.
  func removeLeftovers() {
    for name in SystemFiles.names(in: folder) { unlink("\(folder)/\(name)") }
  }

  /// Appends a part, and returns the number of bytes received. A part at offset 0 starts the upload again.
  func append(
    _ bytes: [UInt8], to name: String, of owner: UInt32, at offset: Int, now: ContinuousClock.Instant = .now
  ) throws(ControlFailure) -> Int {
    try check(name)
    guard bytes.count <= Self.maxPart else {
      throw .limitExceeded("a part has at most \(Self.maxPart) bytes; this one has \(bytes.count)")
    }
    return try state.withLock { (state) throws(ControlFailure) -> Int in
      Self.sweep(&state, now)
      let key = Key(owner: owner, name: name)
      var upload: Upload
      if let known = state.uploads[key] {
        upload = known
      } else {
        guard Self.hasRoom(&state, owner) else {
          throw .limitExceeded("uploads: \(Self.maxPerOwner) are running; use one, or wait ten minutes")
        }
        state.count += 1
        upload = Upload(path: "\(folder)/upload-\(state.count)", size: 0, touched: now)
      }
      guard offset == upload.size || offset == 0 else {
        throw .invalidValue(
          field: "offset", "\(upload.size) bytes were received: continue from there, or begin again at 0")
      }
      guard offset + bytes.count <= Self.maxBytes else {
        throw .limitExceeded("a file may have at most \(Self.maxBytes >> 20) MiB")
      }
      do throws(SystemError) {
        if state.uploads[key] == nil { try SystemFiles.makeFolder(folder, mode: 0o700) }
        try Self.write(bytes, to: upload.path, at: offset)
      } catch {
        unlink(upload.path)
        state.uploads[key] = nil
        throw .storeUnavailable("the file cannot be stored: \(error.reason)")
      }
      (upload.size, upload.touched, upload.isUsed) = (offset + bytes.count, now, false)
      state.uploads[key] = upload
      return upload.size
    }
  }

  /// Returns the path of an upload, and keeps it for ten more minutes.
  func path(of name: String, of owner: UInt32, now: ContinuousClock.Instant = .now) throws(ControlFailure) -> String {
    try state.withLock { (state) throws(ControlFailure) -> String in
      Self.sweep(&state, now)
      let key = Key(owner: owner, name: name)
      guard let upload = state.uploads[key] else {
        throw .notFound(what: "upload", id: TrackerFields.shown(name), similar: [])
      }
      state.uploads[key]?.touched = now
      state.uploads[key]?.isUsed = true
      return upload.path
    }
  }

  /// Deletes an upload that is no longer needed.
  func remove(_ name: String, of owner: UInt32) {
    state.withLock { state in
      if let upload = state.uploads.removeValue(forKey: Key(owner: owner, name: name)) { unlink(upload.path) }
    }
  }

  /// Creates a file for a streamed reply. The caller deletes it.
  func scratch() throws(SystemError) -> String {
    let path = state.withLock { state in
      state.count += 1
      return "\(folder)/scratch-\(state.count)"
    }
    try SystemFiles.makeFolder(folder, mode: 0o700)
    try Self.write([], to: path, at: 0)
    return path
  }

  /// Deletes uploads that were not used for ten minutes, and returns the number of the others.
  @discardableResult
  func sweep(now: ContinuousClock.Instant = .now) -> Int {
    state.withLock {
      Self.sweep(&$0, now)
      return $0.uploads.count
    }
  }

  /// Returns whether an owner may have another upload. The oldest used one is deleted if necessary, so that repeated
  /// trials of a file are not blocked by earlier ones.
  private static func hasRoom(_ state: inout State, _ owner: UInt32) -> Bool {
    let own = state.uploads.filter { $0.key.owner == owner }
    guard own.count >= maxPerOwner else { return true }
    guard let oldest = own.filter({ $0.value.isUsed }).min(by: { $0.value.touched < $1.value.touched }) else {
      return false
    }
    unlink(oldest.value.path)
    state.uploads[oldest.key] = nil
    return true
  }

  private static func sweep(_ state: inout State, _ now: ContinuousClock.Instant) {
    for (key, upload) in state.uploads where upload.touched + lifetime < now {
      unlink(upload.path)
      state.uploads[key] = nil
    }
  }

  private func check(_ name: String) throws(ControlFailure) {
    guard (1...Self.maxNameBytes).contains(name.utf8.count) else {
      throw .invalidValue(
        field: "upload", "give the upload a unique name of 1 to \(Self.maxNameBytes) bytes")
    }
  }

  private static func write(_ bytes: [UInt8], to path: String, at offset: Int) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (offset == 0 ? O_TRUNC : 0)
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw SystemError("create \(path)") }
    defer { close(descriptor) }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write \(path)") }
      written += count
    }
  }
}
