import CLinux
import ChimeCore
import ChimeStoreSQLite
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// The loop itself, in this process: a real store, a real socket, a real clock.
struct EventLoopTests {
  static func site(_ folder: String) throws -> Site {
    try Arguments(["--state-dir", folder, "--socket", folder + "/io.chime"]).site(
      environment: ["PATH": "/usr/bin:/bin"], uid: getuid())
  }

  /// The daemon's main forgets the loop once it runs; only an optimised build would let go of it at once.
  @Test func aLoopThatRunsStaysThoughNobodyHoldsIt() async throws {
    let folder = RunFolder.url.appending(path: "chime-loop-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    weak let loop = try await start(Self.site(folder))
    #expect(loop != nil)
    let client = try VarlinkClient("unix:\(folder)/io.chime", timeout: .seconds(120))
    struct Info: Decodable { var product: String }
    #expect(try client.call("org.varlink.service.GetInfo", Empty(), returning: Info.self).product == "chimed")
  }

  private func start(_ site: Site) async throws -> EventLoop {
    let log = Log(level: .error)
    let loop = EventLoop(
      site: site, configuration: Configuration(), log: log, store: try SQLiteStore.open(path: site.storePath),
      zones: ZoneCatalog(), secrets: Secrets(folder: site.stateFolder + "/secrets"),
      service: DaemonMain.controlService())
    var set = sigset_t()
    sigemptyset(&set)
    try await loop.start(listening: [try site.listen()], signals: signalfd(-1, &set, 0))
    return loop
  }
}
