import ChimeControl

/// `chime metrics`
enum Metrics {
  static let verb = Verb(
    name: "metrics", group: .about, summary: "Print counters and gauges for Prometheus",
    details: [
      "The format is text 0.0.4, the same that `[metrics] file` of chimed.toml writes for node_exporter. Counters "
        + "begin at 0 when chimed starts. With the system's daemon only root may ask. `docs/operations.md` lists "
        + "them."
    ],
    examples: ["chime metrics", "chime metrics | promtool check metrics"],
    alsoTried: ["prometheus", "counters", "stats-daemon"], json: "`metrics`: the text", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let text = try context.daemon().call(DaemonInterface.Metrics()).text
    switch context.format {
    case .json: context.print(json: ["metrics": text])
    // The text already consists of plain lines.
    case .plain, .human: for line in text.split(separator: "\n") { context.out(TerminalSanitizer.line(line)) }
    }
    return .success
  }
}
