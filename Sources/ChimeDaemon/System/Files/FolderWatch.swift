import CLinux
import Glibc
import Synchronization

/// A FolderWatch reports created, replaced and removed files in folders, by inotify(7).
///
/// Any thread adds folders and the loop reads events; a lock guards their common table. It watches folders rather than
/// files, because files are replaced by renames.
package final class FolderWatch: Sendable {
  /// Readable when there are events.
  let descriptor: Int32
  private let folders = Mutex<[Int32: String]>([:])

  package init() throws(SystemError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else { throw SystemError("inotify_init1") }
  }

  deinit { close(descriptor) }

  /// Watches a folder. Repeated calls have no effect, and a missing folder is ignored.
  package func add(_ folder: String) {
    let events =
      UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE) | UInt32(IN_CLOSE_WRITE)
      | UInt32(IN_ONLYDIR)
    // The lock is held so that no event arrives before its folder is in the table.
    folders.withLock { known in
      let watch = inotify_add_watch(descriptor, folder, events)
      if watch >= 0 { known[watch] = folder }
    }
  }

  /// Returns the paths of the files that changed since the last call. After an overflow of the kernel's queue it returns
  /// all folders instead.
  package func changes() -> Set<String> {
    var changed: Set<String> = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return changed }
      folders.withLock { known in
        var position = 0
        while position + 16 <= count {
          // struct inotify_event: wd, mask, cookie, len (each 32 bits), then the name, padded with NULs.
          let (watch, mask, length) = buffer.withUnsafeBytes { raw in
            (
              raw.loadUnaligned(fromByteOffset: position, as: Int32.self),
              raw.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self),
              Int(raw.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self))
            )
          }
          let name = buffer[(position + 16)..<min(position + 16 + length, count)].prefix { $0 != 0 }
          if mask & UInt32(IN_Q_OVERFLOW) != 0 {
            changed.formUnion(known.values)
          } else if mask & UInt32(IN_IGNORED) != 0 {
            // The folder itself was removed.
            if let folder = known.removeValue(forKey: watch) { changed.insert(folder) }
          } else if let folder = known[watch] {
            changed.insert("\(folder)/\(String(decoding: name, as: UTF8.self))")
          }
          position += 16 + length
        }
      }
    }
  }
}
