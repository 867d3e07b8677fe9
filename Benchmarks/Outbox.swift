import ChimeControl
import FoundationEssentials
import Glibc

/// How many seconds ahead the new reminders are due.
private let lead: Int64 = 5

/// Measures 10,000 reminders in one second with a webhook each, to one and to ten endpoints: whether all are recorded
/// and delivered, and when.
func measureOutbox(_ bench: Bench) async throws {
  for endpoints in [1, 10] {
    try await bench.inFolder(named: "outbox") { try measureOutbox(bench, endpoints: endpoints) }
  }
}

private func measureOutbox(_ bench: Bench, endpoints: Int) throws {
  let count = bench.options.isQuick ? 2_000 : 10_000
  let receiver = try Receiver(bench)
  let daemon = try bench.startDaemon()
  let names = (0..<endpoints).map { "endpoint\($0)" }
  for name in names { try daemon.putEndpoint(name, port: receiver.port) }
  let second = wallClock() / 1_000_000 + lead
  _ = try Population(
    groups: names.map { Population.Group(count: count / endpoints, first: second, channel: $0) }
  ).settle(in: daemon, bench)
  guard wallClock() < second * 1_000_000 - 500_000 else { throw BenchFailure("the store took too long to make") }
  // Send no requests while it fires.
  receiver.wait(for: count, until: second + 60)
  try daemon.settle(within: 30)

  let recorded = Series(try daemon.occurrences().compactMap { $0.latenessMs.map(Double.init) })
  let begun = Series(receiver.lateness())
  let amount = Figure.number(Double(count))
  let what = endpoints == 1 ? "one endpoint" : "\(endpoints) endpoints"
  bench.report("\(amount) in one second, \(what): recorded", Double(recorded.count), "", beside: .limit(Double(count)))
  bench.report("  recorded, p99", recorded.percentile(99), "ms", beside: .limit(1_000))
  bench.report("  webhooks begun", Double(begun.count), "", beside: .limit(Double(count)))
  bench.report("  webhook begun, p50", begun.median, "ms")
  bench.report("  webhook begun, p99", begun.percentile(99), "ms", beside: .limit(1_000))
  bench.report("  the last begun", begun.max, "ms")
  bench.report("  owed when all had come", Double(try daemon.health().pendingDeliveries), "", beside: .limit(0))
}

/// Measures webhooks per second under saturation, by the whole daemon (fire, claim, sign, send, record) and by the
/// channel alone.
///
/// The peer is a bare libcurl loop to the same receiver with the same concurrency. All take turns, and the best turn counts.
func measureWebhooks(_ bench: Bench) async throws {
  let count = bench.options.isQuick ? 5_000 : 20_000
  let turns = bench.options.isQuick ? 1 : 3
  var ours: [Double] = []
  var channel: [Double] = []
  var theirs: [Double] = []
  for _ in 0..<turns {
    try await bench.inFolder(named: "webhooks") {
      let receiver = try Receiver(bench)
      let daemon = try bench.startDaemon()
      try daemon.putEndpoint(port: receiver.port)
      let second = wallClock() / 1_000_000 + lead
      _ = try Population(groups: [Population.Group(count: count, first: second, channel: "bench")])
        .settle(in: daemon, bench)
      receiver.wait(for: count, until: second + 60)
      try daemon.settle(within: 30)
      let times = receiver.stamps.map(\.at)
      guard times.count >= count, let first = times.min(), let last = times.max() else {
        throw BenchFailure("\(times.count) of \(count) arrived")
      }
      ours.append(Double(count) / (Double(last - first) / 1_000_000))
      daemon.stop()
      let third = try Receiver(bench, "channel")
      channel.append(try await channelRate(port: third.port, count: count))
      guard third.count >= count else { throw BenchFailure("\(third.count) of \(count) reached the receiver") }
      let other = try Receiver(bench, "peer")
      let text = try Program.output(bench.peer("webhooks"), [other.port, "\(count)", "8"])
      let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
      guard numbers.count == 2 else { throw BenchFailure("webhooks said \(text)") }
      theirs.append(numbers[0] / numbers[1])
    }
  }
  let peer = theirs.max() ?? .nan
  bench.report("bare libcurl multi, 8 at a time", peer, "/s")
  bench.report("the channel: written, signed, sent", channel.max() ?? .nan, "/s", beside: .peer("libcurl", peer))
  bench.report("the daemon: recorded, sent, recorded again", ours.max() ?? .nan, "/s", beside: .peer("libcurl", peer))
  bench.report("  0.6 of the bare loop, the channel", channel.max() ?? .nan, "/s", beside: .limit(0.6 * peer))
  bench.report("  0.6 of the bare loop, the daemon", ours.max() ?? .nan, "/s", beside: .limit(0.6 * peer))
}

