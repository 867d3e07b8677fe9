import ChimeControl
import ChimeSchedule
import ChimeWords
import Glibc
import Synchronization

/// Reads time zone rules from the system's zoneinfo, as the C library does, and caches them.
///
/// A lock guards the cache, because schedules look up zones through a closure that may run on any thread.
final class ZoneFiles: Sendable {
  private let environment: [String: String]
  private let localLink: String
  private let known = Mutex<[String: Zone]>([:])

  /// - Parameter localLink: the link to the machine's zone; nil means CHIME_LOCALTIME, which the daemon honors too, or
  ///   /etc/localtime.
  init(environment: [String: String], localLink: String? = nil) {
    self.environment = environment
    self.localLink = localLink ?? environment["CHIME_LOCALTIME"] ?? "/etc/localtime"
  }

  private var directory: String {
    environment["TZDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/usr/share/zoneinfo"
  }

  /// Returns the zone of that name; `local` is the machine's.
  func zone(_ name: String) throws -> Zone {
    if let zone = known.withLock({ $0[name] }) { return zone }
    let zone = name == "local" ? try local() : try named(name)
    known.withLock { if $0.count < 1_000 { $0[name] = zone } }
    return zone
  }

  /// Returns what a schedule may refer to without a daemon: all zones, the given location, and no calendars.
  func scheduleContext(in zone: Zone, at place: Place?) -> ScheduleContext {
    var scheduleContext = ScheduleContext(
      zone: zone, place: place, zones: { name in name == "local" ? nil : try? self.zone(name) })
    scheduleContext.language = SpokenLanguage(tag: PreferredLanguages(environment: environment).first)
    return scheduleContext
  }

  /// Returns the zone of TZ, else of the machine.
  private func local() throws -> Zone {
    if let variable = environment["TZ"] {
      let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
      if name.isEmpty { return .utc }
      if name.hasPrefix("/") { return try read(name, as: Self.identifier(of: name) ?? "local") }
      if Zone.isValidIdentifier(name), let zone = try? named(name) { return zone }
      if let zone = Self.zone(posix: name) { return zone }
      throw Failure.failed(localized("TZ names an unknown time zone: \"%1\"", name))
        .saying("TZ names an unknown time zone: \"\(name)\"")
    }
    guard access(localLink, F_OK) == 0 else { return .utc }
    return try read(localLink, as: Self.identifier(ofLink: localLink) ?? "local")
  }

  private func named(_ name: String) throws -> Zone {
    let unknown = localized("there is no time zone \"%1\"", name)
    let said = "there is no time zone \"\(name)\""
    guard Zone.isValidIdentifier(name) else {
      throw Failure.usage(unknown, hint: localized("time zones have names such as Europe/Prague or UTC")).saying(said)
    }
    let path = "\(directory)/\(name)"
    guard access(path, F_OK) == 0 else {
      if name == "UTC" { return .utc }
      let near = near(name)
      let hint =
        SpellingSuggestions.question(near)
        ?? localized("time zones have names such as Europe/Prague; `timedatectl list-timezones` lists them")
      var failure = Failure.usage(unknown, hint: hint).saying(said)
      failure.suggestion = near.first
      throw failure
    }
    return try read(path, as: name)
  }

  private func read(_ path: String, as identifier: String) throws -> Zone {
    guard let bytes = Files.read(path, limit: Zone.maximumFileSize) else {
      throw Failure.system(localized("cannot read the time zone file %1", path), errno: errno)
        .saying("cannot read the time zone file \(path)")
    }
    do {
      return try Zone(identifier: identifier, tzif: bytes)
    } catch {
      throw Failure.failed(
        localized("cannot read the time zone file %1: %2", path, localizedServerMessage(error.message))
      )
      .saying("cannot read the time zone file \(path): \(error.message)")
    }
  }

  /// Returns zones with similar names: in the same region, or with a similar last part in any region.
  private func near(_ name: String) -> [String] {
    let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
    let regions = Files.entries(directory).filter { $0.first?.isUppercase == true }
    if parts.count == 2 {
      let region = regions.contains(parts[0]) ? parts[0] : SpellingSuggestions.to(parts[0], among: regions).first
      guard let region else { return [] }
      let cities = Files.entries("\(directory)/\(region)")
      return SpellingSuggestions.to(parts[1], among: cities).map { "\(region)/\($0)" }
    }
    let wanted = name.lowercased()
    for region in regions {
      let cities = Files.entries("\(directory)/\(region)")
      if let city = cities.first(where: { $0.lowercased() == wanted }) {
        return ["\(region)/\(city)"]
      }
    }
    return SpellingSuggestions.to(name, among: regions)
  }

  /// Returns the zone name to which a link such as /etc/localtime points.
  private static func identifier(ofLink path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { raw in
      raw.baseAddress.map { readlink(path, $0.assumingMemoryBound(to: CChar.self), raw.count) } ?? -1
    }
    guard count > 0 else { return nil }
    return identifier(of: String(decoding: buffer.prefix(count), as: UTF8.self))
  }

  /// Returns `Europe/Prague` for `/usr/share/zoneinfo/Europe/Prague`.
  static func identifier(of path: String) -> String? {
    let parts = path.split(separator: "/").map(String.init)
    guard let root = parts.lastIndex(where: { $0.hasPrefix("zoneinfo") }) else { return nil }
    var rest = parts[(root + 1)...]
    if rest.first == "posix" || rest.first == "right" { rest.removeFirst() }
    let name = rest.joined(separator: "/")
    return Zone.isValidIdentifier(name) ? name : nil
  }

  /// Returns the zone of a POSIX TZ string such as `CET-1CEST,M3.5.0,M10.5.0/3`, by way of a TZif file with only a footer.
  static func zone(posix text: String) -> Zone? {
    guard text.utf8.count <= 100, !text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return nil }
    // The magic, version 2, and 15 unused bytes; then six counts: one type and four bytes of abbreviation.
    let head: [UInt8] = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
    let counts: [UInt8] = [0, 0, 0, 0, 1, 4].flatMap { [0, 0, 0, $0] }
    let block: [UInt8] = head + counts + [0, 0, 0, 0, 0, 0] + Array("-00\0".utf8)
    return try? Zone(identifier: "local", tzif: block + block + Array("\n\(text)\n".utf8))
  }
}
