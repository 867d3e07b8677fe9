import ChimeControl
import ChimeSchedule
import ChimeWords

/// The state of `chime watch`, updated by keys, replies, events and time; `WatchView` draws it. It reads no clock and
/// does no I/O.
struct WatchModel {
  /// The state of the connection.
  enum Link: Equatable {
    case connected
    /// The daemon does not answer a request.
    case silent(since: Instant)
    /// The daemon is gone; the next connection attempt is at `retry`.
    case away(since: Instant, retry: Instant, attempts: Int)
  }

  /// The meaning of the keys.
  enum Mode: Equatable {
    case watching
    case help
    /// The user types the length of a snooze.
    case asking(text: String, problem: String?)
  }

  /// The action that a key requests, beyond a change of the model.
  enum Effect: Equatable {
    case leave
    /// Redraw the whole screen.
    case redraw
    case done(String)
    case dismiss(String)
    /// With a length in ISO 8601, or nil for the reminder's default.
    case snooze(String, String?)
  }

  struct Line: Equatable {
    var at: Instant
    var kind: String
    var text: String
  }

  struct Notice: Equatable {
    var text: String
    var tone: Style.Tone
    var until: Instant
  }

  var link = Link.connected
  var health: DaemonInterface.Health?
  var upcoming: [OccurrencesInterface.UpcomingTime] = [] { didSet { knowsUpcoming = true } }
  /// The reminders without a time, because they wait for another.
  var awaiting: [OccurrencesInterface.Awaiting] = []
  /// All times of the next 24 hours, if the screen has room for them; `upcoming` has only the next of each reminder.
  var ahead: [OccurrencesInterface.UpcomingTime] = []
  /// Whether upcoming times have arrived; until then the list is unknown, not empty.
  private(set) var knowsUpcoming = false
  /// Whether the history has arrived.
  private(set) var knowsHistory = false
  /// The unanswered occurrences, latest first.
  var open: [OccurrencesInterface.Occurrence] = []
  /// The pending deliveries, earliest attempt first.
  var pending: [DeliveriesInterface.Delivery] = []
  /// The past events, oldest first.
  private(set) var lines: [Line] = []
  private(set) var mode = Mode.watching
  private(set) var notice: Notice?
  /// The selected occurrence, which keys answer.
  private(set) var chosen: String?
  /// Whether an answer is in flight; no other is given meanwhile.
  private(set) var isAnswering = false
  /// The displayed time, in whole seconds.
  private(set) var now: Instant

  /// The most events that are kept.
  static let longest = 500
  private static let noticeTime = Milliseconds.seconds(6)

  init(now: Instant) { self.now = Self.whole(now) }

  private static func whole(_ instant: Instant) -> Instant { Instant(seconds: instant.seconds) }

  /// Advances the time.
  mutating func tick(_ now: Instant) {
    self.now = Self.whole(now)
    if let notice, notice.until <= self.now { self.notice = nil }
  }

  // MARK: Replies and events

  mutating func take(open: [OccurrencesInterface.Occurrence]) {
    let place = self.open.firstIndex { $0.id == chosen } ?? 0
    self.open = open
    // The selection follows its occurrence; if that is gone, it moves to the one now at its position.
    if !open.contains(where: { $0.id == chosen }) {
      chosen = open.isEmpty ? nil : open[min(place, open.count - 1)].id
    }
    if open.isEmpty, case .asking = mode { mode = .watching }
  }

  mutating func take(pending: [DeliveriesInterface.Delivery], state: DeliveriesInterface.Delivery.State) {
    let all = self.pending.filter { $0.state != state } + pending
    self.pending = all.sorted {
      ($0.nextAttempt.flatMap { WallClock.instant($0) } ?? .earliest, $0.id)
        < ($1.nextAttempt.flatMap { WallClock.instant($0) } ?? .earliest, $1.id)
    }
  }

  mutating func take(events: [DaemonInterface.Event]) {
    for event in events {
      // Keep the order of arrival, because the daemon's clock may be set back.
      add(
        Line(
          at: WallClock.instant(event.at) ?? now, kind: event.event,
          text: Self.withoutState(localizedServerMessage(event.message), title: event.title, kind: event.event)))
    }
  }

  /// Removes the word that the row already shows: `"Tea"` instead of `"Tea" fired` or `added "Tea"`.
  static func withoutState(_ text: String, title: String?, kind: String) -> String {
    guard let title else { return text }
    let head = "\"\(title)\""
    let tail = " " + StateWords.say(kind)
    let lead = StateWords.say(kind) + " "
    if text.hasPrefix(lead + head) { return String(text.dropFirst(lead.count)) }
    guard text.hasPrefix(head + tail) else { return text }
    let rest = text.dropFirst(head.count + tail.count)
    return rest.isEmpty || rest.hasPrefix(" ") ? head + rest : text
  }

