import ChimeCore
import ChimeSchedule
import FoundationEssentials
import Glibc

/// The files of one store: the database and beside it the log, the log's index and the lock.
struct SQLiteFiles: Sendable {
  let path: String

  /// The suffixes of SQLite's files for a database (sqlite.org/tempfiles.html).
  private static let companions = ["", "-wal", "-shm"]

  var lockPath: String { path + ".lock" }

  /// A copy of a snapshot that is about to become the store.
  var restoringPath: String { path + ".restoring" }

  /// Resolves symbolic links, so that each file has one lock.
  init(path: String) {
    self.path = Self.resolved(path) ?? Self.target(of: path) ?? path
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { Glibc.free(resolved) }
    return String(cString: resolved)
  }

  /// Returns the target of a link whose file is missing, as after an interrupted restoration.
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

  /// Creates the database file if it does not exist, with mode 0600. SQLite gives the log the same mode.
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

  /// Returns the state of a file; nil if it does not exist.
  static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// Returns the size of a file in bytes; nil if it does not exist.
  static func size(_ path: String) -> Int64? { status(path).map { Int64($0.st_size) } }

  /// Returns the time of the last write to a file, in seconds since the epoch; nil if it does not exist.
  private static func writtenAt(_ path: String) -> Int64? { status(path).map { Int64($0.st_mtim.tv_sec) } }

  /// The identity of the file at the path; nil if unknown.
  var identity: FileIdentity? { FileIdentity(path) }

  /// The time of the last write to the database or its log, in seconds since the epoch; nil if neither exists.
  var changedAt: Int64? { [path, path + "-wal"].compactMap(Self.writtenAt).max() }

  /// The time of the last checkpoint, in seconds since the epoch; nil if there is no database.
  var foldedAt: Int64? { Self.writtenAt(path) }

  /// The size of the database and its log in bytes.
  var bytes: Int64 { (Self.size(path) ?? 0) + (Self.size(path + "-wal") ?? 0) }

  private var isMissing: Bool { (Self.size(path) ?? 0) == 0 }

  /// Whether a log exists beside a missing or empty database. SQLite would delete it, with changes that were acknowledged.
  var hasStrayLog: Bool { isMissing && (Self.size(path + "-wal") ?? 0) > 0 }

  /// Checks the files before they are opened. A missing database is normal at the first start. Later it is an error,
  /// because an empty store must not replace a lost one.
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

  /// The latest damaged database that was moved aside.
  var latestAside: String? { allAside.max() }

  /// The damaged databases that were moved aside and still exist, oldest first.
  var allAside: [String] {
    let folder = Self.folder(of: path)
    let prefix = path.dropFirst(path.lastIndex(of: "/").map { path.distance(from: path.startIndex, to: $0) + 1 } ?? 0)
    return Self.names(in: folder).filter { name in
      name.hasPrefix(prefix + Self.asideMark) && !name.hasSuffix("-wal") && !name.hasSuffix("-shm")
    }.sorted().map { folder + "/" + $0 }
  }

