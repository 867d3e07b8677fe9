import FoundationEssentials
import Glibc

/// The resource use of a daemon at one moment of a soak test.
struct SoakSample {
  /// Seconds since the load began.
  var at: Double
  var resident: Double
  var own: Double
  var descriptors: Double
  var threads: Double
  var children: Double
  /// Context switches per second since the previous sample.
  var switches: Double
  /// Percentage of one processor since the previous sample.
  var processor: Double
  /// The size of the store with its log, in MB.
  var store: Double
  /// The median and maximum lateness of webhooks since the previous sample, in milliseconds.
  var lateness: Double
  var worst: Double

  static let columns: [(name: String, unit: String, value: @Sendable (SoakSample) -> Double)] = [
    ("resident memory", "MB", { $0.resident }), ("of it heap and stacks", "MB", { $0.own }),
    ("descriptors", "", { $0.descriptors }), ("threads", "", { $0.threads }), ("children", "", { $0.children }),
    ("wake-ups", "/s", { $0.switches }), ("processor", "%", { $0.processor }), ("store and log", "MB", { $0.store }),
    ("lateness, median", "ms", { $0.lateness }), ("lateness, worst", "ms", { $0.worst }),
  ]

  /// The sample as a line of a CSV file.
  var line: String {
    ([at] + Self.columns.map { $0.value(self) }).map { $0.isFinite ? String(($0 * 100).rounded() / 100) : "" }
      .joined(separator: ",")
  }

  static var heading: String {
    (["seconds"] + columns.map { $0.unit.isEmpty ? $0.name : "\($0.name) (\($0.unit))" })
      .map { $0.contains(",") ? "\"\($0)\"" : $0 }.joined(separator: ",")
  }
}

/// Takes samples of a daemon.
struct SoakWatch {
  private let daemon: MeasuredDaemon
  private let receiver: Receiver
  private let begin = monotonicNanoseconds()
  private var last = (at: Int64(0), switches: 0.0, ticks: 0.0)
  private var heard = 0

  init(_ daemon: MeasuredDaemon, _ receiver: Receiver) throws {
    self.daemon = daemon
    self.receiver = receiver
    last = (begin, try ProcessFacts(pid: daemon.pid).switches(), try Self.ticks(daemon.pid))
  }

  mutating func sample() throws -> SoakSample {
    let facts = ProcessFacts(pid: daemon.pid)
    let now = monotonicNanoseconds()
    let (switches, ticks) = (try facts.switches(), try Self.ticks(daemon.pid))
    let span = Double(now - last.at) / 1_000_000_000
    let memory = try facts.memory()
    let late = receiver.lateness()
    let fresh = Series(Array(late.dropFirst(heard)))
    heard = late.count
    defer { last = (now, switches, ticks) }
    return SoakSample(
      at: Double(now - begin) / 1_000_000_000, resident: (memory["Rss"] ?? .nan) / 1_024,
      own: (memory["Anonymous"] ?? .nan) / 1_024, descriptors: Self.count("/proc/\(daemon.pid)/fd"),
      threads: Self.count("/proc/\(daemon.pid)/task"), children: Double(Self.children(daemon.pid)),
      // The count of an ended thread is lost, so the sum may fall.
      switches: max(0, switches - last.switches) / span,
      processor: (ticks - last.ticks) / Double(sysconf(Int32(_SC_CLK_TCK))) / span * 100,
      store: Self.size(daemon.folder + "/state/chime.db") + Self.size(daemon.folder + "/state/chime.db-wal"),
      lateness: fresh.median, worst: fresh.max)
  }

  private static func count(_ folder: String) -> Double {
    Double((try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0)
  }

  private static func children(_ pid: pid_t) -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return tasks.reduce(0) { sum, task in
      sum
        + (FileManager.default.contents(atPath: "/proc/\(pid)/task/\(task)/children") ?? Data())
        .count { $0 == UInt8(ascii: " ") }
    }
  }

  private static func size(_ path: String) -> Double {
    var status = stat()
    return stat(path, &status) == 0 ? Double(status.st_size) / 1_048_576 : 0
  }

  /// Returns the processor time in clock ticks (proc(5), utime and stime).
  private static func ticks(_ pid: pid_t) throws(BenchFailure) -> Double {
    guard let bytes = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else {
      throw BenchFailure("the daemon is gone")
    }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      throw BenchFailure("/proc/\(pid)/stat cannot be read")
    }
    return user + system
  }
}
