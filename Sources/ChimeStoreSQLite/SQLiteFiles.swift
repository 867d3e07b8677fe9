import ChimeCore
import ChimeSchedule
import Glibc

/// The files of one store: the database and, beside it, its log, the log's index and the lock.
struct SQLiteFiles: Sendable {
  let path: String

  /// SQLite's names for the files that belong to a database (sqlite.org/tempfiles.html).
  private static let companions = ["", "-wal", "-shm"]

  var lockPath: String { path + ".lock" }

  /// A snapshot on its way to become the store.
  var restoringPath: String { path + ".restoring" }

  /// - Parameter path: may be a symbolic link; what it points to counts, so that one file has one lock.
  init(path: String) {
    self.path = Self.resolved(path) ?? Self.target(of: path) ?? path
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { Glibc.free(resolved) }
    return String(cString: resolved)
  }

  /// Where a link points whose file is missing: a restoration may have been interrupted.
  private static func target(of link: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return target.hasPrefix("/") ? target : folder(of: link) + "/" + target
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Makes the database file, if there is none, for its owner's eyes only. SQLite gives its mode to the log too.
  func create() throws(StoreFailure) {
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw .unavailable("\(path) cannot be opened: create its folder, or make it writable (\(errorText(errno)))")
    }
    defer { Glibc.close(file) }
    guard fchmod(file, 0o600) == 0 else {
      throw .unavailable("\(path) cannot be made private: check its owner (\(errorText(errno)))")
    }
  }

  /// The size of a file in bytes; nil when there is none.
  static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Which file has the path now; nil when that cannot be told.
  var identity: FileIdentity? { try? FileIdentity.of(path).get() }

  /// When the database or its log was written last, in seconds since the epoch; nil when there is neither.
  var changedAt: Int64? {
    [path, path + "-wal"].compactMap { file in
      var status = stat()
      return stat(file, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
    }.max()
  }

  /// When the log was last folded into the database, in seconds since the epoch; nil when there is none.
  var foldedAt: Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil
  }

  /// The bytes of the database and its log.
  var bytes: Int64 { (Self.size(path) ?? 0) + (Self.size(path + "-wal") ?? 0) }

  private var isMissing: Bool { (Self.size(path) ?? 0) == 0 }

  /// Whether a log waits beside a database that is missing or empty. SQLite would delete it, and with it changes that
  /// were acknowledged.
  var hasStrayLog: Bool { isMissing && (Self.size(path + "-wal") ?? 0) > 0 }

  /// What is wrong with the files as they lie there, before they are opened. A database that is not there is nothing
  /// wrong the first time; later it is, or an empty store would take the place of a lost one.
  func examine(_ snapshots: SnapshotFolder) throws(StoreFailure) {
    if hasStrayLog { throw .corrupt("\(path) is empty although its log is not", movedTo: nil) }
    guard isMissing else { return }
    if !snapshots.items.isEmpty {
      throw .corrupt("\(path) is missing although there are snapshots of it", movedTo: latestAside)
    }
    if let latestAside {
      throw .corrupt("\(path) is missing, and a damaged one was moved aside before", movedTo: latestAside)
    }
  }

  private static let asideMark = ".corrupt-"

  /// The damaged database that was moved aside last.
  var latestAside: String? { allAside.max() }

  /// The damaged databases that were moved aside and not taken away, oldest first.
  var allAside: [String] {
    let folder = Self.folder(of: path)
    let prefix = path.dropFirst(path.lastIndex(of: "/").map { path.distance(from: path.startIndex, to: $0) + 1 } ?? 0)
    return Self.names(in: folder).filter { name in
      name.hasPrefix(prefix + Self.asideMark) && !name.hasSuffix("-wal") && !name.hasSuffix("-shm")
    }.sorted().map { folder + "/" + $0 }
  }

  /// Where damaged files go: a name that nobody uses, `<path>.corrupt-20260930T220305Z`, so that nothing of them is
  /// lost. Nil when there is nothing to move, and nothing was moved before.
  var asidePlace: String? {
    let there = presentCompanions
    return there.isEmpty ? latestAside : asidePlace(for: there)
  }

  /// Its files that are there, by their paths.
  var companions: Set<String> { Set(presentCompanions.map { path + $0 }) }

  private var presentCompanions: [String] { Self.companions.filter { Self.size(path + $0) != nil } }

  /// Gives the files their new name.
  func moveAside(to place: String?, _ step: (RestoreStep) throws -> Void = { _ in }) throws {
    guard let place else { return }
    // The database first: a start that finds the log alone knows that something is wrong, one that finds the database
    // alone would take it for whole.
    for companion in presentCompanions {
      guard rename(path + companion, place + companion) == 0 else {
        throw StoreFailure.unavailable("\(path + companion) is damaged and cannot be moved aside (\(errorText(errno)))")
      }
      try step(.movedAside)
    }
    Self.synchronize(folder: Self.folder(of: path))
  }

  /// The database that was moved aside last, if nothing of the store was written after it.
  ///
  /// - Parameter snapshot: when the newest snapshot was taken.
  func asideNewer(than snapshot: Instant?) -> String? {
    guard !hasStrayLog, let latestAside, let changedAt = SQLiteFiles(path: latestAside).changedAt else { return nil }
    return Instant(seconds: changedAt) >= snapshot ?? .earliest ? latestAside : nil
  }

