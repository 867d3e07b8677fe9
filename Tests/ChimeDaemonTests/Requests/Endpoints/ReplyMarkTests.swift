import ChimeControl
import ChimeCore
import Foundation
import Testing

@testable import ChimeDaemon

/// The position up to which replies were read: it is removed and restored with its endpoint.
@Suite(.serialized) struct ReplyMarkTests {
  private static let address = "https://ntfy.example.org/answers"
  private static let queue = DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone"))

  private func mark(_ house: TrackerHouse) async throws -> String? {
    try await house.store.read { try ReplyTransaction.mark(of: Self.queue, at: Self.address, in: $0) }
  }

  private func begin(_ house: TrackerHouse) async throws {
    _ = try house.call(
      EndpointsInterface.Put(
        name: "phone", url: "https://ntfy.example.org/alerts",
        settings: .init(template: "ntfy", replies: Self.address)))
    try await house.store.write { try ReplyTransaction.putMark("m7 \(Self.address)", of: Self.queue, in: $0) }
    #expect(try await mark(house) == "m7")
  }

  private func notes(_ house: TrackerHouse) async throws -> Int {
    try await house.store.read { try $0.notes(named: "replies:").count }
  }

  @Test func itGoesWithTheEndpointAndComesBackWithIt() async throws {
    try await TrackerHouse.live { house in
      try await begin(house)
      _ = try house.call(EndpointsInterface.Remove(name: "phone"))
      #expect(try await notes(house) == 0)
      _ = try house.call(TrackersInterface.Undo())
      #expect(try await mark(house) == "m7", "nothing is read a second time")
      // An added and undone endpoint leaves no position.
      _ = try house.call(EndpointsInterface.Remove(name: "phone"))
      try await begin(house)
      _ = try house.call(TrackersInterface.Undo())
      #expect(try await notes(house) == 0)
    }
  }

  @Test func itGoesWithTheOwner() async throws {
    try await TrackerHouse.live { house in
      try await begin(house)
      _ = try house.call(TrackersInterface.StartOver())
      #expect(try await notes(house) == 0)
      _ = try house.call(TrackersInterface.Undo())
      #expect(try await mark(house) == "m7")
    }
  }
}
