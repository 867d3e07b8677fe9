import FoundationEssentials
import Glibc

/// Facts about a process from /proc.
struct ProcessFacts {
  let pid: pid_t

  /// Returns kilobytes by name from smaps_rollup: `Rss`, `Pss`, `Pss_File`, `Anonymous` …
  func memory() throws(BenchFailure) -> [String: Double] { try numbers(in: "/proc/\(pid)/smaps_rollup") }

  /// Returns the number of context switches of all threads, voluntary or not.
  func switches() throws(BenchFailure) -> Double {
    let threads: [String]
    do {
      threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
    } catch {
      throw BenchFailure("the process \(pid) is gone")
    }
    var sum = 0.0
    for thread in threads {
      // The thread may have ended.
      guard let counts = try? numbers(in: "/proc/\(pid)/task/\(thread)/status") else { continue }
      sum += (counts["voluntary_ctxt_switches"] ?? 0) + (counts["nonvoluntary_ctxt_switches"] ?? 0)
    }
    return sum
  }

  private func numbers(in path: String) throws(BenchFailure) -> [String: Double] {
    // Read with a single call: files in /proc have no size.
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw BenchFailure(call: path) }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = max(0, read(file, &buffer, buffer.count))
    var result: [String: Double] = [:]
    for line in String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n") {
      let words = line.split { $0 == ":" || $0 == " " || $0 == "\t" }
      guard words.count > 1, let number = Double(words[1]) else { continue }
      result[String(words[0])] = number
    }
    return result
  }
}
