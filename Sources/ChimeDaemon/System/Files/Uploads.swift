import ChimeCore
import Glibc
import Synchronization

/// Files that clients send in parts, for as long as it takes: each a file without a name of the client's, which nobody else
/// may read.
///
/// Nothing of it outlives the daemon. The lock is between the calls of several connections, which are answered one beside
/// the other.
final class Uploads: Sendable {
  /// The longest file, as long as a backup may be.
  static let maxBytes = 256 << 20
  /// The longest part.
  static let maxPart = 512 << 10
  /// How many an owner may have under way.
  static let maxPerOwner = 4
  /// How long one is kept after its last part.
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
    /// Whether a call has looked at it: it may be wanted once more, as after a trial, and makes way for others.
    var isUsed = false
  }

  private struct State {
    var uploads: [Key: Upload] = [:]
    var count = 0
  }

  let folder: String
  private let state = Mutex(State())

  init(folder: String) { self.folder = folder }

  /// Takes away what an earlier daemon left. For a start, before anybody asks.
  func removeLeftovers() {
    for name in SystemFiles.names(in: folder) { unlink("\(folder)/\(name)") }
  }

  /// Appends a part; one at the offset 0 begins anew.
  ///
  /// - Returns: how many bytes there are since.
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

  /// Where an upload lies. It is there for ten minutes more.
  func path(of name: String, of owner: UInt32, now: ContinuousClock.Instant = .now) throws(ControlFailure) -> String {
    try state.withLock { (state) throws(ControlFailure) -> String in
      Self.sweep(&state, now)
      let key = Key(owner: owner, name: name)
      guard let upload = state.uploads[key] else {
        throw .notFound(what: "upload", id: TrackerFields.shown(name), near: [])
      }
      state.uploads[key]?.touched = now
      state.uploads[key]?.isUsed = true
      return upload.path
    }
  }

  /// Lets one go that has been used.
  func remove(_ name: String, of owner: UInt32) {
    state.withLock { state in
      if let upload = state.uploads.removeValue(forKey: Key(owner: owner, name: name)) { unlink(upload.path) }
    }
  }

  /// A new file of the daemon's own, for what is sent in parts; the caller removes it.
  func scratch() throws(SystemError) -> String {
    let path = state.withLock { state in
      state.count += 1
      return "\(folder)/scratch-\(state.count)"
    }
    try SystemFiles.makeFolder(folder, mode: 0o700)
    try Self.write([], to: path, at: 0)
    return path
  }

  /// Lets go what nobody has asked for in ten minutes.
  ///
  /// - Returns: how many are left.
  @discardableResult
  func sweep(now: ContinuousClock.Instant = .now) -> Int {
    state.withLock {
      Self.sweep(&$0, now)
      return $0.uploads.count
    }
  }

  /// Whether an owner may have one more. One that was used makes way, that of longest ago first: whoever tries a file again
  /// and again is not kept waiting by the trials.
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
