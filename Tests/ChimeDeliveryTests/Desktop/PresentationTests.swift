import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

@Suite struct PresentationTests {
  @Test(arguments: [
    (Milliseconds.zero, "0 s"), (.milliseconds(-5), "0 s"), (.seconds(59), "59 s"), (.seconds(90), "1 min 30 s"),
    (.minutes(10), "10 min"), (.seconds(3_599), "59 min"), (.hours(1), "1 h"), (.minutes(90), "1 h 30 min"),
    (.hours(2), "2 h"), (.hours(51), "2 d 3 h"), (.milliseconds(.max), "106751991167 d 7 h"),
  ])
  func spansAreReadable(_ span: Milliseconds, _ text: String) { #expect(Presentation.span(span) == text) }

  @Test func latePopupSaysSo() throws {
    let late = try message(body: "to the window", late: .suspend, lateBy: .hours(2))
    #expect(
      Presentation.body(of: late) { _ in "08:30" } == "to the window\nwas due at 08:30, 2 h late")
    #expect(Presentation.body(of: try message(lateBy: .seconds(3))) { _ in "08:30" }.isEmpty)
  }

  @Test func bodyIsEscapedAndTheTitleIsNot() throws {
    let text = "a <b>bold</b> & \"quoted\" 'thing'"
    let sample = try message(text, body: text) {
      $0.url = "https://example.org/?a=1&b=2"
      $0.location = "Room <4>"
    }
    #expect(Presentation.title(of: sample) == text)
    #expect(
      Presentation.body(of: sample) { _ in "" }
        == "a &lt;b&gt;bold&lt;/b&gt; &amp; \"quoted\" 'thing'\nRoom &lt;4&gt;\nhttps://example.org/?a=1&amp;b=2")
  }

  @Test func controlCharactersAreRemoved() throws {
    let sample = try message("a\u{0}b\u{1B}[31mc\r\nd\te\u{7F}\u{9B}f", body: "1\r\n2\r3\u{0}\n\u{2028}4")
    #expect(Presentation.title(of: sample) == "ab[31mc d ef")
    #expect(Presentation.body(of: sample) { _ in "" } == "1\n2\n3\n\n4")
    #expect(Presentation.title(of: try message("\n \t")) == "Reminder")
    // Right-to-left text and joined emoji are unchanged.
    #expect(Presentation.title(of: try message("שתה מים 👩‍👩‍👧")) == "שתה מים 👩‍👩‍👧")
  }

  @Test func longTextIsCutBetweenCharacters() throws {
    #expect(PlainText.clipped("Ελλάδα", bytes: 9) == "Ελλ…")
    #expect(PlainText.clipped("Ελλάδα", bytes: 12) == "Ελλάδα")
    #expect(PlainText.clipped("👩‍👩‍👧👩‍👩‍👧", bytes: 25) == "👩‍👩‍👧…")
    let heap = "e" + String(repeating: "\u{301}", count: 1_000)
    #expect(PlainText.clipped(heap, bytes: 10) == "e\u{301}\u{301}\u{301}…")
    let long = try message(String(repeating: "é", count: 50_000), body: String(repeating: "<", count: 100_000))
    #expect(Presentation.title(of: long).utf8.count <= Presentation.titleLimit)
    #expect(Presentation.body(of: long) { _ in "" }.utf8.count <= Presentation.bodyLimit * 4)
    #expect(Presentation.body(of: long) { _ in "" }.hasSuffix("&lt;…"))
  }

  @Test func answerExcerptsArePrintable() {
    #expect(PlainText.excerpt([]) == nil)
    #expect(PlainText.excerpt(Array("a\u{7}b\u{1B}c\r\nd".utf8)) == "abc\nd")
    #expect(PlainText.excerpt([0x61, 0xFF, 0xC3]) == "a\u{FFFD}\u{FFFD}")
    let long = PlainText.excerpt([UInt8](repeating: 0xFF, count: 5_000))
    #expect((long?.utf8.count ?? 0) <= Attempt.answerLimit)
  }

  @Test func popupRequestHasAllFields() throws {
    var configuration = DesktopConfiguration(environment: ["LANGUAGE": "de", "A": "b", "LC_ALL": "de_DE"])
    configuration.timeOfDay = { _, zone in zone.text }
    let sample = try message("-t", body: #"-C:\new"#, late: .downtime, lateBy: .minutes(5)) { reminder in
      reminder.urgency = .critical
      reminder.icon = "cup"
      reminder.sound = "bell"
      reminder.snoozeLengths = [.minutes(90)]
      reminder.timezone = .named("Europe/Prague")
    }
    let program = configuration.program(for: .occurrence(sample), replacing: 7, isPlain: false)
    #expect(
      program.arguments == [
        "--app-name=Chime", "--urgency=critical", "--icon=cup", "--hint=string:sound-name:bell", "--print-id", "--wait",
        "--action=done=Done", "--action=snooze=Snooze 1 h 30 min", "--replace-id=7", "--", "-t",
        "-C:\\\\new\nwas due at Europe/Prague, 5 min late",
      ])
    #expect(program.environment == ["A": "b", "LC_ALL": "C.UTF-8"])
    #expect(
      configuration.program(for: .occurrence(try message()), replacing: nil, isPlain: true).arguments == [
        "--app-name=Chime", "--urgency=normal", "--icon=appointment-soon", "--", "Stand up", "",
      ])
  }

  /// A repeat states its count, and since when it repeats.
  @Test func repeatStatesItsCountAndStart() throws {
    for (round, text) in [
      (1, ""), (2, "2nd time, since 08:30"), (3, "3rd time, since 08:30"), (11, "11th time, since 08:30"),
    ] {
      #expect(Presentation.body(of: try message(round: round)) { _ in "08:30" } == text)
    }
    #expect(
      Presentation.body(of: try message(body: "now", round: 21, late: .quiet, lateBy: .minutes(5))) { _ in "8:00" }
        == "now\n21st time, since 8:00\nwas due at 8:00, in quiet hours")
  }

  /// Both transports; desktops keep only critical popups, while the reminder's own urgency is unchanged.
  @Test func persistentPopupHasNoTimeout() throws {
    let configuration = DesktopConfiguration(environment: [:])
    let capabilities = ServerCapabilities(names: ["body", "actions"])
    for urgency in Urgency.allCases {
      let sample = try message {
        $0.stay = true
        $0.urgency = urgency
      }
      #expect(
        configuration.program(for: .occurrence(sample), replacing: nil, isPlain: true).arguments.prefix(3)
          == ["--app-name=Chime", "--urgency=critical", "--icon=appointment-soon"])
      for isPlain in [true, false] {
        #expect(
          configuration.program(for: .occurrence(sample), replacing: nil, isPlain: isPlain).arguments
            .contains("--expire-time=0"))
      }
      let notification = configuration.notification(for: .occurrence(sample), capabilities, replacing: 0)
      #expect(notification.stays && notification.urgency == Urgency.critical.rank)
      #expect(sample.reminder?.urgency == urgency)
    }
    let usual = configuration.notification(for: .occurrence(try message()), capabilities, replacing: 0)
    #expect(!usual.stays && usual.urgency == Urgency.normal.rank && usual.icon == "appointment-soon")
    #expect(
      !configuration.program(for: .occurrence(try message()), replacing: nil, isPlain: false).arguments
        .contains("--expire-time=0"))
  }
}
