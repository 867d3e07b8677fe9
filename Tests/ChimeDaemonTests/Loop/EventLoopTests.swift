import CLinux
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeStoreSQLite
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// The event loop in this process, with a real store, socket and clock.
struct EventLoopTests {
  static func paths(_ folder: String) throws -> RuntimePaths {
    try Arguments(["--state-dir", folder, "--socket", folder + "/io.chime"]).paths(
      environment: ["PATH": "/usr/bin:/bin"], uid: getuid())
  }

  /// The daemon's main releases the loop once it runs; only an optimized build would free it at once.
  @Test func runningLoopIsNotReleased() async throws {
    let folder = RunFolder.url.appending(path: "chime-loop-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    weak let loop = try await start(Self.paths(folder))
    #expect(loop != nil)
    let client = try VarlinkClient("unix:\(folder)/io.chime", timeout: .seconds(120))
    #expect(try client.call("org.varlink.service.GetInfo", returning: JSON.self)["product"] == "chimed")
  }

  /// An owner's endpoints that never answer share a limit of descriptors.
  @Test func endpointsOfAnOwnerShareAnAttemptLimit() {
    func policies(_ endpoints: [Endpoint], atOnce: Int = 8) -> DeliveryQueuePolicies {
      var settings = Configuration().channels
      settings.webhookConcurrency = atOnce
      return EventLoop.policies(of: endpoints, settings, CommandRegistry(), Tenants())
    }
    func endpoint(_ owner: UInt32, _ number: Int, _ concurrency: Int?) -> Endpoint {
      Endpoint(
        queue: DeliveryQueue(owner: owner, channel: ChannelName(rawValue: "e\(number)")), url: "http://127.0.0.1:9/",
        settings: EndpointSettings(concurrency: concurrency), createdAt: .earliest)
    }
    let (greedy, others) = ((0..<100).map { endpoint(1, $0, 64) }, (0..<3).map { endpoint(2, $0, nil) })
    let all = policies(greedy + others)
    #expect(greedy.map { all[$0.queue].concurrency } == Array(repeating: 5, count: 100))
    #expect(others.map { all[$0.queue].concurrency } == [8, 8, 8])
    // Owners that ask for less still get some, and the configured value applies to a single endpoint.
    let uneven = [endpoint(1, 200, 1)] + greedy
    #expect(uneven.map { policies(uneven)[$0.queue].concurrency }.min() == 1)
    let alone = endpoint(1, 0, nil)
    #expect(policies([alone], atOnce: 1_000)[alone.queue].concurrency == 1_000)
  }

  private func start(_ paths: RuntimePaths) async throws -> EventLoop {
    let log = Log(level: .error)
    let loop = EventLoop(
      paths: paths, configuration: Configuration(), log: log, store: try SQLiteStore.open(path: paths.storePath),
      zones: ZoneCatalog(), secrets: Secrets(folder: paths.stateFolder + "/secrets"),
      service: DaemonMain.controlService())
    var set = sigset_t()
    sigemptyset(&set)
    try await loop.start(listening: [try paths.listen()], signals: signalfd(-1, &set, 0))
    return loop
  }
}
