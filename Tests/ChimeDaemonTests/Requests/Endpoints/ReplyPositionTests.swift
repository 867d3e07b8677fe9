import ChimeControl
import ChimeCore
import Foundation
import Testing

@testable import ChimeDaemon

/// The position up to which replies were read: it is removed and restored with its endpoint.
@Suite(.serialized) struct ReplyPositionTests {
  private static let address = "https://ntfy.example.org/answers"
  private static let queue = DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone"))

  private func mark(_ daemon: TestDaemon) async throws -> String? {
    try await daemon.store.read { try ReplyTransaction.mark(of: Self.queue, at: Self.address, in: $0) }
  }

  private func begin(_ daemon: TestDaemon) async throws {
    _ = try daemon.call(
      EndpointsInterface.Put(
        name: "phone", url: "https://ntfy.example.org/alerts",
        settings: .init(template: "ntfy", replies: Self.address)))
    try await daemon.store.write { try ReplyTransaction.putMark("m7 \(Self.address)", of: Self.queue, in: $0) }
    #expect(try await mark(daemon) == "m7")
  }

  private func notes(_ daemon: TestDaemon) async throws -> Int {
    try await daemon.store.read { try $0.notes(named: "replies:").count }
  }

  @Test func positionIsRemovedAndRestoredWithItsEndpoint() async throws {
    try await TestDaemon.run { daemon in
      try await begin(daemon)
      _ = try daemon.call(EndpointsInterface.Remove(name: "phone"))
      #expect(try await notes(daemon) == 0)
      _ = try daemon.call(TrackersInterface.Undo())
      #expect(try await mark(daemon) == "m7", "nothing is read a second time")
      // An added and undone endpoint leaves no position.
      _ = try daemon.call(EndpointsInterface.Remove(name: "phone"))
      try await begin(daemon)
      _ = try daemon.call(TrackersInterface.Undo())
      #expect(try await notes(daemon) == 0)
    }
  }

  @Test func positionIsRemovedAndRestoredWithItsOwner() async throws {
    try await TestDaemon.run { daemon in
      try await begin(daemon)
      _ = try daemon.call(TrackersInterface.StartOver())
      #expect(try await notes(daemon) == 0)
      _ = try daemon.call(TrackersInterface.Undo())
      #expect(try await mark(daemon) == "m7")
    }
  }
}
