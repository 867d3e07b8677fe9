import ChimeControl
import ChimeWords
import FoundationEssentials
import Glibc

/// `chime backup [FILE]`
enum Backup {
  static let verb = Verb(
    name: "backup", group: .keep, arguments: ["[FILE|-]"],
    summary: "Write all your data into one file",
    details: [
      "The file holds reminders and their history, trackers with their entries, packs, achievements, milestones, "
        + "photos, endpoints, and the daemon's configuration. Without a FILE its name is today's date, in this "
        + "folder; - is standard output. Only you may read the file.",
      "With --with-secrets it holds the endpoints' secrets too, encrypted with a passphrase that Chime asks for; "
        + "without the passphrase nobody can recover them. It never holds messages, pending or sent, nor the "
        + "changes that `chime undo` could undo.",
      "The daemon takes snapshots of its store each day (`chime snapshot`): those protect from a damaged disk. This "
        + "file is for another machine, another disk, or years from now.",
    ],
    options: [
      .flag("force", "f", "Replace a file that exists already"),
      .flag("with-secrets", nil, "Include the secrets of endpoints, encrypted with a passphrase"), Passphrase.option,
    ],
    examples: [
      "chime backup", "chime backup ~/Documents/chime.backup --force", "chime backup - > /mnt/stick/chime.backup",
      .init(command: "chime backup --with-secrets", remark: "for a new machine, with secrets"),
    ],
    alsoTried: ["save", "archive"], json: "`backup`: `file` and `bytes`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try need(
      context.line.words.count <= 1, localized("one file at a time"),
      hint: localized("put a name of several words in quotes"))
    let path = try context.line.words.first ?? "chime-\(context.today()).backup"
    if path == "-" { return try stream(context) }
    if !context.line.has("force"), access(path, F_OK) == 0 {
      throw Failure.failed(
        localized("%1 exists already", path), hint: localized("--force replaces it, or choose another name"))
    }
    let shown = try write(to: path, passphrase: Passphrase.forBackup(context), context)
    let written = Output.BackupFile(file: path, bytes: shown)
    switch context.format {
    case .json: context.print(json: ["backup": written])
    case .plain: context.plain([written])
    case .human:
      guard !context.isQuiet else { break }
      context.out("\(TerminalSanitizer.line(path)) (\(Sizes.text(shown)))")
      context.note("  " + localized("`chime restore %1` restores it", path), .faint)
    }
    return .success
  }

  /// Writes a backup to a file.
  ///
  /// - Returns: its size in bytes.
  @discardableResult static func write(to path: String, passphrase: String?, _ context: Context) throws -> Int {
    let file = try NewFile(path)
    do {
      let size = try receive(context, passphrase) { try file.write($0) }
      try file.finish()
      return size
    } catch {
      file.discard()
      throw error
    }
  }

  private static func stream(_ context: Context) throws -> ExitCode {
    try need(
      !context.process.output.isTerminal, localized("a backup cannot be written to a terminal"),
      hint: "chime backup FILE, chime backup - | gpg …")
    try need(context.format == .human, localized("--json and --plain cannot be used with standard output"))
    _ = try receive(context, Passphrase.forBackup(context)) { bytes in context.process.output.write(bytes: bytes) }
    return .success
  }

  /// Passes on each part as it arrives, and returns the total number of bytes.
  private static func receive(
    _ context: Context, _ passphrase: String?, _ take: ([UInt8]) throws -> Void
  ) throws -> Int {
    let progress = Progress(context, localized("Receiving"), of: .bytes)
    defer { progress.end() }
    var size = 0
    try context.daemon().stream(TrackersInterface.Backup(passphrase: passphrase)) { reply in
      guard let data = Data(base64Encoded: reply.data) else {
        throw Failure.failed(localized("the daemon sent an invalid backup"))
      }
      size += data.count
      try take(Array(data))
      progress.tell(size)
      return true
    }
    return size
  }
}

