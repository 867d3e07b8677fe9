import FoundationEssentials

/// peers/receiver: an HTTP receiver of this machine that stamps what reaches it.
final class Receiver {
  let port: String
  private let file: String
  private let process: Program

  /// How it answers.
  enum Manner {
    case atOnce
    /// It takes requests and never answers.
    case never
    /// It answers with this status, and so late.
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

  /// How many requests have come, told from the file's lines.
  var count: Int { (FileManager.default.contents(atPath: file) ?? Data()).count { $0 == UInt8(ascii: "\n") } }

  /// Waits until so many requests have come, or until a second of the wall clock.
  func wait(for wanted: Int, until second: Int64) {
    while count < wanted, wallClock() < second * 1_000_000 { pause(seconds: 0.25) }
  }

  /// How late each came, in milliseconds, by the second in its title.
  func lateness(prefix: String = "bench ") -> [Double] {
    stamps.compactMap { late($0, prefix: prefix, scale: 1_000_000) }
  }
}
