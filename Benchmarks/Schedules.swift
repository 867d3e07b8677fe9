import ChimeSchedule
import FoundationEssentials
import Glibc

/// A measured schedule, with its name in the peers' output.
struct MeasuredSchedule {
  var name: String
  var text: String
  /// The limit for the next occurrence, in nanoseconds.
  var limit: Double?

  static let all = [
    MeasuredSchedule(name: "weekday", text: "weekdays at 8:30", limit: 150),
    MeasuredSchedule(name: "window", text: "every 90m from 8:00 to 22:00 on weekdays"),
    MeasuredSchedule(name: "elapsed", text: "every 36h starting 2026-01-05 09:00"),
    MeasuredSchedule(name: "months", text: "last fri of mar,jun,sep,dec at 16:00"),
    MeasuredSchedule(name: "cron", text: "cron: 30 8 * * 1-5", limit: 150),
    MeasuredSchedule(name: "calendar", text: "calendar: Mon..Fri *-*-* 08:30"),
    MeasuredSchedule(
      name: "rrule-weekly",
      text: "DTSTART;TZID=America/New_York:20260105T083000 RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", limit: 500),
    MeasuredSchedule(
      name: "rrule-yearly",
      text: "DTSTART;TZID=America/New_York:20261126T083000 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", limit: 500),
    MeasuredSchedule(name: "solar", text: "sunset - 30m on fri"),
  ]

  /// Saturday 21 November 2026.
  static let now = Instant(seconds: 1_795_219_200)
  static let year: Int64 = 31_556_952

  static func scheduleContext() throws -> ScheduleContext {
    guard let bytes = FileManager.default.contents(atPath: "/usr/share/zoneinfo/America/New_York") else {
      throw BenchFailure("there is no zone America/New_York")
    }
    let zone = try Zone(identifier: "America/New_York", tzif: Array(bytes))
    return ScheduleContext(zone: zone, place: Place(latitude: 40.7128, longitude: -74.006))
  }
}

/// Measures `next` from one occurrence to the next, without warm-up, and long after the schedule's start. The peers
/// take turns with it, and the median counts.
func measureSchedules(_ bench: Bench) throws {
  let scheduleContext = try MeasuredSchedule.scheduleContext()
  let rounds = bench.options.isQuick ? 3 : 9
  var known: [(MeasuredSchedule, Timetable)] = []
  for schedule in MeasuredSchedule.all {
    do {
      let parsed = try Schedule.parse(schedule.text, now: MeasuredSchedule.now, in: scheduleContext)
      known.append((schedule, parsed.timetable(in: scheduleContext)))
    } catch {
      complain("\(schedule.name) is not measured: \(error)")
    }
  }
  var ours: [String: [Double]] = [:]
  var theirs: [String: [Double]] = [:]
  for _ in 0..<rounds {
    for (schedule, timetable) in known {
      for (what, years) in [("next", 0), ("decade", 10), ("century", 100)] as [(String, Int64)] {
        let start = Instant(seconds: MeasuredSchedule.now.seconds + years * MeasuredSchedule.year)
        ours["\(schedule.name) \(what)", default: []] += nextTimes(timetable, from: start)
      }
      ours["\(schedule.name) cold", default: []] += try coldTimes(schedule.text, scheduleContext)
    }
    for (name, value) in peerTimes(bench) { theirs[name, default: []].append(value) }
  }
  for (schedule, _) in known {
    for what in ["next", "decade", "century", "cold"] {
      let key = "\(schedule.name) \(what)"
      let value = Series(ours[key] ?? []).median
      let limit = what == "cold" ? 5_000 : schedule.limit
      let title =
        ["next": "next", "decade": "  ten years on", "century": "  100 years on", "cold": "  cold"][what] ?? what
      let label = what == "next" ? "\(schedule.name): next" : title
      bench.report(label, value, "ns", beside: limit.map { .limit($0) })
      for peer in ["libical", "cronsim", "croniter", "dateutil"] {
        guard let figures = theirs["\(peer) \(key)"] else { continue }
        bench.report("    beside \(peer)", value, "ns", beside: .peer(peer, Series(figures).median))
      }
    }
  }
  try reportAllocations(bench)
}

