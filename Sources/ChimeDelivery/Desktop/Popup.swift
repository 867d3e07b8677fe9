package import ChimeCore
package import ChimeSchedule

/// One run of notify-send, from its start to its end: a value that says what to do at each event.
///
///     starting → showing → over
///              → failing → over
///              → over
package struct Popup: Sendable {
  package enum State: Hashable, Sendable {
    /// The server has not taken it yet. Exits: showing, failing, over.
    case starting
    /// It cannot be shown; the helper is being ended, and all that it said will tell why. Exit: over.
    case failing
    /// It is on screen and waits for an answer; the server's number is known unless a stand-in keeps it to itself.
    /// Exits: over.
    case showing(UInt32?)
    /// All has been said. No exit.
    case over
  }

  package enum Action: Hashable, Sendable {
    /// The attempt is over.
    case report(Attempt.Outcome, ChannelReport.NextStep, status: Int?, error: String?)
    case answer(Occurrence.Answer)
    /// Wait this long for an answer.
    case waitForAnswer
    /// Send the helper this signal.
    case end(Signal)
    /// This notify-send is older than its buttons: show it again without them.
    case showPlain

    /// Whether the way to the screen turned out to be shut.
    var isBlocked: Bool { if case .report(_, .blocked, _, _) = self { true } else { false } }
  }

  package enum Signal: Hashable, Sendable {
    /// SIGTERM: ends the helper, the popup stays.
    case leave
    /// SIGINT: notify-send closes its popup, and ends.
    case takeDown
  }

  /// The most a helper may write; one that writes more is ended.
  package static let outputLimit = 65_536

  /// How long after a way that is shut the next try is made.
  static let blockedFor = Milliseconds.seconds(30)

  package private(set) var state = State.starting
  /// Whether it was asked for without buttons and waiting: it is delivered when the program has ended well.
  let isPlain: Bool
  let snooze: Milliseconds
  private var line: [UInt8] = []
  private var complaint: [UInt8] = []
  private var written = 0

  package init(isPlain: Bool, snooze: Milliseconds) {
    self.isPlain = isPlain
    self.snooze = snooze
  }

  /// The number under which the server shows it.
  var number: UInt32? { if case .showing(let number) = state { number } else { nil } }

  var isShowing: Bool { if case .showing = state { true } else { false } }

  package mutating func handle(_ event: Supervisor.Event) -> [Action] {
    if state == .over { return [] }
    switch event {
    case .errors(let bytes):
      complaint.append(contentsOf: bytes.prefix(max(0, Attempt.answerLimit * 4 - complaint.count)))
      return count(bytes)
    case .output(let bytes):
      var actions: [Action] = []
      for byte in bytes {
        if byte != UInt8(ascii: "\n") {
          if line.count < 256 { line.append(byte) }
          continue
        }
        actions += take(String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace })
        line.removeAll()
      }
      return actions + count(bytes)
    case .deadline: return expire()
    case .ended(let exit): return finish(exit)
    case .notStarted(let failure): return refuse(failure)
    }
  }

  /// The helper is no longer wanted while the popup may stay: its place is needed, or the daemon stops.
  mutating func release(_ reason: String) -> [Action] {
    defer { state = .over }
    switch state {
    case .starting where reason == ShutdownOutcome.sentence:
      return [.report(ShutdownOutcome.outcome, ShutdownOutcome.next, status: nil, error: reason), .end(.leave)]
    case .starting: return [.report(.failed, .retry, status: nil, error: reason), .end(.leave)]
    case .failing: return fail(status: nil) + [.end(.leave)]
    case .showing: return [.end(.leave)]
    case .over: return []
    }
  }

  /// The popup is no longer wanted.
  mutating func withdraw() -> [Action] {
    defer { state = .over }
    switch state {
    case .starting:
      return [.report(.failed, .retry, status: nil, error: "closed before it was shown"), .end(.takeDown)]
    case .failing: return fail(status: nil)
    case .showing: return [.end(.takeDown)]
    case .over: return []
    }
  }

  private mutating func take(_ word: String) -> [Action] {
    switch (state, word) {
    // What is not on screen has no buttons.
    case (.over, _), (.failing, _): return []
    case (_, "done"): return answered(.done)
    case (_, "snooze"): return answered(.snooze(for: snooze))
    case (_, _) where word.hasPrefix("item:"):
      return Occurrence.Answer(item: String(word.dropFirst(5))).map { answered($0) } ?? []
    case (.showing, _): return []
    case (.starting, _):
      guard let number = UInt32(word) else { return [] }
      // When the server could not be reached, notify-send complains, prints 0, or the number it was to replace, and
      // waits for ever for a popup that is not there.
      // It is ended first and judged when all that it said has been read: the line that tells why may come later.
      if number == 0 || NotificationTrouble(complaint) != nil {
        state = .failing
        return [.end(.leave)]
      }
      return show(number)
    }
  }

  private mutating func answered(_ answer: Occurrence.Answer) -> [Action] {
    (state == .starting ? show(nil) : []) + [.answer(answer)]
  }

  private mutating func show(_ number: UInt32?) -> [Action] {
    state = .showing(number)
    return [.report(.delivered, .settled, status: nil, error: nil), .waitForAnswer]
  }

  private mutating func count(_ bytes: [UInt8]) -> [Action] {
    written += bytes.count
    guard written > Self.outputLimit else { return [] }
    return release("the notification program wrote more than \(Self.outputLimit) bytes")
  }

  private mutating func expire() -> [Action] {
    release("the notification program did not confirm the popup")
  }

  private mutating func finish(_ exit: ProgramExit) -> [Action] {
    // A last line may lack its end.
    let last = line.isEmpty ? [] : take(String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace })
    if state == .failing { return fail(status: nil) }
    guard state == .starting else {
      state = .over
      return last
    }
    switch exit {
    case .status(0):
      state = .over
      return [.report(.delivered, .settled, status: 0, error: nil)]
    case .status(let status):
      if !isPlain, String(decoding: complaint, as: UTF8.self).contains("Unknown option") {
        state = .over
        return [.showPlain]
      }
      return fail(status: Int(status))
    case .signal(let signal):
      state = .over
      return [
        .report(.failed, .retry, status: nil, error: "signal \(signal) ended the notification program")
      ]
    }
  }

  private mutating func fail(status: Int?) -> [Action] {
    state = .over
    if let trouble = NotificationTrouble(complaint) {
      return [
        .report(
          trouble.isBlocked ? .refused : .failed, trouble.isBlocked ? .blocked(Self.blockedFor) : .retry,
          status: status, error: trouble.sentence)
      ]
    }
    let words = PlainText.sentence(String(decoding: complaint, as: UTF8.self))
    let said = words.isEmpty ? "the notification program failed" : words
    return [.report(.failed, .retry, status: status, error: said)]
  }

  private mutating func refuse(_ failure: SpawnFailure) -> [Action] {
    state = .over
    switch failure {
    case .missing:
      let sentence = "the notification program is missing: install libnotify-bin, or name another in the configuration"
      return [.report(.refused, .blocked(Self.blockedFor), status: nil, error: sentence)]
    case .system(let error) where error.isShortage:
      // No process or descriptor to be had just now is not the message's fault: its next attempt is not hours away.
      return [
        .report(
          .refused, .blocked(Self.blockedFor), status: nil, error: "cannot start the notification program: \(error)")
      ]
    case .system(let error):
      return [.report(.failed, .retry, status: nil, error: "cannot start the notification program: \(error)")]
    }
  }
}

/// What notify-send's standard error tells of the way to the screen, as libnotify and GDBus word it in the C locale.
struct NotificationTrouble: Hashable, Sendable {
  /// Nobody's failure: there is no session bus, or nobody on it who shows notifications.
  let isBlocked: Bool
  let sentence: String

  /// Nil when nothing of the kind is said.
  init?(_ complaint: [UInt8]) {
    let text = String(decoding: complaint, as: UTF8.self)
    let noBus = ["Cannot autolaunch D-Bus", "Cannot spawn a message bus", "Could not connect", "Error connecting"]
    let noServer = [
      "ServiceUnknown", "NameHasNoOwner", "StartServiceByName", "Error.Spawn", "Failed to connect to proxy",
    ]
    if noBus.contains(where: text.contains) {
      isBlocked = true
      sentence = "no session bus to show notifications on"
    } else if noServer.contains(where: text.contains) {
      isBlocked = true
      sentence = "no notification server on the session bus"
    } else if let line = text.split(whereSeparator: \.isNewline).first(where: { $0.contains("GDBus.Error:") }) {
      isBlocked = false
      sentence = PlainText.sentence(String(line))
    } else {
      return nil
    }
  }
}
