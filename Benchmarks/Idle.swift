import ChimeControl

/// Measures resident memory when idle, before and after the first popups and webhooks, which load libraries and buffers.
func measureMemory(_ bench: Bench) throws {
  let receiver = try Program(bench.peer("receiver"))
  let port = try receiver.firstLine()
  let daemon = try bench.startDaemon()
  try daemon.add(everydayDrafts(10))
  pause(seconds: bench.options.isQuick ? 3 : 10)
  try reportMemory(of: daemon, "10 reminders", in: bench)

  try daemon.putEndpoint(port: port)
  let second = wallClock() / 1_000_000 + 3
  try daemon.add(
    (0..<100).map { RemindersInterface.Draft(title: "bench \($0)", when: once(at: second), channels: ["bench"]) })
  pause(until: second + 1)
  try daemon.settle(within: 20)
  pause(seconds: bench.options.isQuick ? 3 : 10)
  try reportMemory(of: daemon, "after 100 webhooks", in: bench)
}

private func reportMemory(of daemon: MeasuredDaemon, _ state: String, in bench: Bench) throws {
  let memory = try ProcessFacts(pid: daemon.pid).memory()
  let resident = memory["Rss"] ?? .nan
  let anonymous = memory["Anonymous"] ?? .nan
  bench.report("resident, \(state)", resident / 1_024, "MB", beside: .limit(20))
  bench.report("  of it files: program and libraries", (resident - anonymous) / 1_024, "MB")
  bench.report("  of it its own: heap and stacks", anonymous / 1_024, "MB")
  bench.report("  its share (PSS)", (memory["Pss"] ?? .nan) / 1_024, "MB")
}

/// Measures how often the daemon's threads run while there is nothing to do.
func measureWakeUps(_ bench: Bench) throws {
  let daemon = try bench.startDaemon()
  try daemon.add(everydayDrafts(10))
  // Work after a change ends within a second; Dispatch ends its idle threads within some more.
  pause(seconds: 12)
  let facts = ProcessFacts(pid: daemon.pid)
  let before = try facts.switches()
  let span = bench.options.isQuick ? 20.0 : 60.0
  pause(seconds: span)
  let after = try facts.switches()
  bench.report("wake-ups in \(Int(span)) idle seconds", after - before, "", beside: .limit(0))
}
