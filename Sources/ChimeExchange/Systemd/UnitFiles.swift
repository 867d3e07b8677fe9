/// UnitFiles are unit files from `systemctl cat`: each after a line `# /path/of/the.unit`, with drop-ins after their unit.
///
/// Source: systemd.syntax(7).
struct UnitFiles {
  struct Setting: Equatable {
    var line: Int
    var section: String
    var name: String
    var value: String
  }

  struct Unit {
    /// The name, such as `backup.timer`.
    var name: String
    var line: Int
    var settings: [Setting] = []

    /// Returns the last value; `nil` if it is empty.
    func value(_ name: String, in section: String) -> String? {
      settings.last { $0.section == section && $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// Returns all values. An empty one resets the list.
    func list(_ name: String, in section: String) -> [Setting] {
      let all = settings.filter { $0.section == section && $0.name == name }
      return Array(all[((all.lastIndex { $0.value.isEmpty } ?? -1) + 1)...])
    }
  }

  private(set) var units: [Unit] = []

  init(_ text: [UInt8]) throws(ExchangeError) {
    var (number, section, held) = (0, "", (line: 0, text: ""))
    for line in try PlainLines(text) {
      number += 1
      let bare = trimmed(line[...])
      if bare.hasPrefix("# /") || bare.hasPrefix("# ./"), let name = Self.unit(of: bare.dropFirst(2)) {
        section = ""
        if units.last?.name != name, !bare.contains(".d/") || !units.contains(where: { $0.name == name }) {
          units.append(Unit(name: name, line: number))
        }
        continue
      }
      if bare.hasPrefix("#") || bare.hasPrefix(";") || bare.isEmpty && held.text.isEmpty { continue }
      // A backslash at the end continues the line.
      if held.text.isEmpty { held.line = number }
      if bare.hasSuffix("\\") {
        held.text += bare.dropLast() + " "
        continue
      }
      let whole = trimmed((held.text + bare)[...])
      held.text = ""
      if whole.hasPrefix("["), whole.hasSuffix("]") {
        section = String(whole.dropFirst().dropLast())
      } else if let sign = whole.firstIndex(of: "=") {
        try need(!units.isEmpty, line: number, "expected a line with the path of the unit first, # /…/NAME.timer")
        units[units.count - 1].settings.append(
          Setting(
            line: held.line, section: section, name: trimmed(whole[..<sign]),
            value: trimmed(whole[whole.index(after: sign)...])))
      }
    }
  }

  /// Returns `backup.timer` for `/etc/systemd/system/backup.timer` and for `/etc/systemd/system/backup.timer.d/more.conf`.
  private static func unit(of path: Substring) -> String? {
    let parts = path.split(separator: "/")
    guard let last = parts.last else { return nil }
    if parts.count > 1, parts[parts.count - 2].hasSuffix(".d"), last.hasSuffix(".conf") {
      return String(parts[parts.count - 2].dropLast(2))
    }
    return last.contains(".") ? String(last) : nil
  }
}