  /// The unused name for damaged files, `<path>.corrupt-20260930T220305Z`, so that nothing is overwritten. If there is
  /// nothing to move it is the latest place, or nil.
  var asidePlace: String? {
    let there = presentCompanions
    if there.isEmpty { return latestAside }
    // The rest of an interrupted move goes to the same place.
    if !there.contains(""), let latestAside, there.allSatisfy({ Self.size(latestAside + $0) == nil }) {
      return latestAside
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

  /// The paths of the existing files.
  var companions: Set<String> { Set(presentCompanions.map { path + $0 }) }

  private var presentCompanions: [String] { Self.companions.filter { Self.size(path + $0) != nil } }

  /// Renames the files.
  func moveAside(to place: String?, _ step: () throws -> Void = {}) throws {
    guard let place else { return }
    // The database goes first. A start that finds only the log detects the problem; one that finds only the database
    // would take it as complete.
    for companion in presentCompanions {
      guard rename(path + companion, place + companion) == 0 else {
        throw StoreFailure.unavailable("\(path + companion) is damaged and cannot be moved aside (\(errorText(errno)))")
      }
      try step()
    }
    Self.synchronize(folder: Self.folder(of: path))
  }

  /// Returns the latest database that was moved aside, if nothing was written to the store after it.
  ///
  /// - Parameter snapshot: the time of the newest snapshot.
  func asideNewer(than snapshot: Instant?) -> String? {
    guard !hasStrayLog, let latestAside, let changedAt = SQLiteFiles(path: latestAside).changedAt else { return nil }
    return Instant(seconds: changedAt) >= snapshot ?? .earliest ? latestAside : nil
  }

  /// Renames a database that was moved aside back to the store's path.
  func putBack(_ place: String) throws(StoreFailure) {
    // The log goes first: without it SQLite would begin a new one.
    for companion in Self.companions.reversed() where Self.size(place + companion) != nil {
      guard rename(place + companion, path + companion) == 0 else {
        throw .unavailable(
          "\(place + companion) is sound but cannot be moved to \(path + companion) (\(errorText(errno)))")
      }
    }
    Self.synchronize(folder: Self.folder(of: path))
  }

  /// The identities of the database and its log as a pair; nil if there is no log.
  var logNote: String? {
    guard let database = identity, let log = FileIdentity(path + "-wal") else { return nil }
    return "\(database) \(log)"
  }

  /// Renames the log if it belongs to another database than the present one, and returns its new name. This happens if
  /// someone renamed a file over a database in use; SQLite would apply the log to the wrong file.
  ///
  /// - Parameter note: `logNote` as of the last use of the log.
  func setAsideForeignLog(_ note: String?) throws(StoreFailure) -> String? {
    let parts = note?.split(separator: " ").map(String.init) ?? []
    guard parts.count == 2, let database = identity, let log = FileIdentity(path + "-wal"),
      "\(log)" == parts[1], "\(database)" != parts[0]
    else { return nil }
    var place = "\(path).former-\(Timestamp.text(Timestamp.now))-wal"
    while Self.size(place) != nil { place += "-wal" }
    guard rename(path + "-wal", place) == 0 else {
      throw .unavailable("\(path)-wal belongs to another database and cannot be moved aside (\(errorText(errno)))")
    }
    // It is only an index of the log; SQLite recreates it.
    unlink(path + "-shm")
    Self.synchronize(folder: Self.folder(of: path))
    return place
  }

  /// Drops clean pages from the page cache, so that the next read comes from the disk. No connection may be open: closing
  /// a descriptor releases all locks of the process on the file (fcntl(2)).
  func forgetCached() {
    for companion in ["", "-wal"] {
      let file = Glibc.open(path + companion, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
      Glibc.close(file)
    }
  }

  // MARK: Files and folders

  /// Returns the names in a folder without `.` and `..`; none if it cannot be read.
  static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  /// Makes renames and removals in a folder durable. A file system without support for this is not an error.
  static func synchronize(folder: String) {
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    Glibc.close(descriptor)
  }

  /// Returns the available bytes on a folder's file system; nil if unknown. For a missing folder the nearest existing parent counts.
  static func freeSpace(at folder: String) -> Int64? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else {
      let above = Self.folder(of: folder)
      return errno == ENOENT && above != folder && above != "." ? freeSpace(at: above) : nil
    }
    return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }

  /// Copies a file with mode 0600 and syncs it. An existing `target` is replaced.
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
    try synchronize(to, target)
  }

  /// Makes the content of an open file durable.
  static func synchronize(_ file: Int32, _ path: String) throws(StoreFailure) {
    guard fsync(file) == 0 else { throw .unavailable("\(path) cannot be made durable (\(errorText(errno)))") }
  }

  /// Makes the restored copy the store.
  func takeRestored() throws(StoreFailure) {
    guard rename(restoringPath, path) == 0 else {
      throw .unavailable("\(restoringPath) cannot become the store (\(errorText(errno))): rename it to \(path)")
    }
    Self.synchronize(folder: Self.folder(of: path))
  }
}

/// The identity of a file, independent of its name.
struct FileIdentity: Hashable, Sendable, CustomStringConvertible {
  private let device: UInt64
  private let number: UInt64

  var description: String { "\(device):\(number)" }

  /// Reads the identity. If it is nil, errno gives the reason.
  init?(_ path: String) {
    guard let status = SQLiteFiles.status(path) else { return nil }
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }

  /// Returns whether the path is known to lead to another file or none. An unsearchable folder says nothing.
  func isGone(from path: String) -> Bool {
    if let found = FileIdentity(path) { return found != self }
    return errno == ENOENT || errno == ENOTDIR
  }
}
