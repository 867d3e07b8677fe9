import CLinux
import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeStoreSQLite
import ChimeTestKit
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// A daemon in this process with a real store and socket, and its client.
struct TestDaemon {
  let folder: String
  let loop: EventLoop
  let store: any Store
  let client: VarlinkClient

  static func run(
    inMemory: Bool = false, _ configure: (inout Configuration) -> Void = { _ in },
    _ body: (TestDaemon) async throws -> Void
  ) async throws {
    let folder = RunFolder.url.appending(path: "chime-daemon-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let paths = try EventLoopTests.paths(folder)
    var configuration = Configuration()
    configuration.channels.desktopProgram = "/nonexistent"
    configure(&configuration)
    let store: any Store = inMemory ? MemoryStore() : try SQLiteStore.open(path: paths.storePath)
    let loop = EventLoop(
      paths: paths, configuration: configuration, log: Log(level: .error), store: store, zones: ZoneCatalog(),
      secrets: Secrets(folder: paths.stateFolder + "/secrets"), service: DaemonMain.controlService())
    var set = sigset_t()
    sigemptyset(&set)
    try await loop.start(listening: [try paths.listen()], signals: signalfd(-1, &set, 0))
    let client = try VarlinkClient("unix:\(folder)/io.chime", timeout: .seconds(60))
    // The client blocks its thread, so use a separate one: a store in memory needs a thread of the shared pool to
    // answer, and two such tests on two processors would deadlock.
    let waiting = DispatchExecutor(label: "io.chime.test")
    try await withTaskExecutorPreference(waiting) {
      waiting.checkIsolated()
      try await body(TestDaemon(folder: folder, loop: loop, store: store, client: client))
    }
  }

  func call<Method: VarlinkMethod>(_ request: Method) throws -> Method.Reply { try client.call(request) }

  /// Calls a method with parameters of another type, for another tenant or hostile.
  func call<R: JSONReadable>(_ method: String, _ parameters: some JSONWritable, _ type: R.Type = R.self) throws -> R {
    try client.call(method, parameters, returning: type)
  }

  /// A member of the error that a request is refused with: `InvalidValue.field`.
  func refusal<Method: VarlinkMethod>(_ request: Method) -> Refusal? { refusal(Method.method, request) }

  /// Returns the error that refuses a call, with its members: `InvalidValue.field`.
  func refusal(_ method: String, _ parameters: some JSONWritable = Empty()) -> Refusal? {
    do {
      let reply = try client.call(method, parameters, returning: JSON.self)
      Issue.record("\(method) was answered: \(String(decoding: reply.bytes.prefix(300), as: UTF8.self))")
      return nil
    } catch VarlinkClientError.remote(let error) {
      let name = error.name.replacing("io.chime.Trackers.", with: "")
      return Refusal(name: name, parameters: error.parameters(JSON.self) ?? .null)
    } catch {
      Issue.record("\(method): \(error)")
      return nil
    }
  }

  struct Refusal: CustomStringConvertible {
    var name: String
    var parameters: JSON

    func text(_ member: String) -> String {
      if case .string(let text)? = parameters[member] { return text }
      return ""
    }

    var description: String { "\(name) \(String(decoding: parameters.bytes, as: UTF8.self))" }
  }

  // Shorthands.

  typealias Wired = TrackersInterface

  @discardableResult
  func put(_ draft: Wired.TrackerDraft, token: String? = nil) throws -> Wired.Tracker {
    try call(Wired.Put(tracker: draft, token: token)).tracker
  }

  @discardableResult
  func water() throws -> Wired.Tracker {
    try put(
      Wired.TrackerDraft(
        id: "water", title: ["en": "Water", "cs": "Voda"], kind: .amount, unit: "ml",
        goal: Wired.Goal(total: 2_500, period: .day), presets: [250, 100], usual: 250))
  }

  @discardableResult
  func log(
    _ tracker: String, _ amount: Double? = nil, unit: String? = nil, at: String? = nil, note: String? = nil,
    item: String? = nil, photo: String? = nil, fields: [String: Double]? = nil, token: String? = nil
  ) throws -> Wired.Change {
    try call(
      Wired.Log(
        tracker: tracker, amount: amount, unit: unit, item: item, note: note, photo: photo, fields: fields, at: at,
        token: token)
    ).change
  }

  /// Uploads a file in parts.
  func upload(_ bytes: [UInt8], as name: String, part: Int = 300_000) throws {
    var offset = 0
    while offset < bytes.count {
      let end = min(offset + part, bytes.count)
      let reply: Wired.Upload.Reply = try call(
        Wired.Upload(upload: name, offset: offset, data: Data(bytes[offset..<end]).base64EncodedString()))
      #expect(reply.received == end)
      offset = end
    }
  }

  func backup(passphrase: String? = nil) throws -> [UInt8] {
    let replies = try client.callMore(Wired.Backup(passphrase: passphrase))
    var bytes: [UInt8] = []
    while let part = try replies.next() { bytes += Data(base64Encoded: part.data) ?? Data() }
    return bytes
  }

  /// Returns noon UTC so many days before today, in RFC 3339.
  static func noon(daysAgo days: Int) -> String {
    let today = Int(Date.now.timeIntervalSince1970) / 86_400
    return RFC3339.format(Instant(seconds: Int64((today - days) * 86_400 + 43_200)), in: .utc)
  }
}
