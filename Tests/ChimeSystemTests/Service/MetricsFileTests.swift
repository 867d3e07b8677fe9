import Foundation
import Testing

/// The metrics of the real daemon, read by Prometheus's own parser.
@Suite(.timeLimit(.minutes(1))) struct MetricsFileTests {
  /// A parser that prints each sample's name, labels and value as a line of JSON, by PyPI's prometheus_client.
  private static let parser = """
    import json, sys
    from prometheus_client.parser import text_string_to_metric_families
    families = list(text_string_to_metric_families(sys.stdin.read()))
    assert families, "nothing"
    for family in families:
        assert family.documentation and family.type in ("counter", "gauge", "histogram"), family
        assert (family.type == "counter") == any(s.name.endswith("_total") for s in family.samples), family
        for sample in family.samples:
            print(json.dumps([sample.name, sample.labels, sample.value]))
    """

  private func parsed(_ text: String, _ home: Home) async throws -> [String: Double] {
    let file = home.path + "/text.prom"
    try home.write(text, to: file)
    let output = try await home.run("/bin/sh", ["-c", "exec \(Machine.clients) -c \"$0\" <\"$1\"", Self.parser, file])
    guard output.status == 0 else { throw HarnessFailure(output.text) }
    var samples: [String: Double] = [:]
    for line in output.out.split(separator: "\n") {
      let sample = try JSON(parsing: String(line))
      guard case .object(let labels) = sample[1] else { continue }
      let key = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.string ?? "")" }.joined(separator: ",")
      samples["\(sample[0].string ?? "")" + (key.isEmpty ? "" : "{\(key)}")] = sample[2].number
    }
    return samples
  }

  @Test(.enabled(if: Machine.hasClients, "needs .venv with the Python clients"))
  func metricsCountEventsAndSurviveAReload() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      var samples = try await parsed(try await home.mustRun("metrics"), home)
      #expect(samples["chime_fired_total{timing=on_time}"] == 0 && samples["chime_store_up"] == 1)
      try await home.mustRun("in", "1s", "Tea")
      try await home.mustRun("in", "1h", "Later")
      try await home.mustRun("endpoint", "add", "deaf", "http://127.0.0.1:9/", "--template", "ntfy")
      try await home.mustRun("in", "1s", "Hook", "--to", "deaf")
      try await eventually("both have fired and one attempt has failed") {
        samples = try await parsed(try await home.mustRun("metrics"), home)
        return samples["chime_fired_total{timing=on_time}"] == 2
          && (samples["chime_delivery_attempts_total{outcome=failed,transport=webhook}"] ?? 0) >= 1
          // Counters may be newer than gauges read from the store.
          && samples["chime_reminders{state=unanswered}"] == 2 && samples["chime_outbox_pending{channel=deaf}"] == 1
      }
      #expect(samples["chime_lateness_seconds_count"] == 2 && samples["chime_reminders{state=scheduled}"] == 1)
      #expect(samples["chime_reminders{state=unanswered}"] == 2 && samples["chime_outbox_pending{channel=deaf}"] == 1)
      #expect((samples["chime_outbox_oldest_seconds{channel=deaf}"] ?? -1) >= 0)
      #expect(samples["chime_endpoints{state=in_use}"] == 1)
      try await home.mustRun("done", "Tea")
      daemon.process.send(SIGHUP)
      try await eventually("it has been read again") {
        daemon.process.errors.contains("the configuration was reloaded")
      }
      samples = try await parsed(try await home.mustRun("metrics"), home)
      #expect(samples["chime_fired_total{timing=on_time}"] == 2 && samples["chime_answered_total{answer=done}"] == 1)

      // A new daemon starts counters anew; gauges of the store continue.
      let started = samples["chime_start_time_seconds"] ?? 0
      _ = try await daemon.stop()
      _ = try await home.start()
      samples = try await parsed(try await home.mustRun("metrics"), home)
      #expect(samples["chime_answered_total{answer=done}"] == 0 && samples["chime_outbox_pending{channel=deaf}"] == 1)
      #expect((samples["chime_start_time_seconds"] ?? 0) > started)
    }
  }

  @Test func metricsFileIsWrittenWhileConfiguredAndRemovedAtStop() async throws {
    try await Home.run { home in
      let (file, other) = (home.path + "/chime.prom", home.path + "/other.prom")
      try home.configure("[metrics]\nfile = \"\(file)\"\nevery = \"1s\"\n")
      let daemon = try await home.start()
      func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
      try await eventually("it is written") { text(file)?.contains("chime_store_up 1\n") == true }
      try await home.mustRun("add", "Tea", "every", "2h")
      try await eventually("and again") { text(file)?.contains("chime_reminders{state=\"scheduled\"} 1\n") == true }
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o644)

      try home.configure("[metrics]\nfile = \"\(other)\"\nevery = \"1s\"\n")
      _ = try await home.answer("io.chime.Daemon.Reload")
      try await eventually("another is written, and the first is gone") { text(other) != nil && text(file) == nil }

      // An unwritable file is reported, and everything else works.
      try home.configure("[metrics]\nfile = \"\(home.path)/none/chime.prom\"\nevery = \"1s\"\n")
      _ = try await home.answer("io.chime.Daemon.Reload")
      try await eventually("it is printed") { daemon.process.errors.contains("the metrics cannot be written") }
      let status = try await home.answer("io.chime.Daemon.Status")["status"]
      #expect(status["attention"].elements.contains { $0.string?.contains("metrics") == true })
      #expect(text(other) == nil)

      try home.configure("[metrics]\nfile = \"\(file)\"\nevery = \"1s\"\n")
      _ = try await home.answer("io.chime.Daemon.Reload")
      try await eventually("it is written again") { text(file) != nil }
      try await daemon.stopCleanly()
      #expect(text(file) == nil)
      #expect(!FileManager.default.fileExists(atPath: home.path + "/.chime.prom.new"))
    }
  }

  @Test(.proof(.booted), .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"))
  func onlyRootReadsTheMetricsOfTheSystemDaemon() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try await machine.mustRun("useradd", "--groups", "chime", "--uid", "4711", "ann")
      try machine.write("[metrics]\nfile = \"/srv/metrics/chime.prom\"\nevery = \"1s\"\n", to: "/etc/chime/chimed.toml")
      try await machine.mustRun("mkdir", "-p", "/srv/metrics")
      try await machine.mustRun("chown", "chimed", "/srv/metrics")
      try machine.dropIn("ReadWritePaths=/srv/metrics")
      try await machine.systemctl("daemon-reload")
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await machine.mustRun("chime", "--system", "metrics")
      let refused = try await machine.run("chime", ["--system", "metrics"], as: 4_711)
      #expect(refused.status == 77, "\(refused.text)")
      try await eventually("the file is written by the hardened unit") {
        try await machine.run("grep", ["-c", "instance=\"system\"", "/srv/metrics/chime.prom"]).out == "1\n"
      }
      try await machine.systemctl("stop", "chimed.socket", "chimed.service")
      #expect(try await machine.run("ls", ["/srv/metrics"]).out == "")
    }
  }
}
