import ChimeControl
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeCommand

/// Expected pictures of the `chime watch` screen.
@Suite struct WatchPictureTests {
  private static func zone() throws -> Zone {
    try Zone(
      identifier: "Europe/Prague", tzif: [UInt8](Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Prague"))))
  }

  private static func coming(
    _ title: String, _ seconds: Int64, snoozed: Bool = false, paused: Bool = false,
    skipReason: Wire.SkipReason? = nil
  ) -> OccurrencesInterface.UpcomingTime {
    OccurrencesInterface.UpcomingTime(
      reminder: title, title: title, at: Samples.time(Samples.now.seconds + seconds), snoozed: snoozed, paused: paused,
      when: "", skipReason: skipReason)
  }

  private static func delivery(_ channel: String, _ title: String, attempts: Int, _ seconds: Int64?, _ result: String?)
    -> DeliveriesInterface.Delivery
  {
    var delivery = Samples.delivery
    (delivery.channel, delivery.title, delivery.attempts, delivery.lastResult) = (channel, title, attempts, result)
    delivery.nextAttempt = seconds.map { Samples.time(Samples.now.seconds + $0) }
    return delivery
  }

  static func model() -> WatchModel {
    var model = WatchModel(now: Samples.now)
    model.health = Samples.health()
    model.take(open: [
      WatchModelTests.occurrence("pill", "Take the pills", minutesAgo: 12, repeatIn: 3),
      WatchModelTests.occurrence("jp", "日本語の長いタイトルがここにあります", minutesAgo: 95, .snoozed, snoozedFor: 9),
      WatchModelTests.occurrence("w", "Weigh yourself", minutesAgo: 1_500),
    ])
    model.upcoming = [
      coming("Tea", 95), coming("日本語の長いタイトルがここにあります", 540, snoozed: true), coming("Drink water", 3_600),
      coming("Read a page", 7_200, skipReason: .doneAlready), coming("Stand-up", 85_000),
      coming("Old", 90_000, paused: true),
      coming("Pay the rent", 1_000_000),
    ]
    model.take(
      pending: [
        delivery("team", "Stand-up", attempts: 3, 40, "HTTP 503: Service Unavailable"),
        delivery("desktop", "Take the pills", attempts: 0, nil, nil),
      ], state: .waiting)
    for (seconds, kind, text) in [
      (-90_000, "missed", "\"Weigh yourself\" missed"), (-720, "fired", "\"Take the pills\" fired"),
      (-719, "delivered", "\"Take the pills\" delivered to desktop"),
      (-30, "failed", "\"Stand-up\" not delivered to team: HTTP 503; next attempt in 1m 10s"),
    ] as [(Int64, String, String)] {
      model.take(events: [
        DaemonInterface.Event(
          at: Samples.time(Samples.now.seconds + seconds), event: kind, title: String(text.split(separator: "\"")[0]),
          message: text)
      ])
    }
    return model
  }

  static func picture(_ model: WatchModel, _ width: Int, _ height: Int, isASCII: Bool = false) throws -> Frame {
    WatchView(model: model, zone: try zone(), glyphs: Glyphs(isASCII: isASCII), width: width, height: height).picture()
      .frame
  }

  static func model(_ name: String) -> WatchModel {
    var model = model()
    switch name {
    case "day":
      // The timeline has all times of a day; the list has the next time of each reminder.
      model.ahead = (0..<14).map { coming("Drink water", 3_600 + $0 * 5_400) } + [coming("Stand-up", 85_000)]
    case "away":
      model.lost(attempts: 0, retry: Samples.now)
      _ = model.press(.character("d"))
    case "asking":
      _ = model.press(.character("S"))
      for letter in "20m" { _ = model.press(.character(letter)) }
    case "help": _ = model.press(.character("?"))
    case "trouble":
      model.health = Samples.health(problem: "the disk is full")
      model.health?.notices = [
        .init(
          kind: "calendarMissing", about: "holidays",
          sentence: "the calendar holidays is no longer configured; one reminder continues without it")
      ]
    case "empty":
      model = WatchModel(now: Samples.now)
      model.health = Samples.health()
      model.health?.openOccurrences = 0
      model.upcoming = []
      model.take(history: [])
    case "beginning": model = WatchModel(now: Samples.now)
    case "half told":
      // The first answer has arrived, the others have not.
      model = WatchModel(now: Samples.now)
      model.health = Samples.health()
      model.health?.openOccurrences = 0
    default: break
    }
    return model
  }

  @Test(arguments: WatchPicture.all)
  func screensMatchTheExpectedOnes(_ picture: WatchPicture) throws {
    let frame = try Self.picture(Self.model(picture.name), picture.width, picture.height, isASCII: picture.isASCII)
    let text = frame.rows.joined(separator: "\n")
    #expect(text == picture.expected, "it is now:\n\(text)")
  }

  /// Every size can be drawn, and in ASCII mode only the user's titles contain other characters.
  @Test(arguments: ["", "away", "asking", "help", "trouble", "empty", "beginning", "half told"])
  func everySizeCanBeDrawn(_ name: String) throws {
    for (width, height) in [
      (1, 1), (5, 2), (20, 5), (40, 8), (40, 12), (60, 20), (80, 24), (119, 30), (120, 30), (200, 60),
    ] {
      let frame = try Self.picture(Self.model(name), width, height)
      #expect(frame.rows.count == height)
      #expect(frame.rows.allSatisfy { TextWidth.of($0) <= width })
      let typed = try Self.picture(Self.model(name), width, height, isASCII: true)
      let strange = typed.rows.joined().filter { !$0.isASCII && !"日本語の長いタイトルがここにあります…".contains($0) }
      #expect(strange.isEmpty, "\(typed.rows)")
    }
  }

  /// Only what is shown is counted down.
  @Test func onlyVisibleCountdownsRefreshTheScreen() throws {
    var model = Self.model()
    model.upcoming = (0..<50).map { Self.coming("R\($0)", 100 + Int64($0)) }
    let view = WatchView(model: model, zone: try Self.zone(), glyphs: Glyphs(isASCII: false), width: 80, height: 24)
    #expect(view.picture().times.count < 12)
    _ = model.press(.character("?"))
    let help = WatchView(model: model, zone: try Self.zone(), glyphs: Glyphs(isASCII: false), width: 80, height: 24)
    #expect(help.picture().times.isEmpty)
  }

  /// The selection is visible, however many occurrences there are.
  @Test func selectionIsVisible() throws {
    var model = Self.model()
    model.take(open: (0..<60).map { WatchModelTests.occurrence("r\($0)", "Number \($0)", minutesAgo: Int64($0)) })
    for _ in 0..<41 { _ = model.press(.down) }
    for height in [8, 12, 24, 60] {
      let rows = try Self.picture(model, 80, height).rows
      #expect(rows.contains { $0.hasPrefix("›") && $0.contains("Number 41") }, "\(height): \(rows)")
    }
  }
}

/// A picture and its description.
struct WatchPicture: CustomTestStringConvertible, Sendable {
  var name: String
  var width: Int
  var height: Int
  var isASCII = false
  var expected: String

  var testDescription: String { "\(name.isEmpty ? "usual" : name), \(width)x\(height)\(isASCII ? ", ASCII" : "")" }

  init(_ name: String, _ width: Int, _ height: Int, isASCII: Bool = false, _ expected: String) {
    (self.name, self.width, self.height, self.isASCII, self.expected) = (name, width, height, isASCII, expected)
  }

  static let all = [
    WatchPicture(
      "day", 100, 33,
      #"""
      ● Chime: all right                                                              Fri 2026-03-27 09:26

      Waiting for an answer
      › 09:14      12 min      Take the pills                                               again at 09:29
        07:51      1 h 35 min  日本語の長いタイトルがここにあります                    snoozed until 09:35
        Thu 08:26  1 d 1 h     Weigh yourself

      Next
        09:28       in 1 min 35 s   Tea
        09:35       in 9 min        日本語の長いタイトルがここにあります                           snoozed
        10:26       in 1 h          Drink water
        11:26       in 2 h          Read a page                                      skipped: done already
        Sat 09:03   in 23 h 37 min  Stand-up
        Sat 10:26   in 1 d 1 h      Old                                                             paused
        2026-04-08  in 11 d 14 h    Pay the rent

      Deliveries
        desktop  under way  Take the pills
        team     in 40 s    Stand-up                                      3× HTTP 503: Service Unavailable

      What has happened
        Thu 08:26  missed     "Weigh yourself"
        09:14:40   fired      "Take the pills"
        09:14:41   delivered  "Take the pills" to desktop
        09:26:10   failed     "Stand-up" not delivered to team: HTTP 503; next attempt in 1m 10s

      The day ahead
                     Fri 27 Mar                                         Sat 28 Mar
                      10      12     14     16     18     20     22     00     02     04     06     08
        Drink water  ───●────●─────●────●────●─────●────●────●─────●────●────●────●─────●────●────────────
        Stand-up     ───────────────────────────────────────────────────┼───────────────────────────────●─
        ● comes
      d done   s snooze   x dismiss   ↑↓ choose   ? help   q leave
      """#),
    WatchPicture(
      "", 80, 24,
      #"""
      ● Chime: all right                                          Fri 2026-03-27 09:26

      Waiting for an answer
      › 09:14      12 min      Take the pills                           again at 09:29
        07:51      1 h 35 min  日本語の長いタイトルがここにあり…   snoozed until 09:35
        Thu 08:26  1 d 1 h     Weigh yourself

      Next  6 of 7
        09:28      in 1 min 35 s   Tea
        09:35      in 9 min        日本語の長いタイトルがここにあります        snoozed
        10:26      in 1 h          Drink water
        11:26      in 2 h          Read a page                   skipped: done already
        Sat 09:03  in 23 h 37 min  Stand-up
        Sat 10:26  in 1 d 1 h      Old                                          paused

      Deliveries
        desktop  under way  Take the pills
        team     in 40 s    Stand-up                  3× HTTP 503: Service Unavailable

      What has happened
        09:14:40  fired      "Take the pills"
        09:14:41  delivered  "Take the pills" to desktop
        09:26:10  failed     "Stand-up" not delivered to team: HTTP 503; next attempt…
      d done   s snooze   x dismiss   ↑↓ choose   ? help   q leave
      """#),
    WatchPicture(
      "", 40, 12,
      #"""
      ● Chime: all right                 09:26

      Waiting for an answer  2 of 3
      › 09:14  12 min   Take the pills
        07:51  snoozed  日本語の長いタイトル…
      Next  2 of 7
        09:28  1 min 35 s  Tea
        09:35  9 min       日本語の長いタイト…
      Deliveries
        desktop  under way  Take the pills
        team     40 s       Stand-up
      d done  s snooze  x dismiss  ? help  q
      """#),
    WatchPicture(
      "", 40, 24, isASCII: true,
      #"""
      * Chime: all right                 09:26

      Waiting for an answer
      > 09:14      12 min   Take the pills
        07:51      snoozed  日本語の長いタイ…
        Thu 08:26  1 d 1 h  Weigh yourself

      Next  6 of 7
        09:28      1 min 35 s   Tea
        09:35      9 min        日本語の長い…
        10:26      1 h          Drink water
        11:26      2 h          Read a page
        Sat 09:03  23 h 37 min  Stand-up
        Sat 10:26  paused       Old

      Deliveries
        desktop  under way  Take the pills
        team     40 s       Stand-up

      What has happened
        09:14  fired      "Take the pills"
        09:14  delivered  "Take the pills" to…
        09:26  failed     "Stand-up" not deli…
      d done  s snooze  x dismiss  ? help  q
      """#),
    WatchPicture(
      "", 130, 16,
      #"""
      ● Chime: all right                                                                                            Fri 2026-03-27 09:26

      Waiting for an answer                                             What has happened
      › 09:14      12 min      Take the pills          again at 09:29     Thu 08:26  missed     "Weigh yourself"
        07:51      1 h 35 min  日本語の長いタイトル…   snoozed until…     09:14:40   fired      "Take the pills"
        Thu 08:26  1 d 1 h     Weigh yourself                             09:14:41   delivered  "Take the pills" to desktop
      Next  5 of 7                                                        09:26:10   failed     "Stand-up" not delivered to team: HTTP …
        09:28      in 1 min 35 s   Tea
        09:35      in 9 min        日本語の長いタイトルがこ…  snoozed
        10:26      in 1 h          Drink water
        11:26      in 2 h          Read a page  skipped: done already
        Sat 09:03  in 23 h 37 min  Stand-up
      Deliveries
        desktop  under way  Take the pills
        team     in 40 s    Stand-up  3× HTTP 503: Service Unavailab…
      d done   s snooze   x dismiss   ↑↓ choose   ? help   q leave
      """#),
    WatchPicture(
      "trouble", 80, 24,
      #"""
      ● Chime: in trouble                                         Fri 2026-03-27 09:26
        changes cannot be stored: the disk is full
        the calendar holidays is no longer configured; one reminder continues without
        it

      Waiting for an answer
      › 09:14      12 min      Take the pills                           again at 09:29
        07:51      1 h 35 min  日本語の長いタイトルがここにあり…   snoozed until 09:35
        Thu 08:26  1 d 1 h     Weigh yourself
      Next  6 of 7
        09:28      in 1 min 35 s   Tea
        09:35      in 9 min        日本語の長いタイトルがここにあります        snoozed
        10:26      in 1 h          Drink water
        11:26      in 2 h          Read a page                   skipped: done already
        Sat 09:03  in 23 h 37 min  Stand-up
        Sat 10:26  in 1 d 1 h      Old                                          paused
      Deliveries
        desktop  under way  Take the pills
        team     in 40 s    Stand-up                  3× HTTP 503: Service Unavailable
      What has happened
        09:14:40  fired      "Take the pills"
        09:14:41  delivered  "Take the pills" to desktop
        09:26:10  failed     "Stand-up" not delivered to team: HTTP 503; next attempt…
      d done   s snooze   x dismiss   ↑↓ choose   ? help   q leave
      """#),
    WatchPicture(
      "away", 80, 12,
      #"""
      ● the daemon is away since 09:26:40; reconnecting           Fri 2026-03-27 09:26

      Waiting for an answer  2 of 3
      › 09:14  12 min      Take the pills                               again at 09:29
        07:51  1 h 35 min  日本語の長いタイトルがここにあります    snoozed until 09:35
      Next  2 of 7
        09:28  in 1 min 35 s  Tea
        09:35  in 9 min       日本語の長いタイトルがここにあります             snoozed
      Deliveries
        desktop  under way  Take the pills
        team     in 40 s    Stand-up                  3× HTTP 503: Service Unavailable
      the daemon is not available: nothing can be answered now
      """#),
    WatchPicture(
      "asking", 40, 12,
      #"""
      ● Chime: all right                 09:26

      Waiting for an answer  2 of 3
      › 09:14  12 min   Take the pills
        07:51  snoozed  日本語の長いタイトル…
      Next  2 of 7
        09:28  1 min 35 s  Tea
        09:35  9 min       日本語の長いタイト…
      Deliveries
        desktop  under way  Take the pills
        team     40 s       Stand-up
      snooze for: 20m▏  Enter snoozes, Esc go…
      """#),
    WatchPicture(
      "help", 40, 16,
      #"""
      The keys of chime watch

        ↑ ↓  j k       select what to answer
        d              done
        s              snooze as usual
        S              snooze, asking how long
        x              dismiss
        Ctrl-L         draw the screen again
        ?              this help
        q  Esc  Ctrl-C leave

        It follows the daemon by itself. If
        the daemon stops, the screen stays
        and updates again when it is back.
        `chime watch --lines` prints a line
        for each event instead.
      """#),
    WatchPicture(
      "empty", 80, 12,
      #"""
      ● Chime: all right                                          Fri 2026-03-27 09:26

      Next
        Nothing is coming.
        Add a reminder: chime in 25m "Tea"
      What has happened
        Nothing yet.




      ? help   q leave
      """#),
    // Before an answer, the screen does not claim that there is nothing.
    WatchPicture(
      "beginning", 40, 10,
      #"""
      ● connecting                       09:26
      Next
        Looking it up.
      What has happened
        Looking it up.




      ? help  q
      """#),
    WatchPicture(
      "half told", 40, 10,
      #"""
      ● Chime: all right                 09:26
      Next
        Looking it up.
      What has happened
        Looking it up.




      ? help  q
      """#),
  ]
}
