import ChimeControl
import ChimeCore
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Two tenants of one daemon: neither can read or change anything of the other, by any method or name.
struct TenantIsolationTests {
  /// A word in all of acme's data.
  private static let mark = "Geheim"

  private static func configure(_ configuration: inout Configuration) {
    for name in ["acme", "other"] { configuration.tenants[name] = TenantDefinition(name: name) }
  }

  /// Calls a method as a tenant; returns the reply or the error name as text.
  private static func ask(
    _ daemon: TestDaemon, as tenant: String, _ method: String, _ text: String = "{}"
  ) throws -> (isRefused: Bool, text: String) {
    guard case .object(var parameters) = try JSON(parsing: text) else { throw UnexpectedReply() }
    parameters["tenant"] = .string(tenant)
    let given = JSON.object(parameters)
    do {
      let reply: JSON = try daemon.call(method, given)
      return (false, String(decoding: reply.bytes, as: UTF8.self))
    } catch {
      guard case .remote(let refusal)? = error as? VarlinkClientError else { throw error }
      let told = String(decoding: (refusal.parameters(JSON.self) ?? .null).bytes, as: UTF8.self)
      return (true, "\(refusal.name) \(told)")
    }
  }

  private struct UnexpectedReply: Error {}

  /// The names of acme's objects, which the other tenant tries.
  private struct VictimData {
    var reminder = ""
    var occurrence = ""
    var delivery = ""
    var entry = 0
    var milestone = 0
    var photo = ""
  }

