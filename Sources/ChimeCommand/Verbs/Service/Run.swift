import ChimeControl
import ChimeWords
import Glibc

/// `chime run NAME -- PROGRAM…`
enum Run {
  static let verb = Verb(
    name: "run", group: .answer, arguments: ["NAME -- PROGRAM…"],
    summary: "Run a program, and ping with its result",
    details: [
      "NAME is the id or title of an expectation (`chime expect`). The command pings when the program begins, so a "
        + "run that takes too long is noticed, and when it ends: with its exit status, its duration, and the end "
        + "of its output. The program has the standard input, and its output goes where it would go otherwise. The "
        + "exit status is that of the program; 127 if there is no such program, 126 if it cannot be run, and 128 "
        + "plus the signal's number if a signal ended it.",
      "Signals are passed on to the program. Without a daemon it still runs, with a message on standard error.",
      "The command ends with the program, even if that leaves processes in the background; if one of them goes on "
        + "writing, use --no-output.",
    ],
    options: [
      .flag("no-output", nil, "Keep none of its output; the program uses the terminal directly")
    ],
    examples: [
      "chime run backup -- restic backup /home",
      .init(command: "chime run backup -- /usr/local/bin/backup", remark: "in a crontab"),
      "chime run sync -- sh -c 'fetch && merge'",
    ],
    alsoTried: ["exec", "wrap", "execute"], run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let words = context.line.words
    guard words.count > 1, let name = words.first else {
      throw Failure.usage(
        localized("an expectation and a program are missing"), hint: "chime run backup -- restic backup /home")
    }
    let keeps = !context.line.has("no-output")
    guard let signals = SignalPipe(Self.passed, always: [SIGCHLD]) else {
      throw Failure.system(localized("cannot create a pipe"), errno: errno)
    }
    // Ctrl-C and Ctrl-\ reach the program directly, because it shares the terminal.
    for signal in [SIGINT, SIGQUIT] { Glibc.signal(signal, SIG_IGN) }
    let begun = context.process.elapsed()
    let reporter = Reporter(context, name)
    let child: ChildProgram
    do throws(ChildProgram.StartFault) {
      child = try ChildProgram(Array(words.dropFirst()), errors: keeps ? .apart : nil)
    } catch {
      let problem = localized("cannot run %1: %2", words[1], describe(errno: error.code))
      let status: Int32 = error.code == ENOENT ? 127 : 126
      reporter.ping(.failed, status: status, output: problem)
      Failure.failed(problem).print(to: context.process.errors, style: context.style)
      leave(context, status)
    }
    // The program runs during this call.
    reporter.ping(.started)
    var tails = Tails(child)
    let status = tails.copy(untilEndOf: child, signals)
    let took = context.process.elapsed() - begun
    reporter.ping(status == 0 ? .succeeded : .failed, status: status, took: took, output: tails.text)
    leave(context, status)
  }

  /// The signals that are forwarded to the program.
  private static let passed = [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM]

  /// Exits with the program's status.
  private static func leave(_ context: Context, _ status: Int32) -> Never {
    context.process.output.flush()
    context.process.errors.flush()
    exit(status)
  }
}

/// Reports the program's state to the daemon; errors never stop the program.
private final class Reporter {
  private let context: Context
  private let name: String
  private var isQuiet = false

  init(_ context: Context, _ name: String) { (self.context, self.name) = (context, name) }

  /// The time limit of a call.
  private static let patience = Duration.seconds(5)
  /// The pauses in microseconds before retries at the end of a run, for a daemon that is restarting.
  private static let pauses: [UInt32] = [200_000, 800_000, 3_000_000]

  func ping(
    _ kind: ExpectationsInterface.PingRecord.Kind, status: Int32? = nil, took: Duration? = nil, output: String? = nil
  ) {
    let call = ExpectationsInterface.Ping(
      id: name, kind: kind, durationMs: took.map { Int($0 / .milliseconds(1)) }, status: status.map(Int.init),
      output: output.flatMap { $0.isEmpty ? nil : $0 })
    for pause in (kind == .started ? [] : Self.pauses) + [0] {
      do {
        // Use a new connection each time, because hours may pass between calls.
        let daemon = try context.connect()
        daemon.patience = Self.patience
        _ = try daemon.call(call)
        return
      } catch let failure as Failure where pause > 0 && failure.status == .unavailable {
        usleep(pause)
      } catch {
        return tell(Failure(any: error))
      }
    }
  }

  private func tell(_ failure: Failure) {
    guard !isQuiet else { return }
    isQuiet = true
    let style = Style(
      when: context.line.value("color"), isTerminal: context.process.errors.isTerminal,
      environment: context.process.environment)
    failure.print(to: context.process.errors, style: style)
    context.process.errors.line(localized("chime: nobody is notified how %1 runs", TerminalSanitizer.line(name)))
    context.process.errors.flush()
  }
}

/// Copies the program's output and keeps its end.
private struct Tails {
  private var tail = OutputTail(limit: Product.pingOutputLimit)
  private var open: [(from: Int32, to: Int32)] = []

  init(_ child: ChildProgram) {
    if let output = child.output { open.append((output, STDOUT_FILENO)) }
    if let errors = child.errorOutput { open.append((errors, STDERR_FILENO)) }
  }

  var text: String { tail.text }

  /// Copies output until the program ends.
  ///
  /// - Returns: its exit status; 128 plus the signal number if a signal ended it.
  mutating func copy(untilEndOf child: ChildProgram, _ signals: SignalPipe) -> Int32 {
    while true {
      var entries = ([signals.descriptor] + open.map(\.from)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else { continue }
      for (place, entry) in zip(open.indices, entries.dropFirst()).reversed() where entry.revents != 0 { read(place) }
      for number in entries[0].revents == 0 ? [] : signals.arrived() {
        guard number == SIGCHLD else {
          kill(child.processID, number)
          continue
        }
        var status: Int32 = 0
        guard waitpid(child.processID, &status, WNOHANG) == child.processID else { continue }
        drain()
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
      }
    }
  }

  private mutating func read(_ place: Int) {
    let count = tail.read(open[place].from, passing: open[place].to)
    if count == 0 || count < 0 && errno != EINTR { open.remove(at: place) }
  }

  /// Copies the buffered output without waiting: descendants of the program may keep the pipe open.
  private mutating func drain() {
    for (from, to) in open {
      _ = fcntl(from, F_SETFL, O_NONBLOCK)
      // Read at most a full pipe, since a descendant could write forever.
      for _ in 0..<16 { if tail.read(from, passing: to) <= 0 { break } }
    }
  }
}