/// `chime restore FILE`
enum Restore {
  static let verb = Verb(
    name: "restore", group: .keep, arguments: ["FILE|-"], summary: "Replace all data with a backup",
    details: [
      "The command checks the whole file first and shows its contents. After you confirm, it replaces trackers, "
        + "entries, achievements and reminders, all at once or not at all. It then adds the file's history to the "
        + "history here, and its endpoints to those here, with their secrets if the file has them and none is "
        + "here; it lists the secrets that you have to give again. `chime undo` restores the data from before.",
      "If the daemon has no configuration, the backup's becomes it; otherwise it is written beside it as "
        + "`chimed.toml.restored` and stays inactive.",
    ],
    options: [DraftOptions.dryRun, .flag("yes", "y", "Do not ask"), Passphrase.option],
    examples: [
      "chime restore chime-2026-03-27.backup",
      .init(command: "chime restore chime.backup --dry-run", remark: "check it, and change nothing"),
    ],
    alsoTried: ["recover", "unbackup"], json: "`contents`, and `dryRun`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    guard context.line.words.count == 1, let path = context.line.words.first else {
      throw Failure.usage(
        context.line.words.isEmpty ? localized("a file is missing") : localized("one file at a time"),
        hint: "chime restore chime-2026-03-27.backup")
    }
    let isDry = context.line.has("dry-run")
    if !isDry, !context.line.has("yes"), !context.process.isInteractive || path == "-" {
      throw Failure.usage(
        localized("a restore replaces everything; without a terminal it needs --yes"),
        hint: localized("--dry-run checks the file and changes nothing"))
    }
    let bytes = try Uploading.bytes(path, limit: Uploading.longest, context)
    let upload = try Uploading.send(bytes, called: path, context)
    var notes: [String] = []
    var configuration: [TrackersInterface.ConfigurationFile] = []
    var passphrase: String?
    func restore(dryRun: Bool) throws -> TrackersInterface.Contents {
      let progress = Progress(
        context, dryRun ? localized("Checking %1", TerminalSanitizer.line(path)) : localized("Restoring"),
        total: bytes.count,
        of: .bytes)
      defer { progress.end() }
      var contents: TrackersInterface.Contents?
      do {
        let daemon = try context.daemon()
        try daemon.stream(
          TrackersInterface.Restore(upload: upload, dryRun: dryRun ? true : nil, passphrase: passphrase),
          patience: daemon.patience + .seconds(600)
        ) { reply in
          contents = reply.contents
          notes = reply.notes ?? notes
          configuration = reply.configuration ?? configuration
          progress.tell(reply.read)
          return true
        }
      } catch var failure as Failure {
        if failure.isInvalidText { failure.message = "\(path): \(failure.message)" }
        throw failure
      }
      guard let contents else { throw Failure.failed(localized("the daemon did not report what it restored")) }
      return contents
    }
    let contents = try restore(dryRun: true)
    passphrase = try Passphrase.forRestore(context, secrets: contents.secrets)
    // Report a wrong passphrase before asking anything and before any change.
    if passphrase != nil { _ = try restore(dryRun: true) }
    let asks = !isDry && !context.line.has("yes")
    if asks {
      for line in lines(contents, path, context) { context.note(line) }
      guard
        Asking.confirm(
          context, localized("Replace everything here with this?"), otherwise: localized("Nothing was changed."))
      else { return .failed }
    }
    let restored = isDry ? contents : try restore(dryRun: false)
    switch context.format {
    case .json: context.print(json: ["contents": restored, "dryRun": isDry])
    case .plain: context.plain([restored])
    case .human:
      guard !context.isQuiet else { break }
      if !asks { for line in lines(restored, path, context) { context.out(line) } }
      if isDry {
        context.note(localized("The file is sound. Nothing was changed: this was a dry run."))
      } else {
        context.out(localized("Restored. For 30 days `chime undo` brings back the data from before."))
      }
    }
    for note in notes { context.note(localizedServerMessage(TerminalSanitizer.line(note)), .caution) }
    if !isDry {
      try RestoredConfiguration.place(configuration, context)
      UndeliverableReminders.tell(context)
    }
    return .success
  }

  private static func lines(_ contents: TrackersInterface.Contents, _ path: String, _ context: Context) -> [String] {
    let made = contents.madeAt.map { ", " + localized("made %1", context.clock().text($0)) } ?? ""
    // In order of importance; kinds without items are left out.
    let counted = [
      (contents.reminders, localized(count: contents.reminders, "%n reminder", "%n reminders")),
      (
        contents.occurrences,
        localized(count: contents.occurrences, "%n time that has come", "%n times that have come")
      ),
      (contents.pings, localized(count: contents.pings, "%n ping", "%n pings")),
      (contents.trackers, localized(count: contents.trackers, "%n tracker", "%n trackers")),
      (contents.entries, localized(count: contents.entries, "%n entry", "%n entries")),
      (contents.items, localized(count: contents.items, "%n item", "%n items")),
      (contents.milestones, localized(count: contents.milestones, "%n milestone", "%n milestones")),
      (contents.packs, localized(count: contents.packs, "%n pack", "%n packs")),
      (contents.unlocks, localized(count: contents.unlocks, "%n achievement unlocked", "%n achievements unlocked")),
      (contents.photos, localized(count: contents.photos, "%n photo", "%n photos")),
      (contents.endpoints, localized(count: contents.endpoints, "%n endpoint", "%n endpoints")),
      (contents.secrets, localized("encrypted secrets")), (contents.configuration, localized("the configuration")),
    ].filter { $0.0 > 0 }.map(\.1)
    let counts = counted.isEmpty ? [localized("nothing")] : counted
    return [TerminalSanitizer.line(path) + made]
      + TextWidth.wrap(counts.joined(separator: ", "), to: context.width, indent: 2)
  }
}

