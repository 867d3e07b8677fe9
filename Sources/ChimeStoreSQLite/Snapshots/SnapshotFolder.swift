import ChimeCore
import ChimeSchedule
import FoundationEssentials
import Glibc

/// The folder of a store's snapshots, and their file names.
///
///     /var/lib/chime/chime.db
///     /var/lib/chime/snapshots/chime-00017-20261122T030000Z.db
///     /var/lib/chime/snapshots/chime-00018-20261129T113000Z-before-upgrade-from-2.db
///
/// The number gives the order, so that a step of the clock cannot make an old snapshot the newest.
struct SnapshotFolder: Sendable {
  let path: String
  private let stem: String

  init(beside database: String) {
    let slash = database.lastIndex(of: "/")
    let folder = slash.map { String(database[..<$0]) } ?? "."
    let name = slash.map { String(database[database.index(after: $0)...]) } ?? database
    path = folder + "/snapshots"
    stem = name.hasSuffix(".db") && name.utf8.count > 3 ? String(name.dropLast(3)) : name
  }

  /// The snapshots, newest first.
  var items: [StoreSnapshot] { names.compactMap(numbered).sorted { $0.number > $1.number }.map(\.snapshot) }

  /// The names of all snapshots, with the unfinished and damaged ones.
  private var names: [String] { SQLiteFiles.names(in: path).filter { $0.hasPrefix(stem + "-") } }

  private func numbered(_ name: String) -> (number: Int, snapshot: StoreSnapshot)? {
    guard name.hasSuffix(".db") else { return nil }
    let parts = name.dropFirst(stem.utf8.count + 1).dropLast(3)
      .split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].utf8.count >= 5, let number = Int(parts[0]), number >= 0,
      let seconds = Timestamp.seconds(String(parts[1]))
    else { return nil }
    var upgrade: Int?
    if parts.count == 3 {
      guard parts[2].hasPrefix(Self.upgradeMark), let version = Int(parts[2].dropFirst(Self.upgradeMark.utf8.count))
      else { return nil }
      upgrade = version
    }
    let file = path + "/" + name
    guard let bytes = SQLiteFiles.size(file) else { return nil }
    return (
      number,
      StoreSnapshot(takenAt: Instant(seconds: seconds), path: file, bytes: bytes, beforeUpgradeFrom: upgrade)
    )
  }

  private static let upgradeMark = "before-upgrade-from-"

  /// The suffix of an unfinished snapshot. After a crash, the next start removes it.
  static let unfinished = ".new"
  /// The suffix of a snapshot that proved damaged during a restoration. It is kept for a person and otherwise ignored.
  private static let damaged = ".damaged"

  /// Returns the path of the next snapshot.
  func next(at seconds: Int64, beforeUpgradeFrom version: Int?) -> String {
    // Damaged snapshots keep their numbers.
    let last = names.compactMap { Int($0.dropFirst(stem.utf8.count + 1).prefix { $0.isNumber }) }.max()
    let digits = String((last ?? 0) + 1)
    let number = String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits
    let upgrade = version.map { "-\(Self.upgradeMark)\($0)" } ?? ""
    return "\(path)/\(stem)-\(number)-\(Timestamp.text(seconds))\(upgrade).db"
  }

  /// Creates the folder with mode 0700.
  func make() throws(StoreFailure) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .unavailable("\(path) cannot be created (\(errorText(errno)))")
    }
    guard chmod(path, 0o700) == 0 else {
      throw .unavailable("\(path) cannot be made private: check its owner (\(errorText(errno)))")
    }
  }

  /// Removes unfinished snapshots after a crash.
  func sweep() {
    for name in names where name.contains(".db" + Self.unfinished) { unlink(path + "/" + name) }
  }

  /// Removes all but the newest `count` snapshots, and keeps the newest one from before an upgrade as well.
  func prune(keeping count: Int) {
    let items = items
    let spared = items.first { $0.beforeUpgradeFrom != nil }
    var removed = false
    for item in items.filter({ $0 != spared }).dropFirst(max(1, count)) {
      removed = unlink(item.path) == 0 || removed
    }
    if removed { SQLiteFiles.synchronize(folder: path) }
  }

  /// The snapshots that proved damaged during a restoration.
  var allDamaged: [String] {
    names.filter { $0.hasSuffix(".db" + Self.damaged) }.sorted().map { path + "/" + $0 }
  }

  /// Renames a damaged snapshot so that it is ignored.
  func setAside(_ item: StoreSnapshot) {
    if rename(item.path, item.path + Self.damaged) == 0 { SQLiteFiles.synchronize(folder: path) }
  }
}

/// Timestamps in file names: UTC in the basic format of ISO 8601, such as `20261122T030000Z`.
enum Timestamp {
  private static let format = Date.ISO8601FormatStyle().dateSeparator(.omitted).timeSeparator(.omitted)

  static var now: Int64 { Int64(time(nil)) }

  static func text(_ seconds: Int64) -> String { format.format(Date(timeIntervalSince1970: Double(seconds))) }

  /// Parses a timestamp. Returns nil for any text that `text` does not produce.
  static func seconds(_ text: String) -> Int64? {
    guard let date = try? format.parse(text) else { return nil }
    let seconds = Int64(date.timeIntervalSince1970)
    return self.text(seconds) == text ? seconds : nil
  }
}
