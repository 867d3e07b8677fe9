import ChimeCore
import ChimeSchedule
import ChimeTracking

extension StoreConformance {
  static var trackerCases: [Case] {
    [
      Case("a tracker reads back with every field") { subject in
        let (full, plain) = (try fullTracker(waterKey), try sampleTracker(watchKey))
        try expectFull(full, plain, but: ["owner"])
        try await subject.write { store in
          try store.put(full)
          try store.put(plain)
        }
        try await subject.reopen()
        try await subject.read { store in
          try expect(store.tracker(waterKey), is: full, "the full one")
          try expect(store.tracker(watchKey), is: plain, "the plain one")
        }
      },
      Case("each goal, unit and way of counting days reads back") { subject in
        var number: Int64 = 0
        for target: Goal.Target? in [nil, .count(3), .total(Quantity(grains: 9)), .value(Quantity(grains: -9))] {
          for period in Goal.Period.allCases {
            for counting: CountedDays in [
              .weekdays([]), .weekdays(.weekends), .timesAWeek(2), .timesAMonth(12), .rolling(times: 1, days: 3),
            ] {
              for kind in Tracker.Kind.allCases {
                number += 1
                var tracker = try sampleTracker()
                tracker.goal = target.map { Goal($0, each: period, atMost: number.isMultiple(of: 2)) }
                (tracker.counting, tracker.kind, tracker.generation) = (counting, kind, number)
                tracker.unit = [nil, Unit("lb"), Unit("pages")][Int(number % 3)]
                tracker.timeOfDay = Tracker.TimeOfDay.allCases[Int(number % 3)]
                let wanted = tracker
                try await subject.write { store in
                  try store.put(wanted)
                  try expect(store.tracker(wanted.key), is: wanted, "the tracker")
                }
              }
            }
          }
        }
      },
      Case("trackers are listed by pack and creation, of one owner or all") { subject in
        @Sendable func tracker(_ id: String, _ pack: String?, owner: UInt32 = 1_000, at seconds: Int64 = 0) throws
          -> Tracker
        {
          var tracker = try sampleTracker(TrackerKey(owner: owner, id: TrackerID(rawValue: id)))
          (tracker.pack, tracker.createdAt) = (pack.map { PackID(rawValue: $0) }, at(seconds))
          return tracker
        }
        let all = [
          try tracker("z", nil), try tracker("a", nil), try tracker("a", nil, owner: 7, at: 1),
          try tracker("y", "alpha"), try tracker("b", "alpha"), try tracker("x", "beta", owner: 7),
        ]
        try await subject.write { store in
          for tracker in [all[5], all[3], all[0], all[4], all[2], all[1]] { try store.put(tracker) }
          // An edit keeps its position.
          try store.put(all[0])
        }
        try await subject.reopen()
        try await subject.read { store in
          try expect(store.trackers(owner: nil), is: all, "all")
          try expect(store.trackers(owner: 7), is: [all[2], all[5]], "an owner's")
          try expect(store.trackers(owner: 8), is: [], "a stranger's")
          try expect(store.tracker(TrackerKey(owner: 8, id: waterKey.id)), is: nil, "one there is not")
        }
      },
      Case("removing a tracker removes its entries, items, milestones and totals, and no others") { subject in
        let keys = [waterKey, watchKey, TrackerKey(owner: 7, id: waterKey.id)]
        try await subject.write { store in
          for key in keys { try store.fill(key) }
          try expect(store.removeTracker(waterKey), is: true, "whether there was one")
          try expect(store.removeTracker(waterKey), is: false, "whether there was one still")
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.isEmpty(waterKey), "something of it is left")
          for key in keys.dropFirst() { try expect(!store.isEmpty(key), "\(key) is empty") }
          try store.put(sampleTracker(waterKey))
          try expect(store.isEmpty(waterKey), "something of it has come again with the name")
        }
      },
      Case("entries, items and milestones need their tracker") { subject in
        let refusal = StoreFailure.internalError("there is no tracker water")
        let writes: [@Sendable (any StoreTransaction) throws -> Void] = [
          { _ = try $0.insert(sampleEntry()) }, { try $0.put(sampleItem(.init(rawValue: "a"), waterKey)) },
          { _ = try $0.put(sampleMilestone()) },
          { try $0.setDayTotal(sampleTotal(trackingDay(0)), on: trackingDay(0), of: waterKey) },
          { try $0.setSummary(TrackerSummary(), of: waterKey) },
        ]
        for write in writes { try await expect(refusal) { try await subject.write(write) } }
        try await subject.write { store in
          try store.put(sampleTracker(waterKey))
          try store.removeTracker(waterKey)
        }
        for write in writes { try await expect(refusal) { try await subject.write(write) } }
        try await subject.write { store in
          try store.setDayTotal(nil, on: trackingDay(0), of: waterKey)
          try store.setSummary(nil, of: waterKey)
          try expect(store.removeEntries(of: waterKey, in: nil), is: 0, "what was removed")
          try expect(store.isEmpty(waterKey), "something is there")
        }
      },
      Case("items read back with every field, by title, and belong to their tracker") { subject in
        let full = sampleItem()
        let plain = Item(
          id: ItemID(rawValue: "b"), tracker: watchKey.id, owner: 1_000, title: "aviator", createdAt: at(1))
        try expectFull(full, plain, but: ["tracker", "owner"])
        try await subject.write { store in
          try store.put(sampleTracker(watchKey))
          try store.put(sampleTracker(waterKey))
          try store.put(full)
          try store.put(plain)
          try store.put(sampleItem(full.id, waterKey))
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.items(of: watchKey), is: [plain, full], "the items")
          try expect(store.item(full.id, of: watchKey), is: full, "one")
          try expect(store.item(ItemID(rawValue: "c"), of: watchKey), is: nil, "one there is not")
          var other = full
          (other.title, other.attributes, other.until) = ("Aa", [:], nil)
          try store.put(other)
          try expect(store.items(of: watchKey), is: [other, plain], "the items, one changed")
          try expect(store.removeItem(full.id, of: watchKey), is: true, "whether there was one")
          try expect(store.removeItem(full.id, of: watchKey), is: false, "whether there was one still")
          try expect(store.items(of: watchKey), is: [plain], "what is left")
          try expect(store.items(of: waterKey).count, is: 1, "the other tracker's")
        }
      },
      Case("milestones read back with every field, newest first, and numbers are not reused") { subject in
        let other = TrackerKey(owner: 7, id: waterKey.id)
        let made = try await subject.write { store in
          for key in [waterKey, watchKey, other] { try store.put(sampleTracker(key)) }
          let plain = Milestone(
            id: 0, tracker: watchKey.id, owner: 1_000, day: trackingDay(3), title: "", createdAt: at(2))
          try expectFull(sampleMilestone(), plain, but: ["id", "owner"])
          return try [sampleMilestone(), plain, sampleMilestone(), sampleMilestone(other)].map(store.put)
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(Set(made.map(\.id)).count, is: 4, "different numbers")
          try expect(
            store.milestones(owner: 1_000, tracker: nil), is: [made[1], made[2], made[0]], "all that an owner has")
          try expect(store.milestones(owner: 1_000, tracker: waterKey.id), is: [made[2], made[0]], "a tracker's")
          var changed = made[0]
          (changed.title, changed.day, changed.value) = ("Changed", trackingDay(4), nil)
          try expect(store.put(changed), is: changed, "the written value")
          try expect(store.milestones(owner: 1_000, tracker: waterKey.id), is: [changed, made[2]], "one changed")
          try expect(store.removeMilestone(changed.id, owner: 7), is: nil, "a stranger's removal")
          try expect(store.removeMilestone(changed.id, owner: 1_000), is: changed, "what was removed")
          try expect(store.removeMilestone(changed.id, owner: 1_000), is: nil, "what was removed again")
          try expect(store.put(sampleMilestone()).id > made[3].id, "a number was given again")
        }
        let gone = made[0].id
        try await expect(.internalError("there is no milestone \(gone) to replace")) {
          try await subject.write { store in
            var milestone = sampleMilestone()
            milestone.id = gone
            _ = try store.put(milestone)
          }
        }
      },
      Case("daily totals and the summary are stored, replaced and removed") { subject in
        var summary = TrackerSummary()
        (summary.entries, summary.strength, summary.firstDay) = (7, 1.0 / 3, trackingDay(1))
        summary.longest = Streak(length: 3, unit: .weeks, first: trackingDay(1), last: trackingDay(8))
        let wanted = summary
        let plain = DayTotal(
          day: trackingDay(5), count: 1, total: .zero, firstAt: at(1), lastAt: at(1), firstMinute: 0, lastMinute: 0,
          isMet: false)
        try expectFull(sampleTotal(trackingDay(3)), plain, but: [])
        try await subject.write { store in
          try store.put(sampleTracker(waterKey))
          try store.put(sampleTracker(watchKey))
          for day in [9, 3, 4] {
            try store.setDayTotal(sampleTotal(trackingDay(day)), on: trackingDay(day), of: waterKey)
          }
          try store.setDayTotal(plain, on: trackingDay(5), of: waterKey)
          try store.setDayTotal(sampleTotal(trackingDay(4), count: 8), on: trackingDay(4), of: waterKey)
          try store.setDayTotal(plain, on: trackingDay(5), of: watchKey)
          try store.setSummary(wanted, of: waterKey)
        }
        try await subject.reopen()
        try await subject.write { store in
          let totals = try store.dayTotals(of: waterKey, in: trackingDay(4)...trackingDay(9))
          try expect(
            totals, is: [sampleTotal(trackingDay(4), count: 8), plain, sampleTotal(trackingDay(9))], "the totals")
          try expect(store.dayTotal(of: waterKey, on: trackingDay(3)), is: sampleTotal(trackingDay(3)), "one")
          try expect(store.dayTotal(of: waterKey, on: trackingDay(6)), is: nil, "a day without")
          try store.setDayTotal(nil, on: trackingDay(4), of: waterKey)
          try expect(store.dayTotal(of: waterKey, on: trackingDay(4)), is: nil, "one that was dropped")
          try expect(store.dayTotal(of: watchKey, on: trackingDay(5)), is: plain, "the other tracker's")
          try expect(store.summary(of: waterKey), is: wanted, "the summary")
          try expect(store.summary(of: watchKey), is: nil, "the other tracker's")
          try store.setSummary(nil, of: waterKey)
          try expect(store.summary(of: waterKey), is: nil, "the summary that was dropped")
        }
      },
      Case("an installed pack reads back with every field") { subject in
        let pack = try fullPack()
        try expectFull(pack, Pack(id: PackID(rawValue: "a"), title: "", text: ""), but: ["samples"])
        try expectFull(pack.reminders[0], pack.reminders[1], but: [])
        try expectFull(pack.achievements[0], pack.achievements[1], but: [])
        try expectFull(pack.achievements[0].criterion, Criterion(.entries), but: [])
        let full = InstalledPack(
          pack: pack, owner: 7, installedAt: at(9), reminders: ["drink": ReminderID(rawValue: "r7k2")],
          languages: ["cs", "en"], removed: [try fullSample("full"), try sample("plain")], set: "home")
        let plain = InstalledPack(
          pack: Pack(id: PackID(rawValue: "watches"), title: "", text: ""), owner: 1_000, installedAt: at(8))
        try expectFull(full, plain, but: [])
        try await subject.write { store in
          try store.put(full)
          try store.put(plain)
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.packs(owner: nil), is: [plain, full], "all, as they were installed")
          try expect(store.packs(owner: 7), is: [full], "an owner's")
          try expect(store.pack(pack.id, owner: 7), is: full, "one")
          try expect(store.pack(pack.id, owner: 1_000), is: nil, "one that another has")
          var newer = full
          newer.pack = try fullPack(title: "Another")
          (newer.removed, newer.reminders) = ([], [:])
          try store.put(newer)
          try expect(store.pack(pack.id, owner: 7), is: newer, "a newer one")
          // The first version again, after another was read.
          try store.put(full)
          try expect(store.pack(pack.id, owner: 7), is: full, "the first again")
          try expect(store.removePack(pack.id, owner: 7), is: true, "whether there was one")
          try expect(store.removePack(pack.id, owner: 7), is: false, "whether there was one still")
          try expect(store.packs(owner: nil), is: [plain], "what is left")
        }
      },
      Case("an undone installation leaves no pack") { subject in
        let pack = InstalledPack(pack: try fullPack(), owner: 7, installedAt: at(9))
        try await subject.write { try $0.put(pack) }
        struct Aborted: Error {}
        do {
          try await subject.write { store in
            var other = pack
            other.pack = try fullPack(title: "Another")
            try store.put(other)
            try expect(store.pack(pack.pack.id, owner: 7), is: other, "the written value")
            throw Aborted()
          }
        } catch is Aborted {}
        try await subject.read { try expect($0.pack(pack.pack.id, owner: 7), is: pack, "what is there") }
      },
      Case("unlocks belong to their owner, and remain without their pack") { subject in
        let hydration = PackID(rawValue: "hydration")
        let progress = [
          AchievementProgress(
            pack: hydration, achievement: AchievementID(rawValue: "a"), reached: 3, unlockedAt: at(4), wasSilent: true),
          AchievementProgress(pack: hydration, achievement: AchievementID(rawValue: "b"), reached: 9),
        ]
        try await subject.write { store in
          try store.put(InstalledPack(pack: fullPack(), owner: 7, installedAt: at(9)))
          for one in progress.reversed() { try store.setProgress(one, owner: 7) }
          try store.setExperience(120, of: hydration, owner: 7)
        }
        try await subject.reopen()
        try await subject.write { store in
          try store.removePack(hydration, owner: 7)
          try expect(store.progress(of: hydration, owner: 7), is: progress, "the progress")
          try expect(store.experience(of: hydration, owner: 7), is: 120, "the XP")
          try expect(store.packsInProgress(owner: 7), is: [hydration], "a pack that has been removed")
          try expect(store.packsInProgress(owner: 1_000), is: [], "another owner's packs")
          try expect(store.progress(of: hydration, owner: 1_000), is: [], "another owner's")
          try expect(store.experience(of: hydration, owner: 1_000), is: 0, "another owner's XP")
          try expect(store.progress(of: PackID(rawValue: "goal"), owner: 7), is: [], "another pack's")
          var further = progress[1]
          (further.reached, further.unlockedAt) = (10, at(11))
          try store.setProgress(further, owner: 7)
          try store.setExperience(-4, of: hydration, owner: 7)
          try expect(store.progress(of: hydration, owner: 7), is: [progress[0], further], "further")
          try expect(store.experience(of: hydration, owner: 7), is: -4, "other XP")
        }
      },
    ]
  }
}

extension StoreTransaction {
  /// Gives a tracker one object of each kind.
  func fill(_ key: TrackerKey) throws {
    try put(sampleTracker(key))
    var entry = sampleEntry(key)
    entry.item = ItemID(rawValue: "speedmaster")
    _ = try insert(entry)
    try put(sampleItem(ItemID(rawValue: "speedmaster"), key))
    _ = try put(sampleMilestone(key))
    try setDayTotal(sampleTotal(trackingDay(0)), on: trackingDay(0), of: key)
    try setSummary(TrackerSummary(), of: key)
  }

  /// Returns whether a tracker has no data of any kind.
  func isEmpty(_ key: TrackerKey) throws -> Bool {
    let filter = EntryFilter(owner: key.owner, tracker: key.id)
    return try entries(filter, page: Page()).isEmpty && entryCount(filter) == 0
      && entries(of: key, on: trackingDay(0)).isEmpty && items(of: key).isEmpty
      && milestones(owner: key.owner, tracker: key.id).isEmpty && itemCounts(of: key, in: nil).isEmpty
      && itemDays(of: key, in: .earliest ... .latest).isEmpty && dayTotals(of: key, in: .earliest ... .latest).isEmpty
      && summary(of: key) == nil
  }
}
