import ChimeWords
import Glibc

/// The user's editor.
enum Editor {
  /// Creates a temporary file that only its owner can read.
  static func scratchFile(_ text: String, directory: String?) throws -> String {
    let directory = directory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    var template = Array("\(directory)/chime-XXXXXX.txt".utf8CString)
    let descriptor = mkstemps(&template, 4)
    guard descriptor >= 0 else {
      throw Failure.system(localized("cannot create a file in %1", directory), errno: errno)
    }
    defer { close(descriptor) }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard Files.write(Array(text.utf8), to: descriptor) else {
      let code = errno
      unlink(path)
      throw Failure.system(localized("cannot write %1", path), errno: code)
    }
    return path
  }

  /// Opens a file in the editor and waits until it ends.
  static func open(_ path: String, environment: [String: String]) throws {
    let chosen = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !trimmed($0).isEmpty }
    let editor = chosen ?? "vi"
    // The variable may contain arguments, which the shell splits; the path is passed as `$@`, so the shell does not
    // interpret it.
    let status = try run(["/bin/sh", "-c", "\(editor) \"$@\"", "sh", path])
    if status == 127 << 8 {
      throw Failure.failed(
        localized("the editor \"%1\" was not found", editor),
        hint: localized("set EDITOR, or use options: chime edit --help"))
    }
    try need(status == 0, failed: localized("the editor \"%1\" failed; nothing was changed", editor))
  }

  /// Runs a program in the command's terminal and returns its wait status.
  static func run(_ arguments: [String]) throws -> Int32 {
    // Leave Ctrl-C to the child while it runs.
    let previous = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
    defer { for (number, handler) in previous { signal(number, handler) } }
    let child: ChildProgram
    do throws(ChildProgram.StartFault) {
      child = try ChildProgram(arguments, errors: nil)
    } catch {
      throw Failure.system(localized("cannot run %1", arguments[0]), errno: error.code)
    }
    return try child.end()
  }
}
