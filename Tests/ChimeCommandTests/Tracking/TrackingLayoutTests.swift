import ChimeControl
import Foundation
import Testing

@testable import ChimeCommand

/// The layout of the trackers' verbs: in 80 and 40 columns, with and without color, with arbitrary titles.
@Suite struct TrackingLayoutTests {
  private static let lines = [
    "log water", "today", "week", "achievements", "achievements watches", "stats", "stats water", "stats weight",
    "stats watches", "tracker list", "tracker show water", "item list watches", "milestone list", "entry list weight",
    "pack list", "pack show weight", "pack add hydration", "undo --list",
  ]

  /// A year with wide, right-to-left and long titles, and titles that contain terminal controls.
  private static let hostile: FakeTrackerDaemon = {
    var fake = FakeTrackerDaemon(change: FakeTrackerDaemon.change(goalMet: true))
    let titles = [
      "日本語の長いタイトルがここにあります", "שלום עולם וזו כותרת ארוכה מאוד", "👩‍👩‍👧‍👦 family dinner 🇨🇿", "evil\u{1B}[2J\u{202E}title\nx",
      String(repeating: "long ", count: 40), "Příliš žluťoučký kůň", "مرحبا بالعالم",
    ]
    for index in fake.reading.year.trackers.indices {
      fake.reading.year.trackers[index].title = ["en": titles[index % titles.count]]
    }
    for index in fake.reading.year.items.indices { fake.reading.year.items[index].title = titles[index % titles.count] }
    for index in fake.reading.year.achievements.indices {
      fake.reading.year.achievements[index].title = ["en": titles[index % titles.count]]
      fake.reading.year.achievements[index].text = ["en": titles[(index + 3) % titles.count]]
    }
    for index in fake.packs.indices {
      fake.packs[index].title = ["en": titles[index]]
      fake.packs[index].text = ["en": titles[index + 3]]
    }
    fake.change.progress?.tracker.title = ["en": titles[0]]
    return fake
  }()

  private static func bare(_ line: String) -> String {
    var bare = line
    for tone in ["1", "2", "31", "32", "33", "34", "35", "36", "0"] {
      bare = bare.replacing("\u{1B}[\(tone)m", with: "")
    }
    return bare
  }

