import ChimeControl
import ChimeSchedule
import ChimeWords
import Glibc

/// `chime watch` on a terminal: waits for keys, signals, the daemon and the clock, tells the model, and draws what has
/// changed of the picture.
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
  /// When the picture changes by itself.
  private var change: Instant
  private var isOver = false
  private var drawnAt = ContinuousClock.now - .seconds(1)
  private var isStale = true

  /// Between two drawings, however much happens.
  private static let rest = Duration.milliseconds(50)
  /// How long an Esc may turn out to begin something longer.
  private static let escape = Duration.milliseconds(40)

  init(_ context: Context, _ terminal: Terminal, _ line: WatchLine) {
    (self.context, self.terminal, self.line) = (context, terminal, line)
    zone = (try? context.localZone()) ?? .utc
    glyphs = Glyphs(context)
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
    // A whole screen is shown at once by terminals that know how.
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
      // A terminal that is gone says so here, whether or not its signal was heard.
      guard let bytes = terminal.read() else { return isOver = true }
      press(keys.read(bytes))
    }
    listen()
  }

  /// Until the next thing that happens without anybody's doing, in milliseconds.
  private func timeout() -> Int32 {
    var wait = Duration.milliseconds(max(0, (change - context.process.now()).rawValue + 1))
    if keys.isWaiting { wait = min(wait, Self.escape) }
    if isStale { wait = min(wait, max(.zero, ContinuousClock.now.duration(to: drawnAt + Self.rest))) }
    if let deadline = line?.deadline { wait = min(wait, max(.zero, ContinuousClock.now.duration(to: deadline))) }
    return Int32(clamping: Int64((wait / .milliseconds(1)).rounded(.up)))
  }

  /// Time has passed.
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
      // Whoever had the terminal meanwhile may have left it in any state.
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
    // It is soon back after a restart; one that is away for long is looked for now and then.
    model.lost(attempts: attempts, retry: now + .seconds(attempts < 20 ? 1 : attempts < 60 ? 5 : 15))
    // What refuses a person altogether is worth a word.
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