  /// Gives a database that was moved aside its name again.
  func putBack(_ place: String) throws(StoreFailure) {
    // The log first: SQLite would begin another for a database without its own.
    for companion in Self.companions.reversed() where Self.size(place + companion) != nil {
      guard rename(place + companion, path + companion) == 0 else {
        throw .unavailable(
          "\(place + companion) is sound but cannot be moved to \(path + companion) (\(errorText(errno)))")
      }
    }
    Self.synchronize(folder: Self.folder(of: path))
  }

  /// Which database and which log belong together; nil while there is no log.
  var logNote: String? {
    guard let database = identity, let log = try? FileIdentity.of(path + "-wal").get() else { return nil }
    return "\(database) \(log)"
  }

  /// Gives the log another name when it is known to be another database's than the one that is there now: somebody has
  /// renamed a file over the one that was in use, and SQLite would write into it what belongs to the other.
  ///
  /// - Parameter note: what `logNote` was as the log was last used.
  /// - Returns: its new name.
  func setAsideForeignLog(_ note: String?) throws(StoreFailure) -> String? {
    let parts = note?.split(separator: " ").map(String.init) ?? []
    guard parts.count == 2, let database = identity, let log = try? FileIdentity.of(path + "-wal").get(),
      "\(log)" == parts[1], "\(database)" != parts[0]
    else { return nil }
    var place = "\(path).former-\(Timestamp.text(Timestamp.now))-wal"
    while Self.size(place) != nil { place += "-wal" }
    guard rename(path + "-wal", place) == 0 else {
      throw .unavailable("\(path)-wal belongs to another database and cannot be moved aside (\(errorText(errno)))")
    }
    // Only an index of the log, made anew at need.
    unlink(path + "-shm")
    Self.synchronize(folder: Self.folder(of: path))
    return place
  }

  /// Has what is read next come from the disk, where the system keeps no changed page of it. No connection may be open: a
  /// descriptor that is closed takes the locks of all with it (fcntl(2)).
  func forgetCached() {
    for companion in ["", "-wal"] {
      let file = Glibc.open(path + companion, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
      Glibc.close(file)
    }
  }

  private func asidePlace(for companions: [String]) -> String {
    // What an interrupted move has left behind goes where the rest is.
    if !companions.contains(""), let place = latestAside, companions.allSatisfy({ Self.size(place + $0) == nil }) {
      return place
    }
    let wanted = path + Self.asideMark + Timestamp.text(Timestamp.now)
    var place = wanted
    var number = 1
    while Self.companions.contains(where: { Self.size(place + $0) != nil }) {
      number += 1
      place = "\(wanted)-\(number)"
    }
    return place
  }

  // Files and folders.

  /// The names in a folder, without `.` and `..`; none when it cannot be read.
  static func names(in folder: String) -> [String] {
    guard let handle = opendir(folder) else { return [] }
    defer { closedir(handle) }
    var names: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Makes what was renamed and removed in a folder durable. A file system that cannot is no reason to refuse.
  static func synchronize(folder: String) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    Glibc.close(descriptor)
  }

  /// The bytes that are free to us on the file system of a folder.
  static func free(at folder: String) -> Int64 { freeSpace(at: folder) ?? .max }

  /// The same; of a folder that is yet to be made, where it will be. Nil when it cannot be told.
  static func freeSpace(at folder: String) -> Int64? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else {
      let above = Self.folder(of: folder)
      return errno == ENOENT && above != folder && above != "." ? freeSpace(at: above) : nil
    }
    return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }

  /// Copies a file whole, for its owner's eyes only, and makes its bytes durable. What was at `target` is replaced.
  static func copy(_ source: String, to target: String) throws(StoreFailure) {
    let from = Glibc.open(source, O_RDONLY | O_CLOEXEC)
    guard from >= 0 else { throw .unavailable("\(source) cannot be read (\(errorText(errno)))") }
    defer { Glibc.close(from) }
    unlink(target)
    let to = Glibc.open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard to >= 0 else { throw .unavailable("\(target) cannot be created (\(errorText(errno)))") }
    defer { Glibc.close(to) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = read(from, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unavailable("\(source) cannot be read (\(errorText(errno)))") }
      if count == 0 { break }
      var written = 0
      while written < count {
        let part = buffer[written..<count].withUnsafeBytes { write(to, $0.baseAddress, $0.count) }
        if part < 0, errno == EINTR { continue }
        guard part > 0 else { throw .unavailable("\(target) cannot be written (\(errorText(errno)))") }
        written += part
      }
    }
    guard fsync(to) == 0 else { throw .unavailable("\(target) cannot be made durable (\(errorText(errno)))") }
  }
}

/// One file, whatever its name is.
struct FileIdentity: Hashable, Sendable, CustomStringConvertible {
  private let device: UInt64
  private let number: UInt64

  var description: String { "\(device):\(number)" }

  struct Unknown: Error {
    /// errno of stat(2).
    let code: Int32
  }

  static func of(_ path: String) -> Result<FileIdentity, Unknown> {
    var status = stat()
    guard stat(path, &status) == 0 else { return .failure(Unknown(code: errno)) }
    return .success(FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)))
  }

  /// Whether the path is known to lead elsewhere, or nowhere. A folder that may not be searched tells nothing.
  func isGone(from path: String) -> Bool {
    switch Self.of(path) {
    case .success(let found): found != self
    case .failure(let unknown): unknown.code == ENOENT || unknown.code == ENOTDIR
    }
  }
}
