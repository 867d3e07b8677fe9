import ChimeControl
import Glibc

/// A configuration with the origin of each value.
package struct LoadedConfiguration: Hashable, Sendable {
  package var configuration = Configuration()
  /// The file and line of each key; keys with default values are absent.
  package var origins: [String: String] = [:]
  /// The files that were read, in order.
  package var files: [String] = []

  package init() {}

  /// All keys as TOML, each with its origin.
  package var text: String {
    var result = "# " + (files.isEmpty ? "No file was read: all defaults." : "Read: " + files.joined(separator: ", "))
    var table = ""
    for key in TOMLKey<Configuration>.all {
      let parts = key.path.split(separator: ".", maxSplits: 1).map(String.init)
      if parts[0] != table {
        table = parts[0]
        result += "\n\n[\(table)]"
      }
      result += "\n" + line("\(parts[1]) = \(key.show(configuration) ?? "")", from: key.path)
    }
    for (name, source) in configuration.calendars.sorted(by: { $0.key < $1.key }) {
      result += "\n" + line("\(name) = \(source.text)", from: "\(ConfigurationFiles.calendars).\(name)")
    }
    for line in commandTables + tenantTables { result += "\n" + line }
    return result + "\n"
  }
}

/// Finds, reads and validates the configuration files.
package enum ConfigurationFiles {
  /// The maximum size of a configuration file in bytes.
  static let maxBytes = 1 << 20

  /// Reads `path`, which may be missing unless `isRequired`, and then `path.d/*.toml` in the order of names.
  ///
  /// - Throws: `ConfigurationError` for the first fault, with its location.
  package static func load(path: String, isRequired: Bool) throws(ConfigurationError) -> LoadedConfiguration {
    var loaded = LoadedConfiguration()
    var paths: [String] = []
    if access(path, F_OK) == 0 || isRequired { paths.append(path) }
    paths += SystemFiles.names(in: path + ".d").filter { $0.hasSuffix(".toml") }.sorted().map { "\(path).d/\($0)" }
    for file in paths {
      let bytes: [UInt8]
      do {
        bytes = try SystemFiles.read(file, atMost: maxBytes)
      } catch {
        throw ConfigurationError(file: file, line: nil, column: nil, message: "cannot be read: \(error.reason)")
      }
      try apply(bytes, file: file, to: &loaded)
      loaded.files.append(file)
    }
    try checkWhole(loaded)
    return loaded
  }

  /// Applies one file over the values so far.
  package static func apply(_ bytes: [UInt8], file: String, to loaded: inout LoadedConfiguration)
    throws(ConfigurationError)
  {
    let entries = try TOMLDocument.entries(bytes, file: file)
    var elements: [String: [TOMLEntry]] = [:]
    for entry in entries {
      if let array = entry.array { elements[array, default: []].append(entry) }
    }
    for entry in entries where !entry.path.isEmpty && entry.array == nil {
      if TOMLKey.tables.contains(entry.path) {
        if entry.value == .table { continue }
        throw entry.refusal(file, "\(entry.path) must be a table, [\(entry.path)]; found \(entry.value.kind)")
      }
      if entry.path.hasPrefix(calendars + "."), entry.path != HolidayCountry.key.path {
        try applyCalendar(entry, elements: elements[entry.path] ?? [], file: file, to: &loaded)
        continue
      }
      if entry.path.hasPrefix(commands + "."), entry.path != TOMLKey.commandSwitch.path {
        try applyCommand(entry, elements: elements[entry.path] ?? [], file: file, to: &loaded)
        continue
      }
      if entry.path.hasPrefix(tenants + ".") {
        try applyTenant(entry, elements: elements[entry.path] ?? [], file: file, to: &loaded)
        continue
      }
      guard let key = TOMLKey.byPath[entry.path] else {
        throw entry.refusal(file, unknown(entry.path), atKey: true)
      }
      let value = entry.whole(elements[entry.path] ?? [])
      guard key.set(&loaded.configuration, value) else {
        if key.path == HolidayCountry.key.path, let parts = HolidayCountry.otherParts(value) {
          throw entry.refusal(file, "\(key.path): \(parts)")
        }
        throw entry.refusal(file, "\(key.path) must be \(key.expected); found \(shown(value))")
      }
      loaded.origins[key.path] = "\(file):\(entry.line)"
    }
  }

  /// Checks dependencies between keys after all files are read, because they may be in different files.
  package static func checkWhole(_ loaded: LoadedConfiguration) throws(ConfigurationError) {
    try checkCommands(loaded)
    try checkStore(loaded)
    try checkHeartbeat(loaded)
    let (latitude, longitude) = (loaded.configuration.latitude, loaded.configuration.longitude)
    guard (latitude == nil) != (longitude == nil) else { return }
    let (given, missing) =
      latitude == nil ? ("place.longitude", "place.latitude") : ("place.latitude", "place.longitude")
    throw ConfigurationError(
      file: loaded.origins[given] ?? "", line: nil, column: nil, message: "\(given) needs \(missing)")
  }

  static func shown(_ value: ConfigurationValue) -> String {
    switch value {
    case .scalar(.string(let text)): TOMLText.quoted(String(withoutPassword(text).prefix(80)))
    case .scalar(.integer(let number)): String(number)
    case .scalar(.float(let number)): "\(number)"
    default: value.kind
    }
  }

  /// Replaces the part before the last `@` by `<redacted>`, because errors are logged.
  private static func withoutPassword(_ text: String) -> String {
    guard let at = text.lastIndex(of: "@") else { return text }
    let scheme = text.contains("://") ? text.prefix { $0 != ":" } + "://" : ""
    return scheme + "<redacted>" + text[at...]
  }

  private static func unknown(_ path: String) -> String {
    let name = TOMLText.quoted(String(path.prefix(80)))
    // In a known table, only the last word can be misspelled.
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    if parts.count == 2, TOMLKey.tables.contains(parts[0]) {
      let leaves = TOMLKey.byPath.keys.sorted().filter { $0.hasPrefix(parts[0] + ".") }
        .map { String($0.dropFirst(parts[0].count + 1)) }
      guard let near = SpellingSuggestions.to(parts[1], among: leaves).first else {
        return "\(name) is not a key of Chime; [\(parts[0])] takes \(leaves.joined(separator: ", "))"
      }
      return "\(name) is not a key of Chime; did you mean \(parts[0]).\(near)?"
    }
    let known = TOMLKey.byPath.keys.sorted() + TOMLKey.tables.sorted()
    guard let near = SpellingSuggestions.to(path, among: known).first else {
      return "\(name) is not a key of Chime; chimed --print-config lists them all"
    }
    return "\(name) is not a key of Chime; did you mean \(near)?"
  }
}

