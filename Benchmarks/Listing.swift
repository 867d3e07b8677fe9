import FoundationEssentials

/// Measures `chime list` from exec to exit, with its output in a pipe; the peer is a process that does nothing.
func measureList(_ bench: Bench) throws {
  let count = 1_000
  let runs = bench.options.isQuick ? 5 : 20
  let chime = try bench.program("chime")
  let daemon = try bench.startDaemon()
  try daemon.add(everydayDrafts(count))
  let environment = ["PATH": "/usr/bin:/bin", "HOME": bench.folder, "LC_ALL": "C.UTF-8", "CHIME_SOCKET": daemon.socket]

  func median(_ program: String, _ arguments: [String], _ check: (String) throws -> Void = { _ in }) throws -> Series {
    Series(
      try (0..<runs).map { _ in
        let clock = ContinuousClock()
        let begin = clock.now
        let text = try Program.output(program, arguments, environment: environment)
        let took = begin.duration(to: clock.now)
        try check(text)
        return took / .milliseconds(1)
      })
  }

  let nothing = try median("/bin/true", [])
  // Without -n it shows the first 100.
  for (form, last) in [
    (["list"], 100), (["list", "-n", "all"], count), (["list", "-n", "all", "--plain"], count),
    (["list", "-n", "all", "--json"], count),
  ] {
    let times = try median(chime, form) { text in
      let shown = text.split(separator: "Reminder number ").count - 1
      guard shown == last else {
        throw BenchFailure("`chime \(form.joined(separator: " "))` lists \(shown) reminders instead of \(last)")
      }
    }
    bench.report("chime \(form.joined(separator: " ")), median", times.median, "ms", beside: .limit(30))
    if form.count == 1 { bench.report("  max", times.max, "ms") }
  }
  let version = try median(chime, ["--version"])
  bench.report("chime --version, median", version.median, "ms", beside: .peer("/bin/true", nothing.median))
}