  @Test(arguments: [(40, false), (40, true), (80, true)])
  func outputFitsEveryWidth(_ width: Int, _ isHostile: Bool) throws {
    let daemon = try (isHostile ? Self.hostile : FakeTrackerDaemon()).daemon()
    for line in Self.lines {
      let outcome = chime(words(line), daemon: daemon, width: width, isTerminal: true)
      #expect(outcome.status == .success, "\(line): \(outcome.errors)")
      for text in outcome.lines.map(Self.bare) {
        // Words longer than a line are not broken: 40 columns of Japanese have no spaces.
        let isWord = text.split(separator: " ").count == 1 || text.contains("日本語の長いタイトルがここにあります")
        #expect(TextWidth.of(text) <= width || isWord, "\(line): \(text)")
        #expect(
          !text.unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) }, "\(line): \(text)")
      }
    }
  }

  /// A condition that is too long continues on the next line.
  @Test(arguments: [(80, true), (40, true), (20, true), (80, false)])
  func longConditionsContinueOnTheNextLine(_ width: Int, _ isTerminal: Bool) throws {
    var fake = FakeTrackerDaemon()
    let text =
      "Wear each of the twelve watches of the collection on one of thirty days that follow each other, none of them "
      + "more often than three times, and write down where you were"
    for index in fake.reading.year.achievements.indices { fake.reading.year.achievements[index].text = ["en": text] }
    for index in fake.reading.year.trackers.indices {
      fake.reading.year.trackers[index].title = ["en": "Water and what else there is to drink"]
    }
    let daemon = try fake.daemon()
    let outcome = chime(["achievements", "hydration"], daemon: daemon, width: width, isTerminal: isTerminal)
    let words = outcome.output.split(whereSeparator: \.isWhitespace).map { Self.bare(String($0)) }
    let count = fake.reading.year.achievements.count { $0.pack == "hydration" }
    for word in Set(text.split(separator: " ")) {
      #expect(words.count { $0 == word } >= count, "\(word) at \(width): \(outcome.output)")
    }
    #expect(!outcome.output.contains("…"))
    let stats = chime(["stats"], daemon: daemon, width: width, isTerminal: isTerminal).output
    #expect(width < 40 || !stats.contains("…"), "\(stats)")
  }

  /// Bars and streaks are aligned, whatever the titles are.
  @Test func columnsAreAligned() throws {
    let daemon = try Self.hostile.daemon()
    let outcome = chime(["week"], daemon: daemon, width: 80)
    let marks: Set<Character> = ["●", "◐", "○", "·"]
    let columns = Set(
      outcome.lines.dropFirst(2).filter { !$0.isEmpty }.map { line in
        TextWidth.of(line.prefix { !marks.contains($0) })
      })
    #expect(columns.count == 1, "\(outcome.output)")
  }

  @Test func colorsChangeNoText() throws {
    let daemon = try FakeTrackerDaemon().daemon()
    for line in Self.lines {
      let plain = chime(words(line), daemon: daemon, width: 80, isTerminal: true, environment: ["NO_COLOR": "1"])
      let coloured = chime(words(line), daemon: daemon, width: 80, isTerminal: true)
      #expect(!plain.output.contains("\u{1B}"))
      #expect(coloured.output.contains("\u{1B}["), "\(line)")
      #expect(plain.output == coloured.lines.map(Self.bare).joined(separator: "\n"), "\(line)")
    }
  }

  /// Every line has as many fields as the header, and no drawing.
  @Test func plainOutputHasFieldsAndNoDrawing() throws {
    for fake in [FakeTrackerDaemon(), Self.hostile] {
      let daemon = try fake.daemon()
      for line in Self.lines {
        let outcome = chime(words(line) + ["--plain"], daemon: daemon, width: 40, isTerminal: true)
        let counts = Set(
          outcome.output.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).count
          })
        #expect(counts.count == 1, "\(line): \(outcome.output)")
        #expect(!outcome.output.contains { "━─●◐○★☆✔\u{1B}".contains($0) }, "\(line): \(outcome.output)")
      }
    }
  }

  @Test func todayFitsEightyColumns() throws {
    let outcome = chime(["today"], daemon: try FakeTrackerDaemon().daemon(), width: 80)
    #expect(
      outcome.output == """
        Fri 2026-03-27: A day with something done
        Part of the day is yours already.
        Two more, and more than half is done.

        Morning
          ✔ Morning adhkar                                done                     1 day

        Anytime
          ◐ Water               ━━━━━━━━━━━━━━──────────  1500 of 2500 ml   60 %   1 day
          ◐ Weight              79.2 kg ↘ 0.1 a week, 76.0 kg on 2026-05-19, fat 21.4 %
                                ━━━━━━━━━━━━━━━━━━━━━━━━  104 %
          ○ A page of reading                             not yet                 3 days
          ✔ Watches                                       Tangente 38              1 day
          ○ Practise the cello                            not yet                 9 days

        Evening
          ○ Evening adhkar                                not yet                 7 days

          Sat Sun Mon Tue Wed Thu Fri
          21  22  23  24  25  26  27
           ◐   ◐   ◐   ◐   ◐   ◐   ◐

          ☆ Next: Overachiever – Reach 150% of your daily goal
            ━━━━━━━━━━━━━━━━━━──  138 of 150
          ★ Level 7  ━━━━━━━─────────────  2340 of 2800 XP
          ↻ 12 days in a row with at least one done

          إِنَّ مَعَ الْعُسْرِ يُسْرًا
          Indeed, with hardship comes ease.
            — Quran 94:6
            ● Quran

        """)
  }

  @Test func todayFitsFortyColumns() throws {
    let outcome = chime(["today"], daemon: try FakeTrackerDaemon().daemon(), width: 40)
    #expect(
      outcome.output.hasPrefix(
        """
        Fri 2026-03-27: A day with something
        done
        Part of the day is yours already.
        Two more, and more than half is done.

        Morning
          ✔ Morning adhkar  done  1 day

        Anytime
          ◐ Water  1500 of 2500 ml
            ━━━━━━━━━━━━────────  60 %  1 day
          ◐ Weight  79.2 kg ↘ 0.1 a week,
            76.0 kg on 2026-05-19, fat 21.4 %
            ━━━━━━━━━━━━  104 %
          ○ A page of reading  not yet  3 days

        """))
  }
}
