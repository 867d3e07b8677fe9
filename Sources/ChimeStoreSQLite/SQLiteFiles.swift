import ChimeCore
import Glibc

/// The files of one store: the database and, beside it, its log, the log's index and the lock.
struct SQLiteFiles {
  let path: String

  /// SQLite's names for the files that belong to a database (sqlite.org/tempfiles.html).
  private static let companions = ["", "-wal", "-shm"]

  var lockPath: String { path + ".lock" }

  /// - Parameter path: may be a symbolic link; what it points to counts, so that one file has one lock.
  init(path: String) {
    guard let resolved = realpath(path, nil) else {
      self.path = path
      return
    }
    defer { free(resolved) }
    self.path = String(cString: resolved)
  }

  /// Makes the database file, if there is none, for its owner's eyes only. SQLite gives its mode to the log too.
  func create() throws(StoreFailure) {
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw .unavailable("\(path) cannot be opened: make its folder, or make it writable (\(errorText(errno)))")
    }
    defer { Glibc.close(file) }
    guard fchmod(file, 0o600) == 0 else {
      throw .unavailable("\(path) cannot be kept private: see who owns it (\(errorText(errno)))")
    }
  }

  /// The size of a file in bytes; nil when there is none.
  static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Which file has the path now; nil when that cannot be told.
  var identity: FileIdentity? { try? FileIdentity.of(path).get() }

  /// Whether a log waits beside a database that is missing or empty. SQLite would delete it, and with it changes that
  /// were acknowledged.
  var hasStrayLog: Bool { (Self.size(path) ?? 0) == 0 && (Self.size(path + "-wal") ?? 0) > 0 }

  /// Gives the files a name that nobody uses, `<path>.corrupt-20260930T220305Z`, so that nothing of them is lost.
  ///
  /// - Returns: the damage, with the place.
  func moveAside(_ damage: StoreFailure) -> StoreFailure {
    guard case .corrupt(let sentence, _) = damage else { return damage }
    let wanted = "\(path).corrupt-\(Self.timestamp())"
    var place = wanted
    var number = 1
    while Self.companions.contains(where: { Self.size(place + $0) != nil }) {
      number += 1
      place = "\(wanted)-\(number)"
    }
    for companion in Self.companions where Self.size(path + companion) != nil {
      guard rename(path + companion, place + companion) == 0 else {
        return .corrupt("\(sentence); \(path + companion) could not be moved aside (\(errorText(errno)))", movedTo: nil)
      }
    }
    return .corrupt(sentence, movedTo: place)
  }

  /// Now, in UTC, in the basic format of ISO 8601.
  private static func timestamp() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// One file, whatever its name is.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

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
