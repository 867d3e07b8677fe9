import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Endpoints in backups: with settings, without secrets.
@Suite(.serialized)
struct BackupEndpointsTests {
  private typealias Wired = TrackersInterface
  private typealias Endpoints = EndpointsInterface

  private func list(_ daemon: TestDaemon) throws -> [Endpoints.Endpoint] {
    try daemon.call(Endpoints.List()).endpoints
  }

  private func restore(_ daemon: TestDaemon, _ backup: [UInt8]) throws -> Wired.Restore.Reply {
    try daemon.upload(backup, as: "backup")
    return try daemon.call(Wired.Restore(upload: "backup"))
  }

  @Test(arguments: [false, true]) func restoredEndpointsAreReportedWithTheirMissingSecrets(inMemory: Bool) async throws
  {
    var backup: [UInt8] = []
    let secret = "whsec_" + String(repeating: "A", count: 43) + "="
    try await TestDaemon.run { daemon in
      let _: Endpoints.Put.Reply = try daemon.call(
        Endpoints.Put(
          name: "phone", url: "https://example.org/hook", secret: secret,
          settings: .init(
            headers: [.init(name: "X-From", value: "chime")], concurrency: 3, rate: .init(count: 5, span: "PT1M"),
            inOrder: true)))
      let _: Endpoints.Put.Reply = try daemon.call(
        Endpoints.Put(name: "chat", url: "https://example.org/chat", settings: .init(template: "slack")))
      let _: Endpoints.Disable.Reply = try daemon.call(Endpoints.Disable(name: "chat"))
      backup = try daemon.backup()
      let text = String(decoding: backup, as: UTF8.self)
      #expect(text.contains(#""endpoints":2"#) && text.contains("example.org/hook") && !text.contains("whsec_"))
      #expect(!text.contains("\"owner\":\(getuid() == 0 ? 4_294_967_295 : getuid())"))
    }
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      // An endpoint that is not in the backup stays.
      let _: Endpoints.Put.Reply = try daemon.call(
        Endpoints.Put(name: "own", url: "https://example.org/own", newSecret: .hmac))
      let reply = try restore(daemon, backup)
      #expect(reply.contents?.endpoints == 2)
      // Receivers of a template's messages check no signature, so that endpoint gets a new secret; the other needs one.
      #expect(
        reply.notes == [
          "the backup does not have the secret of phone: give it with chime endpoint add phone https://example.org/hook "
            + "--secret-file FILE"
        ])
      let found = try list(daemon)
      #expect(found.map(\.name) == ["chat", "own", "phone"])
      #expect(
        found[0].disabled == "disabled by hand" && found[0].problem == nil && found[0].settings?.template == "slack")
      #expect(found[1].problem == nil)
      #expect(found[2].problem == "it has no secret" && found[2].settings?.rate == .init(count: 5, span: "PT1M"))
      #expect(found[2].settings?.headers?.first?.value == "chime" && found[2].settings?.inOrder == true)
      // Undoing the restore removes the restored endpoints only.
      let undone: Wired.Undo.Reply = try daemon.call(Wired.Undo())
      #expect(undone.undone.kind == "restored")
      #expect(try list(daemon).map(\.name) == ["own"])
    }
  }

  /// A foreign file must meet the same rules as a client.
  @Test(
    arguments: [
      ("https://example.org/hook", "ftp://example.org/hook", "url"),
      ("\"channel\":\"phone\"", "\"channel\":\"desktop\"", "the name of an endpoint is invalid"),
      ("\"concurrency\":3", "\"concurrency\":300000", "from 1 to 64"),
      ("X-From", "X\\nFrom", "header"),
    ])
  func settingsThatNoClientCouldSetAreRefused(_ old: String, _ new: String, _ part: String) throws {
    let endpoint = Endpoint(
      queue: DeliveryQueue(owner: 0, channel: ChannelName(rawValue: "phone")), url: "https://example.org/hook",
      settings: EndpointSettings(concurrency: 3, headers: [.init(name: "X-From", value: "chime")]),
      createdAt: Instant(seconds: 1))
    let line = try BackupFormat.line("endpoint", endpoint, BackupFormat.encoder())
    #expect(try BackupReader.judge(line, judgeReminder: { $0 }).count == 1)
    let changed = Array(String(decoding: line, as: UTF8.self).replacing(old, with: new).utf8)
    do {
      _ = try BackupReader.judge(changed, judgeReminder: { $0 })
      Issue.record("\(new) was taken")
    } catch ControlFailure.invalidFile(_, let message) {
      #expect(message.lowercased().contains(part), "\(message)")
    }
    // Nor may one occur twice.
    #expect(throws: ControlFailure.self) { try BackupReader.judge(line + line, judgeReminder: { $0 }) }
  }
}
