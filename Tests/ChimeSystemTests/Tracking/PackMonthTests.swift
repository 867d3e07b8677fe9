import Foundation
import Testing

/// A month with each bundled pack, on a running daemon with a moved clock: entries day by day, notifications on the
/// desktop (a real notify-send) and by a webhook.
///
/// The months begin on Monday 1 March 2027 in Prague, and include a DST change (on the 28th).
@Suite(
  .proof(.packs), .serialized,
  .enabled(
    if: FakeClock.isAvailable && Machine.hasMockBus && Machine.hasClients,
    "needs libfaketime, dbus-daemon, busctl, notify-send and Tests/requirements.txt"))
struct PackMonthTests {
  // MARK: Hydration

  @Test(.timeLimit(.minutes(2)))
  func hydrationPackRunsForAMonth() async throws {
    try await Home.run { home in
      let scenario = try await PackScenario.begin(in: home, at: "2027-03-01 07:00")
      let installed = try await scenario.install("hydration")
      #expect(installed["created"].bool == true)
      #expect(installed["unlocked"].elements.isEmpty)
      let drink = try await scenario.reminder("drink", of: "hydration")

      // The first day: a glass before eight, half a liter at once, a popup's button, and silence when the goal is met.
      try await scenario.go(day: 0, "7:40")
      let first = try await scenario.log("water", ["amount": 500])
      #expect(PackScenario.unlocked(first) == ["first_sip", "early_bird", "big_gulp"])
      for title in ["First Sip", "Early Bird", "Big Gulp"] { try await scenario.isNotified("Unlocked: \(title)") }
      try await scenario.go(day: 0, "9:00")
      #expect(scenario.popups("Time for a glass of water") == 0, "ninety minutes after the entry, not before")
      try await scenario.go(day: 0, "9:10:01")
      try await scenario.isNotified("Time for a glass of water")
      let popup = try await scenario.desktop.popup(titled: "Time for a glass of water")
      let shown = scenario.desktop.shown[Int(popup) - 1]
      #expect(shown.contains("500 ml of 2,500 ml") || shown.contains("500 ml of 2500 ml"), "\(shown)")
      #expect(shown.contains("Drank 250 ml"), "\(shown)")
      try await scenario.desktop.press("done", on: popup)
      try await eventually("the button has logged a glass") {
        try await scenario.progress("water")["total"].number == 750
      }
      for _ in 0..<3 { try await scenario.log("water", ["amount": 500]) }
      let met = try await scenario.log("water", ["amount": .number(0.25), "unit": "l"])
      #expect(met["goalMet"].bool == true)
      #expect(PackScenario.unlocked(met) == ["goal_reached"])
      try await scenario.isNotified("Unlocked: Daily Champion")
      try await scenario.isNotified("Goal met: Water")
      try await scenario.go(day: 0, "21:58")
      #expect(scenario.popups("Time for a glass of water") == 1, "the goal is met: \(scenario.desktop.shown)")
      let times = try await scenario.times(of: drink, on: "2027-03-01")
      #expect(times.fired == 1)
      #expect(times.quiet >= 5, "\(times)")

      // The following days: two liters before noon, the rest in the evening.
      var unlocked: [Int: Set<String>] = [:]
      for day in 1..<30 {
        try await scenario.go(day: day, "11:00")
        var found: Set<String> = []
        for _ in 0..<4 {
          let change = try await scenario.log("water", ["amount": 500])
          found.formUnion(PackScenario.unlocked(change))
        }
        // On the fourth day after ten at night; on the fifth, far too much.
        try await scenario.go(day: day, day == 3 ? "22:15" : "20:00")
        let last = try await scenario.log("water", ["amount": day == 4 ? 1_750 : 500])
        #expect(last["goalMet"].bool == true, "day \(day)")
        unlocked[day] = found.union(PackScenario.unlocked(last))
        let streak = try await scenario.progress("water")["streak"]["length"].int
        #expect(streak == day + 1)
      }
      #expect(unlocked[2] == ["streak_3"])
      #expect(unlocked[3] == ["night_owl"])
      #expect(unlocked[4] == ["overachiever"])
      #expect(unlocked[6] == ["streak_7"])
      #expect(unlocked[29] == ["streak_30"])
      // Six entries on the first day, five on each other day.
      #expect(unlocked[19] == ["centurion"])
      #expect(unlocked.values.map(\.count).reduce(0, +) == 6)
      for title in ["Consistent", "Night Owl", "Overachiever", "Week Warrior", "Monthly Master", "Centurion"] {
        try await scenario.isNotified("Unlocked: \(title)")
      }
      try await scenario.isNotified("Goal met: Water", times: 30)
      let all = try await home.answer("io.chime.Trackers.Achievements")["achievements"].elements
      #expect(all.count == 10)
      #expect(all.allSatisfy { $0["unlockedAt"] != .null })
      try await scenario.daemon.stopCleanly()
    }
  }

