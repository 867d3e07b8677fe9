import ChimeCore
import Glibc

/// The secrets of endpoints: one file of mode 0600 each, in a folder of mode 0700 within the state folder.
///
/// A secret is read from and written to these files and nowhere else: it is in no log, no answer, no store.
struct Secrets: Sendable {
  let folder: String

  func read(_ lane: Lane) -> String? {
    guard let bytes = try? SystemFiles.read(path(lane), atMost: 1_024) else { return nil }
    return String(decoding: bytes, as: UTF8.self).trimmed
  }

  func write(_ secret: String, for lane: Lane) throws(SystemError) {
    try SystemFiles.makeFolder(folder, mode: 0o700)
    try SystemFiles.replace(path(lane), with: Array((secret + "\n").utf8), mode: 0o600)
  }

  func remove(_ lane: Lane) { unlink(path(lane)) }

  // Endpoint names are made of letters, digits and `. _ -`, and begin with none of these.
  private func path(_ lane: Lane) -> String { "\(folder)/\(lane.owner)-\(lane.channel)" }
}

extension String {
  /// Without white space at either end.
  var trimmed: String {
    var rest = self[...]
    while let first = rest.first, first.isWhitespace { rest.removeFirst() }
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest)
  }
}