  /// Creates objects of every kind for acme.
  private static func fill(_ daemon: TestDaemon) throws -> VictimData {
    var victim = VictimData()
    func call(_ method: String, _ text: String = "{}") throws -> JSON {
      let answer = try ask(daemon, as: "acme", method, text)
      #expect(!answer.isRefused, "\(method): \(answer.text)")
      return try JSON(parsing: answer.text)
    }
    let file = Data([0xFF, 0xD8, 0xFF, 0xE0] + Array("JFIF \(mark)".utf8)).base64EncodedString()
    _ = try call("io.chime.Trackers.Upload", #"{"upload":"up","offset":0,"data":"\#(file)"}"#)
    _ = try call(
      "io.chime.Trackers.Put",
      #"{"tracker":{"id":"well","title":{"en":"\#(mark) water"},"kind":"amount","unit":"ml","usual":250,"hasItems":true}}"#
    )
    _ = try call("io.chime.Trackers.PutItem", #"{"tracker":"well","id":"mug","title":"\#(mark) mug"}"#)
    let logged = try call(
      "io.chime.Trackers.Log", #"{"tracker":"well","item":"mug","note":"\#(mark) note","photo":"up"}"#)
    victim.entry = logged["change"]?["entry"]?["id"]?.int ?? -1
    victim.photo = logged["change"]?["entry"]?["photo"]?.string ?? ""
    let milestone = try call("io.chime.Trackers.PutMilestone", #"{"tracker":"well","title":"\#(mark) stone"}"#)
    victim.milestone = milestone["milestone"]?["id"]?.int ?? -1
    _ = try call("io.chime.Trackers.InstallPack", #"{"name":"hydration"}"#)
    _ = try call("io.chime.Trackers.Upload", #"{"upload":"up","offset":0,"data":"\#(file)"}"#)
    _ = try call(
      "io.chime.Endpoints.Put", #"{"name":"hook","url":"http://127.0.0.1:1/\#(mark)","newSecret":"hmac"}"#)
    _ = try call("io.chime.Endpoints.Disable", #"{"name":"hook"}"#)
    _ = try call(
      "io.chime.Reminders.Apply",
      #"{"files":[{"name":"a.toml","text":"[[reminder]]\nid = \"declared\"\ntitle = \"\#(mark) declared\"\nwhen = \"daily at 5:00\"\n"}],"#
        + #""set":"home"}"#)
    let added = try call(
      "io.chime.Reminders.Add",
      #"{"reminder":{"title":"\#(mark) pill","when":"daily at 8:00","channels":["hook"],"tags":["\#(mark)"]},"#
        + #""token":"tok"}"#)
    victim.reminder = added["reminder"]?["id"]?.string ?? ""
    _ = try call(
      "io.chime.Reminders.Add", #"{"reminder":{"title":"\#(mark) job","when":"daily at 4:00","within":"PT1H"}}"#)
    _ = try call("io.chime.Expectations.Ping", #"{"id":"\#(mark) job","output":"\#(mark) output"}"#)
    let fired = try call("io.chime.Occurrences.Fire", #"{"id":"\#(victim.reminder)"}"#)
    victim.occurrence = fired["occurrence"]?["id"]?.string ?? ""
    let pending = try call("io.chime.Deliveries.List")
    if case .array(let deliveries)? = pending["deliveries"] { victim.delivery = deliveries.first?["id"]?.string ?? "" }
    #expect(![victim.reminder, victim.occurrence, victim.delivery, victim.photo].contains(""), "\(victim)")
    return victim
  }

  /// Returns everything visible to a tenant.
  private static func everything(_ daemon: TestDaemon, of tenant: String) throws -> [String] {
    try [
      ("io.chime.Reminders.List", #"{"filter":{"all":true}}"#), ("io.chime.Occurrences.List", "{}"),
      ("io.chime.Deliveries.List", "{}"), ("io.chime.Endpoints.List", "{}"), ("io.chime.Trackers.List", "{}"),
      ("io.chime.Trackers.Entries", "{}"), ("io.chime.Trackers.Items", "{}"), ("io.chime.Trackers.Milestones", "{}"),
      ("io.chime.Trackers.Packs", "{}"), ("io.chime.Trackers.Achievements", "{}"), ("io.chime.Trackers.Changes", "{}"),
      ("io.chime.Expectations.List", "{}"),
    ].map { method, text in
      let answer = try ask(daemon, as: tenant, method, text)
      #expect(!answer.isRefused, "\(method): \(answer.text)")
      return answer.text
    }
  }

  /// Returns the attempts for each method: refused, or answered without acme's data. A missing method fails the test.
  private static func attempts(_ victim: VictimData) -> [String: [(wanted: Bool, text: String)]] {
    let id = #""id":"\#(victim.reminder)""#
    let whole = #"{"upload":"up"}"#
    let set =
      #"{"files":[{"name":"a.toml","text":"[[reminder]]\nid = \"mine\"\ntitle = \"Mine\"\nwhen = \"daily at 6:00\"\n"}],"#
      + #""set":"home","prune":true}"#
    // Whether the attempt must be refused, under readable names.
    let (no, yes) = (true, false)
    return [
      "Reminders.Add": [(yes, #"{"reminder":{"title":"Mine too","when":"daily at 9:00"},"token":"tok"}"#)],
      "Reminders.AddMany": [(yes, #"{"reminders":[{"title":"Mine as well","when":"daily at 9:30"}]}"#)],
      "Reminders.Update": [(no, #"{\#(id),"change":{"title":"x"}}"#), (no, #"{"id":"\#(mark) pill","change":{}}"#)],
      "Reminders.Copy": [(no, #"{\#(id),"change":{"title":"x"}}"#), (no, #"{"id":"\#(mark) pill","change":{}}"#)],
      "Reminders.Remove": [(no, "{\(id)}")], "Reminders.Get": [(no, "{\(id)}")],
      "Reminders.List": [(yes, #"{"filter":{"all":true}}"#), (yes, #"{"filter":{"tag":"\#(mark)","all":true}}"#)],
      "Reminders.Pause": [(no, "{\(id)}")], "Reminders.Resume": [(no, "{\(id)}")], "Reminders.Skip": [(no, "{\(id)}")],
      "Reminders.PauseAll": [(yes, #"{"until":"2099-01-01T00:00:00Z"}"#)], "Reminders.ResumeAll": [(yes, "{}")],
      "Reminders.Import": [(yes, #"{"text":"0 7 * * * echo mine","format":"crontab"}"#)],
      "Reminders.Export": [
        (no, #"{"ids":["\#(victim.reminder)"]}"#), (yes, "{}"), (yes, #"{"format":"toml"}"#),
      ],
      "Reminders.Apply": [(yes, set)],
      "Occurrences.List": [(yes, "{}"), (no, #"{"filter":{"reminder":"\#(victim.reminder)"}}"#)],
      "Occurrences.Upcoming": [(yes, #"{"limit":100}"#)],
      "Occurrences.Audit": [(yes, "{}"), (no, #"{"reminders":["\#(victim.reminder)"]}"#)],
      "Occurrences.Done": [(no, #"{"id":"\#(victim.occurrence)"}"#), (no, "{\(id)}"), (no, "{}")],
      "Occurrences.Snooze": [(no, #"{"id":"\#(victim.occurrence)"}"#), (no, "{}")],
      "Occurrences.Dismiss": [(no, #"{"id":"\#(victim.occurrence)"}"#), (no, "{}")],
      "Occurrences.Move": [(no, #"{\#(id),"by":"PT1H"}"#)],
      "Occurrences.Fire": [(no, "{\(id)}")],
      "Expectations.List": [(yes, "{}")], "Expectations.Get": [(no, "{\(id)}"), (no, #"{"id":"\#(mark) job"}"#)],
      "Expectations.Tokens": [(no, "{\(id)}"), (no, #"{"id":"\#(mark) job","endpoint":"hook"}"#)],
      "Expectations.Ping": [(no, "{\(id)}"), (no, #"{"id":"\#(mark) job","kind":"failed"}"#)],
      "Schedules.Explain": [(yes, #"{"when":"daily at 8:00"}"#)],
      "Schedules.Convert": [(yes, #"{"when":"daily at 8:00","to":"cron"}"#)],
      "Schedules.Words": [(yes, "{}")], "Schedules.Calendars": [(yes, "{}"), (no, #"{"name":"\#(mark)"}"#)],
      "Deliveries.List": [(yes, "{}"), (no, #"{"filter":{"reminder":"\#(victim.reminder)"}}"#)],
      "Deliveries.Get": [(no, #"{"id":"\#(victim.delivery)"}"#)],
      "Deliveries.Redeliver": [(no, #"{"which":{"id":"\#(victim.delivery)"}}"#), (yes, #"{"which":{"all":true}}"#)],
      "Deliveries.Cancel": [
        (no, #"{"which":{"id":"\#(victim.delivery)"}}"#), (yes, #"{"which":{"channel":"hook"}}"#),
        (yes, #"{"which":{"all":true}}"#),
      ],
      "Endpoints.List": [(yes, "{}")], "Endpoints.Templates": [(yes, "{}")],
      "Endpoints.Update": [(no, #"{"name":"hook","url":"http://127.0.0.1:2/"}"#)],
      "Endpoints.Remove": [(no, #"{"name":"hook"}"#)], "Endpoints.Rotate": [(no, #"{"name":"hook"}"#)],
      "Endpoints.Enable": [(no, #"{"name":"hook"}"#)], "Endpoints.Disable": [(no, #"{"name":"hook"}"#)],
      "Endpoints.Test": [(no, #"{"name":"hook"}"#)],
      "Endpoints.Put": [(yes, #"{"name":"hook","url":"http://127.0.0.1:3/","newSecret":"hmac"}"#)],
      "Commands.List": [(yes, "{}")], "Commands.Test": [(no, #"{"name":"hook"}"#)],
      "Trackers.Put": [(yes, #"{"tracker":{"id":"well","title":{"en":"Mine"},"kind":"check"},"dryRun":true}"#)],
      "Trackers.Remove": [(no, #"{"id":"well"}"#)], "Trackers.List": [(yes, "{}")],
      "Trackers.Stocks": [(yes, "{}"), (no, #"{"tracker":"well"}"#)],
      "Trackers.Restock": [(no, #"{"tracker":"well","count":1}"#)],
      "Trackers.Log": [(no, #"{"tracker":"well"}"#)],
      "Trackers.EditEntry": [(no, #"{"id":\#(victim.entry),"note":"x"}"#)],
      "Trackers.RemoveEntry": [(no, #"{"id":\#(victim.entry)}"#), (no, #"{"tracker":"well"}"#)],
      "Trackers.Entries": [(yes, "{}"), (no, #"{"tracker":"well"}"#)], "Trackers.Day": [(yes, "{}")],
      "Trackers.Week": [(yes, "{}")], "Trackers.Days": [(no, #"{"tracker":"well","range":{}}"#)],
      "Trackers.Stats": [(no, #"{"tracker":"well"}"#)], "Trackers.Achievements": [(yes, "{}")],
      "Trackers.Items": [(yes, "{}"), (no, #"{"tracker":"well"}"#)],
      "Trackers.PutItem": [(no, #"{"tracker":"well","id":"mug","title":"x"}"#)],
      "Trackers.RemoveItem": [(no, #"{"tracker":"well","id":"mug"}"#)],
      "Trackers.Milestones": [(yes, "{}"), (no, #"{"tracker":"well"}"#)],
      "Trackers.PutMilestone": [(no, #"{"id":\#(victim.milestone),"tracker":"well","title":"x"}"#)],
      "Trackers.RemoveMilestone": [(no, #"{"id":\#(victim.milestone)}"#)], "Trackers.Packs": [(yes, "{}")],
      "Trackers.InstallPack": [(yes, #"{"name":"hydration","dryRun":true}"#)],
      "Trackers.RemovePack": [(no, #"{"id":"hydration"}"#)],
      // Its own silence, already ended; and a change of acme's.
      "Trackers.Undo": [(yes, "{}"), (no, #"{"change":1}"#)],
      "Trackers.StartOver": [(yes, #"{"dryRun":true}"#)],
      "Trackers.Changes": [(yes, "{}")],
      "Trackers.Upload": [(no, #"{"upload":"up","offset":16,"data":"AAAA"}"#)],
      "Trackers.Photo": [(no, #"{"name":"\#(victim.photo)"}"#)],
      "Trackers.Restore": [(no, whole)],
      "Trackers.Import": [(no, #"{"upload":"up","format":"csv"}"#)],
      "Daemon.Status": [(yes, "{}")],
    ]
  }

  /// Methods with several replies, or about the daemon as a whole.
  private static let apart: Set<String> = [
    "Trackers.Backup", "Trackers.Export", "Daemon.Monitor", "Daemon.Diagnose", "Daemon.Metrics", "Daemon.GetFleet",
    "Daemon.Reload",
    "Daemon.TakeSnapshot",
    "Daemon.ListSnapshots",
  ]

  private static func methods() -> Set<String> {
    let files = [
      RemindersInterface.description, OccurrencesInterface.description, ExpectationsInterface.description,
      SchedulesInterface.description,
      DeliveriesInterface.description, EndpointsInterface.description, CommandsInterface.description,
      TrackersInterface.description, DaemonInterface.description,
    ]
    return files.reduce(into: []) { methods, text in
      let lines = text.split(separator: "\n")
      let name = lines.first { $0.hasPrefix("interface ") }?.dropFirst("interface io.chime.".count) ?? ""
      for line in lines where line.hasPrefix("method ") {
        methods.insert("\(name).\(line.dropFirst("method ".count).prefix { $0 != "(" })")
      }
    }
  }

  @Test(arguments: [false, true]) func noMethodReachesAnotherTenantsData(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory, Self.configure) { daemon in
      let victim = try Self.fill(daemon)
      let before = try Self.everything(daemon, of: "acme")
      #expect(before.filter { $0.contains(Self.mark) }.count >= 7, "there is something to be found")
      let attempts = Self.attempts(victim)
      #expect(Set(attempts.keys).union(Self.apart) == Self.methods(), "each method is tried")
      // Methods that create data of the other tenant come last, because they change its replies.
      let making: Set = ["Reminders.Add", "Reminders.AddMany", "Reminders.Import", "Reminders.Apply", "Endpoints.Put"]
      for method in attempts.keys.sorted(by: { (making.contains($0) ? 1 : 0, $0) < (making.contains($1) ? 1 : 0, $1) })
      {
        for (wanted, text) in attempts[method] ?? [] {
          let answer = try Self.ask(daemon, as: "other", "io.chime.\(method)", text)
          #expect(answer.isRefused == wanted, "\(method) \(text): \(answer.text)")
          let echo = text.contains(Self.mark)
          #expect(echo || !answer.text.contains(Self.mark), "\(method) \(text): \(answer.text)")
          #expect(!answer.text.contains("acme"), "\(method) \(text): \(answer.text)")
        }
      }
      // Methods about the whole daemon accept no tenant.
      for method in DaemonInterface.wholeMethods {
        let answer = try Self.ask(daemon, as: "other", method)
        #expect(answer.text.hasPrefix("org.varlink.service.InvalidParameter"), "\(method): \(answer.text)")
      }
      #expect(!(try Self.parts(daemon, "io.chime.Trackers.Backup", "{}").contains(Self.mark)))
      #expect(!(try Self.parts(daemon, "io.chime.Trackers.Export", #"{"format":"json"}"#).contains(Self.mark)))
      #expect(try Self.everything(daemon, of: "acme") == before, "the data of acme are unchanged")
      // Data created by the other tenant are its own, independent of acme's.
      let own = try Self.everything(daemon, of: "other").joined()
      #expect(own.contains("Mine too") && own.contains("echo mine") && own.contains(#""title":"Mine""#), "\(own)")
      #expect(!(try Self.ask(daemon, as: "other", "io.chime.Trackers.StartOver").isRefused))
      #expect(try Self.everything(daemon, of: "acme") == before, "starting over removes nothing of acme")
    }
  }

  /// Returns all replies of a method with several, as the other tenant.
  private static func parts(_ daemon: TestDaemon, _ method: String, _ text: String) throws -> String {
    guard case .object(var parameters) = try JSON(parsing: text) else { throw UnexpectedReply() }
    parameters["tenant"] = .string("other")
    let parts = try daemon.client.callMore(method, JSON.object(parameters), returning: JSON.self)
    var all = ""
    while let part = try parts.next() {
      all += part["text"]?.string ?? ""
      all += String(decoding: part["data"]?.string.flatMap { Data(base64Encoded: $0) } ?? Data(), as: UTF8.self)
    }
    #expect(!all.isEmpty, "\(method)")
    return all
  }

  /// A tenant's event stream has only its own events; the administrator's names the tenant of each.
  @Test func eventStreamHasOnlyTheTenantsEvents() async throws {
    try await TestDaemon.run(inMemory: true, Self.configure) { daemon in
      func watch(_ tenant: String?) throws -> VarlinkClient.Replies<DaemonInterface.Monitor.Reply> {
        let client = try VarlinkClient("unix:\(daemon.folder)/io.chime", timeout: .seconds(60))
        let replies = try client.callMore(
          DaemonInterface.Monitor.method, ["tenant": tenant], returning: DaemonInterface.Monitor.Reply.self)
        #expect(try replies.next()?.events.isEmpty == true)
        return replies
      }
      let (own, all) = (try watch("other"), try watch(nil))
      for (tenant, title) in [("acme", "\(Self.mark) one"), ("other", "Mine")] {
        let answer = try Self.ask(
          daemon, as: tenant, "io.chime.Reminders.Add", #"{"reminder":{"title":"\#(title)","when":"daily at 9:00"}}"#)
        #expect(!answer.isRefused, "\(answer.text)")
      }
      #expect(try own.next()?.events.map(\.title) == ["Mine"])
      #expect(try all.next()?.events.map(\.tenant) == ["acme"])
      #expect(try all.next()?.events.map(\.tenant) == ["other"])
    }
  }

  /// Tokens, uploads and cursors of one tenant are useless to another; the administrator sees all data with their tenants.
  @Test func administratorSeesTheTenantOfEachItem() async throws {
    try await TestDaemon.run(inMemory: true, Self.configure) { daemon in
      for tenant in ["acme", "other"] {
        _ = try Self.ask(
          daemon, as: tenant, "io.chime.Reminders.Add",
          #"{"reminder":{"title":"Of \#(tenant)","when":"daily at 9:00"}}"#
        )
      }
      let listed = try daemon.call(RemindersInterface.List()).reminders
      #expect(Set(listed.map { "\($0.title) \($0.tenant ?? "-")" }) == ["Of acme acme", "Of other other"])
      let status = try daemon.call(DaemonInterface.Status()).status
      #expect(status.tenants?.map(\.name) == ["acme", "other"])
      #expect(status.tenants?.map(\.reminders) == [1, 1])
    }
  }
}

extension JSON {
  fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var int: Int? { if case .int(let number) = self { Int(number) } else { nil } }
}
