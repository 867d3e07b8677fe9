import ChimeSchedule
import ChimeTracking
import Testing

@Suite struct CriterionFaultTests {
  typealias Key = CriterionFault.Key
  let trackers = AchievementFixture([]).trackers

  @Test func criteriaOfTheFixtureAreValid() {
    for criterion in AchievementPropertyTests.criteria {
      #expect(criterion.faults(among: trackers) == [], "\(criterion)")
    }
  }

  /// The minimal criterion of each kind.
  static let sparse: [Criterion.Kind: Criterion] = Dictionary(
    Criterion.Kind.allCases.map { kind in
      let needed = Criterion.keys(of: kind).needed
      func has<Value>(_ key: Key, _ value: Value) -> Value? { needed.contains(key) ? value : nil }
      return (
        kind,
        Criterion(
          kind, target: needed.contains(.target) ? 3 : 1, amount: has(.amount, AchievementFixture.kg(1)),
          minute: has(.minute, 480), attribute: has(.attribute, "brand"), within: has(.within, 7),
          minimum: has(.minimum, 3), month: has(.month, 2), day: has(.day, 29), weekdays: has(.weekdays, .friday))
      )
    }, uniquingKeysWith: { $1 })

  @Test(arguments: Criterion.Kind.allCases) func neededKeysAreSufficientAndRequired(_ kind: Criterion.Kind) throws {
    let criterion = try #require(Self.sparse[kind])
    // An amount with several dimensions would be ambiguous.
    let trackers = trackers.filter { $0.id != AchievementFixture.water || kind == .shareOfGoal }
    #expect(criterion.faults(among: trackers) == [])
    for key in Criterion.keys(of: kind).needed {
      let without = criterion.without(key)
      let faults = without.faults(among: trackers, hasTarget: key != .target)
      #expect(faults.map(\.key).contains(key), "\(kind) without \(key)")
    }
    let (needed, allowed) = Criterion.keys(of: kind)
    for key in Key.allCases where key != .kind && key != .tracker && !needed.contains(key) {
      var more = criterion.with(key)
      if key == .value { more.attribute = more.attribute ?? "brand" }
      let keys = more.faults(among: trackers).map(\.key)
      #expect(keys.contains(key) != allowed.contains(key), "\(kind) with \(key)")
    }
  }

  @Test(
    arguments: [
      (Criterion(.shareOfGoal, target: 1_001), .target), (Criterion(.entries, target: 0), .target),
      (Criterion(.entries, target: -4), .target),
      (Criterion(.evenRotation, target: 101, within: 7, minimum: 2), .target),
      (Criterion(.evenRotation, target: 90, within: 7, minimum: 1), .minimum), (Criterion(.level, target: 1), .target),
      (Criterion(.distinctItems, target: 2, within: 1), .within),
      (Criterion(.distinctItems, target: 2, within: 367), .within),
      (Criterion(.entryBefore, minute: 1_440), .minute), (Criterion(.entryBefore, minute: 0), .minute),
      (Criterion(.entryOnDate, month: 13, day: 1), .month), (Criterion(.entryOnDate, month: 2, day: 30), .day),
      (Criterion(.entryOnWeekday, day: 32, weekdays: .friday), .day),
      (Criterion(.entryOnWeekday, weekdays: []), .weekdays),
      (Criterion(.amountInEntry, tracker: AchievementFixture.water, amount: .zero), .amount),
      (Criterion(.crossed, tracker: AchievementFixture.weight, amount: .zero), .amount),
      (Criterion(.amountInEntry, amount: AchievementFixture.ml(500)), .amount),
      (Criterion(.itemsOwned, target: 2, value: "Omega"), .value),
      (Criterion(.distinctValues, target: 2, attribute: ""), .attribute),
      (Criterion(.entries, tracker: TrackerID(rawValue: "tea"), target: 2), .tracker),
      (Criterion(.crossed, tracker: AchievementFixture.water, amount: AchievementFixture.kg(80)), .tracker),
      (Criterion(.distinctItems, tracker: AchievementFixture.water, target: 2, within: 7), .tracker),
      (Criterion(.perfectWeek, tracker: AchievementFixture.weight), .tracker),
      (Criterion(.level, tracker: AchievementFixture.water, target: 4), .tracker),
      (Criterion(.goalMet, tracker: TrackerID(rawValue: "tea")), .tracker),
    ] as [(Criterion, Key)])
  func faultNamesItsKey(_ criterion: Criterion, _ key: Key) {
    let faults = criterion.faults(among: trackers)
    #expect(faults.map(\.key) == [key])
    #expect(faults.allSatisfy { !$0.message.isEmpty && !$0.message.hasSuffix(".") })
  }

  @Test func criterionWithoutItsSubjectIsAFault() {
    #expect(Criterion(.level, target: 5).faults(among: trackers, hasLevels: false).map(\.key) == [.kind])
    let onlyWater = trackers.filter { $0.id == AchievementFixture.water }
    #expect(Criterion(.firstItem).faults(among: onlyWater).map(\.key) == [.kind])
    #expect(
      Criterion(.entries, tracker: TrackerID(rawValue: "tea"), target: 2).faults(among: onlyWater).first?.message
        == "the pack has no tracker tea; it has water")
  }
}

extension Criterion {
  fileprivate func without(_ key: Key) -> Criterion {
    var copy = self
    switch key {
    case .target: copy.target = 1
    case .amount: copy.amount = nil
    case .minute: copy.minute = nil
    case .attribute: copy.attribute = nil
    case .within: copy.within = nil
    case .minimum: copy.minimum = nil
    case .month: copy.month = nil
    case .day: copy.day = nil
    case .weekdays: copy.weekdays = nil
    case .kind, .tracker, .days, .value: break
    }
    return copy
  }

  fileprivate func with(_ key: Key) -> Criterion {
    var copy = self
    switch key {
    case .target: copy.target = 4
    case .amount: copy.amount = AchievementFixture.kg(1)
    case .days: copy.days = .weekends
    case .minute: copy.minute = 480
    case .attribute: copy.attribute = "brand"
    case .value: copy.value = "Omega"
    case .within: copy.within = 7
    case .minimum: copy.minimum = 3
    case .month: copy.month = 2
    case .day: copy.day = 13
    case .weekdays: copy.weekdays = .friday
    case .kind, .tracker: break
    }
    return copy
  }
}
