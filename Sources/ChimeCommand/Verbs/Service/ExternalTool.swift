import ChimeWords
import Glibc

/// Runs the programs that have access to data for import: crontab(1), at(1), systemctl(1), task(1).
enum ExternalTool {
  /// Returns a program's output with `LC_ALL=C`; nil if it fails.
  ///
  /// - Throws: if the program does not exist.
  static func output(_ arguments: [String], hint: String) throws -> [UInt8]? {
    let child: ChildProgram
    do throws(ChildProgram.StartFault) {
      child = try ChildProgram(arguments, errors: .dropped, environment: plainEnvironment())
    } catch {
      throw error.code == ENOENT
        ? Failure.failed(localized("the program %1 is not installed", arguments[0]), hint: hint)
        : Failure.system(localized("cannot run %1", arguments.joined(separator: " ")), errno: error.code)
    }
    let output = child.output.flatMap { Files.read($0, limit: 16 << 20) }
    // Close the pipe before waiting, so that a program that writes endlessly gets EPIPE.
    if let descriptor = child.output { close(descriptor) }
    return try child.end() == 0 ? output : nil
  }

  /// Returns the environment without locale settings.
  private static func plainEnvironment() -> [String] {
    var texts = ["LC_ALL=C"]
    var place = environ
    while let text = place.pointee {
      let line = String(cString: text)
      if !line.hasPrefix("LC_"), !line.hasPrefix("LANG") { texts.append(line) }
      place += 1
    }
    return texts
  }

  // MARK: Output of each tool

  /// Returns the output of `crontab -l`.
  static func crontab() throws -> [UInt8] {
    let hint = localized("chime import crontab FILE reads a file")
    guard let output = try output(["crontab", "-l"], hint: hint) else {
      throw Failure.failed(
        localized("crontab -l prints no crontab of this user"),
        hint: localized("chime import crontab FILE reads a file, such as /etc/crontab"))
    }
    return output
  }

  /// Returns the queue of at(1): the output of `atq`, with the commands under each job, each after a tab.
  static func queue() throws -> [UInt8] {
    let hint = localized("chime import at FILE reads the output of atq from elsewhere")
    guard let list = try output(["atq"], hint: hint) else {
      throw Failure.failed(localized("atq prints no queue of this user"), hint: hint)
    }
    var text = ""
    for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
      text += line + "\n"
      guard let number = line.split(separator: "\t").first,
        let script = try output(["at", "-c", String(number)], hint: hint)
      else { continue }
      for command in commands(ofScript: String(decoding: script, as: UTF8.self)) { text += "\t\(command)\n" }
    }
    return Array(text.utf8)
  }

  /// Returns the commands of a script from `at -c`. The environment before them stays on this machine, because it may
  /// contain secrets.
  static func commands(ofScript script: String) -> [String] {
    var lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
    guard let change = lines.firstIndex(where: { $0.hasPrefix("cd ") && $0.hasSuffix("|| {") }),
      let end = lines[change...].firstIndex(of: "}")
    else { return [] }
    lines = lines[(end + 1)...]
    // For another shell, at(1) writes the commands as a here-document.
    if let first = lines.first, first.hasPrefix("${SHELL:-/bin/sh} <<") {
      let mark = first.split(separator: "'").dropFirst().first.map(String.init) ?? ""
      lines = lines.dropFirst().prefix { $0 != mark }
    }
    while let first = lines.first, trimmed(first).isEmpty { lines.removeFirst() }
    while let last = lines.last, trimmed(last).isEmpty { lines.removeLast() }
    return Array(lines)
  }

  /// Returns the loaded systemd timers and their services, in the format of `systemctl cat`.
  static func timers(ofSystem: Bool) throws -> [UInt8] {
    let systemctl = ["systemctl", ofSystem ? "--system" : "--user"]
    let hint = localized("chime import systemd FILE.timer reads files")
    let failure = Failure.failed(
      ofSystem
        ? localized("systemctl shows no timers of the system") : localized("systemctl shows no timers of this user"),
      hint: ofSystem ? hint : localized("those of the system: chime import systemd /usr/lib/systemd/system/*.timer"))
    guard
      let list = try output(systemctl + ["list-timers", "--all", "--plain", "--no-legend", "--no-pager"], hint: hint)
    else {
      throw failure
    }
    let units = String(decoding: list, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
      .filter { $0.hasSuffix(".timer") || $0.hasSuffix(".service") }
    guard !units.isEmpty, let text = try output(systemctl + ["cat", "--no-pager", "--"] + units, hint: hint) else {
      throw failure
    }
    return text
  }

  /// Returns unit files, each after a line with its path, including the services beside timers.
  static func units(_ paths: [String], limit: Int) throws -> [UInt8] {
    var text: [UInt8] = []
    func add(_ path: String) -> Bool {
      guard let bytes = Files.read(path, limit: limit) else { return false }
      // Output of `systemctl cat` has these lines already.
      if !bytes.starts(with: Array("# /".utf8)) { text += Array("# \(full(path))\n".utf8) }
      text += bytes + [0x0A]
      return true
    }
    for path in paths {
      guard add(path) else { throw Failure.system(localized("cannot read %1", path), errno: errno) }
      if path.hasSuffix(".timer") { _ = add(path.dropLast(6) + ".service") }
      guard text.count <= limit else { throw Failure.system(localized("cannot read %1", path), errno: EFBIG) }
    }
    return text
  }

  private static func full(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    // Resolve only the folder: a linked unit name may be an instance.
    let folder = String(cString: real).split(separator: "/").dropLast().joined(separator: "/")
    return "/\(folder)/\(path.split(separator: "/").last ?? "")"
  }

  /// Returns taskwarrior's unfinished tasks.
  static func tasks() throws -> [UInt8] {
    let hint = localized("chime import taskwarrior FILE reads the output of task export from elsewhere")
    let open = "(status:pending or status:waiting or status:recurring)"
    guard
      let output = try output(
        ["task", "rc.verbose=nothing", "rc.confirmation=no", "rc.gc=off", open, "export"], hint: hint)
    else { throw Failure.failed(localized("task export prints no tasks of this user"), hint: hint) }
    return output
  }
}
