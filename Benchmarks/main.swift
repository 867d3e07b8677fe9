import Glibc

/// The benchmarks in running order, with descriptions.
let benchmarks: [(name: String, about: String, run: (Bench) async throws -> Void)] = [
  ("memory", "resident memory, idle with 10 reminders", measureMemory),
  ("wakeups", "wake-ups in an idle minute", measureWakeUps),
  ("lateness", "200 reminders spread over time, scheduled second to effect started", measureLateness),
  ("burst", "1,000 reminders in one second", measureBurst),
  ("requests", "control requests and committed changes a second", measureRequests),
  ("pings", "10,000 expectations and 1,000 pings a second: kept, missed in time, memory", measurePings),
  ("schedules", "the next occurrence, warm, cold and long after the start", measureSchedules),
  ("phrases", "a phrase or a line of a title and a time, read once", measurePhrases),
  ("hostile", "the slowest texts of 64 KiB for each parser", measureHostileInputs),
  ("outbox", "10,000 reminders in one second, recorded and delivered", measureOutbox),
  ("webhooks", "webhooks a second beside a bare libcurl loop", measureWebhooks),
  ("isolation", "ten endpoints beside one that hangs and one that fails", measureIsolation),
  ("soak", "resident memory through 100,000 deliveries", measureSoak),
  ("fires", "durable fires a second in the store, batched", measureFires),
  ("store-size", "pages that a fire writes, and bytes that it leaves in the file", measureStoreSize),
  ("fleet-fires", "durable fires a second in PostgreSQL, with 1, 2 and 4 daemons' stores", measureFleetFires),
  ("fleet-adds", "reminders added in PostgreSQL, beside jobs of procrastinate", measureFleetAdds),
  ("fleet-spike", "lateness in PostgreSQL when a second has 20 times as much as the mean", measureFleetSpike),
  ("million", "start, memory and answers with 1,000,000 reminders in the store", measureMillion),
  ("logging", "an entry logged in a tracker with 10 to 1,000,000, and 50 achievements to judge", measureLogging),
  ("list", "`chime list` with 1,000 reminders, the whole process", measureList),
]

/// Report a lost client as an error instead of dying by SIGPIPE.
signal(SIGPIPE, SIG_IGN)

if CommandLine.arguments.dropFirst() == ["--count-allocations"] {
  try countAllocations()
  exit(EX_OK)
}

if CommandLine.arguments.dropFirst().first == "--soak" {
  let words = Array(CommandLine.arguments.dropFirst(2))
  guard (1...2).contains(words.count), let minutes = Double(words[0]), minutes > 0, minutes <= 100_000 else {
    complain(Soak.help)
    exit(EX_USAGE)
  }
  do {
    let bench = Bench(options: try Options([], known: []))
    try await Soak(minutes: minutes, output: words.count > 1 ? words[1] : ".").run(bench)
  } catch {
    complain("\(error)")
    RunFolder.leave()
    exit(EX_SOFTWARE)
  }
  RunFolder.leave()
  exit(EX_OK)
}

let options: Options
do throws(BenchFailure) {
  options = try Options(CommandLine.arguments.dropFirst(), known: benchmarks.map(\.name))
} catch {
  complain("\(error.message) (chime-bench --help)")
  exit(EX_USAGE)
}
if options.wantsHelp {
  say(Options.help(benchmarks.map { ($0.name, $0.about) }))
  exit(EX_OK)
}

let bench = Bench(options: options)
var failed = false
let chosen = benchmarks.filter { options.chosen.isEmpty || options.chosen.contains($0.name) }
if options.chosen.isEmpty, !options.isQuick { complain("all of it takes about 30 minutes") }
if !options.asJSON { say(Figure.heading) }
let begin = monotonicNanoseconds()
for (place, benchmark) in chosen.enumerated() {
  let seconds = (monotonicNanoseconds() - begin) / 1_000_000_000
  complain(
    "\(place + 1) of \(chosen.count), after \(seconds / 60) min \(seconds % 60) s: \(benchmark.name), \(benchmark.about) …"
  )
  do {
    try await bench.inFolder(named: benchmark.name) { try await benchmark.run(bench) }
  } catch {
    complain("\(benchmark.name) could not be measured: \(error)")
    failed = true
  }
}
RunFolder.leave()
if options.asJSON { say(Figure.json(bench.figures)) }
exit(failed ? EX_SOFTWARE : EX_OK)