// Backups of the configuration.
extension ConfigurationFiles {
  static let mostInBackup = 200
  private static let mainName = "chimed.toml"

  /// Returns whether a backup may contain a file of this name: the main file or one in its folder.
  static func isBackupName(_ name: String) -> Bool {
    if name == mainName { return true }
    guard name.hasPrefix(mainName + ".d/"), name.hasSuffix(".toml"), name.utf8.count <= 255 else { return false }
    let own = name.dropFirst(mainName.utf8.count + 3).utf8
    return own.first != UInt8(ascii: ".") && own.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
  }

  static func path(ofBackup name: String, at path: String) -> String {
    name == mainName ? path : "\(path).d/\(name.dropFirst(mainName.utf8.count + 3))"
  }

  /// Returns the existing files with their names in a backup.
  static func namesForBackup(at path: String) -> [(name: String, path: String)] {
    var found: [(name: String, path: String)] = []
    if access(path, F_OK) == 0 { found.append((mainName, path)) }
    for own in SystemFiles.names(in: path + ".d").sorted() {
      let name = "\(mainName).d/\(own)"
      if isBackupName(name) { found.append((name, "\(path).d/\(own)")) }
    }
    return Array(found.prefix(mostInBackup))
  }

  /// Returns whether the files are valid and name the store that is in use.
  static func keepsStore(_ files: [(name: String, text: String)], _ inForce: Configuration) -> Bool {
    var loaded = LoadedConfiguration()
    do {
      for file in files.sorted(by: { $0.name < $1.name }) {
        try apply(Array(file.text.utf8), file: file.name, to: &loaded)
      }
      try checkWhole(loaded)
    } catch {
      return false
    }
    let other = loaded.configuration
    return (other.storeEngine, other.storePath, other.storeConnection, other.storePasswordFile)
      == (inForce.storeEngine, inForce.storePath, inForce.storeConnection, inForce.storePasswordFile)
  }
}
