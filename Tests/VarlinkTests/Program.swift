import Foundation
import Glibc

/// What a program has printed, and its exit status.
struct Outcome: CustomStringConvertible {
  var status: Int32
  var output: String
  var errors: String
  var description: String { "status \(status)\n\(output)\n\(errors)" }
}

/// Runs a program to its end, or for at most 30 seconds.
func run(_ path: String, _ arguments: [String]) throws -> Outcome {
  let program = try Program(path, arguments)
  return try program.waitForEnd()
}

/// A running program, whose outputs go to files. It does not outlive the test.
final class Program {
  private let process = Process()
  private let directory: TemporaryDirectory
  private let path: String

  init(_ path: String, _ arguments: [String]) throws {
    self.path = path
    directory = try TemporaryDirectory()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.file(directory.path + "/out")
    process.standardError = try Self.file(directory.path + "/err")
    try process.run()
  }

  deinit {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  /// Waits until a line that begins like this is printed.
  func waitForLine(_ prefix: String) throws {
    try wait("it prints '\(prefix)'") { text("out").split(separator: "\n").contains { $0.hasPrefix(prefix) } }
  }

  func waitForEnd() throws -> Outcome {
    try wait("it ends") { !process.isRunning }
    return Outcome(status: process.terminationStatus, output: text("out"), errors: text("err"))
  }

  private func wait(_ what: String, until condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while !condition() {
      guard ContinuousClock.now < deadline else {
        throw Overdue(description: "\(path): waited in vain until \(what)\n\(text("out"))\n\(text("err"))")
      }
      usleep(5000)
    }
  }

  private func text(_ name: String) -> String {
    String(decoding: FileManager.default.contents(atPath: "\(directory.path)/\(name)") ?? Data(), as: UTF8.self)
  }

  private static func file(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(fileURLWithPath: path))
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  private struct Overdue: Error, CustomStringConvertible { var description: String }
}
