import CSQLite
import ChimeCore

// What SQLite's result codes mean to someone who runs Chime (sqlite.org/rescode.html).
extension Connection {
  /// The failure of the latest call that returned `code`.
  func failure(_ code: Int32) -> StoreFailure {
    Self.failure(code: code, message: lastMessage, path: path)
  }

  static func failure(code: Int32, message: String, path: String) -> StoreFailure {
    switch code & 0xFF {
    case SQLITE_FULL:
      .unavailable("the disk is full: free some space on the file system of \(path)")
    case SQLITE_READONLY:
      .unavailable("\(path) cannot be written: make it and its folder writable (\(message))")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      .unavailable("\(path) cannot be opened: see that its folder exists and may be written (\(message))")
    case SQLITE_IOERR:
      .unavailable("\(path) cannot be read or written: see the state of its disk (\(message))")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      .unavailable("another program has locked \(path): end it, or wait until it is done")
    case SQLITE_NOMEM:
      .unavailable("there was not enough memory to use \(path): end other programs, or raise the limit")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      .corrupt("\(path) is damaged (\(message))", movedTo: nil)
    default:
      .internalError("SQLite refused a statement on \(path): \(message) (code \(code))")
    }
  }
}
