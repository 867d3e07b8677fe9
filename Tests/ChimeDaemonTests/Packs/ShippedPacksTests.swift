import ChimeDaemon
import ChimeSchedule
import ChimeTracking
import Testing

/// The packs that come with Chime, against what they promise.
@Suite struct ShippedPacksTests {
  static func pack(_ name: String) throws -> Pack {
    try #require(try ShippedPacks.pack(name), "there is no pack \(name)")
  }

  @Test(arguments: ShippedPacks.names) func eachReadsWithoutFault(_ name: String) throws {
    let pack = try Self.pack(name)
    #expect(pack.id.rawValue == name)
    #expect(!pack.trackers.isEmpty)
    #expect(!pack.reminders.isEmpty)
  }
}
