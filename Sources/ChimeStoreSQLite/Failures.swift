import CSQLite
import ChimeCore
import Glibc

// Translates SQLite's result codes (sqlite.org/rescode.html) into advice for an operator.
extension Connection {
  /// Returns the failure for the latest call, which returned `code`.
  func failure(_ code: Int32) -> StoreFailure {
    Self.failure(
      code: code, message: String(cString: sqlite3_errmsg(handle)), path: path, system: sqlite3_system_errno(handle))
  }

  /// Returns the failure for a result code. `system` is the errno of a failed file operation.
  static func failure(code: Int32, message: String, path: String, system: Int32) -> StoreFailure {
    let isAboutFiles = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
    // SQLite reports a full disk for the database and the log only, not for the log's index.
    switch isAboutFiles ? system : 0 {
    case ENOSPC: return failure(code: SQLITE_FULL, message: message, path: path, system: 0)
    case EDQUOT: return .unavailable("the disk quota is used up: free some space on the file system of \(path)")
    case EFBIG:
      return .unavailable("\(path) may not grow further: raise the limit on the size of files (ulimit -f, LimitFSIZE=)")
    case EROFS:
      return .unavailable(
        "\(path) is on a read-only file system: find the reason in the kernel's log, and mount it writable")
    default: break
    }
    return switch code & 0xFF {
    case SQLITE_FULL:
      .unavailable("the disk is full: free some space on the file system of \(path)")
    case SQLITE_READONLY:
      .unavailable("\(path) cannot be written: make it and its folder writable (\(message))")
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      .unavailable("\(path) cannot be opened: check that its folder exists and is writable (\(message))")
    case SQLITE_IOERR:
      .unavailable("\(path) cannot be read or written: check its disk (\(message))")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      .unavailable("another program has locked \(path): end it, or wait until it is done")
    case SQLITE_NOMEM:
      .unavailable("there is not enough memory to use \(path): end other programs, or raise the limit")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      .corrupt("\(path) is damaged (\(message))", movedTo: nil)
    // SQLite reports a plain error for an impossible number in the header: no format is higher than 4
    // (sqlite.org/fileformat2.html, "Schema format number").
    case SQLITE_ERROR where message == "unsupported file format":
      .corrupt("\(path) is damaged (\(message))", movedTo: nil)
    default:
      .internalError("SQLite refused a statement on \(path): \(message) (code \(code))")
    }
  }
}
