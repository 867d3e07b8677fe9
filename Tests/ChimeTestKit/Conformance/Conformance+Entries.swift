import ChimeCore
import ChimeSchedule
import ChimeTracking

extension StoreConformance {
  static var entryCases: [Case] {
    [
      Case("an entry reads back with every field, and its number is not reused") { subject in
        let (full, plain) = (fullEntry(waterKey), sampleEntry())
        try expectFull(full, plain, but: ["tracker", "owner"])
        let made = try await subject.write { store in
          try store.put(sampleTracker())
          return try [full, plain, full].map(store.insert)
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(made[0].id < made[1].id && made[1].id < made[2].id, "the numbers do not grow")
          for (made, given) in zip(made, [full, plain, full]) {
            var wanted = given
            wanted.id = made.id
            try expect(made, is: wanted, "what was said to be kept")
            try expect(store.entry(made.id, owner: 1_000), is: wanted, "what was kept")
            try expect(store.entry(made.id, owner: 7), is: nil, "what a stranger sees")
          }
          try expect(store.removeEntry(made[2].id, owner: 7), is: nil, "a stranger's removal")
          try expect(store.removeEntry(made[2].id, owner: 1_000), is: made[2], "what was removed")
          try expect(store.removeEntry(made[2].id, owner: 1_000), is: nil, "what was removed again")
          try expect(store.entry(made[2].id, owner: 1_000), is: nil, "what is left of it")
          try expect(store.insert(plain).id > made[2].id, "a number was given again")
        }
      },
      Case("only the owner of an existing entry replaces it") { subject in
        let other = TrackerKey(owner: 7, id: waterKey.id)
        let made = try await subject.write { store in
          for key in [waterKey, watchKey, other] { try store.put(sampleTracker(key)) }
          let made = try store.insert(sampleEntry())
          var changed = fullEntry(watchKey)
          changed.id = made.id
          try store.update(changed)
          try expect(store.entry(made.id, owner: 1_000), is: changed, "the written value")
          try expect(store.entryCount(EntryFilter(owner: 1_000, tracker: waterKey.id)), is: 0, "where it was")
          try expect(store.itemCount(of: ItemID(rawValue: "speedmaster"), key: watchKey), is: 1, "its item")
          changed = sampleEntry(watchKey)
          changed.id = made.id
          try store.update(changed)
          try expect(store.entry(made.id, owner: 1_000), is: changed, "the written value then")
          try expect(store.itemCounts(of: watchKey, in: nil), is: [], "its item that it has not any more")
          return made
        }
        for (owner, id) in [(UInt32(7), made.id), (1_000, EntryID(rawValue: 99))] {
          try await expect(.internalError("there is no entry \(id) to update")) {
            try await subject.write { store in
              var entry = sampleEntry(TrackerKey(owner: owner, id: waterKey.id))
              entry.id = id
              try store.update(entry)
            }
          }
        }
      },
      Case("entries are listed newest first, then by creation, in pages") { subject in
        try await subject.write { store in
          for key in [waterKey, watchKey] { try store.put(sampleTracker(key)) }
          for (number, second) in [3, 9, 3, 1, 9, 2].enumerated() {
            try store.insert(sampleEntry(number % 2 == 0 ? waterKey : watchKey, at: at(Int64(second))))
          }
        }
        try await subject.reopen()
        try await subject.read { store in
          func ids(_ tracker: TrackerID?, _ limit: Int = 100, after offset: Int = 0) throws -> [Int64] {
            let filter = EntryFilter(owner: 1_000, tracker: tracker)
            return try store.entries(filter, page: Page(limit: limit), offset: offset).map(\.id.rawValue)
          }
          try expect(ids(nil), is: [5, 2, 3, 1, 6, 4], "all")
          try expect(ids(nil, 3, after: 2), is: [3, 1, 6], "a page of all")
          try expect(ids(waterKey.id), is: [5, 3, 1], "a tracker's")
          try expect(ids(waterKey.id, 2, after: 1), is: [3, 1], "a page of them")
          try expect(ids(waterKey.id, 2, after: 3), is: [], "a page behind them")
          try expect(ids(TrackerID(rawValue: "none")), is: [], "those of none")
          try expect(store.entries(EntryFilter(owner: 7), page: Page()), is: [], "a stranger's")
          try expect(store.entryCount(EntryFilter(owner: 1_000)), is: 6, "how many in all")
          try expect(store.entryCount(EntryFilter(owner: 1_000, tracker: watchKey.id)), is: 3, "how many of one")
          try expect(store.entryCount(EntryFilter(owner: 7)), is: 0, "how many of a stranger")
          try expect(
            store.entries(of: waterKey, on: trackingDay(0)).map(\.id.rawValue), is: [1, 3, 5], "a day's, oldest first")
        }
      },
      Case("each filter selects its entries, alone and combined") { subject in
        let alpha = ItemID(rawValue: "alpha")
        try await subject.write { store in
          for key in [waterKey, watchKey] { try store.put(sampleTracker(key)) }
          // Two weeks from a Monday on, one entry a day; some have an item or a note, days 3 and 9 a milestone.
          for number in 0..<14 {
            var entry = sampleEntry(at: at(Int64(number)), day: trackingDay(number))
            entry.item = number % 3 == 0 ? alpha : number % 3 == 1 ? ItemID(rawValue: "beta") : nil
            entry.note = number % 4 == 0 ? "A Good one" : number % 4 == 1 ? "" : nil
            try store.insert(entry)
          }
          var stray = sampleEntry(watchKey, at: at(100), day: trackingDay(3))
          (stray.item, stray.note) = (alpha, "good")
          try store.insert(stray)
          for day in [3, 9, 9, 20] { _ = try store.put(sampleMilestone(waterKey, day: trackingDay(day))) }
          let gone = try store.put(sampleMilestone(waterKey, day: trackingDay(5)))
          try store.begin(sampleChange())
          try store.removeMilestone(gone.id, owner: 1_000)
        }
        let days = trackingDay(2)...trackingDay(9)
        let cases: [(EntryFilter, [Int])] = [
          (EntryFilter(owner: 1_000, tracker: waterKey.id, days: days), [9, 8, 7, 6, 5, 4, 3, 2]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, weekdays: [.monday]), [7, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, weekdays: [.sunday, .wednesday]), [13, 9, 6, 2]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, weekdays: []), []),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, days: days, weekdays: [.wednesday]), [9, 2]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, item: alpha), [12, 9, 6, 3, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, item: ItemID(rawValue: "none")), []),
          (EntryFilter(owner: 1_000, item: alpha), [14, 12, 9, 6, 3, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, hasNote: true), [13, 12, 9, 8, 5, 4, 1, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, text: "gOOD o"), [12, 8, 4, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, text: ""), [13, 12, 9, 8, 5, 4, 1, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, text: "%"), []),
          (EntryFilter(owner: 1_000, text: "good"), [14, 12, 8, 4, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, hasMilestone: true), [9, 3]),
          (EntryFilter(owner: 1_000, hasMilestone: true), [9, 3]),
          (
            EntryFilter(
              owner: 1_000, tracker: waterKey.id, days: days, weekdays: .weekdays, item: alpha, hasNote: true,
              hasMilestone: true, text: ""), [9]
          ),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, item: alpha, hasNote: true), [12, 9, 0]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, days: days, item: alpha), [9, 6, 3]),
          (EntryFilter(owner: 1_000, tracker: waterKey.id, days: days, hasNote: true), [9, 8, 5, 4]),
        ]
        try await subject.reopen()
        try await subject.read { store in
          for (filter, wanted) in cases {
            let found = try store.entries(filter, page: Page()).map { Int($0.id.rawValue) - 1 }
            try expect(found, is: wanted, "\(filter)")
            try expect(store.entryCount(filter), is: wanted.count, "how many: \(filter)")
            let page = try store.entries(filter, page: Page(limit: 2), offset: 1).map { Int($0.id.rawValue) - 1 }
            try expect(page, is: Array(wanted.dropFirst().prefix(2)), "a page: \(filter)")
          }
        }
      },
      Case("the entries of some days, or all, are removed at once, of one tracker only") { subject in
        for isChange in [false, true] {
          try await subject.write { store in
            for key in [waterKey, watchKey] {
              try store.put(sampleTracker(key))
              for number in 0..<6 { try store.insert(sampleEntry(key, day: trackingDay(number))) }
            }
            if isChange { try store.begin(sampleChange(.removedAll)) }
            let some = try store.removeEntries(of: waterKey, in: trackingDay(1)...trackingDay(3))
            try expect(some, is: 3, "how many of some days")
            let filter = EntryFilter(owner: 1_000, tracker: waterKey.id)
            let left = try store.entries(filter, page: Page()).map(\.day)
            try expect(left, is: [5, 4, 0].map(trackingDay), "what is left")
            try expect(store.entryDays(of: waterKey, in: nil), is: [0, 4, 5].map(trackingDay), "its days")
            try expect(
              store.entryDays(of: waterKey, in: trackingDay(2)...trackingDay(4)), is: [trackingDay(4)], "some days")
            try expect(store.removeEntries(of: waterKey, in: nil), is: 3, "how many of the rest")
            try expect(store.removeEntries(of: waterKey, in: nil), is: 0, "how many then")
            try expect(store.entryCount(filter), is: 0, "what is left then")
            try expect(store.entryDays(of: waterKey, in: nil), is: [], "its days then")
            try expect(store.removeEntries(of: watchKey, in: nil), is: 6, "how many of the other")
          }
        }
      },
      Case("items are counted by day, whatever happens to their entries") { subject in
        let (alpha, beta) = (ItemID(rawValue: "alpha"), ItemID(rawValue: "beta"))
        try await subject.write { store in
          for key in [waterKey, watchKey] { try store.put(sampleTracker(key)) }
          func wear(_ item: ItemID?, _ day: Int, _ key: TrackerKey = watchKey) throws -> Entry {
            var entry = sampleEntry(key, day: trackingDay(day))
            entry.item = item
            return try store.insert(entry)
          }
          func days() throws -> [String] {
            try store.itemDays(of: watchKey, in: .earliest ... .latest)
              .map { "\($0.day.dayNumber - trackingDay(0).dayNumber) \($0.item) \($0.count)" }
          }
          var entries = try [(alpha, 1), (beta, 1), (beta, 1), (alpha, 2), (alpha, 5), (beta, 3)].map {
            try wear($0.0, $0.1)
          }
          _ = (try wear(nil, 1), try wear(alpha, 1, waterKey))
          try expect(days(), is: ["1 beta 2", "1 alpha 1", "2 alpha 1", "3 beta 1", "5 alpha 1"], "the days")
          try expect(
            store.itemCounts(of: watchKey, in: nil),
            is: [
              ItemCount(item: alpha, count: 3, lastDay: trackingDay(5)),
              ItemCount(item: beta, count: 3, lastDay: trackingDay(3)),
            ], "ever")
          try expect(
            store.itemCounts(of: watchKey, in: trackingDay(1)...trackingDay(2)),
            is: [
              ItemCount(item: alpha, count: 2, lastDay: trackingDay(2)),
              ItemCount(item: beta, count: 2, lastDay: trackingDay(1)),
            ], "in two days")
          try expect(
            store.itemDays(of: watchKey, in: trackingDay(2)...trackingDay(3)).map(\.item), is: [alpha, beta],
            "some days")
          try expect(store.itemCount(of: beta, key: watchKey), is: 3, "one")
          try expect(store.itemCount(of: ItemID(rawValue: "none"), key: watchKey), is: 0, "one there is not")

          (entries[0].item, entries[1].day, entries[2].item) = (beta, trackingDay(2), nil)
          for entry in entries[0...2] { try store.update(entry) }
          try expect(days(), is: ["1 beta 1", "2 alpha 1", "2 beta 1", "3 beta 1", "5 alpha 1"], "after edits")
          // An edit of another field does not count the entry twice.
          entries[3].note = "note"
          try store.update(entries[3])
          try store.removeEntry(entries[4].id, owner: 1_000)
          try expect(days(), is: ["1 beta 1", "2 alpha 1", "2 beta 1", "3 beta 1"], "after a removal")
          try store.begin(sampleChange())
          try store.removeEntry(entries[0].id, owner: 1_000)
          _ = try store.removeEntries(of: watchKey, in: trackingDay(3)...trackingDay(3))
          try expect(days(), is: ["2 alpha 1", "2 beta 1"], "after removals that can be taken back")
          _ = try store.removeEntries(of: watchKey, in: nil)
          try expect(days(), is: [], "after all")
          try expect(store.itemCounts(of: watchKey, in: nil), is: [], "ever, after all")
          try expect(store.itemCount(of: alpha, key: waterKey), is: 1, "the other tracker's")
        }
      },
      Case("a read-only body cannot change trackers") { subject in
        try await subject.write { try $0.fill(waterKey) }
        let writes: [@Sendable (any StoreTransaction) throws -> Void] = [
          { try $0.begin(sampleChange()) }, { _ = try $0.takeBack(1) },
          { _ = try $0.forgetChanges(before: at(0), limit: 1) }, { try $0.put(sampleTracker()) },
          { try $0.removeTracker(waterKey) }, { try $0.insert(sampleEntry()) }, { try $0.update(sampleEntry()) },
          { try $0.removeEntry(EntryID(rawValue: 1), owner: 1_000) },
          { _ = try $0.removeEntries(of: waterKey, in: nil) },
          { try $0.setDayTotal(nil, on: trackingDay(0), of: waterKey) }, { try $0.setSummary(nil, of: waterKey) },
          { try $0.put(sampleItem()) }, { try $0.removeItem(ItemID(rawValue: "a"), of: waterKey) },
          { _ = try $0.put(sampleMilestone()) }, { try $0.removeMilestone(1, owner: 1_000) },
          { try $0.put(InstalledPack(pack: fullPack(), owner: 1, installedAt: at(0))) },
          { try $0.removePack(PackID(rawValue: "a"), owner: 1) },
          { try $0.setExperience(1, of: PackID(rawValue: "a"), owner: 1) },
          {
            try $0.setProgress(
              AchievementProgress(pack: PackID(rawValue: "a"), achievement: AchievementID(rawValue: "b")), owner: 1)
          }, { _ = try $0.makeStagingOwner(for: 1_000, now: at(0)) },
          { _ = try $0.touchStagingOwner(StagingOwners.first, now: at(0)) },
          { _ = try $0.exchange(sampleChange(), with: StagingOwners.first) },
          { try $0.abandonStagingOwner(StagingOwners.first) },
          { _ = try $0.clearStagingOwners(before: at(0), limit: 1) },
        ]
        for write in writes { try await expect(.readOnly) { try await subject.read(write) } }
        try await subject.read { try expect(!$0.isEmpty(waterKey), "something was taken") }
      },
    ]
  }
}
