import ChimeCore
import ChimeSchedule

extension StoreConformance {
  static var tenantCases: [Case] {
    [
      Case("a tenant gets a number once") { subject in
        let (b, a) = try await subject.write { store in
          (try store.enrol(tenant: "beta"), try store.enrol(tenant: "acme"))
        }
        try expect(Tenant.isTenant(a.number) && Tenant.isTenant(b.number), "numbers of tenants: \(a), \(b)")
        try expect(a.number != b.number, "two numbers: \(a), \(b)")
        try await subject.reopen()
        try await subject.write { store in
          try expect(store.enrol(tenant: "beta"), is: b, "the tenant that is known")
          try expect(store.tenants(), is: [a, b], "the tenants")
        }
        try await subject.read { store in try expect(store.tenants(), is: [a, b], "the tenants, read") }
        try await expect(.readOnly) { try await subject.read { _ = try $0.enrol(tenant: "gamma") } }
      },
      Case("a tenant's scheduled reminders are counted") { subject in
        let (acme, other) = try await subject.write { store in
          (try store.enrol(tenant: "acme").number, try store.enrol(tenant: "other").number)
        }
        @Sendable func counted(_ wanted: Int, _ store: any StoreTransaction, _ what: String) throws {
          try expect(store.reminderCount(of: acme), is: wanted, what)
        }
        try await subject.write { store in
          try counted(0, store, "none")
          for id in ["once", "ever", "gone"] { try store.upsert(sample(id, owner: acme), next: at(10)) }
          try store.upsert(sample("user"), next: at(10))
          try counted(3, store, "those that were added")
          try store.upsert(sample("ever", owner: acme, generation: 1), next: at(10))
          try counted(3, store, "one that was changed")
        }
        try await subject.write { store in
          try store.remove(ReminderID(rawValue: "gone"), now: at(5))
          try store.remove(ReminderID(rawValue: "user"), now: at(5))
          try counted(2, store, "one that was removed")
          let due = try store.claimDue(now: at(10), limit: 10)
          let queues = [DeliveryQueue(owner: acme, channel: .desktop)]
          try store.record(due.map { fire($0, next: $0.reminder.id.rawValue == "ever" ? at(99) : nil, queues: queues) })
          try counted(1, store, "one that has fired for the last time")
          let id = OccurrenceID(reminder: ReminderID(rawValue: "once"), scheduledAt: at(10))
          var occurrence = try store.theOccurrence(id)
          occurrence.state = .snoozed(until: at(50))
          try store.update(occurrence, now: at(12))
          try counted(1, store, "one that is snoozed")
          try store.upsert(sample("once", owner: acme, generation: 1), next: at(70))
          try counted(2, store, "one with a time again")
          try store.upsert(sample("once", owner: acme, generation: 2), next: nil)
          try counted(1, store, "one without a time")
        }
        try await subject.reopen()
        try await subject.read { store in
          try counted(1, store, "reading")
          try expect(store.reminderCount(of: other), is: 0, "another tenant's")
        }
        // Enough reminders that an engine merges its rows of count changes.
        try await subject.write { store in
          for number in 0..<200 { try store.upsert(sample("t\(number)", owner: other), next: at(100)) }
          try expect(store.reminderCount(of: other), is: 200, "many")
        }
        try await subject.write { store in
          for number in 0..<150 { try store.remove(ReminderID(rawValue: "t\(number)"), now: at(7)) }
          try expect(store.reminderCount(of: other), is: 50, "fewer")
        }
        try await subject.write { store in try counted(1, store, "another tenant's") }
      },
      Case("the owners whose counts a body may have raised are known") { subject in
        let acme = try await subject.write { try $0.enrol(tenant: "acme").number }
        try await subject.write { store in
          try expect(store.tenantsWithMore, is: [], "at first")
          try store.upsert(sample("user"), next: at(10))
          try store.upsert(sample("none", owner: acme), next: nil)
          try expect(store.tenantsWithMore, is: [], "a user's, and one without a time")
          try store.upsert(sample("aaaa", owner: acme), next: at(10))
          try expect(store.tenantsWithMore, is: [acme], "a new one")
        }
        try await subject.write { store in
          try store.upsert(sample("aaaa", owner: acme, generation: 1), next: at(20))
          try expect(store.tenantsWithMore, is: [], "one that had a time")
          try store.upsert(sample("none", owner: acme, generation: 1), next: at(20))
          try expect(store.tenantsWithMore, is: [acme], "one that had none")
        }
      },
      Case("reminders added by a failed body are not counted") { subject in
        struct Refused: Error {}
        let acme = try await subject.write { try $0.enrol(tenant: "acme").number }
        do {
          try await subject.write { store in
            try store.upsert(sample("aaaa", owner: acme), next: at(10))
            try expect(store.reminderCount(of: acme), is: 1, "its own")
            throw Refused()
          }
        } catch is Refused {}
        try await subject.write { store in try expect(store.reminderCount(of: acme), is: 0, "afterwards") }
      },
    ]
  }
}
