import ChimeControl
import ChimeWords
import Glibc

/// `chime apply FILE|DIR|-`
enum Apply {
  static let verb = Verb(
    name: "apply", group: .set, arguments: ["FILE.toml|DIR|-"],
    summary: "Make reminders, endpoints, packs and trackers match your files",
    details: [
      "The files are TOML, as `chime export` writes them: a `[[reminder]]` with title, when and other fields of "
        + "`chime add`, an `[[endpoint]]` with name, url and the path of its secret, a `[[pack]]` with its name, a "
        + "`[[tracker]]`. For a directory the command reads all *.toml, ordered by name. docs/apply.md describes "
        + "every key.",
      "The command adds what is missing, changes what differs, and leaves the rest alone, all at once or not at "
        + "all. If the files are invalid, it reports every fault with its place.",
      "A set is identified by its name: that of the file or directory, unless the files have set = \"NAME\". With "
        + "--prune the command removes what an earlier apply of this set created and the files no longer contain, "
        + "and nothing else; on a terminal it asks first. It removes a tracker that has entries only with "
        + "--entries as well; `chime undo` restores both.",
      "An endpoint's secretFile and tokenFile are files of yours, and the content of a tokenFile is sent to the "
        + "endpoint. If a file is new to its endpoint, or a token moves to another address, the command names the "
        + "address and asks on a terminal; elsewhere it needs --allow-files. --yes does not cover files.",
    ],
    options: [
      DraftOptions.dryRun,
      .flag("prune", nil, "Remove what an earlier apply of this set created and the files no longer contain"),
      .flag("entries", nil, "Let --prune also remove trackers that have entries, with the entries"),
      .value("set", nil, "NAME", "The set's name; the default is that of the file or directory"),
      .flag(
        "allow-files", nil,
        "Give endpoints the files that the set names as secretFile and tokenFile, without asking"),
      .flag("yes", "y", "Remove without asking"),
    ],
    examples: [
      "chime apply reminders.toml --dry-run",
      "chime apply ~/.config/chime/reminders.d --prune",
      .init(
        command: "chime apply - --set laptop",
        remark: "the content of standard input, such as an export of another machine"),
    ],
    alsoTried: ["sync", "deploy", "declare", "set"],
    json:
      "`set`, `changes`, `unchanged`: a number, `notPruned`: how many of the set the files no longer name, `files`: those that "
      + "endpoints are given, and where they go, `changed`, `dryRun` and `warnings`; or `faults`",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let source = try SetSource(context)
    do {
      return try run(context, source)
    } catch let failure as Failure where !failure.faults.isEmpty && context.format == .json {
      context.print(json: ["faults": failure.faults])
      throw failure
    }
  }

  private static func run(_ context: Context, _ source: SetSource) throws -> ExitCode {
    typealias Call = RemindersInterface.Apply
    let line = context.line
    let (isDry, prunes) = (line.has("dry-run"), line.has("prune"))
    try need(
      prunes || !line.has("entries"), localized("--entries needs --prune"),
      hint: "chime apply reminders.toml --prune --entries")
    var request = Call(
      files: source.files, set: line.value("set"), defaultSet: source.name, prune: prunes ? true : nil, dryRun: true,
      entries: line.has("entries") ? true : nil)
    let daemon = try context.daemon()
    // Thousands of reminders take long on a slow disk.
    daemon.patience += .seconds(300)
    func call(_ doing: String) throws -> Call.Reply {
      let progress = Progress(context, doing)
      defer { progress.end() }
      return try daemon.call(request, telling: progress)
    }
    let comparing = localized("Comparing the files with the present state")
    var reply = try call(comparing)
    let packs = reply.packFiles ?? []
    if reply.secretFiles.isEmpty, packs.isEmpty {
      (request.secrets, request.packs) = ([], [])
    } else {
      request.secrets = reply.secretFiles.compactMap { source.secret($0, context) }
      request.packs = packs.compactMap { source.pack($0, context) }
      try source.check(with: request.packs ?? [])
      reply = try call(comparing)
    }
    let removed = reply.changes.count { $0.action == .remove }
    if !isDry, !reply.changes.isEmpty {
      try refuseRecords(reply, line)
      guard try allowsFiles(reply, source, context) else {
        context.note(localized("Nothing was changed."))
        return .failed
      }
      if removed > 0, !line.has("yes") {
        let question = localized(count: removed, "Remove %n of them?", "Remove %n of them?")
        try need(
          context.process.isInteractive,
          failed: localized(
            count: removed, "--prune would remove %n; nothing was changed",
            "--prune would remove %n; nothing was changed"),
          hint: localized("without a terminal it needs --yes; --dry-run shows what it would do"))
        for row in ApplyReport(reply, isDry: true, files: []).lines(context) { context.out(row) }
        guard Asking.confirm(context, question, otherwise: localized("Nothing was changed.")) else { return .failed }
      }
      (request.dryRun, request.plan) = (nil, reply.plan)
      reply = try call(
        localized(count: reply.changes.count, "Making %n change", "Making %n changes"))
    }
    ApplyReport(reply, isDry: isDry, files: (reply.fileUses ?? []).map { ($0, sentence(on: $0, source, context)) })
      .print(context)
    return .success
  }

