import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

/// The bus channel's state machine, tested by the actions that it returns.
@Suite struct BusPopupRegistryTests {
  static let all = ServerCapabilities(names: ["body", "body-markup", "actions", "persistence"])
  static let noServer = NotificationFault(isBlocked: true, sentence: "nobody")

  func showing(_ id: String = "r1", round: Int = 1) throws -> PopupRequest {
    PopupRequest(.occurrence(try message(id: id, round: round))) { _ in }
  }

  func id(_ reminder: String) -> OccurrenceID {
    OccurrenceID(reminder: ReminderID(rawValue: reminder), scheduledAt: scheduled)
  }

  func short(_ orders: [BusPopupRegistry.Order]) -> [String] {
    func name(_ showing: PopupRequest) -> String { showing.content.message?.reminder?.id.rawValue ?? "summary" }
    return orders.map { order in
      switch order {
      case .look(let activating): activating ? "look+" : "look"
      case .notify(let call, let showing, _, let replacing): "notify \(call) \(name(showing)) for \(replacing)"
      case .close(let number): "close \(number)"
      case .delivered(let showing): "delivered \(name(showing))"
      case .failed(let showing, let fault): "failed \(name(showing)): \(fault.sentence)"
      case .tell(.opened): "opened"
      case .tell(.closed(let occurrence, let why)): "closed \(occurrence.id.reminder) \(why)"
      case .tell(.answered(let id, let answer, let isOurs)): "\(answer) \(id.reminder)\(isOurs ? "" : " by name")"
      }
    }
  }

  /// Returns a registry with these occurrences on screen, numbered from 1.
  func registry(showing ids: String...) throws -> BusPopupRegistry {
    var registry = BusPopupRegistry()
    _ = registry.listen()
    _ = registry.handle(.open(Self.all, identity: ":1.5@bus"))
    for (index, id) in ids.enumerated() {
      _ = registry.admit(try showing(id))
      _ = registry.handle(.shown(UInt64(index + 1), number: UInt32(index + 1)))
    }
    return registry
  }

