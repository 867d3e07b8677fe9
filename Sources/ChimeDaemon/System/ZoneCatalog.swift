import ChimeControl
import ChimeCore
package import ChimeSchedule
import Glibc
import Synchronization

/// A ZoneCatalog has the machine's time zones. It reads TZif files on demand, and again after they change.
///
/// The loop and the store's executor share it. A lock guards the table; lookups take microseconds.
package final class ZoneCatalog: ZoneSource {
  private struct Table {
    var zones: [String: Entry] = [:]
    var local = Zone.utc
    /// The file of the local zone.
    var localFile: (path: String, identity: FileIdentity)?
    /// Whether a local-time link or file exists that gives no zone.
    var localIsBroken = false
  }

  private struct Entry {
    var zone: Zone
    var identity: FileIdentity
  }

  /// The result of a refresh for the zones in use.
  struct Refreshed: Sendable {
    /// Zones whose rules changed or whose file is gone.
    var changed: Set<String> = []
    /// Zones that did not change.
    var unchanged: Set<String> = []
    /// Whether the local zone or its rules changed.
    var localChanged = false
  }

  let folder: String
  private let localLink: String
  let watch: FolderWatch?
  private let table = Mutex(Table())
  /// A zone that fails to read would look like a removed one, and its reminders would follow UTC.
  private let spare = SpareDescriptor()

  /// The maximum size in bytes; real TZif files have a few kilobytes.
  private static let maxBytes = 1 << 20

  /// Reads the local zone.
  ///
  /// - Parameters:
  ///   - folder: the folder of the TZif files.
  ///   - localLink: the link or copy that gives the local zone.
  ///   - watch: watches all folders of zones in use.
  package init(
    folder: String = "/usr/share/zoneinfo", localLink: String = "/etc/localtime", watch: FolderWatch? = nil
  ) {
    self.folder = folder
    self.localLink = localLink
    self.watch = watch
    // The folder has files for the database as a whole, which change with each release.
    watch?.add(folder)
    reload()
  }

  /// The local zone.
  package var local: Zone { table.withLock { $0.local } }

  /// The problem of the local-time link, as a sentence. A missing link is no problem and means UTC.
  var localProblem: String? {
    guard table.withLock({ $0.localIsBroken }) else { return nil }
    return "\(localLink) is not a valid time zone, so chimed uses UTC: timedatectl set-timezone sets one"
  }

  /// Returns a zone by name; nil if the machine has none of that name.
  package func zone(_ name: String) -> Zone? {
    guard Zone.isValidIdentifier(name) else { return nil }
    if let known = table.withLock({ $0.zones[name] }) { return known.zone }
    guard let entry = entry("\(folder)/\(name)", as: name) else { return nil }
    table.withLock { $0.zones[name] = entry }
    return entry.zone
  }

  /// Reads the local zone and changed files again. Returns whether the local zone changed.
  @discardableResult
  package func reload() -> Bool { refresh().localChanged }

  /// Reads changed files again, by their identities.
  func refresh() -> Refreshed {
    var result = Refreshed()
    // The folder may have been replaced.
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

  /// Returns whether the local zone was read from that file.
  func isInUse(_ path: String) -> Bool { table.withLock { $0.localFile?.path == path } }

  /// The local zone and the database's release, for comparison after a restart.
  var fingerprint: (local: String, database: String) {
    let (local, file) = table.withLock { ($0.local, $0.localFile) }
    let release = ["tzdata.zi", "+VERSION"].lazy.compactMap { [folder] in FileIdentity("\(folder)/\($0)") }.first
    return (
      "\(local.identifier) \(file.map { "\($0.identity)" } ?? "-")",
      "\(release.map { "\($0)" } ?? FileIdentity(folder).map { "\($0)" } ?? "-")"
    )
  }

  /// Returns zone names similar to a misspelled one.
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

  /// Finds the local zone as in localtime(5): the link's target below the zone folder is its name; a plain file has rules
  /// but no name; a missing file means UTC.
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
    // Get the identity before the content. A file that is replaced in between is then read again.
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
  /// Returns the index after the last occurrence of `needle`.
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
  /// Returns the path without links; nil if it does not exist.
  static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