  // MARK: Weight

  @Test(.timeLimit(.minutes(2)))
  func weightPackRunsForAMonth() async throws {
    try await Home.run { home in
      let scenario = try await PackScenario.begin(in: home, at: "2027-03-01 06:00")
      try await scenario.install("weight", ["goals": ["weight": 84]])
      let weighIn = try await scenario.reminder("weigh-in", of: "weight")
      // Down by 300 g each day, with two days up in the third week; each tenth day has no entry.
      var milestones: [String] = []
      var goalDay: Int?
      for day in 0..<30 {
        let value = day == 15 || day == 16 ? 86.3 : 90 - 0.3 * Double(day)
        if day % 10 != 9 {
          try await scenario.go(day: day, "7:00")
          let change = try await scenario.log(
            "weight", ["amount": .number(value), "fields": ["body-fat": .number(25)], "note": "before breakfast"])
          milestones += change["milestones"].elements.compactMap { $0["title"].string }
          if PackScenario.unlocked(change).contains("goal_reached") { goalDay = day }
        }
        try await scenario.go(day: day, "7:45")
      }
      // Each crossed multiple of two kilograms is reported once; the last is the goal, which has its own notice.
      #expect(goalDay == 20)
      #expect(milestones == ["88.0 kg", "86.0 kg", "84.0 kg"], "\(milestones)")
      for title in ["88.0 kg", "86.0 kg"] { try await scenario.isNotified("Milestone: \(title)") }
      #expect(scenario.popups("Milestone: 84") == 0)
      try await scenario.isNotified("Goal met: Weight")
      try await scenario.isNotified("Unlocked: Goal Reached")
      try await scenario.isNotified("Time to weigh yourself", times: 3)
      for (day, quiet) in [("2027-03-01", 1), ("2027-03-10", 0), ("2027-03-29", 1)] {
        let times = try await scenario.times(of: weighIn, on: day)
        #expect(times.quiet == quiet && times.fired == 1 - quiet, "\(day): \(times)")
      }
      let statistics = try await home.answer("io.chime.Trackers.Stats", ["tracker": "weight"])["statistics"]
      #expect(statistics["direction"].string == "down")
      #expect(statistics["prediction"].elements.count == 14)
      #expect(statistics["entries"].int == 27)
      // Remove all entries, and restore them.
      let removed = try await home.answer("io.chime.Trackers.RemoveEntry", ["tracker": "weight"])
      #expect(removed["removed"].int == 27)
      _ = try await home.answer("io.chime.Trackers.Undo")
      let entries = try await home.answer("io.chime.Trackers.Entries", ["tracker": "weight"])
      #expect(entries["total"].int == 27)
      #expect(entries["entries"][0]["fields"]["body-fat"].number == 25)
      try await scenario.daemon.stopCleanly()
    }
  }

  // MARK: Adkhar

