import Foundation
import Testing

/// Tenants, from the command to the webhook receiver.
@Suite(.timeLimit(.minutes(2)))
struct TenantTests {
  @Test func commandActsForTheNamedTenant() async throws {
    try await Home.run { home in
      try home.configure("[tenants.acme]\nreminders = 2\n[tenants.other]\n")
      _ = try await home.start()
      try await home.mustRun("--tenant", "acme", "in", "1h", "Theirs")
      try await home.mustRun("in", "2h", "Mine")
      let other = try await home.chime("list", "--json", environment: ["CHIME_TENANT": "other"])
      #expect(try other.json["reminders"].elements.isEmpty, "\(other.text)")
      let acme = try await home.chime("list", "--json", environment: ["CHIME_TENANT": "acme"])
      #expect(try acme.json["reminders"].elements.map { $0["title"].string } == ["Theirs"], "\(acme.text)")
      // The option overrides the environment; an empty one means the user, who sees everything here.
      let all = try await home.chime("list", "--json", "--tenant", "", environment: ["CHIME_TENANT": "other"])
      #expect(
        try all.json["reminders"].elements.map { "\($0["title"].string ?? "") \($0["tenant"].string ?? "-")" }
          == ["Theirs acme", "Mine -"], "\(all.text)")

      let unknown = try await home.chime("--tenant", "nobody", "list")
      #expect(
        unknown.status == 77 && unknown.err.contains("you may not act for a tenant \"nobody\""), "\(unknown.text)")
      try await home.mustRun("--tenant", "acme", "in", "3h", "Second")
      let full = try await home.chime("--tenant", "acme", "in", "3h", "Third")
      #expect(full.status == 1 && full.err.contains("may have 2 reminders with a future time"), "\(full.text)")
      let status = try await home.chime("status")
      #expect(status.out.contains("acme has 2 of 2 reminders; other has reminders: 0"), "\(status.text)")

      // A reload changes a limit, and adds a tenant.
      try home.configure("[tenants.acme]\nreminders = 3\n[tenants.new]\n")
      _ = try await home.answer("io.chime.Daemon.Reload")
      try await home.mustRun("--tenant", "acme", "in", "3h", "Third")
      try await home.mustRun("--tenant", "new", "in", "3h", "New")
      let gone = try await home.chime("--tenant", "other", "list")
      #expect(gone.status == 77, "\(gone.text)")
      try await home.mustRun("--tenant", "acme", "remove", "Third", "--yes")
    }
  }

  /// Messages above a tenant's rate wait, and all arrive with the tenant's name.
  @Test(.proof(.patience), .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
  func deliveriesKeepTheTenantsRateLimit() async throws {
    try await Home.run { home in
      try home.configure("[tenants.acme]\ndeliveriesPerSecond = 2\n")
      let receiver = try await Receiver.start(in: home)
      _ = try await home.start()
      for name in ["a", "b"] {
        _ = try await home.answer(
          "io.chime.Endpoints.Put",
          [
            "name": .string(name), "url": .string(receiver.url), "secret": .string(Receiver.secret),
            "tenant": .string("acme"),
          ])
      }
      for number in 0..<3 {
        let added = try await home.answer(
          "io.chime.Reminders.Add",
          [
            "reminder": ["title": .string("No. \(number)"), "when": .string("in 1h"), "channels": ["a", "b"]],
            "tenant": "acme",
          ])
        _ = try await home.answer(
          "io.chime.Occurrences.Fire", ["id": .string(added["reminder"]["id"].string ?? ""), "tenant": "acme"])
      }
      try await eventually("all six arrive") { receiver.requests.count == 6 }
      #expect(receiver.requests.allSatisfy { $0.body["data"]["tenant"].string == "acme" })
      #expect(Set(receiver.requests.map(\.id)).count == 6, "each once")
      try await eventually("all six are recorded") { try await home.deliveries("delivered").count == 6 }
      let listed = try await home.answer("io.chime.Deliveries.List", ["tenant": "acme"])["deliveries"]
      var begun: [Int] = []
      for delivery in listed.elements {
        let attempts = try await home.answer(
          "io.chime.Deliveries.Get", ["id": .string(delivery["id"].string ?? ""), "tenant": "acme"])["attempts"]
        #expect(attempts.elements.count == 1)
        begun.append(milliseconds(attempts[0]["startedAt"]["at"].string ?? ""))
      }
      begun.sort()
      // Some time may pass between the permission and the start of an attempt.
      for seconds in 1...2 {
        for (earlier, later) in zip(begun, begun.dropFirst(2 * seconds)) {
          #expect(later - earlier > seconds * 1_000 - 500, "\(begun)")
        }
      }
    }
  }

  /// Authorized users may act for a tenant; other members are refused and logged.
  @Test(.proof(.booted), .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"))
  func authorizedUsersActForATenantAndOthersAreRefused() async throws {
    let (ann, ben) = (2_001, 2_002)
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      for (name, uid) in [("ann", ann), ("ben", ben)] {
        try await machine.mustRun("groupadd", "--gid", "\(uid)", name)
        try await machine.mustRun(
          "useradd", "--uid", "\(uid)", "--gid", "\(uid)", "--groups", "chime", "--no-create-home", name)
      }
      try machine.write("[tenants.acme]\nusers = [\"ann\"]\n", to: "/etc/chime/chimed.toml", mode: 0o644)
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await machine.mustRun("chime", "--system", "--tenant", "acme", "in", "30m", "Theirs", as: ann)
      try await machine.mustRun("chime", "--system", "in", "30m", "Hers", as: ann)
      let theirs = try await machine.run("chime", ["--system", "--tenant", "acme", "list", "--json"], as: ann)
      #expect(try theirs.json["reminders"].elements.map { $0["title"].string } == ["Theirs"], "\(theirs.text)")
      let hers = try await machine.run("chime", ["--system", "list", "--json"], as: ann)
      #expect(try hers.json["reminders"].elements.map { $0["title"].string } == ["Hers"], "\(hers.text)")
      let begin = ContinuousClock.now
      for _ in 0..<2 {
        let refused = try await machine.run("chime", ["--system", "--tenant", "acme", "list"], as: ben)
        #expect(refused.status == 77 && refused.err.contains("you may not act for"), "\(refused.text)")
      }
      let refusals = try await machine.journal("MESSAGE_ID=c5d7d0f2e31e4a7c9b6f4be1a08d3f56")
      // It is logged every ten seconds.
      let most = 1 + Int(begin.duration(to: .now) / .seconds(10))
      #expect((1...most).contains(refusals.count) && refusals.allSatisfy { $0["CHIME_UID"].string == "\(ben)" })
    }
  }

  private func milliseconds(_ text: String) -> Int {
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return format.date(from: text).map { Int($0.timeIntervalSince1970 * 1_000) } ?? 0
  }
}
