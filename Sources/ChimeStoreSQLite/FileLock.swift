import ChimeCore
import Glibc

/// A FileLock is the exclusive right to a store: a lock on a file beside it, held as long as this object lives.
///
/// The kernel releases the lock when the process ends, so there is never a stale lock (flock(2)). The lock file stays.
/// Its removal would allow two daemons to lock two files with the same name.
final class FileLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// - Throws: `.held` if another process, or another store of this one, holds it; `.unavailable` if the lock file cannot
  ///   be created.
  init(path: String) throws(StoreFailure) {
    let file = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw .unavailable(
        "\(path) cannot be created: check that its folder exists and is writable (\(errorText(errno)))")
    }
    var patience = 100
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      let pid = Self.pid(in: file)
      // A daemon that was killed while it started a program still holds the lock until the child calls exec (vfork(2):
      // the child shares the parent's open files). That takes less than a second.
      if code == EWOULDBLOCK, let pid, patience > 0, kill(pid, 0) != 0, errno == ESRCH {
        patience -= 1
        usleep(10_000)
        continue
      }
      let holder = pid.map { "pid \($0)" } ?? "another process"
      Glibc.close(file)
      guard code == EWOULDBLOCK else { throw .unavailable("\(path) cannot be locked (\(errorText(code)))") }
      throw .held(by: holder)
    }
    descriptor = file
    formerNote = Self.lines(of: file).dropFirst().first
    write(note: formerNote)
  }

  /// The note of the previous holder; nil if there is none.
  let formerNote: String?

  /// Stores a note for the next holder in the second line. The first line is the holder's pid for error messages. The
  /// lock itself depends on neither.
  func write(note: String?) {
    let text = "\(getpid())\n" + (note.map { "\($0)\n" } ?? "")
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.utf8.count, 0) }
  }

  /// Unlock explicitly: a program that is being started has a copy of the descriptor until exec, and closing alone would
  /// leave the lock with that copy.
  deinit {
    _ = flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }

  /// Returns the pid of the holder according to the file.
  private static func pid(in file: Int32) -> pid_t? { lines(of: file).first.flatMap { pid_t($0) } }

  private static func lines(of file: Int32) -> [String] {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = pread(file, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// Returns the system's message for an errno.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
