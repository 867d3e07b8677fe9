import ChimeWords
import Glibc

/// The editor that the user has chosen.
enum Editor {
  /// A new file that only its owner can read.
  static func scratchFile(_ text: String, directory: String?) throws -> String {
    let directory = directory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    var template = Array("\(directory)/chime-XXXXXX.txt".utf8CString)
    let descriptor = mkstemps(&template, 4)
    guard descriptor >= 0 else { throw Failure.system(Words.say("cannot make a file in %1", directory), errno: errno) }
    defer { close(descriptor) }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard Files.write(Array(text.utf8), to: descriptor) else {
      let code = errno
      unlink(path)
      throw Failure.system(Words.say("cannot write %1", path), errno: code)
    }
    return path
  }

  /// Opens the file and waits until the editor has ended.
  static func open(_ path: String, environment: [String: String]) throws {
    let chosen = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !trimmed($0).isEmpty }
    let editor = chosen ?? "vi"
    // The variable may hold arguments; the shell takes them apart, and the path is never read by it.
    let status = try run("/bin/sh", ["sh", "-c", "\(editor) \"$@\"", "sh", path])
    if status == 127 << 8 {
      throw Failure.failed(
        Words.say("the editor \"%1\" was not found", editor),
        hint: Words.say("set EDITOR, or use options: chime edit --help"))
    }
    guard status == 0 else { throw Failure.failed(Words.say("the editor \"%1\" failed; nothing was changed", editor)) }
  }

  /// Runs a program with our terminal; returns its wait status.
  static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What is ignored here must not stay ignored there.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGPIPE, SIGINT, SIGQUIT] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    // Ctrl-C is the editor's while it runs.
    let previous = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
    defer { for (number, handler) in previous { signal(number, handler) } }

    var vector = arguments.map { strdup($0) } + [nil]
    defer { for argument in vector { free(argument) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, program, nil, &attributes, &vector, environ)
    guard code == 0 else { throw Failure.system(Words.say("cannot run %1", program), errno: code) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure.system(Words.say("cannot wait for the editor"), errno: errno) }
    }
    return status
  }
}
