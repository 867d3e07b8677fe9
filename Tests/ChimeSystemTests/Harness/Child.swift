import Foundation
import Synchronization

/// A child process of a test, with its output in files.
final class Child: Sendable {
  typealias Ending = ChildProcess.Ending

  let outputPath: String
  let errorPath: String
  private let process: ChildProcess
  /// A lock, because several tasks of a test may read it.
  private let heard = Mutex<(values: [JSON], bytes: UInt64)>(([], 0))

  /// - Parameters:
  ///   - folder: the folder for the output.
  ///   - terminal: the path of a controlling terminal, used for input and output instead of files.
  init(
    _ program: String, _ arguments: [String] = [], environment: [String: String], folder: String,
    withInput: Bool = false, terminal: String? = nil
  ) throws {
    let name = (program as NSString).lastPathComponent
    let stem = "\(folder)/\(name).\(Self.serial.wrappingAdd(1, ordering: .relaxed).newValue)"
    outputPath = stem + ".out"
    errorPath = stem + ".err"
    process = try ChildProcess(
      program, arguments, environment: environment, input: withInput ? .written : .nothing,
      output: .file(outputPath), errors: .file(errorPath), terminal: terminal)
  }

  var name: String { process.name }
  var pid: pid_t { process.pid }
  var end: Ending? { process.end }
  var isRunning: Bool { process.isRunning }
  var output: String { Self.text(outputPath) }
  var errors: String { Self.text(errorPath) }
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  /// The JSON lines of its output; each line is parsed once.
  var said: [JSON] {
    heard.withLock { heard in
      guard let file = FileHandle(forReadingAtPath: outputPath), (try? file.seek(toOffset: heard.bytes)) != nil,
        let new = try? file.readToEnd(), let end = new.lastIndex(of: UInt8(ascii: "\n"))
      else { return heard.values }
      heard.bytes += UInt64(end - new.startIndex + 1)
      for line in new[..<end].split(separator: UInt8(ascii: "\n")) {
        if let value = try? JSON(parsing: String(decoding: line, as: UTF8.self)) { heard.values.append(value) }
      }
      return heard.values
    }
  }

  func send(_ signal: Int32) { process.signal(signal) }

  /// Kills the program and its process group.
  func destroy() { process.destroy() }

  func write(_ line: String) { process.write(Data((line + "\n").utf8)) }

  /// Waits until the program ends by itself.
  func ended(within limit: Duration = .seconds(20)) async throws -> Ending {
    try await eventually("\(name) ends; it said: \(errors.suffix(2_000))", within: limit) { end }
  }

  private static let serial = Atomic<Int>(0)

  private static func text(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }
}
