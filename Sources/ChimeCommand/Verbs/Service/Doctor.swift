import ChimeWords

/// `chime doctor`
enum Doctor {
  static let verb = Verb(
    name: "doctor", group: .about,
    summary: "Check everything that reminders depend on, with advice",
    details: [
      "Each line is a check: ✓ is fine, ! works but needs attention, ✗ does not work, - could not be checked. Below "
        + "it stands advice: a command to type, or a line to write.",
      "It changes nothing and starts nothing, not even a daemon through its socket. Without a daemon it checks what "
        + "it can. `--live` sends each endpoint a test message.",
      "If anything does not work, the exit status is 1, otherwise 0. `docs/doctor.md` lists all checks.",
    ],
    options: [.flag("live", nil, "Send each endpoint a test message")],
    examples: ["chime doctor", "chime doctor --live", "chime --system doctor"],
    alsoTried: ["check", "diagnose", "fsck", "troubleshoot"], json: "`checks`, and `more`, which is false", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let probes = Probes(
      socket: try .chosen(by: context.line, environment: context.process.environment, userID: context.process.userID),
      environment: context.process.environment, userID: context.process.userID, now: context.now,
      isLive: context.line.has("live"))
    let findings = HealthChecks(probes.gather()).findings
    context.print(findings.map(\.output), named: "checks", empty: []) { show(findings, context) }
    return findings.contains { $0.state == .error } ? .failed : .success
  }

  // MARK: For a person

  private static func show(_ findings: [Finding], _ context: Context) {
    let width = Check.allCases.map { TextWidth.of(title($0)) }.max() ?? 0
    let indent = width + 4
    let margin = String(repeating: " ", count: indent)
    let clock = context.clock()
    var last: Check?
    for finding in findings where !context.isQuiet || [.error, .warning].contains(finding.state) {
      let name = TextWidth.pad(finding.check == last ? "" : title(finding.check), to: width)
      last = finding.check
      let (sign, tone) = sign(finding.state)
      write(
        finding.message.said(by: clock),
        after: "\(context.style(sign, tone)) \(context.style(name, finding.state == .ok ? .plain : .strong))  ",
        indent: indent, context)
      for remedy in finding.remedies {
        write(text(remedy, clock), after: margin + context.style("→ ", .faint), indent: indent + 2, context)
      }
    }
    if !context.isQuiet { context.out("\n\(summary(findings, context))") }
  }

  /// Prints text wrapped at the width of the terminal.
  private static func write(_ text: String, after first: String, indent: Int, _ context: Context) {
    let text = TerminalSanitizer.line(text)
    guard let width = context.process.output.width, width > indent + 20 else { return context.out(first + text) }
    let lines = TextWidth.wrap(text, to: width, indent: indent)
    for (index, line) in lines.enumerated() {
      context.out(index == 0 ? first + line.drop { $0 == " " } : line)
    }
  }

  private static func sign(_ state: Output.Finding.State) -> (String, Style.Tone) {
    switch state {
    case .ok: ("✓", .good)
    case .warning: ("!", .caution)
    case .error: ("✗", .bad)
    case .skipped: ("-", .faint)
    }
  }

  private static func text(_ remedy: Remedy, _ clock: WallClock) -> String {
    switch remedy {
    case .run(let command): command
    case .write(let line, let file): localized("write %1 into %2", line, file)
    case .advice(let sentence): sentence.said(by: clock)
    }
  }

  private static func summary(_ findings: [Finding], _ context: Context) -> String {
    let errors = Set(findings.filter { $0.state == .error }.map(\.check)).count
    let warnings = Set(findings.filter { $0.state == .warning }.map(\.check)).count
    let count = Set(findings.map(\.check)).count
    if errors == 0, warnings == 0 {
      return context.style(localized(count: count, "%n check, all right", "%n checks, all right"), .good)
    }
    var parts = [localized(count: count, "%n check", "%n checks")]
    if errors > 0 {
      parts.append(context.style(localized(count: errors, "%n does not work", "%n do not work"), .bad))
    }
    if warnings > 0 {
      parts.append(context.style(localized(count: warnings, "%n needing attention", "%n needing attention"), .caution))
    }
    // On a narrow terminal, one below the other.
    return parts.joined(separator: (context.process.output.width ?? .max) < 64 ? ",\n" : ", ")
  }

  static func title(_ check: Check) -> String { localized(key: check.row.title) }
}

extension Finding {
  /// The finding in the output for programs.
  var output: Output.Finding {
    Output.Finding(
      check: check.rawValue, state: state, message: message.english,
      remedies: remedies.map { remedy in
        switch remedy {
        case .run(let command): Output.Remedy(kind: .command, text: command)
        case .write(let line, let file): Output.Remedy(kind: .line, text: line, file: file)
        case .advice(let sentence): Output.Remedy(kind: .advice, text: sentence.english)
        }
      })
  }
}