/// Measures the isolation of endpoints. One never answers; one has thousands of pending messages and answers late with
/// 500, so that its circuit breaker opens; one gets 2,000 messages each second. Ten others get one message each second,
/// and only theirs are counted.
func measureIsolation(_ bench: Bench) throws {
  let seconds = bench.options.isQuick ? 8 : 25
  let flood = bench.options.isQuick ? 1_000 : 5_000
  let hanging = try Receiver(bench, "hanging", manner: .never)
  let failing = try Receiver(bench, "failing", manner: .slowly(milliseconds: 200, status: 500))
  let flooded = try Receiver(bench, "flooded")
  let receiver = try Receiver(bench)
  let daemon = try bench.startDaemon()
  try daemon.putEndpoint("hanging", port: hanging.port)
  try daemon.putEndpoint("flooded", port: flooded.port)
  try daemon.putEndpoint("failing", port: failing.port)
  let names = (0..<10).map { "good\($0)" }
  for name in names { try daemon.putEndpoint(name, port: receiver.port) }
  let second = wallClock() / 1_000_000 + lead
  _ = try Population(
    groups: [
      Population.Group(count: flood / 5, first: second, channel: "hanging", title: "hanging"),
      Population.Group(count: flood, first: second, channel: "failing", title: "failing"),
      Population.Group(
        count: 2_000 * seconds, first: second + 1, seconds: seconds, channel: "flooded", title: "flooded"),
    ] + names.map { Population.Group(count: seconds, first: second + 1, seconds: seconds, channel: $0) }
  ).settle(in: daemon, bench)
  let expected = seconds * names.count
  receiver.wait(for: expected, until: second + Int64(seconds) + 20)
  let lateness = Series(receiver.lateness())
  bench.report(
    "beside a hanging, a failing and a flooded one: begun", Double(lateness.count), "", beside: .limit(Double(expected))
  )
  bench.report("  the others' lateness p50", lateness.median, "ms")
  bench.report("  the others' lateness p99", lateness.percentile(99), "ms", beside: .limit(1_000))
  bench.report("  the others' lateness max", lateness.max, "ms")
  bench.report("  attempts at the hanging one", Double(hanging.count), "")
  bench.report("  attempts at the failing one", Double(failing.count), "")
  bench.report("  taken by the flooded one", Double(flooded.count), "")
}

/// Measures resident memory during 100,000 deliveries.
func measureSoak(_ bench: Bench) throws {
  let count = bench.options.isQuick ? 20_000 : 100_000
  let perSecond = 2_500
  let receiver = try Receiver(bench)
  let daemon = try bench.startDaemon()
  try daemon.putEndpoint(port: receiver.port)
  let second = wallClock() / 1_000_000 + lead
  _ = try Population(
    groups: [Population.Group(count: count, first: second, seconds: count / perSecond, channel: "bench")]
  ).settle(in: daemon, bench)
  var samples: [(delivered: Int, resident: Double)] = []
  for step in 1...10 {
    receiver.wait(for: count / 10 * step, until: second + Int64(count / perSecond) + 60)
    let memory = try ProcessFacts(pid: daemon.pid).memory()
    samples.append((receiver.count, (memory["Rss"] ?? .nan) / 1_024))
  }
  try daemon.settle(within: 30)
  bench.report(
    "\(Figure.number(Double(count))) deliveries: arrived", Double(receiver.count), "", beside: .limit(Double(count)))
  for sample in samples {
    bench.report(
      "  resident after \(Figure.number(Double(sample.delivered)))", sample.resident, "MB", beside: .limit(40))
  }
  guard samples.count > 2, let last = samples.last else { return }
  bench.report("  last beside the second sample", last.resident, "MB", beside: .peer("second", samples[1].resident))
}
