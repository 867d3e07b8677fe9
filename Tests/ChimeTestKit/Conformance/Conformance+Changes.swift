import ChimeCore
import ChimeSchedule
import ChimeTracking

extension StoreConformance {
  static var changeCases: [Case] {
    [
      Case("a logged entry is undone once, and its number is not reused") { subject in
        let (logged, change) = try await subject.write { store in
          try store.put(sampleTracker())
          try store.insert(sampleEntry())
          let change = try store.begin(sampleChange(.logged, "250 ml"))
          return (try store.insert(fullEntry(waterKey)), change)
        }
        try await subject.reopen()
        try await subject.write { store in
          var wanted = sampleChange(.logged, "250 ml")
          wanted.id = change
          try expect(store.lastChange(owner: 1_000, since: at(0)), is: wanted, "the last change")
          try expect(store.takeBack(change), is: [waterKey: [trackingDay(1)]], "the trackers it was about")
          try expect(store.entry(logged.id, owner: 1_000), is: nil, "the entry")
          try expect(store.entryCount(EntryFilter(owner: 1_000)), is: 1, "the entries")
          try expect(store.itemCounts(of: waterKey, in: nil), is: [], "its item")
          try expect(store.lastChange(owner: 1_000, since: at(0)), is: nil, "the last change then")
          try expect(store.insert(sampleEntry()).id > logged.id, "the number is given again")
        }
        try await expect(.internalError("there is no change \(change) to undo")) {
          try await subject.write { _ = try $0.takeBack(change) }
        }
      },
      Case("only the history of an owner's removed reminders is erased") { subject in
        try await subject.write { store in
          for (name, owner) in [("gone", 1_000), ("here", 1_000), ("else", 2_000)] as [(String, UInt32)] {
            let reminder = try sample(name, owner: owner)
            try store.upsert(reminder, next: at(1_000))
            for number in 1...3 {
              let occurrence = Occurrence(
                id: OccurrenceID(reminder: reminder.id, scheduledAt: at(Int64(number))), title: "Tea", owner: owner,
                state: .done,
                firedAt: at(Int64(number)), endedAt: at(10), rounds: 1)
              let due = DueReminder(reminder: reminder, scheduledAt: at(Int64(number)), dueAt: at(Int64(number)))
              try store.record([
                FiringResult(
                  due: due, occurrences: [occurrence], deliveries: [], next: nil, advances: false, skipNext: 0)
              ])
            }
          }
          try store.remove(ReminderID(rawValue: "gone"), now: at(20))
          try store.remove(ReminderID(rawValue: "else"), now: at(20))
        }
        try await subject.reopen()
        var calls = 0
        while try await subject.write({ try $0.eraseHistory(ofRemoved: 1_000, limit: 2) }) { calls += 1 }
        try expect(calls, is: 1, "the calls that left something")
        try await subject.read { store in
          let left = try store.occurrences(OccurrenceFilter(), page: Page(limit: 100)).map(\.id.reminder.rawValue)
          try expect(left.sorted(), is: ["else", "else", "else", "here", "here", "here"], "what is left")
        }
        // The name can be used again.
        try await subject.write { try $0.upsert(sample("gone"), next: at(2_000)) }
      },
      Case("the details of a change are removed with it") { subject in
        let text = "{\"title\":\"Tea \\u0000 žluťoučký 🫖\"}"
        let (first, second, other) = try await subject.write { store in
          let first = try store.begin(sampleChange(.reminderRemoved, "Tea"))
          try store.setDetail("first", of: first)
          try store.setDetail(text, of: first)
          let second = try store.begin(sampleChange(.endpointRemoved, at: at(200), "phone"))
          let other = try store.begin(sampleChange(.reminderAdded, owner: 2_000, at: at(300)))
          try store.setDetail("another's", of: other)
          return (first, second, other)
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.detail(of: first), is: text, "the detail")
          try expect(store.detail(of: second), is: nil, "one that was not given")
          try expect(store.takeBack(second), is: [:], "the trackers of a change of none")
          try expect(store.takeBack(first), is: [:], "the trackers of a change of none")
          try expect(store.detail(of: first), is: nil, "the detail of the undone change")
          try expect(store.detail(of: other), is: "another's", "another's detail")
        }
        _ = try await subject.write { try $0.forgetChanges(before: at(1_000), limit: 100) }
        try await subject.read { try expect($0.detail(of: other), is: nil, "a detail that was forgotten") }
      },
      Case("edits are undone one after the other, each to the state before it") { subject in
        let first = try await subject.write { store in
          try store.put(sampleTracker())
          try store.put(sampleTracker(watchKey))
          return try store.insert(fullEntry(watchKey))
        }
        let versions = try await subject.write { store in
          var versions = [first]
          for number in 1...3 {
            try store.begin(sampleChange(.edited))
            // With two edits in one change, undo restores the state before the first.
            for _ in 1...2 {
              var entry = versions[number - 1]
              (entry.note, entry.day) = ("edit \(number)", trackingDay(number))
              entry.tracker = number == 2 ? waterKey.id : watchKey.id
              try store.update(entry)
              if versions.count == number { versions.append(entry) }
            }
          }
          return versions
        }
        try await subject.reopen()
        let touched: [[TrackerKey: [Int]]] = [
          [watchKey: [1]], [watchKey: [1], waterKey: [2]], [waterKey: [2], watchKey: [3]],
        ]
        for number in (0...2).reversed() {
          let last = try await subject.takeBackLast()
          let wanted = touched[number].mapValues { Set($0.map(trackingDay)) }
          try expect(last, is: wanted, "the trackers of edit \(number + 1), and their days")
          try await subject.read { store in
            try expect(store.entry(first.id, owner: 1_000), is: versions[number], "after undoing \(number + 1)")
            let key = versions[number].key
            try expect(
              store.itemDays(of: key, in: .earliest ... .latest).map(\.day), is: [versions[number].day],
              "its item's day")
          }
        }
        try await subject.read { try expect($0.lastChange(owner: 1_000, since: at(0)), is: nil, "the last change") }
      },
      Case("undo does not name a day that an entry had only within the change") { subject in
        let first = try await subject.write { store in
          try store.put(sampleTracker())
          try store.put(sampleTracker(watchKey))
          return try store.insert(fullEntry(watchKey))
        }
        typealias Step = @Sendable (any StoreTransaction, EntryID) throws -> Void
        let steps: [(name: String, step: Step, touched: [TrackerKey: Set<CivilDate>])] = [
          ("removed", { _ = try $0.removeEntry($1, owner: 1_000) }, [watchKey: [trackingDay(1)]]),
          (
            "removed with its day",
            { store, _ in _ = try store.removeEntries(of: waterKey, in: trackingDay(3)...trackingDay(3)) },
            [watchKey: [trackingDay(1)]]
          ),
          (
            "removed with its tracker", { store, _ in try store.removeTracker(waterKey) },
            [watchKey: [trackingDay(1)], waterKey: []]
          ),
          (
            "moved on",
            { store, id in
              var entry = try store.entry(id, owner: 1_000) ?? first
              entry.day = trackingDay(5)
              try store.update(entry)
            }, [watchKey: [trackingDay(1)], waterKey: [trackingDay(5)]]
          ),
        ]
        for (name, step, touched) in steps {
          try await subject.write { store in
            try store.begin(sampleChange(.edited))
            var moved = first
            (moved.tracker, moved.day) = (waterKey.id, trackingDay(3))
            try store.update(moved)
            try step(store, first.id)
          }
          try expect(try await subject.takeBackLast(), is: touched, "what is named of one that was moved and \(name)")
          try await subject.read { try expect($0.entry(first.id, owner: 1_000), is: first, "the entry, \(name)") }
        }
      },
      Case("removals are undone: of an entry, all entries, an item, a milestone, a pack, a tracker") { subject in
        let removals: [@Sendable (any StoreTransaction) throws -> Void] = [
          { store in for id in 1...2 { try store.removeEntry(EntryID(rawValue: Int64(id)), owner: 1_000) } },
          { _ = try $0.removeEntries(of: watchKey, in: nil) },
          { _ = try $0.removeEntries(of: watchKey, in: trackingDay(0)...trackingDay(0)) },
          { try $0.removeItem(ItemID(rawValue: "speedmaster"), of: watchKey) },
          { try $0.removeMilestone(1, owner: 1_000) },
          { try $0.removePack(PackID(rawValue: "hydration"), owner: 1_000) },
          { try $0.removeTracker(watchKey) },
          // Then remove and add more in the same change.
          { store in
            try store.removeTracker(watchKey)
            try store.fill(watchKey)
            try store.removeEntry(EntryID(rawValue: 3), owner: 1_000)
            try store.removeTracker(watchKey)
            try store.put(sampleTracker(watchKey, title: "Another"))
          },
          { store in
            var entry = try store.entries(EntryFilter(owner: 1_000), page: Page())[0]
            entry.note = "edited and removed"
            try store.update(entry)
            try store.removeEntry(entry.id, owner: 1_000)
          },
          { store in
            try store.removePack(PackID(rawValue: "hydration"), owner: 1_000)
            try store.put(InstalledPack(pack: fullPack(title: "Another"), owner: 1_000, installedAt: at(2)))
          },
        ]
        let before = try await subject.write { store in
          try store.fill(watchKey)
          try store.insert(sampleEntry(watchKey, day: trackingDay(4)))
          try store.put(InstalledPack(pack: fullPack(), owner: 1_000, installedAt: at(1)))
          return try store.picture(1_000)
        }
        for (number, removal) in removals.enumerated() {
          let after = try await subject.write { store in
            try store.begin(sampleChange(.removed))
            try removal(store)
            return try store.picture(1_000)
          }
          try expect(after != before, "removal \(number) did nothing")
          try await subject.reopen()
          _ = try await subject.takeBackLast()
          try await subject.write { store in
            // Totals derive from entries; the caller of undo recomputes them.
            if try store.summary(of: watchKey) == nil {
              try store.setDayTotal(sampleTotal(trackingDay(0)), on: trackingDay(0), of: watchKey)
              try store.setSummary(TrackerSummary(), of: watchKey)
            }
            try expect(store.picture(1_000), is: before, "after undoing removal \(number)")
          }
        }
      },
      Case("creations and replacements are undone") { subject in
        let puts: [@Sendable (any StoreTransaction, Int) throws -> Void] = [
          { store, number in try store.put(sampleTracker(watchKey, title: "\(number)")) },
          { store, number in
            var item = sampleItem()
            item.title = "\(number)"
            try store.put(item)
          },
          { store, number in
            var milestone = sampleMilestone(watchKey)
            milestone.id = try store.milestones(owner: 1_000, tracker: nil).first?.id ?? 0
            milestone.title = "\(number)"
            _ = try store.put(milestone)
          },
          { store, number in
            let pack = try fullPack(title: "\(number)")
            try store.put(InstalledPack(pack: pack, owner: 1_000, installedAt: at(Int64(number))))
          },
        ]
        for (kind, put) in puts.enumerated() {
          var pictures: [[String]] = []
          for number in 0...3 {
            pictures.append(
              try await subject.write { store in
                if kind > 0, number == 0 { try store.put(sampleTracker(watchKey)) }
                let picture = try store.picture(1_000)
                try store.begin(sampleChange(.tracker))
                try put(store, number)
                return picture
              })
          }
          for number in (0...3).reversed() {
            let picture = pictures[number]
            _ = try await subject.takeBackLast()
            try await subject.read {
              try expect(
                $0.picture(1_000), is: picture, "put \(kind), after taking back the one numbered \(number)")
            }
          }
        }
      },
      Case("only an owner's latest change is undone, whatever others have changed since") { subject in
        let other = TrackerKey(owner: 7, id: waterKey.id)
        let changes = try await subject.write { store in
          try store.put(sampleTracker())
          try store.put(sampleTracker(other))
          return try [waterKey, waterKey, other].map { key in
            let change = try store.begin(sampleChange(owner: key.owner))
            try store.insert(sampleEntry(key))
            return change
          }
        }
        try await expect(
          .internalError("change \(changes[0]) is not the latest: undo the later ones first")
        ) { try await subject.write { _ = try $0.takeBack(changes[0]) } }
        try await subject.write { store in
          try expect(store.takeBack(changes[1]), is: [waterKey: [trackingDay(0)]], "the second")
          try expect(store.takeBack(changes[0]), is: [waterKey: [trackingDay(0)]], "the first")
          try expect(store.entryCount(EntryFilter(owner: 1_000)), is: 0, "the owner's entries")
          try expect(store.entryCount(EntryFilter(owner: 7)), is: 1, "the other's")
          try expect(store.lastChange(owner: 7, since: at(0))?.id, is: changes[2], "the other's change")
        }
      },
      Case("a change covers its body, and belongs to its owner only") { subject in
        try await subject.write { store in
          try store.put(sampleTracker())
          try store.begin(sampleChange())
          // Another owner's data, in the same transaction.
          try store.fill(TrackerKey(owner: 7, id: waterKey.id))
        }
        try await subject.write { _ = try $0.insert(sampleEntry()) }
        try expect(try await subject.takeBackLast(), is: [:], "what it was about")
        try await subject.read { store in
          try expect(store.entryCount(EntryFilter(owner: 1_000)), is: 1, "what was logged outside of any change")
          try expect(!store.isEmpty(TrackerKey(owner: 7, id: waterKey.id)), "the other's is gone")
        }
      },
      Case("writes outside of a change stay when an earlier change is undone") { subject in
        try await subject.write { store in
          try store.put(sampleTracker())
          try store.begin(sampleChange())
          try store.insert(sampleEntry())
        }
        let outside = try await subject.write { store in
          try store.put(sampleTracker(watchKey))
          return try store.insert(sampleEntry())
        }
        _ = try await subject.takeBackLast()
        try await subject.read { store in
          try expect(store.entries(EntryFilter(owner: 1_000), page: Page()), is: [outside], "the entries")
          try expect(store.trackers(owner: nil).count, is: 2, "the trackers")
        }
        // But the entry goes with its tracker.
        try await subject.write { store in
          try store.begin(sampleChange())
          try store.put(sampleTracker(TrackerKey(owner: 1_000, id: TrackerID(rawValue: "new"))))
        }
        try await subject.write { try $0.fill(TrackerKey(owner: 1_000, id: TrackerID(rawValue: "new"))) }
        _ = try await subject.takeBackLast()
        try await subject.write { store in
          let key = TrackerKey(owner: 1_000, id: TrackerID(rawValue: "new"))
          try expect(store.isEmpty(key), "something of it is left")
          try store.put(sampleTracker(key))
          try expect(store.isEmpty(key), "something of it has come again")
        }
      },
      Case("a body that throws leaves no change") { subject in
        struct Aborted: Error {}
        try await subject.write { try $0.put(sampleTracker()) }
        do {
          try await subject.write { store in
            try store.begin(sampleChange())
            try store.insert(sampleEntry())
            throw Aborted()
          }
        } catch is Aborted {}
        try await subject.read { store in
          try expect(store.lastChange(owner: 1_000, since: at(0)), is: nil, "the last change")
          try expect(store.entryCount(EntryFilter(owner: 1_000)), is: 0, "the entries")
        }
      },
      Case("unlocks stay when a change is undone") { subject in
        let pack = PackID(rawValue: "hydration")
        try await subject.write { store in
          try store.fill(waterKey)
          try store.begin(sampleChange())
          try store.insert(sampleEntry())
          try store.unlock("first", 1_000)
        }
        _ = try await subject.takeBackLast()
        try await subject.read { store in
          try expect(
            store.progress(of: pack, owner: 1_000).map(\.achievement.rawValue), is: ["first"], "what is unlocked")
          try expect(store.experience(of: pack, owner: 1_000), is: 10, "the XP")
        }
      },
      Case("an owner's data are exchanged for staged data, and restored by undo") { subject in
        let (before, others, stagingOwner) = try await subject.write { store in
          for key in [waterKey, watchKey, TrackerKey(owner: 7, id: waterKey.id)] { try store.fill(key) }
          for owner: UInt32 in [7, 1_000] {
            try store.put(InstalledPack(pack: fullPack(), owner: owner, installedAt: at(1)))
            try store.unlock("first", owner)
          }
          // The records of earlier changes are exchanged too.
          try store.begin(sampleChange(.removed))
          try store.removeTracker(watchKey)
          let stagingOwner = try store.makeStagingOwner(for: 1_000, now: at(1))
          return (try store.picture(1_000), try store.picture(7), stagingOwner)
        }
        try expect(stagingOwner >= StagingOwners.first, "a number that may be somebody's")
        let staged = try await subject.write { store in
          try expect(store.touchStagingOwner(stagingOwner, now: at(2)), "it is not being filled")
          try store.fill(TrackerKey(owner: stagingOwner, id: watchKey.id))
          try store.unlock("restored", stagingOwner)
          return try store.picture(stagingOwner)
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.picture(1_000), is: before, "what there is, as long as nothing is exchanged")
          try expect(store.trackers(owner: nil).count, is: 2, "everyone's trackers")
          _ = try store.exchange(sampleChange(.restored), with: stagingOwner)
          // An edit outside of any change.
          try store.put(InstalledPack(pack: fullPack(), owner: 1_000, installedAt: at(3)))
          try store.removePack(fullPack().id, owner: 1_000)
          try expect(store.picture(1_000), is: staged, "the staged data")
        }
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.picture(1_000), is: staged, "the staged data, later")
          try expect(store.picture(7), is: others, "the other's")
          try expect(store.trackers(owner: nil).count, is: 2, "everyone's trackers then")
          try expect(store.packs(owner: nil).map(\.owner), is: [7], "everyone's packs then")
          try store.unlock("later", 1_000)
          try store.begin(sampleChange(.logged))
          try store.insert(sampleEntry(watchKey))
        }
        _ = try await subject.takeBackLast()
        try expect(try await subject.takeBackLast(), is: [:], "what is to be recomputed")
        try await subject.read { try expect($0.picture(1_000), is: before, "all of it") }
        // The change before it can still be undone.
        try expect(try await subject.takeBackLast().keys.map(\.id), is: [watchKey.id], "the restored data then")
        try await subject.read { try expect($0.tracker(watchKey) != nil, "the tracker of before") }
      },
      Case("unneeded staged data are deleted step by step, and their number is reused") { subject in
        let (stagingOwners, laidAside) = try await subject.write { store in
          try store.fill(waterKey)
          let stagingOwners = try (1...3).map { try store.makeStagingOwner(for: 1_000, now: at(Int64($0))) }
          for stagingOwner in stagingOwners {
            let key = TrackerKey(owner: stagingOwner, id: waterKey.id)
            try store.fill(key)
            for _ in 0..<20 { try store.insert(sampleEntry(key)) }
            try store.put(InstalledPack(pack: fullPack(), owner: stagingOwner, installedAt: at(1)))
            try store.unlock("a", stagingOwner)
          }
          return (stagingOwners, try store.picture(1_000))
        }
        try expect(Set(stagingOwners).count, is: 3, "the numbers")
        @Sendable func clear(before: Instant) async throws -> Int {
          try await subject.write { store in
            var steps = 0
            while try store.clearStagingOwners(before: before, limit: 4) {
              steps += 1
              try expect(steps < 100, "it does not end")
            }
            return steps
          }
        }
        // The first staging owner is too old, the second is abandoned, the third is still being filled.
        try await subject.write { store in
          try store.abandonStagingOwner(stagingOwners[1])
          try expect(!store.touchStagingOwner(stagingOwners[1], now: at(3)), "an abandoned one can be filled")
          // What is removed in part is not filled again, even if its restore goes on.
          try expect(store.clearStagingOwners(before: at(2), limit: 1), "all was removed in one step")
          try expect(!store.touchStagingOwner(stagingOwners[0], now: at(3)), "one that is being removed can be filled")
          try expect(store.touchStagingOwner(stagingOwners[2], now: at(3)), "the third cannot be filled")
        }
        _ = try await clear(before: at(2))
        try await subject.write { store in
          for stagingOwner in stagingOwners.prefix(2) {
            try expect(store.isEmpty(TrackerKey(owner: stagingOwner, id: waterKey.id)), "\(stagingOwner)")
          }
          try expect(!store.isEmpty(TrackerKey(owner: stagingOwners[2], id: waterKey.id)), "the third")
          try expect(store.makeStagingOwner(for: 7, now: at(9)), is: stagingOwners[0], "the number that is given again")
          _ = try store.exchange(sampleChange(.restored), with: stagingOwners[2])
        }
        for stagingOwner in [stagingOwners[0], stagingOwners[1], stagingOwners[2]] {
          try await expect(.internalError("there is no staging owner \(stagingOwner) to exchange")) {
            try await subject.write { _ = try $0.exchange(sampleChange(.restored), with: stagingOwner) }
          }
        }
        // Replaced data stay as long as the exchange can be undone; after an undo, the staged data become removable.
        _ = try await clear(before: at(1_000))
        _ = try await subject.takeBackLast()
        try await subject.read { try expect($0.picture(1_000), is: laidAside, "the staged data") }
        try await subject.write { store in
          let stagingOwner = try store.makeStagingOwner(for: 1_000, now: at(20))
          try store.fill(TrackerKey(owner: stagingOwner, id: watchKey.id))
          _ = try store.exchange(sampleChange(.restored), with: stagingOwner)
          while try store.forgetChanges(before: at(1_000_000), limit: 100) {}
          while try store.clearStagingOwners(before: at(1_000_000), limit: 100) {}
          try expect(store.trackers(owner: 1_000).map(\.id), is: [watchKey.id], "what was restored")
          try expect(!store.isEmpty(watchKey), "nothing is in it")
          try expect(
            store.makeStagingOwner(for: 1_000, now: at(30)), is: StagingOwners.first,
            "the number that is given again at last")
        }
      },
      Case("changes older than a moment expire in order, step by step, and later ones can be undone") {
        subject in
        try await subject.write { store in
          try store.put(sampleTracker())
          for number in 0..<5 {
            for _ in 0..<4 { try store.insert(sampleEntry(day: trackingDay(number))) }
          }
          for number in 0..<5 {
            try store.begin(sampleChange(.removedAll, at: at(Int64(number * 10))))
            _ = try store.removeEntries(of: waterKey, in: trackingDay(number)...trackingDay(number))
          }
          try store.begin(sampleChange(owner: 7, at: at(1)))
        }
        let steps = try await subject.write { store in
          var steps = 0
          while try store.forgetChanges(before: at(30), limit: 3) {
            steps += 1
            try expect(steps < 100, "it does not end")
          }
          return steps
        }
        try expect(steps >= 1, "it was all one step")
        try await subject.reopen()
        for number in [4, 3] {
          let last = try await subject.read { try $0.lastChange(owner: 1_000, since: at(0)) }
          try expect(last?.at, is: at(Int64(number * 10)), "the last change")
          _ = try await subject.takeBackLast()
        }
        try await subject.read { store in
          try expect(store.lastChange(owner: 1_000, since: at(0)), is: nil, "an expired change")
          try expect(store.lastChange(owner: 7, since: at(0)), is: nil, "an expired change of another owner")
          try expect(store.entryCount(EntryFilter(owner: 1_000)), is: 8, "the restored data")
        }
      },
      Case("a change expires after earlier ones, and no expired one is offered") { subject in
        try await subject.write { store in
          try store.put(sampleTracker())
          // The clock is set back between the two changes.
          for second: Int64 in [100, 10] {
            try store.begin(sampleChange(at: at(second)))
            try store.insert(sampleEntry())
          }
          try expect(store.forgetChanges(before: at(50), limit: 100), is: false, "whether there may be more")
          try expect(store.lastChange(owner: 1_000, since: at(50)), is: nil, "what is offered")
          try expect(
            store.lastChange(owner: 1_000, since: at(10))?.at, is: at(10), "what is offered from its second on")
          try expect(
            store.changes(owner: 1_000, since: at(0), limit: 9).map(\.at), is: [at(10), at(100)],
            "what can be taken back, the latest first")
          try expect(store.changes(owner: 1_000, since: at(0), limit: 1).map(\.at), is: [at(10)], "the latest alone")
          try expect(
            store.changes(owner: 1_000, since: at(50), limit: 9).count, is: 0, "what stands before one that is too old")
          try expect(store.changes(owner: 9_999, since: at(0), limit: 9).count, is: 0, "what is somebody else's")
        }
        _ = try await subject.takeBackLast()
        _ = try await subject.takeBackLast()
        try await subject.read { try expect($0.entryCount(EntryFilter(owner: 1_000)), is: 0, "the entries") }
      },
    ]
  }
}

