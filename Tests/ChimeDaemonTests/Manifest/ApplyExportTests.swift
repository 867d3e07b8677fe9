import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// `chime apply` of a `chime export` reproduces random trackers and packs.
@Suite(.serialized) struct ApplyExportTests {
  typealias Wired = RemindersInterface
  typealias Call = RemindersInterface.Apply
  typealias Trackers = TrackersInterface

  private static func apply(_ daemon: TestDaemon, _ text: String, defaultSet: String) throws -> Call.Reply {
    try daemon.call(
      Call(
        files: [.init(name: "a.toml", text: text)], defaultSet: defaultSet, secrets: [], packs: []))
  }

  /// Random trackers of every kind, and packs with random choices and changes.
  @Test(arguments: [UInt64(1), 2, 3, 4])
  func appliedExportReproducesTrackersAndPacks(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    func some<T>(_ make: @autoclosure () throws -> T) rethrows -> T? {
      Bool.random(using: &random) ? try make() : nil
    }
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    func text(_ most: Int) -> String {
      let letters = Array("aZ9 \"\\'#=[]{}é水💧\u{202E}%")
      return "t" + String((0..<number(1...most)).map { _ in letters.randomElement(using: &random) ?? "x" }) + "t"
    }
    var trackers: [Tracker] = []
    for index in 0..<40 {
      let kind = Tracker.Kind.allCases[index % 3]
      let units = ["ml", "kg", "lb", "st", "pages", "%", "kcal", "floz"]
      let unit = kind == .check ? nil : units.randomElement(using: &random).flatMap { Unit($0) }
      func quantity() -> Quantity {
        let grains = Double(unit?.grains ?? 1)
        let all: [Double] = [1, 250, 0.1, 1.0 / 3, 1 / grains, 7 / grains, 12_345.678]
        return all.randomElement(using: &random).flatMap { n in unit.flatMap { Quantity(n, $0) } } ?? .one
      }
      let goal: Goal? =
        switch kind {
        case .check: some(Goal(.count(number(1...4)), each: Goal.Period.allCases[number(0...2)]))
        case .amount: some(Goal(.total(quantity()), each: Goal.Period.allCases[number(0...2)]))
        case .measure: some(Goal(.value(number(0...3) == 0 ? Quantity.zero - quantity() : quantity())))
        }
      let counting: [CountedDays] = [
        .everyDay, .weekdays(.weekdays), .weekdays(.weekends), .weekdays(WeekdaySet(rawValue: 0b101_0010)),
        .timesAWeek(number(1...6)), .timesAMonth(number(1...31)), .rolling(times: number(1...3), days: number(4...366)),
      ]
      trackers.append(
        Tracker(
          id: TrackerID(rawValue: "t\(index)"), owner: getuid(),
          title: some(LocalizedText(text(20))) ?? some(LocalizedText(["cs": text(9), "en": text(9)]))
            ?? LocalizedText("t\(index)"),
          verb: some(LocalizedText(text(9))), kind: kind, unit: unit,
          decimals: kind == .check ? 0 : number(0...3), goal: goal,
          presets: kind == .amount ? some(Set([quantity(), quantity()]).sorted()) ?? [] : [],
          usual: kind == .amount ? some(quantity()) : nil, counting: counting[number(0...6)],
          dayStartsAt: some(number(0...1_439)) ?? 0, timeOfDay: Tracker.TimeOfDay.allCases[number(0...2)],
          skipsEachMonth: some(number(0...31)), hasItems: Bool.random(using: &random),
          fields: some(["bodyFat": Unit("%")!, "body-water": Unit("kg")!]) ?? [:],
          milestoneStep: kind == .measure ? some(quantity()) : nil, icon: some(text(5)),
          set: some("home"), experience: some(number(0...1_000)) ?? 10,
          startedOn: CivilDate(dayNumber: number(10_000...20_000)) ?? .earliest, createdAt: Instant(seconds: 9),
          generation: Int64(number(0...5))))
    }
    let all = trackers
    let (goal, pounds, wanted, language) = (number(2...20) * 250, some(["weight": "lb"]), some(false), some("cs"))
    try await TestDaemon.run { daemon in
      try await daemon.store.write { transaction in
        for tracker in all { try transaction.put(tracker) }
      }
      for (name, choices) in [
        ("hydration", Trackers.PackChoices(goals: ["water": Double(goal)], language: language)),
        ("weight", .init(units: pounds, reminders: wanted.map { ["weigh-in": $0] })), ("watches", .init()),
      ] {
        guard let pack = try ShippedPacks.pack(name) else { continue }
        let keys = Set(pack.reminders.map(\.key))
        var choices = choices
        choices.reminders = choices.reminders?.filter { keys.contains($0.key) }
        let _: Trackers.InstallPack.Reply = try daemon.call(Trackers.InstallPack(name: name, choices: choices))
      }
      let listed = try daemon.call(Wired.List()).reminders
      for (index, reminder) in listed.enumerated() {
        let change: Wired.Draft =
          index % 2 == seed % 2
          ? .init(body: "", tags: ["a"], urgency: .critical, tracker: .init(quietWhenDone: false))
          : .init(title: "Mine \"too\"", when: "every 2h from 8:00 to 20:00", snooze: ["PT5M"])
        let _: Wired.Update.Reply = try daemon.call(Wired.Update(id: reminder.id, change: change))
      }
      let _: Trackers.Put.Reply = try daemon.call(
        Trackers.Put(tracker: .init(id: "water", presets: [111], timeOfDay: .evening, reset: ["goal"])))
      let before = try await daemon.trackers()
      let exported = try daemon.exported()
      let again = try Self.apply(daemon, exported, defaultSet: "moved")
      #expect(
        again.changes.allSatisfy { $0.fields.allSatisfy { $0.name == "set" } },
        "\(TestDaemon.summary(again).joined(separator: "\n"))")
      let once = try Self.apply(daemon, exported, defaultSet: "moved")
      #expect(once.changes.isEmpty, "\(TestDaemon.summary(once))")
      #expect(once.unchanged == all.count + 3)
      let after = try await daemon.trackers()
      for (id, tracker) in before {
        var kept = try #require(after[id])
        (kept.set, kept.generation) = (tracker.set, tracker.generation)
        #expect(kept == tracker)
      }
      try await TestDaemon.run({
        $0.grace = .minutes(7); $0.defaultChannels = [ChannelName(rawValue: "other")]
      }) { empty in
        _ = try Self.apply(empty, exported, defaultSet: "moved")
        #expect(try empty.exported() == exported)
        for (id, tracker) in try await empty.trackers() {
          var wanted = try #require(before[id])
          (wanted.set, wanted.generation, wanted.createdAt) = (tracker.set, tracker.generation, tracker.createdAt)
          #expect(tracker == wanted)
        }
      }
    }
  }
}