/// Returns nanoseconds per occurrence, in samples of 100 consecutive ones.
private func nextTimes(_ timetable: Timetable, from start: Instant) -> [Double] {
  var sum: Int64 = 0
  let times = (0..<41).map { _ in
    var at = start
    let begin = monotonicNanoseconds()
    for _ in 0..<100 {
      at = timetable.next(after: at) ?? start
      sum &+= at.milliseconds
    }
    return Double(monotonicNanoseconds() - begin) / 100
  }
  blackHole(sum)
  return times
}

/// Returns nanoseconds from text to the first occurrence.
private func coldTimes(_ text: String, _ scheduleContext: ScheduleContext) throws -> [Double] {
  var sum: Int64 = 0
  let times = try (0..<41).map { _ in
    let begin = monotonicNanoseconds()
    for _ in 0..<10 {
      let schedule = try Schedule.parse(text, now: MeasuredSchedule.now, in: scheduleContext)
      sum &+= schedule.timetable(in: scheduleContext).next(after: MeasuredSchedule.now)?.milliseconds ?? 0
    }
    return Double(monotonicNanoseconds() - begin) / 10
  }
  blackHole(sum)
  return times
}

/// Returns the output of the installed peers in one turn: `PEER NAME WHAT` and nanoseconds.
private func peerTimes(_ bench: Bench) -> [(String, Double)] {
  var lines: [Substring] = []
  if let path = try? bench.peer("libical"), let text = try? Program.output(path) {
    lines += text.split(separator: "\n").map { "libical \($0)" }
  }
  let python = bench.programs + "/peers/venv/bin/python"
  if access(python, X_OK) == 0, let text = try? Program.output(python, [bench.programs + "/peers/schedules.py"]) {
    lines += text.split(separator: "\n")
  }
  return lines.compactMap { line in
    guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else { return nil }
    return (String(line[..<space]), value)
  }
}

/// Reports heap allocations during 1,000 occurrences, by running this program again with a counting library preloaded.
private func reportAllocations(_ bench: Bench) throws {
  let library = try bench.peer("allocations.so")
  let text = try Program.output(
    bench.programs + "/chime-bench", ["--count-allocations"], environment: ["LD_PRELOAD": library])
  for line in text.split(separator: "\n") {
    let words = line.split(separator: " ")
    guard words.count == 3, let count = Double(words[2]) else { continue }
    if words[1] == "next" {
      bench.report("\(words[0]): allocations in 1,000 next", count, "", beside: .limit(0))
    } else {
      bench.report("\(words[0]): allocations from cold", count, "")
    }
  }
}

/// Counts allocations in the process that `reportAllocations` starts.
func countAllocations() throws {
  typealias Counter = @convention(c) () -> UInt64
  guard let symbol = dlsym(nil, "chime_allocations") else { throw BenchFailure("the counting library is not loaded") }
  let allocations = unsafeBitCast(symbol, to: Counter.self)
  let scheduleContext = try MeasuredSchedule.scheduleContext()
  for measured in MeasuredSchedule.all {
    guard let schedule = try? Schedule.parse(measured.text, now: MeasuredSchedule.now, in: scheduleContext) else {
      continue
    }
    let timetable = schedule.timetable(in: scheduleContext)
    var at = MeasuredSchedule.now
    _ = timetable.next(after: at)
    let before = allocations()
    for _ in 0..<1_000 { at = timetable.next(after: at) ?? MeasuredSchedule.now }
    let after = allocations()
    let fresh = try Schedule.parse(measured.text, now: MeasuredSchedule.now, in: scheduleContext)
    let first = fresh.timetable(in: scheduleContext).next(after: MeasuredSchedule.now)
    let cold = allocations() - after
    blackHole((first?.milliseconds ?? 0) &+ at.milliseconds)
    say("\(measured.name) next \(after - before)")
    say("\(measured.name) cold \(cold)")
  }
}

/// Consumes a result, so that the optimizer cannot remove its computation.
@inline(never)
private func blackHole(_ value: Int64) { withExtendedLifetime(value) {} }
