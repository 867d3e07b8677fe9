import FoundationEssentials
import Glibc

/// A benchmark run: its options, programs, temporary folder, and results.
final class Bench {
  let options: Options
  /// The folder of this program, with chimed and chime.
  let programs: String
  private(set) var figures: [Figure] = []
  /// The temporary folder of the current benchmark.
  private(set) var folder = ""

  init(options: Options) {
    self.options = options
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    programs = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Records a figure, and prints it at once unless JSON is requested.
  func report(_ figure: Figure) {
    figures.append(figure)
    if !options.asJSON { say(figure.line) }
  }

  func report(_ name: String, _ value: Double, _ unit: String, beside: Figure.Beside? = nil) {
    report(Figure(name, value, unit, beside: beside))
  }

  /// Runs `body` with a new temporary folder, which is removed afterwards.
  func inFolder(named name: String, _ body: () async throws -> Void) async throws {
    let run = try RunFolder.of(self)
    var template = Array("\(run.path)/\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BenchFailure(call: run.path) }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body()
  }

  /// Returns the path of a compiled C program of Benchmarks/peers.
  func peer(_ name: String) throws(BenchFailure) -> String {
    let path = "\(programs)/peers/\(name)"
    guard access(path, X_OK) == 0 else { throw BenchFailure("the peer \(name) is not built: use `make bench`") }
    return path
  }

  func program(_ name: String) throws(BenchFailure) -> String {
    let path = "\(programs)/\(name)"
    guard access(path, X_OK) == 0 else { throw BenchFailure("\(name) is not beside chime-bench: use `make bench`") }
    return path
  }

  /// Starts chimed in the temporary folder with the configuration `toml`.
  func startDaemon(_ toml: String = "") throws -> MeasuredDaemon {
    try MeasuredDaemon(program: program("chimed"), folder: folder, configuration: toml)
  }
}

/// Returns the wall clock, in microseconds since the epoch.
func wallClock() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

/// Returns the monotonic clock, in nanoseconds.
func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func pause(seconds: Double) { usleep(UInt32(seconds * 1_000_000)) }

/// Sleeps until a second of the wall clock.
func pause(until second: Int64) {
  let left = second * 1_000_000 - wallClock()
  if left > 0 { pause(seconds: Double(left) / 1_000_000) }
}
