import Foundation
import Glibc

/// A program's output and exit status.
struct Outcome: CustomStringConvertible {
  var status: Int32
  var output: String
  var errors: String
  var description: String { "status \(status)\n\(output)\n\(errors)" }
}

func run(_ path: String, _ arguments: [String]) throws -> Outcome {
  let program = try Program(path, arguments)
  return try program.waitForEnd()
}

/// A running program that ends with the test.
final class Program {
  private let process: ChildProcess
  private let path: String

  init(_ path: String, _ arguments: [String]) throws {
    self.path = path
    process = try ChildProcess(path, arguments)
  }

  deinit {
    process.destroy()
    process.wait()
  }

  /// Waits until the program prints a line with this prefix.
  func waitForLine(_ prefix: String) throws {
    try wait("it prints '\(prefix)'") { output.split(separator: "\n").contains { $0.hasPrefix(prefix) } }
  }

  func waitForEnd() throws -> Outcome {
    let ending = process.wait()
    return Outcome(status: ending.status, output: output, errors: errors)
  }

  private func wait(_ what: String, until condition: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while !condition() {
      guard ContinuousClock.now < deadline else {
        throw TimedOut(description: "\(path): waited in vain until \(what)\n\(output)\n\(errors)")
      }
      usleep(5000)
    }
  }

  private var output: String { String(decoding: process.output, as: UTF8.self) }
  private var errors: String { String(decoding: process.errors, as: UTF8.self) }

  private struct TimedOut: Error, CustomStringConvertible { var description: String }
}
