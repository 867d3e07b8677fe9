import ChimeSchedule
import Glibc

/// The loop of `chime watch` on a terminal: waits for keys, signals, the daemon and the clock, updates the model, and
/// draws changes.
final class WatchScreen {
  private let context: Context
  private let terminal: Terminal
  private let zone: Zone
  private let glyphs: Glyphs
  private var model: WatchModel
  private var line: WatchLine?
  private var keys = KeyReader()
  private var size: (columns: Int, rows: Int)
  private var shown: Frame?
  /// The time of the next change by time alone.
  private var change: Instant
  private var isOver = false
  private var drawnAt = ContinuousClock.now - .seconds(1)
  private var isStale = true

  /// The minimum interval between two drawings.
  private static let rest = Duration.milliseconds(50)
  /// How long a lone Esc may still begin a sequence.
  private static let escape = Duration.milliseconds(40)

  init(_ context: Context, _ terminal: Terminal, _ line: WatchLine) {
    (self.context, self.terminal, self.line) = (context, terminal, line)
    zone = (try? context.localZone()) ?? .utc
    glyphs = context.glyphs
    let now = context.process.now()
    model = WatchModel(now: now)
    size = terminal.size
    change = now
  }

  func run() -> ExitCode {
    line?.refresh()
    while !isOver {
      draw()
      wait()
    }
    terminal.release()
    return .success
  }

  // MARK: Drawing

  private func draw() {
    guard isStale, ContinuousClock.now - drawnAt >= Self.rest else { return }
    isStale = false
    drawnAt = .now
    let view = WatchView(model: model, zone: zone, glyphs: glyphs, width: size.columns, height: size.rows)
    let picture = view.picture()
    let changes = picture.frame.changes(after: shown, style: context.style)
    // Synchronized output shows a full redraw at once, on terminals that support it.
    if !changes.isEmpty {
      let isWhole = shown == nil
      if !terminal.write(isWhole ? "\u{1B}[?2026h\(changes)\u{1B}[?2026l" : changes) { isOver = true }
    }
    shown = picture.frame
    change = model.nextChange(picture.times)
  }

  // MARK: Waiting

  private func wait() {
    var entries = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: terminal.signals, events: Int16(POLLIN), revents: 0),
    ]
    for descriptor in line?.descriptors ?? [] {
      entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }
    let timeout = timeout()
    let result = poll(&entries, nfds_t(entries.count), timeout)
    pass()
    if result < 0 { return }
    if result == 0, keys.isWaiting { press(keys.flush()) }
    if entries[1].revents != 0 { for signal in terminal.arrived() { take(signal) } }
    if entries[0].revents != 0 {
      // The end of input means that the terminal is gone, even if SIGHUP was lost.
      guard let bytes = terminal.read() else { return isOver = true }
      press(keys.read(bytes))
    }
    listen()
  }

  /// Returns the time to the next scheduled action, in milliseconds.
  private func timeout() -> Int32 {
    var wait = Duration.milliseconds(max(0, (change - context.process.now()).rawValue + 1))
    if keys.isWaiting { wait = min(wait, Self.escape) }
    if isStale { wait = min(wait, max(.zero, ContinuousClock.now.duration(to: drawnAt + Self.rest))) }
    if let deadline = line?.deadline { wait = min(wait, max(.zero, ContinuousClock.now.duration(to: deadline))) }
    return Int32(clamping: Int64((wait / .milliseconds(1)).rounded(.up)))
  }

  /// Updates the model's clock.
  private func pass() {
    let now = context.process.now()
    guard now >= change || now.seconds < model.now.seconds else { return }
    model.tick(now)
    isStale = true
    if case .away(_, let retry, _) = model.link, retry <= now { connect() }
  }

  private func take(_ signal: Terminal.Signal) {
    switch signal {
    case .resized:
      size = terminal.size
      shown = nil
      isStale = true
    case .interrupted: isOver = true
    case .suspend, .resumed:
      if signal == .suspend { terminal.suspend() }
      // Another program may have left the terminal in any state.
      terminal.take()
      size = terminal.size
      shown = nil
      isStale = true
      model.tick(context.process.now())
      line?.refresh()
    case .end(let number): terminal.end(by: number)
    }
  }

  // MARK: Keys

  private func press(_ pressed: [KeyReader.Key]) {
    for key in pressed {
      model.tick(context.process.now())
      isStale = true
      switch model.press(key) {
      case .leave: isOver = true
      case .redraw: shown = nil
      case .done(let id): line?.done(id)
      case .dismiss(let id): line?.dismiss(id)
      case .snooze(let id, let length): line?.snooze(id, length)
      case nil: break
      }
    }
  }

  // MARK: The daemon

  private func listen() {
    guard let line else { return }
    line.wantsDayAhead = WatchView.hasRoomForDayAhead(width: size.columns, height: size.rows)
    do {
      if try line.listen(&model, now: context.process.now()) { isStale = true }
    } catch {
      lose(Failure(any: error))
    }
  }

  private func lose(_ failure: Failure) {
    line = nil
    let now = context.process.now()
    model.tick(now)
    var attempts = 0
    if case .away(_, _, let earlier) = model.link { attempts = earlier + 1 }
    // A restarted daemon returns soon; after that, retry less often.
    model.lost(attempts: attempts, retry: now + .seconds(attempts < 20 ? 1 : attempts < 60 ? 5 : 15))
    // A permission error needs a message.
    if failure.status == .notPermitted { model.say(failure.message, .bad) }
    isStale = true
  }

  private func connect() {
    do {
      let line = try WatchLine(context)
      line.refresh()
      self.line = line
      model.link = .connected
    } catch {
      lose(Failure(any: error))
    }
  }
}
