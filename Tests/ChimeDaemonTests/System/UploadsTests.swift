import ChimeCore
import Foundation
import Testing

@testable import ChimeDaemon

/// File uploads in parts, and their number.
@Suite struct UploadsTests {
  @Test func usedUploadsMakeRoomForNewOnes() throws {
    let folder = RunFolder.url.appending(path: "chime-uploads-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let uploads = Uploads(folder: folder)
    let start = ContinuousClock.now
    for number in 0..<Uploads.maxPerOwner {
      _ = try uploads.append([1, 2], to: "\(number)", of: 7, at: 0, now: start + .seconds(number))
    }
    // All are in progress, and another user's do not count.
    #expect(throws: ControlFailure.self) { try uploads.append([1], to: "more", of: 7, at: 0, now: start + .seconds(9)) }
    _ = try uploads.append([1], to: "more", of: 8, at: 0, now: start + .seconds(9))
    // Of the used uploads, the one used longest ago is replaced.
    let kept = try uploads.path(of: "1", of: 7, now: start + .seconds(11))
    let gone = try uploads.path(of: "2", of: 7, now: start + .seconds(10))
    _ = try uploads.append([1], to: "more", of: 7, at: 0, now: start + .seconds(12))
    #expect(throws: ControlFailure.self) { try uploads.path(of: "2", of: 7, now: start + .seconds(12)) }
    #expect(!FileManager.default.fileExists(atPath: gone) && FileManager.default.fileExists(atPath: kept))
    #expect(try uploads.append([3], to: "3", of: 7, at: 2, now: start + .seconds(12)) == 3)
    // An upload started again is in progress again.
    _ = try uploads.append([9], to: "1", of: 7, at: 0, now: start + .seconds(13))
    #expect(throws: ControlFailure.self) {
      try uploads.append([1], to: "and one", of: 7, at: 0, now: start + .seconds(13))
    }
  }
}