  /// Asks whether endpoints may use the files that the set names. A set may come from anywhere, and its endpoints would
  /// send the contents of the user's files to a URL of the set's choice.
  private static func allowsFiles(
    _ reply: RemindersInterface.Apply.Reply, _ source: SetSource, _ context: Context
  ) throws -> Bool {
    let uses = reply.fileUses ?? []
    guard !uses.isEmpty, !context.line.has("allow-files") else { return true }
    let lines = uses.map { Self.sentence(on: $0, source, context) }
    guard context.process.isInteractive else {
      throw Failure(
        status: .failed,
        message: localized(
          count: uses.count, "the set uses %n new file; nothing was changed",
          "the set uses %n new files; nothing was changed"
        ), hints: lines + [localized("if all of it may be sent there, --allow-files permits it without a terminal")])
    }
    for line in lines { context.out("  " + line) }
    let question = localized(count: uses.count, "Send this %n file?", "Send these %n files?")
    return Asking.confirm(context, question)
  }

  /// Returns `~/token → the endpoint team, https://example.org/hook`.
  static func sentence(on use: RemindersInterface.SetFileUse, _ source: SetSource, _ context: Context) -> String {
    let (name, url) = (TerminalSanitizer.line(use.endpoint), TerminalSanitizer.line(use.url))
    guard let path = use.path else {
      return localized("the token of the endpoint %1 goes to %2", name, url)
    }
    let file = TerminalSanitizer.line(source.place(path, context))
    return use.key == .tokenFile
      ? localized("the content of %1 is sent to the endpoint %2: %3", file, name, url)
      : localized("the content of %1 signs the messages to the endpoint %2: %3", file, name, url)
  }

  /// Requires --entries before logged entries are removed.
  private static func refuseRecords(_ reply: RemindersInterface.Apply.Reply, _ line: ParsedLine) throws {
    guard !line.has("entries"), let first = reply.changes.first(where: { $0.records != nil }) else { return }
    throw Failure.failed(
      localized(
        count: first.records ?? 0,
        "--prune would remove %1 and %n entry or item with it; nothing was changed",
        "--prune would remove %1 and %n entries and items with it; nothing was changed",
        first.id.map(TerminalSanitizer.line) ?? ""),
      hint: localized("--prune --entries removes them too; for 30 days chime undo restores them"))
  }
}

/// The files of a set.
struct SetSource {
  var files: [RemindersInterface.SetFile] = []
  /// The set's default name; nil for standard input.
  var name: String?
  /// The folder for relative paths in the set.
  private var folder = "."

  private static let longest = 1_000_000
  /// Beyond this size, the error message states no size.
  private static let most = 64_000_000