  /// Adds occurrences from before the start, or from a time without connection.
  mutating func take(history: [OccurrencesInterface.Occurrence]) {
    knowsHistory = true
    let known = lines.last?.at
    let lines = history.compactMap { occurrence -> Line? in
      let times = [occurrence.endedAt, occurrence.deliveredAt, occurrence.firedAt, occurrence.scheduledAt]
      guard let at = times.lazy.compactMap({ $0 }).first.flatMap({ WallClock.instant($0) }) else { return nil }
      if let known, at <= known { return nil }
      return Line(at: at, kind: occurrence.state.rawValue, text: "\"\(occurrence.title)\"")
    }
    for line in lines.sorted(by: { $0.at < $1.at }) { add(line) }
  }

  private mutating func add(_ line: Line) {
    lines.append(line)
    if lines.count > Self.longest { lines.removeFirst(lines.count - Self.longest) }
  }

  mutating func lost(attempts: Int, retry: Instant) {
    if case .away(let since, _, _) = link {
      link = .away(since: since, retry: retry, attempts: attempts)
    } else {
      link = .away(since: now, retry: retry, attempts: attempts)
      isAnswering = false
      if case .asking = mode { mode = .watching }
    }
  }

  /// Handles the reply to an answer.
  mutating func answered(_ text: String, _ tone: Style.Tone) {
    isAnswering = false
    say(text, tone)
  }

  mutating func say(_ text: String, _ tone: Style.Tone) {
    notice = Notice(text: text, tone: tone, until: now + Self.noticeTime)
  }

  // MARK: Keys

  mutating func press(_ key: KeyReader.Key) -> Effect? {
    if key == .redraw { return .redraw }
    switch mode {
    case .help:
      mode = .watching
      return key == .character("q") ? .leave : nil
    case .asking(let text, _): return type(key, into: text)
    case .watching: return watch(key)
    }
  }

  private mutating func watch(_ key: KeyReader.Key) -> Effect? {
    switch key {
    case .escape, .character("q"), .character("Q"): return .leave
    case .character("?"), .character("h"): mode = .help
    case .down, .character("j"): choose { $0 + 1 }
    case .up, .character("k"): choose { $0 - 1 }
    case .pageDown: choose { $0 + 10 }
    case .pageUp: choose { $0 - 10 }
    case .home, .character("g"): choose { _ in 0 }
    case .end, .character("G"): choose { _ in .max }
    case .character("d"): return answer { .done($0) }
    case .character("x"): return answer { .dismiss($0) }
    case .character("s"): return answer { .snooze($0, nil) }
    case .character("S"):
      guard canAnswer() else { return nil }
      mode = .asking(text: "", problem: nil)
    case .enter, .backspace, .clear, .redraw, .character, .paste: break
    }
    return nil
  }

  private mutating func choose(_ move: (Int) -> Int) {
    guard !open.isEmpty else { return }
    let place = open.firstIndex { $0.id == chosen } ?? 0
    chosen = open[min(max(0, move(place)), open.count - 1)].id
  }

  /// Whether an answer is possible now; otherwise shows a notice.
  private mutating func canAnswer() -> Bool {
    guard link == .connected else {
      say(localized("the daemon is not available: nothing can be answered now"), .caution)
      return false
    }
    guard chosen != nil else {
      say(localized("nothing waits for an answer"), .faint)
      return false
    }
    return !isAnswering
  }

  private mutating func answer(_ make: (String) -> Effect) -> Effect? {
    guard canAnswer(), let chosen else { return nil }
    isAnswering = true
    return make(chosen)
  }

  private mutating func type(_ key: KeyReader.Key, into text: String) -> Effect? {
    switch key {
    case .escape: mode = .watching
    case .backspace: mode = .asking(text: String(text.dropLast()), problem: nil)
    case .clear: mode = .asking(text: "", problem: nil)
    case .character(let letter) where text.count < 40: mode = .asking(text: text + String(letter), problem: nil)
    case .paste(let pasted):
      mode = .asking(text: String((text + TerminalSanitizer.field(pasted)).prefix(40)), problem: nil)
    case .enter:
      guard !trimmed(text).isEmpty else {
        mode = .watching
        return nil
      }
      guard let length = (try? DurationText.parseISO8601(text)) ?? (try? DurationText.parse(trimmed(text))) else {
        mode = .asking(text: text, problem: localized("a length of time, such as 20m or 1h30m"))
        return nil
      }
      mode = .watching
      return answer { .snooze($0, DurationText.formatISO8601(length)) }
    default: break
    }
    return nil
  }

  // MARK: Next change of the picture

  /// The distance below which a countdown shows seconds.
  static let close = Milliseconds.seconds(600)

  /// Returns the next moment at which the screen changes by time alone.
  ///
  /// - Parameter shown: the times with countdowns.
  /// - Returns: the next whole second while a countdown is close; else the next whole minute, or the moment when one
  ///   becomes close.
  func nextChange(_ shown: [Instant]) -> Instant {
    var next = Instant(seconds: now.seconds - (now.seconds % 60) + 60)
    if let notice { next = min(next, notice.until) }
    if case .away(_, let retry, _) = link { next = min(next, retry) }
    for time in shown where time > now {
      next = min(next, time - now < Self.close ? now + .seconds(1) : time - Self.close + .seconds(1))
    }
    return max(next, now + .seconds(1))
  }
}
