import ChimeControl
import ChimeCore
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Authorization for tenants, and their limits.
struct TenantTests {
  /// A request for a tenant.
  private struct For<Request: VarlinkMethod>: JSONWritable {
    var tenant: String
    var request: Request

    func write(to writer: inout JSONWriter) {
      request.write(to: &writer)
      writer.reopenObject()
      writer.field("tenant", tenant)
      writer.endObject()
    }
  }

  private static let one = RemindersInterface.Add(reminder: .init(title: "One", when: "daily at 9:00"))

  private static func ask<Request: VarlinkMethod>(
    _ daemon: TestDaemon, _ request: Request, for tenant: String = "acme"
  ) throws -> Request.Reply {
    try daemon.call(Request.method, For(tenant: tenant, request: request), Request.Reply.self)
  }

  private static func refusal<Request: VarlinkMethod>(
    _ daemon: TestDaemon, _ request: Request
  ) -> TestDaemon.Refusal? {
    daemon.refusal(Request.method, For(tenant: "acme", request: request))
  }

  private static func call(_ json: String, _ method: String = "io.chime.Reminders.List") throws -> VarlinkCall {
    var connection = ServerConnection(
      service: DaemonMain.controlService(), limits: VarlinkLimits(), refusal: nil)
    connection.receive(Array((#"{"method":"\#(method)","parameters":\#(json)}"# + "\0").utf8).span)
    while let action = connection.next() { if case .perform(let call) = action { return call } }
    throw UnexpectedReply()
  }
  private struct UnexpectedReply: Error {}

  private static func client(_ uid: UInt32, gid: UInt32, sees: UInt32?) -> Clients.Client {
    Clients.Client(
      socket: -1, caller: Caller(uid: uid, owner: uid, sees: sees), gid: gid,
      connection: ServerConnection(service: DaemonMain.controlService(), limits: VarlinkLimits(), refusal: nil))
  }

  @Test func onlyAuthorizedUsersActForATenant() async throws {
    try await TestDaemon.run(
      inMemory: true,
      { configuration in
        var acme = TenantDefinition(name: "acme")
        (acme.users, acme.groups) = ([.number(4_001), .name("no-such-user-here")], [.number(4_100)])
        configuration.tenants["acme"] = acme
        configuration.tenants["other"] = TenantDefinition(name: "other")
      }
    ) { daemon in
      func asked(_ json: String, _ uid: UInt32, gid: UInt32 = 9, sees: UInt32?) async throws -> Caller? {
        let call = try Self.call(json)
        return await daemon.loop.asked(call, Self.client(uid, gid: gid, sees: sees))
      }
      let acme = #"{"tenant":"acme"}"#
      let number = try #require(try await daemon.store.read { try $0.tenants() }.first { $0.name == "acme" }?.number)
      let caller = try #require(try await asked(acme, 4_001, sees: 4_001))
      #expect(caller.owner == number && caller.sees == number && caller.uid == 4_001)
      #expect(try await asked(acme, 4_002, gid: 4_100, sees: 4_002)?.owner == number, "by group")
      #expect(try await asked(acme, 0, sees: nil)?.owner == number, "who sees everybody's")
      #expect(try await asked(acme, 4_002, sees: 4_002) == nil)
      #expect(try await asked(#"{"tenant":"other"}"#, 4_001, sees: 4_001) == nil)
      #expect(try await asked(#"{"tenant":"unknown"}"#, 0, sees: nil) == nil)
      #expect(try await asked(#"{"\u0074enant":"other"}"#, 4_001, sees: 4_001) == nil, "however it is written")
      #expect(try await asked(#"{"tenant":null}"#, 4_001, sees: 4_001)?.owner == 4_001)
      #expect(try await asked("{}", 4_001, sees: 4_001)?.owner == 4_001)
      let error = daemon.refusal("io.chime.Reminders.List", ["tenant": "nobody"])
      #expect(
        error?.name == "io.chime.Reminders.TenantAccessDenied" && error?.text("tenant") == "nobody", "\(error as Any)")
    }
  }

  /// The limit holds however reminders are created, and a refused request leaves no trace.
  @Test(arguments: [false, true]) func reminderLimitHoldsForEveryWayToAdd(inMemory: Bool) async throws {
    try await TestDaemon.run(
      inMemory: inMemory,
      { configuration in
        var acme = TenantDefinition(name: "acme")
        acme.reminders = 3
        configuration.tenants["acme"] = acme
        configuration.tenants["free"] = TenantDefinition(name: "free")
      }
    ) { daemon in
      var ids: [String] = []
      for _ in 0..<2 {
        ids.append(try Self.ask(daemon, Self.one).reminder.id)
      }
      let two = "0 7 * * * one\n0 8 * * * two\n"
      let files = ["a", "b"].map {
        RemindersInterface.SetFile(
          name: "\($0).toml", text: "[[reminder]]\nid = \"\($0)\"\ntitle = \"\($0)\"\nwhen = \"daily at 5:00\"\n")
      }
      let all = [
        ("Import", Self.refusal(daemon, RemindersInterface.Import(text: two, format: .crontab))),
        ("Apply", Self.refusal(daemon, RemindersInterface.Apply(files: files, set: "s"))),
      ]
      for (method, refused) in all {
        #expect(refused?.name.hasSuffix("LimitExceeded") == true, "\(method): \(refused as Any)")
        #expect(
          refused?.text("limit").hasPrefix(
            "tenant \"acme\" may have 3 reminders with a future time, and this would make ")
            == true, "\(refused as Any)")
        #expect(try Self.count(daemon) == 2)
      }
      _ = try Self.ask(daemon, Self.one)
      for refused in [
        Self.refusal(daemon, Self.one), Self.refusal(daemon, TrackersInterface.InstallPack(name: "hydration")),
        Self.refusal(daemon, TrackersInterface.InstallPack(name: "hydration", dryRun: true)),
      ] { #expect(refused?.name.hasSuffix("LimitExceeded") == true, "\(refused as Any)") }
      #expect(try Self.count(daemon) == 3)
      // Existing reminders can be changed, and a removal frees a place.
      let change = RemindersInterface.Draft(title: "Two", when: "daily at 10:00")
      _ = try Self.ask(daemon, RemindersInterface.Update(id: ids[0], change: change))
      _ = try Self.ask(daemon, RemindersInterface.Remove(id: ids[0]))
      _ = try Self.ask(daemon, Self.one)
      for _ in 0..<5 {
        _ = try Self.ask(daemon, Self.one, for: "free")
      }
    }
  }

  private static func count(_ daemon: TestDaemon) throws -> Int? {
    try ask(daemon, DaemonInterface.Status()).status.tenants?.first?.reminders
  }

  @Test func tooManyRequestsGetARetryDelay() async throws {
    try await TestDaemon.run(
      inMemory: true,
      { configuration in
        var acme = TenantDefinition(name: "acme")
        acme.requestsPerSecond = 1
        configuration.tenants["acme"] = acme
        configuration.tenants["free"] = TenantDefinition(name: "free")
      }
    ) { daemon in
      _ = try Self.ask(daemon, SchedulesInterface.Explain(when: "daily at 8:00"))
      let refusal = Self.refusal(daemon, EndpointsInterface.List())
      #expect(refusal?.name == "io.chime.Endpoints.LimitExceeded", "\(refusal as Any)")
      #expect(refusal?.text("retryAfter").hasPrefix("PT") == true)
      #expect(
        refusal?.text("limit")
          == "tenant \"acme\" may make 1 requests per second: send fewer, or ask for a higher requestsPerSecond in [tenants.acme] "
          + "of the configuration")
      for _ in 0..<20 { _ = try Self.ask(daemon, EndpointsInterface.List(), for: "free") }
      let seats = try daemon.call(DaemonInterface.Status()).status
        .tenants
      #expect(seats?.map(\.requestsRefused) == [1, 0])
      #expect(seats?.map(\.requests) == [1, 20])
    }
  }
}

extension EventLoop {
  /// Returns the caller of a client's request; nil if it is refused.
  fileprivate func asked(_ call: VarlinkCall, _ client: Clients.Client) -> Caller? {
    var client = client
    return try? caller(of: call, from: &client)
  }
}