  init(_ context: Context) throws {
    guard let path = context.line.words.first else {
      throw Failure.usage(
        localized("what should be applied? A file or a directory is missing"), hint: "chime apply reminders.toml")
    }
    try need(
      context.line.words.count == 1,
      localized("chime apply takes one file or one directory; \"%1\" is one too many", context.line.words[1]),
      hint: localized("put several files into a directory"))
    if path == "-" {
      let bytes = context.process.input.all(limit: Self.most)
      files = [try Self.file(localized("standard input"), bytes)]
    } else if Self.isFolder(path) {
      let base = path.hasSuffix("/") ? String(path.dropLast()) : path
      folder = path
      for entry in Files.entries(path) where entry.hasSuffix(".toml") {
        files.append(try Self.file("\(base)/\(entry)"))
      }
      try need(
        !files.isEmpty, failed: localized("%1 has no file that ends in .toml", path),
        hint: localized("to remove a set: an empty file, and --prune"))
      name = Self.name(path)
    } else {
      files = [try Self.file(path)]
      folder = path.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/" : String(path[..<$0]) } ?? "."
      name = Self.name(path)
    }
    try check(with: [])
  }

  /// Checks that everything fits into one message, so that it is applied atomically.
  func check(with packs: [RemindersInterface.SetSecret]) throws {
    let texts = files.map(\.text) + packs.compactMap(\.text)
    let weight = texts.reduce(0) { $0 + CalendarParts.weight($1.utf8) }
    guard weight <= CalendarParts.heaviest else { throw Self.tooLong(weight) }
  }

  private static func tooLong(_ weight: Int) -> Failure {
    Failure.failed(
      localized("the set has %1 when sent, and a message may have 1 MiB", Sizes.text(weight)),
      hint: localized(
        "split it into several sets: a file with another name for each, and chime apply for each file"))
  }

  private static func file(_ path: String, _ given: [UInt8]? = nil) throws -> RemindersInterface.SetFile {
    guard let bytes = given ?? Files.read(path, limit: most) else {
      let code = errno
      if code == EFBIG { throw tooLong(most) }
      throw Failure.system(localized("cannot read %1", path), errno: code)
    }
    guard bytes.count <= longest else { throw tooLong(bytes.count) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure.failed(localized("%1 is not text in UTF-8", path))
    }
    return .init(name: path, text: text)
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the last path component without its extension, as the base of a name.
  private static func name(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    var last = String(cString: real).split(separator: "/").last.map(String.init) ?? ""
    if last.hasSuffix(".toml") { last.removeLast(5) }
    let plain = last.unicodeScalars.map { scalar -> Character in
      let isPlain =
        scalar.isASCII
        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "._-".unicodeScalars.contains(scalar))
      return isPlain ? Character(scalar) : "-"
    }
    let name = String(String(plain).drop { "._-".contains($0) }.prefix(64))
    return name.isEmpty ? nil : name
  }

  /// Resolves a path of the set.
  func place(_ path: String, _ context: Context) -> String {
    if path.hasPrefix("~/"), let home = context.process.environment["HOME"] { return home + path.dropFirst() }
    return path.hasPrefix("/") ? path : folder + "/" + path
  }

  /// Resolves a path of the set; nil if nothing exists there.
  private func full(_ path: String, _ context: Context) -> String? {
    let full = place(path, context)
    return access(full, F_OK) != 0 && errno == ENOENT ? nil : full
  }

  /// Returns the contents of a pack file; nil if there is none.
  func pack(_ path: String, _ context: Context) -> RemindersInterface.SetSecret? {
    guard let full = full(path, context) else { return nil }
    guard let bytes = Files.read(full, limit: Self.longest) else {
      return .init(path: path, problem: describe(errno: errno))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .init(path: path, problem: localized("%1 is not text in UTF-8", path))
    }
    return .init(path: path, text: text)
  }

  /// Returns the contents of a secret file; nil if there is none.
  func secret(_ path: String, _ context: Context) -> RemindersInterface.SetSecret? {
    guard let full = full(path, context) else { return nil }
    do {
      return .init(path: path, text: try SecretFile.any(full, userID: context.process.userID))
    } catch let failure as Failure {
      return .init(path: path, problem: failure.message)
    } catch {
      return .init(path: path, problem: localized("it cannot be read"))
    }
  }
}