  @Test(.timeLimit(.minutes(2)))
  func adkharPackRunsForAMonth() async throws {
    try await Home.run { home in
      let scenario = try await PackScenario.begin(
        in: home, at: "2027-03-01 04:00", configuration: "[place]\nlatitude = 50.0875\nlongitude = 14.4213\n")
      try await scenario.install("adkhar", ["language": "cs"])
      let ids = [
        "morning": try await scenario.reminder("morning", of: "adkhar"),
        "evening": try await scenario.reminder("evening", of: "adkhar"),
      ]
      // Half an hour before sunrise in Prague, on the first and the last day (U.S. Naval Observatory: 6:43, and 6:41 in DST).
      func next(_ key: String) async throws -> String {
        let reminder = try await home.answer("io.chime.Reminders.Get", ["id": .string(ids[key] ?? "")])["reminder"]
        return try #require(reminder["next"]["at"].string)
      }
      let firstMorning = try await next("morning")
      #expect(firstMorning.hasPrefix("2027-03-01T06:1"), "\(firstMorning)")
      var unlocked: [String: Int] = [:]
      var quotes: Set<String> = []
      for day in 0..<30 {
        try await scenario.go(day: day, "5:00")
        for tracker in ["morning", "anytime", "evening"] {
          // On the third day the morning is delayed, so that its reminder fires.
          if day == 2, tracker == "morning" { continue }
          for id in PackScenario.unlocked(try await scenario.log(tracker)) { unlocked[id] = day }
        }
        if day == 2 {
          try await scenario.go(day: day, "6:30")
          try await scenario.isNotified("Ranní adkhar")
          for id in PackScenario.unlocked(try await scenario.log("morning")) { unlocked[id] = day }
        }
        let view = try await home.answer("io.chime.Trackers.Day")["view"]
        #expect(view["mood"]["kind"].string == "perfectDay")
        let quote = try #require(view["quote"]["text"].string)
        #expect(quotes.insert(quote).inserted, "each day its own")
        try await scenario.go(day: day, "20:00")
        #expect(try await home.answer("io.chime.Trackers.Day")["view"]["quote"]["text"].string == quote)
      }
      // 30 XP a day; a week adds 100 and 300, the first step 50: the total passes 800 on the twelfth day.
      #expect(
        unlocked == ["first_step": 0, "week_warrior": 6, "perfect_week": 6, "rising_star": 11, "month_master": 29])
      for title in ["First Step", "Week Warrior", "Perfect Week", "Rising Star", "Month Master"] {
        try await scenario.isNotified("Unlocked: \(title)")
      }
      try await scenario.isNotified("Ranní adkhar")
      #expect(scenario.popups("Večerní adkhar") == 0)
      let lastMorning = try await next("morning")
      #expect(lastMorning.hasPrefix("2027-03-31T06:1"), "\(lastMorning)")
      let level = try await home.answer("io.chime.Trackers.Achievements", ["pack": "adkhar"])["levels"][0]
      #expect(level["experience"].int == 30 * 30 + 50 + 100 + 300 + 200 + 500)
      // Popups are in Czech, name the quotation's source, and contain no bidirectional controls.
      let popup = try #require(scenario.desktop.shown.first { $0.contains("Ranní adkhar") })
      #expect(popup.contains(/\((Quran|Sahih|Umar|Abdullah|Ibn) ?[^)]+\)/), "\(popup)")
      #expect(!popup.contains("{{"))
      #expect(!popup.unicodeScalars.contains { $0.properties.isBidiControl })
      try await scenario.daemon.stopCleanly()
    }
  }

  // MARK: Watches

  @Test(.timeLimit(.minutes(2)))
  func watchesPackRunsForAMonth() async throws {
    try await Home.run { home in
      let scenario = try await PackScenario.begin(in: home, at: "2027-03-01 08:00")
      try await scenario.install("watches")
      let wrist = try await scenario.reminder("wrist", of: "watches")
      let watches: [(String, String, String, String)] = [
        ("Speedmaster", "Omega", "manual", "chronograph"), ("SKX007", "Seiko", "automatic", "dive"),
        ("Tank", "Cartier", "quartz", "dress"), ("Khaki", "Hamilton", "automatic", "field"),
        ("Prim Sport", "Prim", "automatic", "dress"),
      ]
      var unlocked: [String: Int] = [:]
      func take(_ answer: JSON, _ day: Int) { for id in PackScenario.unlocked(answer) { unlocked[id] = day } }
      for (title, brand, movement, style) in watches {
        take(
          try await home.answer(
            "io.chime.Trackers.PutItem",
            [
              "tracker": "watches", "title": .string(title),
              "attributes": ["brand": .string(brand), "movement": .string(movement), "style": .string(style)],
            ]), 0)
      }
      #expect(
        Set(unlocked.keys) == [
          "first_watch", "a_pair", "third_hand", "watch_roll", "self_winding", "three_names", "makers_tour",
          "hand_rotor_crystal",
        ])
      // A different watch each day; two on the third day, after the reminder on the eleventh, late on the twentieth.
      for day in 0..<31 {
        if day == 19 { try await scenario.go(day: day, "18:00") }
        try await scenario.go(day: day, day == 10 ? "9:00:01" : day == 19 ? "23:10" : "8:30")
        take(try await scenario.log("watches", ["item": .string(watches[day % 5].0)]), day)
        if day == 2 { take(try await scenario.log("watches", ["item": .string(watches[3].0)]), day) }
        if day < 18 { try await scenario.go(day: day, "12:00") }
      }
      let expected = [
        "first_wear": 0, "power_reserve": 2, "rotation_begins": 2, "wardrobe_change": 2, "eight_days": 7,
        "strap_gives": 8, "moon_phase": 19, "date_window": 30,
      ]
      for (id, day) in expected { #expect(unlocked[id] == day, "\(id): \(unlocked[id].map { "\($0)" } ?? "never")") }
      // Achievements over whole months may unlock at the start of a day.
      let all = try await home.answer("io.chime.Trackers.Achievements")["achievements"].elements
      #expect(all.count == 50)
      let reached = Set(all.filter { $0["unlockedAt"] != .null }.compactMap { $0["id"].string })
      #expect(reached.isSuperset(of: unlocked.keys))
      for id in ["fair_shares", "sea_and_theatre", "weekender", "office_hours", "well_regulated"] {
        #expect(reached.contains(id), "\(id)")
      }
      for id in ["seven_for_seven", "friday_13", "century", "candlelight", "full_box", "balance_wheel"] {
        #expect(!reached.contains(id), "\(id)")
      }
      try await scenario.isNotified("Unlocked: Fair Shares")
      try await scenario.isNotified("Unlocked: Eight-Day Movement")
      try await scenario.isNotified("Unlocked: Moon Phase")
      // The reminder fired on the eleventh and twentieth day; on others it was done before nine.
      try await scenario.isNotified("What is on your wrist today?", times: 2)
      let times = try await scenario.times(of: wrist, on: "2027-03-11")
      #expect(times.fired == 1 && times.quiet == 0)
      #expect(try await scenario.times(of: wrist, on: "2027-03-05").quiet == 1)
      let standing = try await scenario.progress("watches")
      #expect(standing["streak"]["length"].int == 31, "two on one day are one day")
      let statistics = try await home.answer("io.chime.Trackers.Stats", ["tracker": "watches"])["statistics"]
      #expect(statistics["items"].elements.compactMap { $0["entries"].int }.reduce(0, +) == 32)
      #expect((statistics["evenness"].int ?? 0) >= 90)
      try await scenario.daemon.stopCleanly()
    }
  }

  // MARK: One goal

  @Test(.timeLimit(.minutes(2)))
  func goalPackRunsForAMonth() async throws {
    try await Home.run { home in
      let scenario = try await PackScenario.begin(in: home, at: "2027-03-01 08:00")
      try await scenario.install(
        "goal",
        [
          "titles": ["goal": "Learn Spanish"], "weekdays": ["goal": "mon,wed,fri"],
          "reminders": ["nudge": true],
        ])
      let nudge = try await scenario.reminder("nudge", of: "goal")
      #expect(try await scenario.progress("goal")["tracker"]["title"]["en"].string == "Learn Spanish")
      // Mondays, Wednesdays and Fridays, except the second Wednesday.
      var done = 0
      for day in 0..<28 {
        let isCounted = [0, 2, 4].contains(day % 7)
        let isForgotten = day == 9
        if isCounted, !isForgotten {
          try await scenario.go(day: day, "17:00")
          try await scenario.log("goal")
          done += 1
          let standing = try await scenario.progress("goal")
          #expect(standing["number"].int == done, "days are numbered")
          #expect(standing["streak"]["length"].int == (day < 9 ? done : done - 4), "day \(day): \(standing)")
        }
        try await scenario.go(day: day, "18:30")
      }
      #expect(done == 11)
      // The reminder fires once, on the forgotten day.
      try await scenario.isNotified("Learn Spanish: still to do today")
      #expect(try await scenario.times(of: nudge, on: "2027-03-10").fired == 1)
      #expect(try await scenario.times(of: nudge, on: "2027-03-12").quiet == 1)
      let standing = try await scenario.progress("goal")
      #expect(standing["longest"]["length"].int == 7)
      #expect(standing["numberThisMonth"].int == 11)
      _ = try await home.answer(
        "io.chime.Trackers.PutMilestone", ["tracker": "goal", "title": "The first book", "note": "with a dictionary"])
      #expect(
        try await home.answer("io.chime.Trackers.Milestones")["milestones"].elements.map { $0["title"].string }
          == ["The first book"])
      try await scenario.daemon.stopCleanly()
    }
  }
}
