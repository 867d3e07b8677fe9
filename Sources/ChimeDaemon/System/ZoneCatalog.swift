import ChimeControl
package import ChimeCore
package import ChimeSchedule
import Glibc
import Synchronization

/// The time zones of the machine, read from its TZif files when they are first asked for.
///
/// Shared by the loop and the store's executor; a lock guards the table because lookups come from both and take
/// microseconds.
package final class ZoneCatalog: Sendable {
  private struct Table {
    var zones: [String: Zone] = [:]
    var local = Zone.utc
  }

  private let folder: String
  private let localLink: String
  private let table = Mutex(Table())

  /// The largest TZif file there is has a few kilobytes.
  private static let maxBytes = 1 << 20

  /// - Parameters:
  ///   - folder: where the TZif files are.
  ///   - localLink: the link (or copy) that says which zone is the machine's.
  package init(folder: String = "/usr/share/zoneinfo", localLink: String = "/etc/localtime") {
    self.folder = folder
    self.localLink = localLink
    reload()
  }

  /// The machine's zone.
  package var local: Zone { table.withLock { $0.local } }

  /// The zone of that name; nil when the machine has none.
  package func zone(_ name: String) -> Zone? {
    guard Zone.isValidIdentifier(name) else { return nil }
    if let known = table.withLock({ $0.zones[name] }) { return known }
    guard let zone = read("\(folder)/\(name)", as: name) else { return nil }
    table.withLock { $0.zones[name] = zone }
    return zone
  }

  package func zone(for choice: ZoneChoice) -> Zone? {
    switch choice {
    case .local: local
    case .named(let name): zone(name)
    }
  }

  /// Forgets what was read, and finds out anew which zone is the machine's. Returns whether that one changed.
  @discardableResult
  package func reload() -> Bool {
    let zone = findLocal()
    return table.withLock { table in
      let changed = table.local != zone
      table.zones = [:]
      table.local = zone
      return changed
    }
  }

  /// The names of zones like a misspelt one.
  package func near(_ name: String) -> [String] {
    Nearest.to(name, among: names())
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
  private func findLocal() -> Zone {
    guard let target = SystemFiles.resolved(localLink) else { return .utc }
    let name = target.range(ofLast: "/zoneinfo/").map { String(target[$0...]) }
    if let name, Zone.isValidIdentifier(name), let zone = read(target, as: name) { return zone }
    return read(target, as: "localtime") ?? .utc
  }

  private func read(_ path: String, as name: String) -> Zone? {
    guard let bytes = try? SystemFiles.read(path, atMost: Self.maxBytes) else { return nil }
    return try? Zone(identifier: name, tzif: bytes)
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
