import FoundationEssentials

/// `chime list` from exec to exit, its output to a pipe, beside a process that does nothing.
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
  for form in [[], ["--plain"], ["--json"]] {
    let times = try median(chime, ["list", "-n", "all"] + form) { text in
      guard text.contains("Reminder number \(count - 1)") else {
        throw BenchFailure("`chime list` does not list all reminders: \(text.prefix(200))")
      }
    }
    let name = (["chime list -n all"] + form).joined(separator: " ")
    bench.report("\(name), median", times.median, "ms", beside: .limit(30))
    if form.isEmpty { bench.report("  max", times.max, "ms") }
  }
  let version = try median(chime, ["--version"])
  bench.report("chime --version, median", version.median, "ms", beside: .peer("/bin/true", nothing.median))
}
