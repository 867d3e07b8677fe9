import ChimeControl
import FoundationEssentials
import Glibc

/// A soak test: a daemon under mixed load for a given time, with its resource use as a table, a plot and a CSV file.
struct Soak {
  var minutes: Double
  var output: String

  static let help = """
    chime-bench --soak MINUTES [FOLDER] - runs chimed under mixed load and watches what it holds of the machine

    Prints a line a minute and a table at the end; writes soak.svg and soak.csv into FOLDER (by default the present one).
    """

  func run(_ bench: Bench) async throws {
    try await bench.inFolder(named: "soak") { try runHere(bench) }
  }

  private func runHere(_ bench: Bench) throws {
    let popup = bench.folder + "/notify-send"
    guard symlink(try bench.peer("popup"), popup) == 0 else { throw BenchFailure(call: popup) }
    let good = try Receiver(bench, "good")
    let hanging = try Receiver(bench, "hanging", manner: .never)
    let failing = try Receiver(bench, "failing", manner: .slowly(milliseconds: 200, status: 500))
    let daemon = try bench.startDaemon(SoakLoad.configuration(popup: popup))
    let load = try SoakLoad(daemon, good: good, hanging: hanging, failing: failing)
    var watch = try SoakWatch(daemon, good)
    var samples: [SoakSample] = []
    let begin = monotonicNanoseconds()
    let interval = min(10, minutes * 60 / 30)
    var next = interval
    var passed = 0.0
    complain("soak: \(Figure.number(minutes)) minutes, a sample every \(Figure.number(interval)) s")
    while passed < minutes * 60 {
      load.advance()
      passed = Double(monotonicNanoseconds() - begin) / 1_000_000_000
      if passed >= next {
        let sample = try watch.sample()
        samples.append(sample)
        if Int(passed / 60) > Int((passed - interval) / 60) { complain("soak: " + Self.brief(sample)) }
        try write(samples)
        next += interval
      }
      pause(seconds: 0.2)
    }
    load.end()
    say("\(Figure.number(minutes)) minutes of mixed load, \(Figure.number(Double(load.requests))) requests\n")
    say(Self.table(samples))
    try after(daemon, good, load)
    try write(samples)
    say("\nplot: \(output)/soak.svg, samples: \(output)/soak.csv")
  }

  /// Reports the state after the load.
  private func after(_ daemon: MeasuredDaemon, _ good: Receiver, _ load: SoakLoad) throws {
    let health = try daemon.health()
    say("\nwebhooks that arrived: \(Figure.number(Double(good.count)))")
    say("owed when the load ended: \(health.pendingDeliveries) (one endpoint hangs, one fails)")
    for (kind, count) in load.refusals.sorted(by: { $0.key < $1.key }) { say("  \(kind): \(count)") }
    let complaints = daemon.log.split(separator: "\n").filter { $0.hasPrefix("<3>") || $0.hasPrefix("<2>") }
    say("errors in its log: \(complaints.count)")
    for line in complaints.suffix(5) { say("  \(line)") }
  }

  private static func brief(_ sample: SoakSample) -> String {
    "\(Figure.number(sample.at / 60)) min, \(Figure.number(sample.resident)) MB, "
      + "\(Int(sample.descriptors)) descriptors, \(Int(sample.threads)) threads, "
      + "lateness \(Figure.number(sample.lateness)) ms"
  }

  /// Returns a table. The first tenth is warm-up; the second tenth beside the last shows growth.
  static func table(_ samples: [SoakSample]) -> String {
    let tenth = max(1, samples.count / 10)
    let early = Array(samples.dropFirst(tenth).prefix(tenth))
    let late = Array(samples.suffix(tenth))
    func cell(_ value: Double) -> String {
      let text = Figure.number(value)
      return String(repeating: " ", count: max(0, 11 - text.count)) + text
    }
    var lines = [
      padded("", 28)
        + ["least", "median", "most", "2nd tenth", "last tenth"].map { name in
          String(repeating: " ", count: max(0, 11 - name.count)) + name
        }.joined()
    ]
    for column in SoakSample.columns {
      let all = Series(samples.map(column.value).filter(\.isFinite))
      lines.append(
        padded(column.name + (column.unit.isEmpty ? "" : " (\(column.unit))"), 28)
          + [
            all.percentile(0), all.median, all.max, Series(early.map(column.value).filter(\.isFinite)).median,
            Series(late.map(column.value).filter(\.isFinite)).median,
          ].map(cell).joined())
    }
    return lines.joined(separator: "\n")
  }

  private func write(_ samples: [SoakSample]) throws {
    let table = ([SoakSample.heading] + samples.map(\.line)).joined(separator: "\n") + "\n"
    let plot = SoakPlot.svg(samples, title: "chimed, \(Figure.number(minutes)) minutes of mixed load")
    for (name, text) in [("soak.csv", table), ("soak.svg", plot)] {
      guard FileManager.default.createFile(atPath: "\(output)/\(name)", contents: Data(text.utf8)) else {
        throw BenchFailure(call: "\(output)/\(name)")
      }
    }
  }
}
