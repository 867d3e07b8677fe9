import ChimeControl
import ChimeSchedule
import FoundationEssentials
import Glibc

/// Measures the lateness of 200 one-off reminders per channel, on whole seconds: from the scheduled second to the start of
/// the channel's effect. This includes timer, decision, commit, hand-over and, for the desktop, the start of a program.
///
/// The peers are a bare timerfd at the same seconds, and half a second later the minimal durable reminder, which
/// commits to the same disk and makes one request, or starts the same program once.
func measureLateness(_ bench: Bench) async throws {
  let perSecond = bench.options.isThorough ? 1 : 4
  let seconds = (bench.options.isQuick ? 40 : 200) / perSecond
  for channel in ["webhook", "desktop"] {
    try await bench.inFolder(named: channel) { try measureLateness(of: channel, perSecond, seconds, bench) }
  }
}

private func measureLateness(of channel: String, _ perSecond: Int, _ seconds: Int, _ bench: Bench) throws {
  let receiver = try Program(bench.peer("receiver"))
  let port = try receiver.firstLine()
  // The substitute for notify-send writes its times beside its own path.
  let popup = bench.folder + "/notify-send"
  guard symlink(try bench.peer("popup"), popup) == 0 else { throw BenchFailure(call: popup) }
  let daemon = try bench.startDaemon("[desktop]\nprogram = \"\(popup)\"\n")
  try daemon.putEndpoint(port: port)

  let begin = wallClock() / 1_000_000 + 4
  try daemon.add(
    (0..<seconds).flatMap { second in
      (0..<perSecond).map { number in
        let at = begin + Int64(second)
        return RemindersInterface.Draft(
          title: "bench \(at) \(number)", when: once(at: at), channels: [channel == "webhook" ? "bench" : "desktop"])
      }
    })
  guard wallClock() < begin * 1_000_000 - 500_000 else {
    throw BenchFailure("adding took too long for its first second")
  }

  let timer = try Program(bench.peer("timerfd"), ["\(begin * 1_000_000)", "\(seconds)"])
  let firing = try Program(
    bench.peer("firing"),
    ["\(begin * 1_000_000 + 500_000)", "\(seconds)", bench.folder + "/peer.db", channel == "webhook" ? port : popup])
  let bare = Series(try timer.remainder().split(separator: "\n").compactMap { Double($0) }.map { $0 / 1_000 })
  _ = try firing.remainder()
  try daemon.settle(within: 20)

  let received = Stamp.all(receiver.endAndRead())
  let stamps =
    channel == "webhook"
    ? received
    : Stamp.all(
      String(decoding: FileManager.default.contents(atPath: popup + ".log") ?? Data(), as: UTF8.self))
  let least = Series(stamps.compactMap { late($0, prefix: "peer ", scale: 1) })
  let lateness = Series(stamps.compactMap { late($0, prefix: "bench ", scale: 1_000_000) })
  let expected = perSecond * seconds
  guard lateness.count >= expected else {
    throw BenchFailure("\(lateness.count) of \(expected) arrived; chimed said: \(daemon.log.suffix(1_000))")
  }

  bench.report("\(channel): lateness p50", lateness.median, "ms", beside: .peer("C timerfd", bare.median))
  bench.report("\(channel): lateness p99", lateness.percentile(99), "ms", beside: .limit(2))
  bench.report("\(channel): lateness max", lateness.max, "ms", beside: .peer("C timerfd", bare.max))
  let first = Dictionary(grouping: stamps.filter { $0.title.hasPrefix("bench ") }) { $0.title.split(separator: " ")[1] }
    .values.compactMap { $0.min { $0.at < $1.at } }.compactMap { late($0, prefix: "bench ", scale: 1_000_000) }
  bench.report(
    "  the first of each second, p99", Series(first).percentile(99), "ms",
    beside: .peer("C timerfd", bare.percentile(99)))
  let effect = channel == "webhook" ? "request" : "start"
  bench.report(
    "\(channel): p50 beside commit and \(effect) in C", lateness.median, "ms", beside: .peer("C", least.median))
  bench.report(
    "\(channel): p99 beside commit and \(effect) in C", lateness.percentile(99), "ms",
    beside: .peer("C", least.percentile(99)))
  let recorded = Series(try daemon.occurrences().compactMap { $0.latenessMs.map(Double.init) })
  bench.report("  in its own record (whole ms), max", recorded.max, "ms")
}

/// Returns the lateness of a stamp in milliseconds, from the time in its title.
func late(_ stamp: Stamp, prefix: String, scale: Int64) -> Double? {
  guard stamp.title.hasPrefix(prefix) else { return nil }
  let words = stamp.title.split(separator: " ")
  guard words.count > 1, let scheduled = Int64(words[1]) else { return nil }
  return Double(stamp.at - scheduled * scale) / 1_000
}

/// Measures 1,000 reminders in one second: when each was recorded, and when it reached its receiver.
func measureBurst(_ bench: Bench) throws {
  let count = 1_000
  let receiver = try Program(bench.peer("receiver"))
  let port = try receiver.firstLine()
  let daemon = try bench.startDaemon()
  try daemon.putEndpoint(port: port)
  let second = wallClock() / 1_000_000 + 8
  try daemon.add(
    (0..<count).map {
      RemindersInterface.Draft(title: "bench \(second) \($0)", when: once(at: second), channels: ["bench"])
    })
  guard wallClock() < second * 1_000_000 - 500_000 else { throw BenchFailure("adding took too long") }
  // Send no requests while it fires.
  pause(until: second + 8)
  try daemon.settle(within: 30)

  let occurrences = try daemon.occurrences()
  let recorded = Series(occurrences.compactMap { $0.latenessMs.map(Double.init) })
  let received = Series(Stamp.all(receiver.endAndRead()).compactMap { late($0, prefix: "bench ", scale: 1_000_000) })
  let scheduler = try apschedulerBurst(count, bench)
  bench.report("1,000 in one second: fired", Double(recorded.count), "", beside: .limit(Double(count)))
  bench.report("  recorded, p50", recorded.median, "ms")
  bench.report("  recorded, p99", recorded.percentile(99), "ms", beside: .limit(1_000))
  bench.report("  recorded, max", recorded.max, "ms")
  bench.report("  webhooks begun", Double(received.count), "", beside: .limit(Double(count)))
  bench.report("  webhook begun, p50", received.median, "ms")
  bench.report("  webhook begun, p99", received.percentile(99), "ms", beside: scheduler)
  bench.report("  webhook begun, p99", received.percentile(99), "ms", beside: .known("cron", 2_700))
  bench.report("  webhook begun, max", received.max, "ms")
}

/// Returns APScheduler's 99th percentile for the same number of jobs in memory, measured in this run if its environment
/// is installed.
private func apschedulerBurst(_ count: Int, _ bench: Bench) throws -> Figure.Beside {
  let python = bench.programs + "/peers/venv/bin/python"
  guard access(python, X_OK) == 0 else { return .known("APScheduler", 45) }
  let text = try Program.output(python, [bench.programs + "/peers/apscheduler_burst.py", "\(count)"])
  let lateness = Series(text.split(separator: "\n").compactMap { Double($0) }.map { $0 / 1_000 })
  return .peer("APScheduler, in memory", lateness.percentile(99))
}
