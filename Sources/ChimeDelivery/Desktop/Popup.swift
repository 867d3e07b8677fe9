package import ChimeCore
package import ChimeSchedule

/// A Popup is the state machine of one run of notify-send.
///
///     starting → showing → over
///              → failing → over
///              → over
package struct Popup: Sendable {
  package enum State: Hashable, Sendable {
    /// The server has not accepted the popup. Exits: showing, failing, over.
    case starting
    /// The popup cannot be shown. The program is being ended, and its full output will give the reason. Exit: over.
    case failing
    /// The popup is on screen and waits for an answer. The number is nil if the program did not print it. Exits: over.
    case showing(UInt32?)
    /// Everything is reported. No exit.
    case over
  }

  package enum Action: Hashable, Sendable {
    /// Ends the attempt.
    case report(Attempt.Outcome, ChannelReport.NextStep, status: Int?, error: String?)
    case answer(Occurrence.Answer)
    /// Starts the time limit for an answer.
    case waitForAnswer
    /// Sends the program a signal.
    case end(Signal)
    /// Shows the popup again without buttons, because notify-send is too old for them.
    case showPlain

    /// Whether the desktop turned out to be unavailable.
    var isBlocked: Bool { if case .report(_, .blocked, _, _) = self { true } else { false } }
  }

  package enum Signal: Hashable, Sendable {
    /// SIGTERM: the program ends, the popup stays.
    case leave
    /// SIGINT: notify-send closes its popup and ends.
    case takeDown
  }

  /// Maximum output in bytes. A program that writes more is ended.
  package static let outputLimit = 65_536

  /// Delay of the next attempt while the desktop is unavailable.
  static let blockedFor = Milliseconds.seconds(30)

  package private(set) var state = State.starting
  /// Whether the popup has no buttons. It is then delivered when the program exits with status 0.
  let isPlain: Bool
  let snooze: Milliseconds
  private var line: [UInt8] = []
  private var complaint: [UInt8] = []
  private var written = 0

  package init(isPlain: Bool, snooze: Milliseconds) {
    self.isPlain = isPlain
    self.snooze = snooze
  }

  /// The server's number of the popup; nil if it is not shown.
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

  /// Ends the program but keeps the popup, to make place for another or because the daemon stops.
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

  /// Closes the popup.
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
    // A popup that is not on screen has no buttons.
    case (.over, _), (.failing, _): return []
    case (_, "done"): return answered(.done)
    case (_, "snooze"): return answered(.snooze(for: snooze))
    case (_, _) where word.hasPrefix("item:"):
      return Occurrence.Answer(item: String(word.dropFirst(5))).map { answered($0) } ?? []
    case (.showing, _): return []
    case (.starting, _):
      guard let number = UInt32(word) else { return [] }
      // If the server is unreachable, notify-send writes an error, prints 0 or the number to replace, and waits
      // forever. It is ended first and judged by its complete output, because the error line may arrive later.
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
    // The last line may lack a line feed.
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
      // A shortage of processes or descriptors is temporary, so it does not use the retry schedule.
      return [
        .report(
          .refused, .blocked(Self.blockedFor), status: nil, error: "cannot start the notification program: \(error)")
      ]
    case .system(let error):
      return [.report(.failed, .retry, status: nil, error: "cannot start the notification program: \(error)")]
    }
  }
}

/// A desktop problem, as libnotify and GDBus report it on notify-send's standard error in the C locale.
struct NotificationTrouble: Hashable, Sendable {
  /// Whether the bus or the server is missing, which does not count as a failed attempt.
  let isBlocked: Bool
  let sentence: String

  /// Nil if the output reports no such problem.
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
