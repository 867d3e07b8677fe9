import CSQLite
import ChimeCore
import Glibc
import Testing

@testable import ChimeStoreSQLite

/// Each system error for a file has its own sentence, with a remedy.
@Suite struct FailureSentenceTests {
  @Test(arguments: [
    (SQLITE_IOERR, ENOSPC, "the disk is full: free some space on the file system of /s/chime.db"),
    (SQLITE_FULL, 0, "the disk is full: free some space on the file system of /s/chime.db"),
    (
      SQLITE_IOERR, EDQUOT, "the disk quota is used up: free some space on the file system of /s/chime.db"
    ),
    (
      SQLITE_IOERR, EFBIG,
      "/s/chime.db may not grow further: raise the limit on the size of files (ulimit -f, LimitFSIZE=)"
    ),
    (
      SQLITE_CANTOPEN, EROFS,
      "/s/chime.db is on a read-only file system: find the reason in the kernel's log, and mount it writable"
    ),
    (SQLITE_READONLY, 0, "/s/chime.db cannot be written: make it and its folder writable (words)"),
    (SQLITE_IOERR, EIO, "/s/chime.db cannot be read or written: check its disk (words)"),
  ])
  func systemErrorHasItsSentence(_ code: Int32, _ system: Int32, _ sentence: String) {
    let failure = Connection.failure(code: code, message: "words", path: "/s/chime.db", system: system)
    guard case .unavailable(let found) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(found == sentence)
  }
}
