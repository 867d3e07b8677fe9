import ChimeControl
import Glibc
import Varlink

/// Measures 10,000 expectations per minute: 9,900 are pinged in turn, 1,000 per second, and 100 are not.
///
/// Every acknowledged ping must be recorded, no pinged job reported, each missing ping reported in time, and memory
/// stay constant.
func measurePings(_ bench: Bench) throws {
  let minutes = bench.options.isQuick ? 1 : bench.options.isThorough ? 60 : 5
  let receiver = try Receiver(bench)
  let daemon = try bench.startDaemon("[history]\nmaxOccurrences = 20000\n")
  try daemon.putEndpoint(port: receiver.port)
  let web = try PingWeb(daemon)

  let begin = monotonicNanoseconds()
  var memory: [Double] = []
  for minute in 1...minutes {
    try web.ping(until: begin + Int64(minute) * 60_000_000_000)
    memory.append((try ProcessFacts(pid: daemon.pid).memory()["Rss"] ?? .nan) / 1_024)
  }
  let seconds = Double(monotonicNanoseconds() - begin) / 1_000_000_000
  let acknowledged = web.acknowledged.reduce(0, +)
  // Read the stamps now: nobody pings while the recorded pings are counted.
  let stamps = receiver.stamps
  bench.report(
    "pings acknowledged, 16 conn.", Double(acknowledged) / seconds, "/s", beside: .limit(Double(PingWeb.perSecond)))
  bench.report("  round trip p99", Series(web.roundTrips).percentile(99), "ms")
  bench.report(
    "  of them kept, 100 of each at most", Double(try web.kept()), "",
    beside: .peer("acknowledged", Double(web.most)))
  let told = stamps.filter { $0.title.hasPrefix("miss ") }
  bench.report("  told of what was pinged", Double(stamps.count - told.count), "", beside: .limit(0))
  let late = Series(told.compactMap(PingWeb.lateness))
  bench.report("  misses told", Double(late.count), "")
  bench.report("  a miss told after its time, p99", late.percentile(99), "ms", beside: .limit(1_000))
  bench.report("  a miss told after its time, max", late.max, "ms", beside: .limit(1_000))
  bench.report("  resident after the first minute", memory[0], "MB")
  bench.report("  resident at the end", memory[memory.count - 1], "MB", beside: .peer("first", memory[0]))
}

private final class PingWeb {
  static let perSecond = 1_000
  private static let pinged = 9_900
  private static let missed = 100
  private static let seconds = 20

  private let daemon: MeasuredDaemon
  private var ids: [String] = []
  private var sockets: [Int32] = []
  private var next = 0
  /// The number of acknowledged pings of each expectation.
  private(set) var acknowledged: [Int]
  /// In milliseconds.
  private(set) var roundTrips: [Double] = []

  init(_ daemon: MeasuredDaemon) throws {
    self.daemon = daemon
    acknowledged = Array(repeating: 0, count: Self.pinged)
    let client = try daemon.client()
    for number in 0..<(Self.pinged + Self.missed) {
      let title = number < Self.pinged ? "job \(number)" : "miss \(number)"
      let reply: RemindersInterface.Add.Reply = try client.call(
        RemindersInterface.Add(
          reminder: .init(
            title: title, when: "cron: \(number % 60) * * * * *", channels: ["bench"], within: "PT\(Self.seconds)S")))
      if number < Self.pinged { ids.append(reply.reminder.id) }
    }
    for _ in 0..<16 {
      guard let socket = connectedSocket(daemon.socket) else { throw BenchFailure(call: daemon.socket) }
      sockets.append(socket)
    }
  }

  deinit { for socket in sockets { close(socket) } }

  /// Pings one expectation after another, except the forgotten ones, until a moment of the monotonic clock.
  func ping(until end: Int64) throws {
    let step = Int64(sockets.count) * 1_000_000_000 / Int64(Self.perSecond)
    var moment = monotonicNanoseconds()
    while moment < end {
      let sent = monotonicNanoseconds()
      for (place, socket) in sockets.enumerated() {
        let id = ids[(next + place) % Self.pinged]
        let text = #"{"method":"\#(ExpectationsInterface.Ping.method)","parameters":{"id":"\#(id)"}}"# + "\0"
        guard send(socket, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count else {
          throw BenchFailure(call: "send")
        }
      }
      for (place, socket) in sockets.enumerated() {
        let answer = try Self.answer(socket)
        guard !answer.contains("\"error\"") else { throw BenchFailure("a ping was answered with \(answer)") }
        acknowledged[(next + place) % Self.pinged] += 1
        roundTrips.append(Double(monotonicNanoseconds() - sent) / 1_000_000)
      }
      next += sockets.count
      moment += step
      let left = moment - monotonicNanoseconds()
      // Do not catch up after a delay: a burst would measure something else.
      if left > 0 { pause(seconds: Double(left) / 1_000_000_000) } else { moment = monotonicNanoseconds() }
    }
  }

  private static func answer(_ socket: Int32) throws -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while bytes.last != 0 {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { throw BenchFailure("the daemon has closed the connection") }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes.dropLast(), as: UTF8.self)
  }

  /// The number of pings that the daemon should keep.
  var most: Int { acknowledged.map { min($0, 100) }.reduce(0, +) }

  /// Returns the number of pings that the daemon keeps.
  func kept() throws -> Int {
    let client = try daemon.client()
    return try ids.reduce(0) { sum, id in
      let reply: ExpectationsInterface.Get.Reply = try client.call(ExpectationsInterface.Get(id: id))
      return sum + reply.pings.count
    }
  }

  /// Returns the lateness of the report about a missing ping, in milliseconds; the deadline is some seconds after a
  /// second of each minute.
  static func lateness(_ stamp: Stamp) -> Double? {
    guard let number = stamp.title.split(separator: " ").dropFirst().first.flatMap({ Int64($0.prefix { $0.isNumber }) })
    else { return nil }
    let end = (number + Int64(seconds)) % 60 * 1_000_000
    let late = (stamp.at - end) % 60_000_000
    // The daemon's clock has a resolution of milliseconds.
    return Double(late > 59_000_000 ? late - 60_000_000 : late) / 1_000
  }
}
