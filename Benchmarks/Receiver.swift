import FoundationEssentials

/// peers/receiver: an HTTP receiver on this machine that records the arrival of messages.
final class Receiver {
  let port: String
  private let file: String
  private let process: Program

  /// The response behavior.
  enum Manner {
    case atOnce
    /// Accepts requests, but never answers.
    case never
    /// Answers with this status after a delay.
    case slowly(milliseconds: Int, status: Int)

    fileprivate var arguments: [String] {
      switch self {
      case .atOnce: []
      case .never: ["-1"]
      case .slowly(let milliseconds, let status): ["\(milliseconds)", "\(status)"]
      }
    }
  }

  init(_ bench: Bench, _ name: String = "received", manner: Manner = .atOnce) throws {
    file = bench.folder + "/" + name
    process = try Program(bench.peer("receiver"), [file] + manner.arguments)
    port = try process.firstLine()
  }

  var stamps: [Stamp] {
    Stamp.all(String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self))
  }

  /// The number of requests received, which is the number of lines in the file.
  var count: Int { (FileManager.default.contents(atPath: file) ?? Data()).count { $0 == UInt8(ascii: "\n") } }

  /// Waits for this number of requests, or until a second of the wall clock.
  func wait(for wanted: Int, until second: Int64) {
    while count < wanted, wallClock() < second * 1_000_000 { pause(seconds: 0.25) }
  }

  /// Returns the lateness of each message in milliseconds, from the second in its title.
  func lateness(prefix: String = "bench ") -> [Double] {
    stamps.compactMap { late($0, prefix: prefix, scale: 1_000_000) }
  }
}
