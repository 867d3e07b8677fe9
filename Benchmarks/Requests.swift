import ChimeControl
import FoundationEssentials
import Glibc

/// Measures round trips per second on 1 and on 16 connections, with one C client. The peers are a server that only
/// echoes and, for `Add`, a program that only commits.
func measureRequests(_ bench: Bench) throws {
  let load = Load(bench: bench, seconds: bench.options.isQuick ? 1 : 4)
  let daemon = try bench.startDaemon()
  try daemon.add(everydayDrafts(10))
  let echoSocket = bench.folder + "/echo"
  let echo = try Program(bench.peer("echo"), [echoSocket])
  _ = try echo.firstLine()

  let getInfo = #"{"method":"org.varlink.service.GetInfo"}"#
  let status = #"{"method":"\#(DaemonInterface.Status.method)"}"#
  for connections in [1, 16] {
    let floor = try load.run(echoSocket, connections, getInfo)
    bench.report("echo in C, \(connections) conn.", floor.rate, "/s")
    for (name, message) in [("GetInfo", getInfo), ("Status", status)] {
      let result = try load.run(daemon.socket, connections, message)
      bench.report("\(name), \(connections) conn.", result.rate, "/s", beside: .peer("C echo", floor.rate))
      bench.report("  round trip p99", result.p99, "ms", beside: .peer("C echo", floor.p99))
    }
  }

  let seconds = bench.options.isQuick ? "1" : "4"
  let text = try Program.output(bench.peer("commit"), [bench.folder + "/peer.db", seconds])
  guard let commits = Double(text.split(separator: "\n").first ?? "") else { throw BenchFailure("commit said \(text)") }
  bench.report("one SQLite row a commit, in C", commits, "/s")
  let add =
    #"{"method":"\#(RemindersInterface.Add.method)","parameters":{"reminder":{"title":"Drink water","when":"every 90m from 8:00 to 22:00"}}}"#
  for connections in [1, 16] {
    let result = try load.run(daemon.socket, connections, add)
    bench.report("Add committed, \(connections) conn.", result.rate, "/s", beside: .peer("C SQLite", commits))
    if connections == 16 { bench.report("Add committed, 16 conn.", result.rate, "/s", beside: .limit(5_000)) }
    bench.report("  round trip p99", result.p99, "ms")
  }
  try daemon.add([.init(title: "job", when: "daily at 3:00", within: "PT1H")])
  let ping = #"{"method":"\#(ExpectationsInterface.Ping.method)","parameters":{"id":"job"}}"#
  for connections in [1, 16] {
    let result = try load.run(daemon.socket, connections, ping)
    bench.report("Ping committed, \(connections) conn.", result.rate, "/s", beside: .peer("C SQLite", commits))
    if connections == 16 { bench.report("Ping committed, 16 conn.", result.rate, "/s", beside: .limit(10_000)) }
    bench.report("  round trip p99", result.p99, "ms")
  }
}

/// The load generator peers/load.c.
struct Load {
  let bench: Bench
  let seconds: Int

  struct Result {
    /// Answers per second.
    var rate: Double
    /// The 99th percentile of the round trip, in milliseconds.
    var p99: Double
  }

  func run(_ socket: String, _ connections: Int, _ message: String) throws -> Result {
    let file = bench.folder + "/message"
    unlink(file)
    guard FileManager.default.createFile(atPath: file, contents: Data(message.utf8)) else {
      throw BenchFailure(call: file)
    }
    let text = try Program.output(bench.peer("load"), [socket, "\(connections)", "\(seconds)"], input: file)
    let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
    guard numbers.count == 5 else { throw BenchFailure("load said \(text)") }
    guard numbers[1] == 0 else { throw BenchFailure("\(Int(numbers[1])) answers to \(message) were errors") }
    return Result(rate: numbers[0] / numbers[2], p99: numbers[4] / 1_000)
  }
}