  @Test func serverIsLookedUpBeforeTheFirstPopup() throws {
    var registry = BusPopupRegistry()
    #expect(short(registry.admit(try showing())) == ["look+"])
    #expect(short(registry.admit(try showing("r2"))) == [])
    #expect(
      short(registry.handle(.open(Self.all, identity: ":1.5@bus"))) == [
        "opened", "notify 1 r1 for 0", "notify 2 r2 for 0",
      ])
    #expect(short(registry.handle(.shown(1, number: 7))) == ["delivered r1"])
    #expect(short(registry.handle(.refused(2, Self.noServer))) == ["failed r2: nobody"])
    // Other observers report the server again.
    #expect(short(registry.handle(.open(Self.all, identity: ":1.5@bus"))) == [])
    // A popup shown after its timeout is no longer wanted.
    #expect(short(registry.handle(.shown(2, number: 9))) == ["close 9"])
  }

  @Test func onlyAMessageActivatesTheServer() throws {
    var registry = BusPopupRegistry()
    #expect(short(registry.listen()) == ["look"])
    #expect(short(registry.admit(try showing())) == [])
    #expect(short(registry.handle(.unreachable(Self.noServer))) == ["look+"])
    #expect(short(registry.handle(.unreachable(Self.noServer))) == ["failed r1: nobody"])
    #expect(registry.way == .unavailable)
    #expect(short(registry.admit(try showing())) == ["look+"])
    #expect(short(registry.handle(.gone)) == [], "a lookup is in progress")
    #expect(
      short(registry.handle(.unreachable(NotificationFault(isBlocked: false, sentence: "hangs"))))
        == ["failed r1: hangs"])

    var quiet = BusPopupRegistry()
    _ = quiet.listen()
    #expect(short(quiet.handle(.unreachable(Self.noServer))) == [])
    #expect(short(quiet.handle(.open(Self.all, identity: ":1.5@bus"))) == ["opened"])
  }

  @Test func numbersOfAServerThatLeftAreForgotten() throws {
    var registry = try registry(showing: "r1")
    #expect(short(registry.admit(try showing("r1", round: 2))) == ["notify 2 r1 for 1"])
    #expect(short(registry.handle(.shown(2, number: 1))) == ["delivered r1"])
    #expect(short(registry.handle(.gone)) == [])
    #expect(registry.way == .unavailable)
    #expect(short(registry.handle(.open(Self.all, identity: ":1.5@bus"))) == ["opened"])
    #expect(short(registry.admit(try showing("r1", round: 3))) == ["notify 3 r1 for 0"])
    #expect(short(registry.handle(.closed(number: 1, .expired))) == [])
  }

  @Test func openPopupsAreRememberedForTheNextDaemon() throws {
    var before = try registry(showing: "r1", "r2", "r3")
    _ = before.withdraw(.occurrence(id("r2")))
    let memory = ":1.5@bus\n1 r1@1774744200\n3 r3@1774744200"
    #expect(before.memory == memory)
    _ = before.close()
    #expect(before.memory == memory)
    #expect(BusPopupRegistry().memory == "")

    func after(_ memory: String, identity: String = ":1.5@bus") -> BusPopupRegistry {
      var registry = BusPopupRegistry()
      _ = registry.listen(remembering: memory)
      _ = registry.handle(.open(Self.all, identity: identity))
      return registry
    }
    var same = after(memory)
    #expect(short(same.handle(.invoked(number: 1, key: "done:r1@1774744200"))) == ["done r1"])
    #expect(short(same.withdraw(.occurrence(id("r1")))) == ["close 1"])
    #expect(short(same.admit(try showing("r3", round: 2))) == ["notify 1 r3 for 3"])
    #expect(short(same.handle(.closed(number: 3, .expired))) == [])
    // An occurrence answered before the server is found is closed afterwards, on the same server only.
    for (identity, orders) in [(":1.5@bus", ["opened", "close 1"]), (":1.6@bus", ["opened"])] {
      var early = BusPopupRegistry()
      _ = early.listen(remembering: memory)
      #expect(short(early.withdraw(.occurrence(id("r1")))) == [])
      #expect(short(early.handle(.open(Self.all, identity: identity))) == orders)
      #expect(short(early.handle(.open(Self.all, identity: identity))) == [])
    }
    // Another server, or invalid stored state.
    for var other in [
      after(memory, identity: ":1.6@bus"), after("x\n1 r1@1774744200"), after(":1.5@bus\nr1\n1\n-1 r1@5\n"),
    ] {
      #expect(other.memory == "")
      #expect(short(other.withdraw(.occurrence(id("r1")))) == [])
    }
  }

  @Test func atMostSixtyFourCallsRunAtATime() throws {
    var registry = try registry()
    var orders: [BusPopupRegistry.Order] = []
    for number in 1...68 { orders += registry.admit(try showing("r\(number)")) }
    #expect(orders.count == BusPopupRegistry.calls)
    #expect(short(registry.handle(.shown(1, number: 1))) == ["delivered r1", "notify 65 r65 for 0"])
    // The server leaves: waiting requests fail at once, those in flight when the bus reports it.
    #expect(short(registry.handle(.gone)).count == 3)
    #expect(short(registry.handle(.refused(2, Self.noServer))) == ["failed r2: nobody"])
    // Stopping the daemon fails everything.
    #expect(registry.close().count == 63)
    #expect(short(registry.admit(try showing())) == ["failed r1: cancelled because the daemon is stopping"])
  }

  @Test func roundsOfAnOccurrenceAreShownInTurn() throws {
    var registry = try registry()
    #expect(short(registry.admit(try showing("r1"))) == ["notify 1 r1 for 0"])
    #expect(short(registry.admit(try showing("r1", round: 2))) == [])
    #expect(short(registry.admit(try showing("r2"))) == ["notify 2 r2 for 0"])
    #expect(short(registry.handle(.shown(1, number: 5))) == ["delivered r1", "notify 3 r1 for 5"])
  }

  /// Popups that may still be answered elsewhere: not those answered here, nor those that need no answer.
  @Test func popupsWithoutAnAnswerAreKnown() throws {
    var registry = try registry(showing: "r1", "r2", "r3")
    _ = registry.admit(PopupRequest(.summary(PopupSummary(number: 1, titles: ["a", "b"]))) { _ in })
    _ = registry.handle(.shown(4, number: 4))
    _ = registry.admit(try showing("r5"))
    #expect(registry.unanswered.map(\.reminder.rawValue) == ["r1", "r2", "r3"], "r5 is not shown yet")
    _ = registry.handle(.invoked(number: 2, key: "done:\(id("r2"))"))
    _ = registry.withdraw(.occurrence(id("r1")))
    #expect(registry.unanswered == [id("r3")])
    _ = registry.handle(.closed(number: 3, .dismissed))
    #expect(registry.unanswered.isEmpty)
  }

  @Test func withdrawnPopupIsClosed() throws {
    var registry = try registry(showing: "r1")
    #expect(short(registry.withdraw(.occurrence(id("r1")))) == ["close 1"])
    #expect(short(registry.withdraw(.occurrence(id("r1")))) == [])
    // While the server is processing the request.
    _ = registry.admit(try showing("r2"))
    #expect(short(registry.withdraw(.occurrence(id("r2")))) == ["failed r2: closed before it was shown"])
    #expect(short(registry.handle(.shown(2, number: 8))) == ["close 8"])
    _ = registry.handle(.gone)
    _ = registry.admit(try showing("r3"))
    #expect(short(registry.withdraw(.occurrence(id("r3")))) == ["failed r3: closed before it was shown"])
  }

  /// The popup's number, the button's key, and the resulting reports. r1 is popup 1, r2 popup 2.
  @Test(arguments: [
    (1, "done:r1@1774744200", ["done r1"]),
    (2, "snooze:10m:r2@1774744200", ["snooze(for: 10m) r2"]),
    (9, "done:r9@1774744200", ["done r9 by name"]),
    (2, "done:r1@1774744200", ["done r1 by name"]),
    (1, "done:r1@1774744201", ["done r1 by name"]),
    (1, "done", []), (1, "default", []), (1, "", []), (1, "dismiss:r1@1774744200", []), (1, "done:r1", []),
    (1, "done:@1774744200", []), (1, "snooze:r1@1774744200", []), (1, "snooze:0s:r1@1774744200", []),
    (1, "snooze:-5m:r1@1774744200", []), (1, "snooze::r1@1774744200", []), (1, "Done:r1@1774744200", []),
    (1, "done:r1@1774744200:", []), (1, "done:r1@-5", []), (1, ":::", []),
  ])
  func pressedButtonsAreReported(_ number: UInt32, _ key: String, _ expected: [String]) throws {
    var registry = try registry(showing: "r1", "r2")
    let heard = short(registry.handle(.invoked(number: number, key: key))).map {
      $0.replacing(/snooze\(for: .*\)/, with: "snooze(for: 10m)")
    }
    #expect(heard == expected)
  }

  @Test func actionKeyReadsBack() throws {
    for answer in [
      Occurrence.Answer.done, .item("speedmaster-2"), .snooze(for: .minutes(10)), .snooze(for: .seconds(3_661)),
    ] {
      let key = ActionKey(answer: answer, occurrence: id("r7k2"))
      #expect(ActionKey(key.text) == key)
    }
    for text in [
      "item::r7k2@1774744200", "item:A B:r7k2@1774744200", "item:r7k2@1774744200", "item:a:b:r7k2@1774744200",
    ] {
      #expect(ActionKey(text) == nil)
    }
    #expect(ActionKey(answer: .snooze(for: .minutes(90)), occurrence: id("r7k2")).text == "snooze:90m:r7k2@1774744200")
  }

  @Test func reasonOfAClosedPopupIsReported() throws {
    for reason in PopupClosing.allCases {
      var registry = try registry(showing: "r1")
      #expect(short(registry.handle(.closed(number: 1, reason))) == ["closed r1 \(reason)"])
      #expect(short(registry.handle(.closed(number: 1, reason))) == [])
    }
    #expect(PopupClosing(reason: 0) == .unknown && PopupClosing(reason: 77) == .unknown)
    // Popups that we closed, or that disappear because they were answered, are not reported.
    var registry = try registry(showing: "r1", "r2")
    _ = registry.withdraw(.occurrence(id("r1")))
    #expect(short(registry.handle(.closed(number: 1, .closed))) == [])
    _ = registry.handle(.invoked(number: 2, key: "done:r2@1774744200"))
    #expect(short(registry.handle(.closed(number: 2, .dismissed))) == [])
  }

  @Test func popupNumberZeroIsAFailure() throws {
    var registry = try registry()
    _ = registry.admit(try showing())
    #expect(
      short(registry.handle(.shown(1, number: 0))) == ["failed r1: the notification server gave the popup no number"])
  }

  @Test func rememberedPopupsAreBounded() throws {
    var registry = try registry()
    for number in 1...300 {
      _ = registry.admit(try showing("r\(number)"))
      _ = registry.handle(.shown(UInt64(number), number: UInt32(number)))
    }
    #expect(short(registry.withdraw(.occurrence(id("r44")))) == [])
    #expect(short(registry.withdraw(.occurrence(id("r45")))) == ["close 45"])
    #expect(short(registry.handle(.invoked(number: 1, key: "done:r1@1774744200"))) == ["done r1 by name"])
  }

  /// The server's capabilities, the body that it receives, and the number of buttons.
  @Test(arguments: [
    (["body", "body-markup", "actions"], "a &lt;b&gt; &amp; c\nhttps://example.org/?a&amp;b", 2),
    (["body", "actions"], "a <b> & c\nhttps://example.org/?a&b", 2),
    (["body"], "a <b> & c\nhttps://example.org/?a&b", 0),
    (["actions", "body-markup"], "", 2), ([], "", 0),
  ])
  func popupMatchesTheServersCapabilities(_ names: [String], _ body: String, _ buttons: Int) throws {
    let configuration = DesktopConfiguration(environment: [:])
    let sample = try message("T <i> & \u{0}x", body: "a <b> & c") {
      $0.url = "https://example.org/?a&b"
      $0.urgency = .critical
      $0.icon = "/usr/share/icons/tea.png"
      $0.sound = "bell"
    }
    let sent = configuration.notification(for: .occurrence(sample), ServerCapabilities(names: names), replacing: 4)
    #expect(sent.title == "T <i> & x" && sent.body == body && sent.urgency == 2 && sent.replaces == 4)
    #expect(
      sent.hints == [
        "sound-name": "bell", "desktop-entry": "chime", "image-path": "/usr/share/icons/tea.png",
      ])
    #expect(sent.actions.map(\.label) == Array(["Done", "Snooze 10 min"].prefix(buttons)))
  }

  /// A collection's items replace *Done*, and each is its own button.
  @Test func collectionHasAButtonForEachItem() throws {
    let configuration = DesktopConfiguration(environment: [:])
    var sample = try message("Wrist")
    var report = TrackerReport()
    report.items = [
      .init("speedy", "Speed\u{0}master"), .init("skx", String(repeating: "x", count: 99)),
    ]
    sample.report = report
    let sent = configuration.notification(for: .occurrence(sample), Self.all, replacing: 0)
    let id = sample.occurrence.id
    #expect(sent.actions.map(\.key) == ["item:speedy:\(id)", "item:skx:\(id)", "snooze:10m:\(id)"])
    #expect(sent.actions[0].label == "Speedmaster" && sent.actions[1].label.utf8.count <= 60)
    let program = configuration.program(for: .occurrence(sample), replacing: nil, isPlain: false)
    #expect(program.arguments.contains("--action=item:speedy=Speedmaster"))
    #expect(!program.arguments.contains { $0.hasPrefix("--action=done") })
  }

  /// The output of notify-send when such a button is pressed.
  @Test(arguments: [
    ("item:speedy\n", Occurrence.Answer.item("speedy")), ("item:\n", nil), ("item:Ü b\n", nil),
    ("done\n", .done),
  ])
  func pressedItemIsReported(_ word: String, _ answer: Occurrence.Answer?) {
    var popup = Popup(isPlain: false, snooze: .minutes(10))
    _ = popup.handle(.output(Array("7\n".utf8)))
    #expect(popup.handle(.output(Array(word.utf8))) == answer.map { [.answer($0)] } ?? [])
  }

  @Test func summaryHasNoButtons() throws {
    let configuration = DesktopConfiguration(environment: [:])
    let many = PopupSummary(number: 1, titles: (1...20).map { "Title <\($0)>\n" })
    let sent = configuration.notification(for: .summary(many), Self.all, replacing: 0)
    #expect(sent.title == "20 more reminders while you were away")
    #expect(sent.actions.isEmpty && sent.body.split(separator: "\n").count == 12)
    #expect(sent.body.hasPrefix("Title &lt;1&gt; \nTitle &lt;2&gt;") && sent.body.hasSuffix("\nand 9 more"))
    let program = configuration.program(for: .summary(many), replacing: 3, isPlain: false)
    #expect(program.arguments.contains("--print-id") && program.arguments.contains("--replace-id=3"))
    #expect(!program.arguments.contains { $0.hasPrefix("--action") || $0 == "--wait" })
  }
}
