import ChimeControl
import FoundationEssentials
import Glibc

/// Measures a store with 1,000,000 reminders: start to READY, resident memory under load, and the duration of frequent
/// queries.
func measureMillion(_ bench: Bench) throws {
  let count = bench.options.isQuick ? 100_000 : 1_000_000
  let due = 10_000
  let receiver = try Receiver(bench)
  let daemon = try bench.startDaemon()
  try daemon.putEndpoint(port: receiver.port)
  let second = wallClock() / 1_000_000 + (bench.options.isQuick ? 10 : 40)
  let tomorrow = second + 86_400
  var starts = [
    try Population(groups: [
      Population.Group(count: due, first: second, channel: "bench"),
      Population.Group(
        count: count - due, first: tomorrow - tomorrow % 60, seconds: 86_400, isDaily: true, channel: "bench",
        title: "other"),
    ]).settle(in: daemon, bench)
  ]
  for _ in 0..<4 {
    daemon.stop()
    starts.append(try daemon.start())
  }
  let series = Series(starts)
  let amount = Figure.number(Double(count))
  bench.report("\(amount) reminders: start to READY, median", series.median, "ms", beside: .limit(300))
  bench.report("  max", series.max, "ms")
  func resident(_ state: String) throws {
    let memory = try ProcessFacts(pid: daemon.pid).memory()
    bench.report("  resident \(state)", (memory["Rss"] ?? .nan) / 1_024, "MB", beside: .limit(40))
  }
  pause(seconds: 2)
  try resident("after READY")
  guard wallClock() < second * 1_000_000 - 500_000 else { throw BenchFailure("the store took too long to make") }
  pause(until: second + 3)
  try daemon.settle(within: 60)
  let lateness = Series(receiver.lateness())
  bench.report("  10,000 of them due: webhooks begun", Double(lateness.count), "", beside: .limit(Double(due)))
  bench.report("  webhook begun, p99", lateness.percentile(99), "ms", beside: .limit(1_000))
  try resident("after they fired")

  let chime = try bench.program("chime")
  let environment = ["PATH": "/usr/bin:/bin", "HOME": bench.folder, "LC_ALL": "C.UTF-8", "CHIME_SOCKET": daemon.socket]
  for words in [["status"], ["list"], ["deliveries"]] {
    let times = (0..<5).map { _ in
      let begin = monotonicNanoseconds()
      _ = try? Program.output(chime, words, environment: environment, errors: bench.folder + "/errors")
      return Double(monotonicNanoseconds() - begin) / 1_000_000
    }
    bench.report("  chime \(words.joined(separator: " ")), median", Series(times).median, "ms")
  }
  try resident("after list and status")
}