extension StoreConformance.Subject {
  /// Undoes the latest change of the sample owner.
  func takeBackLast() async throws -> [TrackerKey: Set<CivilDate>] {
    try await write { store in
      guard let last = try store.lastChange(owner: 1_000, since: at(0)) else {
        throw ConformanceFailure(description: "there is nothing to take back")
      }
      return try store.takeBack(last.id)
    }
  }
}

extension StoreTransaction {
  /// Unlocks an achievement and adds 10 experience points.
  func unlock(_ name: String, _ owner: UInt32) throws {
    let pack = PackID(rawValue: "hydration")
    try setProgress(
      AchievementProgress(
        pack: pack, achievement: AchievementID(rawValue: name), reached: 1, unlockedAt: at(1)), owner: owner)
    try setExperience(try experience(of: pack, owner: owner) + 10, of: pack, owner: owner)
  }

  func picture(_ owner: UInt32) throws -> [String] {
    let trackers = try trackers(owner: owner)
    let packs = try packs(owner: owner)
    let hydration = PackID(rawValue: "hydration")
    var lines = trackers.map { "\($0.id) \($0.title.text(in: [])) \($0.generation)" }
    lines += packs.map { "\($0.pack.id) \($0.pack.title.text(in: [])) \($0.installedAt)" }
    lines += try entries(EntryFilter(owner: owner), page: Page()).map { "\($0.id) \($0.day) \($0.note ?? "-")" }
    lines += try milestones(owner: owner, tracker: nil).map { "\($0.id) \($0.title)" }
    lines += try progress(of: hydration, owner: owner).map { "\($0)" }
    lines.append("\(try experience(of: hydration, owner: owner))")
    for key in [waterKey, watchKey].map({ TrackerKey(owner: owner, id: $0.id) }) {
      lines += try items(of: key).map { "\($0.id) \($0.title)" }
      lines += try itemDays(of: key, in: .earliest ... .latest).map { "\($0)" }
      lines += try itemCounts(of: key, in: nil).map { "\($0)" }
      lines += try dayTotals(of: key, in: .earliest ... .latest).map { "\($0)" }
      lines.append("\(String(describing: try summary(of: key)))")
    }
    return lines
  }
}
