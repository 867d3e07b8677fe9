import ChimeControl
import ChimeCore
package import ChimeSchedule
import Glibc
import Synchronization

/// The time zones of the machine, read from its TZif files when they are first asked for, and anew when those change.
///
/// Shared by the loop and the store's executor; a lock guards the table because lookups come from both and take
/// microseconds.
package final class ZoneCatalog: ZoneSource {
  private struct Table {
    var zones: [String: Entry] = [:]
    var local = Zone.utc
    /// The file that the machine's zone was read from.
    var localFile: (path: String, identity: FileIdentity)?
    /// Whether there is a link (or file) that gives no zone.
    var localIsBroken = false
  }

  private struct Entry {
    var zone: Zone
    var identity: FileIdentity
  }

  /// What became of the zones that were in use.
  struct Refreshed: Sendable {
    /// Those whose rules are others now, or whose file is gone.
    var changed: Set<String> = []
    /// Those that are as they were.
    var unchanged: Set<String> = []
    /// Whether the machine's zone is another, or has other rules.
    var localChanged = false
  }

  let folder: String
  private let localLink: String
  let watch: FolderWatch?
  private let table = Mutex(Table())
  /// A zone that cannot be read would be taken for one that the machine has lost, and its reminders would follow UTC.
  private let spare = SpareDescriptor()

  /// The largest TZif file there is has a few kilobytes.
  private static let maxBytes = 1 << 20

  /// - Parameters:
  ///   - folder: where the TZif files are.
  ///   - localLink: the link (or copy) that says which zone is the machine's.
  ///   - watch: is told of every folder that a zone in use was read from.
  package init(
    folder: String = "/usr/share/zoneinfo", localLink: String = "/etc/localtime", watch: FolderWatch? = nil
  ) {
    self.folder = folder
    self.localLink = localLink
    self.watch = watch
    // The database as a whole has files of its own there, which change with each of its releases.
    watch?.add(folder)
    reload()
  }

  /// The machine's zone.
  package var local: Zone { table.withLock { $0.local } }

  /// What is wrong with the link that says which zone is the machine's, as a sentence. No link at all is no problem: that
  /// is how a machine says UTC.
  var localProblem: String? {
    guard table.withLock({ $0.localIsBroken }) else { return nil }
    return "\(localLink) is not a valid time zone, so chimed uses UTC: timedatectl set-timezone sets one"
  }

  /// The zone of that name; nil when the machine has none.
  package func zone(_ name: String) -> Zone? {
    guard Zone.isValidIdentifier(name) else { return nil }
    if let known = table.withLock({ $0.zones[name] }) { return known.zone }
    guard let entry = entry("\(folder)/\(name)", as: name) else { return nil }
    table.withLock { $0.zones[name] = entry }
    return entry.zone
  }

  /// Finds out anew which zone is the machine's, and reads again what has changed on disk. Returns whether the machine's
  /// zone changed.
  @discardableResult
  package func reload() -> Bool { refresh().localChanged }

  /// Reads again what has changed on disk, by the files' identities.
  func refresh() -> Refreshed {
    var result = Refreshed()
    // The folder may be another one since.
    watch?.add(folder)
    let (local, file) = findLocal()
    var status = stat()
    let isBroken = file == nil && lstat(localLink, &status) == 0
    let known = table.withLock { $0.zones }
    var fresh: [String: Entry] = [:]
    for (name, old) in known {
      let path = "\(folder)/\(name)"
      let entry = FileIdentity(path) == old.identity ? old : self.entry(path, as: name)
      fresh[name] = entry
      // A file that was replaced by an equal one changes nothing.
      if entry?.zone == old.zone { result.unchanged.insert(name) } else { result.changed.insert(name) }
    }
    table.withLock { table in
      result.localChanged = table.local != local
      table.local = local
      table.localFile = file
      table.localIsBroken = isBroken
      for name in known.keys { table.zones[name] = fresh[name] }
    }
    return result
  }

  /// Whether the machine's zone was read from that file.
  func isInUse(_ path: String) -> Bool { table.withLock { $0.localFile?.path == path } }

  /// What tells the machine's zone, and the database's release, from another after a restart.
  var fingerprint: (local: String, database: String) {
    let (local, file) = table.withLock { ($0.local, $0.localFile) }
    let release = ["tzdata.zi", "+VERSION"].lazy.compactMap { [folder] in FileIdentity("\(folder)/\($0)") }.first
    return (
      "\(local.identifier) \(file.map { "\($0.identity)" } ?? "-")",
      "\(release.map { "\($0)" } ?? FileIdentity(folder).map { "\($0)" } ?? "-")"
    )
  }

  /// The names of zones like a misspelt one.
  package func near(_ name: String) -> [String] {
    SpellingSuggestions.to(name, among: names())
  }

  private func names() -> [String] {
    var result: [String] = []
    var folders = [""]
    while let prefix = folders.popLast() {
      for entry in SystemFiles.names(in: "\(folder)/\(prefix)") {
        let name = prefix + entry
        var status = stat()
        guard Zone.isValidIdentifier(name), entry != "posix", entry != "right", stat("\(folder)/\(name)", &status) == 0
        else { continue }
        if status.st_mode & S_IFMT == S_IFDIR {
          if prefix.filter({ $0 == "/" }).count < 2 { folders.append(name + "/") }
        } else {
          result.append(name)
        }
      }
    }
    return result
  }

  /// As localtime(5) has it: the link's target below the zone folder names the zone; a plain file has rules and no
  /// name; nothing at all is UTC.
  private func findLocal() -> (Zone, (path: String, identity: FileIdentity)?) {
    guard let target = SystemFiles.resolved(localLink) else { return (.utc, nil) }
    let name = target.range(ofLast: "/zoneinfo/").map { String(target[$0...]) }
    if let known = table.withLock({ $0.localFile?.path == target ? ($0.local, $0.localFile) : nil }),
      let identity = known.1?.identity, FileIdentity(target) == identity
    {
      return known
    }
    var found: Entry?
    if let name, Zone.isValidIdentifier(name) { found = entry(target, as: name) }
    found = found ?? entry(target, as: "localtime")
    guard let found else { return (.utc, nil) }
    return (found.zone, (target, found.identity))
  }

  private func entry(_ path: String, as name: String) -> Entry? {
    if let slash = path.lastIndex(of: "/") { watch?.add(String(path[..<slash])) }
    // The identity first: a file that is replaced in between is read once more, and not taken for the one before.
    guard let identity = FileIdentity(path),
      let bytes = try? spare.whenNoneIsLeft({ () throws(SystemError) in
        try SystemFiles.read(path, atMost: Self.maxBytes)
      }),
      let zone = try? Zone(identifier: name, tzif: bytes)
    else { return nil }
    return Entry(zone: zone, identity: identity)
  }
}

extension String {
  /// The index behind the last place where `needle` stands.
  fileprivate func range(ofLast needle: String) -> String.Index? {
    var index = endIndex
    while index > startIndex {
      index = self.index(before: index)
      if self[index...].hasPrefix(needle) { return self.index(index, offsetBy: needle.count) }
    }
    return nil
  }
}

extension SystemFiles {
  /// The path without links; nil when there is nothing.
  static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
