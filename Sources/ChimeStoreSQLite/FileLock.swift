import ChimeCore
import Glibc

/// The right to a store's file: a lock on a file beside it, held as long as this object lives.
///
/// The kernel lets go of it when the process ends, however it ends, so there is nothing stale to clean up (flock(2)).
/// The lock file stays: to remove it would let two daemons lock two files of one name.
final class FileLock: Sendable {
  private let descriptor: Int32

  /// - Throws: `.held` when another process, or another store of this one, has it; `.unavailable` when the lock file
  ///   cannot be made.
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
      // A daemon that was killed while it started a program has the lock until that program begins (vfork(2): the child
      // has all its parent's files up to exec). A second is more than that takes.
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

  /// What the holder before this one has noted; nil when it has noted nothing.
  let formerNote: String?

  /// Keeps a line in the file, for whoever has the lock next. The first line is who holds it, for the sentence that a second
  /// daemon ends with; the lock depends on neither.
  func write(note: String?) {
    let text = "\(getpid())\n" + (note.map { "\($0)\n" } ?? "")
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.utf8.count, 0) }
  }

  /// Closing alone lets go only when the last copy is closed, and a program that is being started has one up to its exec.
  deinit {
    _ = flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }

  /// Who wrote that it has the lock.
  private static func pid(in file: Int32) -> pid_t? { lines(of: file).first.flatMap { pid_t($0) } }

  private static func lines(of file: Int32) -> [String] {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = pread(file, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// The system's words for an error number.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