/// Installs the configuration files of a backup. The command does this, because the system's daemon may not write there.
enum RestoredConfiguration {
  static func place(_ files: [TrackersInterface.ConfigurationFile], _ context: Context) throws {
    var (taken, notTaken) = ([TrackersInterface.ConfigurationFile](), [TrackersInterface.ConfigurationFile]())
    do {
      for file in files {
        try Files.makeFolder(Files.folder(of: file.path))
        try NewFile.write(Array(file.text.utf8), to: file.canInstall ? file.path : aside(file))
        if file.canInstall { taken.append(file) } else { notTaken.append(file) }
      }
      if let first = taken.first {
        _ = try context.daemon().call(DaemonInterface.Reload())
        context.note(
          localized("The backup's configuration is active: %1", TerminalSanitizer.line(first.path)), .faint)
      }
    } catch let failure as Failure {
      context.note(localized("The backup's configuration was rejected: %1", failure.message), .caution)
      // A daemon that cannot start with this configuration is worse than one without it, so undo a partial installation.
      for file in taken where rename(file.path, aside(file)) == 0 { notTaken.append(file) }
    }
    for file in notTaken {
      context.note(
        localized(
          """
          The backup's configuration is not active; it is at %1: compare it with %2, and copy the settings that you \
          want
          """,
          TerminalSanitizer.line(aside(file)), TerminalSanitizer.line(file.path)), .caution)
    }
  }

  private static func aside(_ file: TrackersInterface.ConfigurationFile) -> String { file.path + ".restored" }
}

/// A file that appears under its name only when it is complete, readable only by its owner.
final class NewFile {
  private let path: String
  private let partial: String
  private var descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    partial = path + ".part"
    // Overwrite the remains of an interrupted attempt.
    descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Failure.system(localized("cannot create the file %1", path), errno: errno) }
  }

  func write(_ bytes: [UInt8]) throws {
    guard Files.write(bytes, to: descriptor) else {
      throw Failure.system(localized("cannot write %1", path), errno: errno)
    }
  }

  func finish() throws {
    guard fsync(descriptor) == 0, rename(partial, path) == 0 else {
      throw Failure.system(localized("cannot write %1", path), errno: errno)
    }
    close(descriptor)
    descriptor = -1
    Files.synchronizeFolder(of: path)
  }

  /// Writes a complete file.
  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try NewFile(path)
    do {
      try file.write(bytes)
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
  }

  func discard() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    unlink(partial)
  }
}

enum Sizes {
  /// Formats a size: `40 KiB`, `1.5 MiB`.
  static func text(_ bytes: Int) -> String {
    let tenths = bytes * 10 / 1_048_576
    return tenths < 10
      ? "\(LocalizedFormat.number(Double((bytes + 1_023) / 1_024))) KiB"
      : "\(LocalizedFormat.number(Double(tenths) / 10, decimals: 1)) MiB"
  }
}
