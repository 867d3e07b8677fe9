import Glibc

/// Asks systemd for the state of the two units.
enum UnitProbe {
  private static let properties = [
    "Id", "LoadState", "ActiveState", "UnitFileState", "NeedDaemonReload", "FragmentPath", "DropInPaths", "Result",
    "NRestarts", "ExecStart",
  ]

  /// - Parameter own: the `chimed` beside this command.
  static func look(isSystem: Bool, own: String?, within milliseconds: Int) -> UnitFacts {
    let run = RunningProgram.run(
      "systemctl",
      [isSystem ? "--system" : "--user", "show", "--no-pager", "chimed.service", "chimed.socket"]
        + properties.map { "--property=\($0)" }, within: milliseconds, withErrors: true)
    var facts = UnitFacts()
    switch run {
    case .ended(0, let output): facts = parse(output)
    case .ended(_, let output):
      facts.problem = output.split(separator: "\n").first.map { String($0.prefix(200)) } ?? "systemctl failed"
    case .missing: facts.problem = "there is no systemctl"
    case .notStarted(let why): facts.problem = why
    case .killed(let signal): facts.problem = "systemctl was ended by signal \(signal)"
    case .tookTooLong(let limit): facts.problem = "systemctl took longer than \(limit) ms"
    }
    facts.own = own
    if let program = facts.program { facts.programIsThere = access(program, X_OK) == 0 }
    if let own {
      let folder = "lib/systemd/\(isSystem ? "system" : "user")"
      facts.service.replaces = replaced(by: facts.service, "\(folder)/chimed.service", own)
      facts.socket.replaces = replaced(by: facts.socket, "\(folder)/chimed.socket", own)
    }
    return facts
  }

  /// Returns the unit file that was installed with a program, if a different file overrides it.
  ///
  /// - Parameters:
  ///   - name: the path below the installation prefix (`make install`).
  ///   - program: `PREFIX/bin/chimed`.
  static func replaced(by unit: UnitFacts.Unit, _ name: String, _ program: String) -> String? {
    guard !unit.file.isEmpty, program.hasSuffix("/bin/chimed") else { return nil }
    // On Debian 12, units under /lib are the same as under /usr/lib.
    let shipped = String(program.dropLast("bin/chimed".count)) + name
    guard let came = Files.read(shipped, limit: limit), let used = Files.read(unit.file, limit: limit) else {
      return nil
    }
    return came == used ? nil : shipped
  }

  /// The most bytes that are read of a unit file.
  private static let limit = 1 << 16

  /// Parses the output of `systemctl show`: a paragraph per unit, a property per line (systemctl(1), "show").
  static func parse(_ output: String) -> UnitFacts {
    var facts = UnitFacts()
    var unit = UnitFacts.Unit()
    var name = ""
    func close() {
      if name.hasSuffix(".service") { facts.service = unit } else if name.hasSuffix(".socket") { facts.socket = unit }
      unit = UnitFacts.Unit()
      name = ""
    }
    for line in output.split(separator: "\n", omittingEmptySubsequences: false) {
      guard let equals = line.firstIndex(of: "=") else {
        close()
        continue
      }
      let value = String(line[line.index(after: equals)...])
      switch line[..<equals] {
      case "Id": name = value
      case "LoadState": unit.load = value
      case "ActiveState": unit.active = value
      case "UnitFileState": unit.fileState = value
      case "NeedDaemonReload": unit.needsReload = value == "yes"
      case "FragmentPath": unit.file = value
      case "DropInPaths": unit.dropIns = value.split(separator: " ").map(String.init)
      case "Result": unit.result = value
      case "NRestarts": unit.restarts = Int(value) ?? 0
      // { path=/usr/bin/chimed ; argv[]=/usr/bin/chimed ; … }
      case "ExecStart":
        if let start = value.firstRange(of: "path=") {
          facts.program = String(value[start.upperBound...].prefix { $0 != " " && $0 != ";" })
        }
      default: break
      }
    }
    close()
    return facts
  }
}
