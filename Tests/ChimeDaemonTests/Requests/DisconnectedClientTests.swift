import ChimeControl
import ChimeCore
import ChimeSchedule
import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing
import Varlink

@testable import ChimeDaemon

/// The cost of a client ends when it disconnects, and the cost of a reply is bounded.
@Suite(.serialized)
struct DisconnectedClientTests {
  typealias Wired = RemindersInterface

  /// A connection from which nothing is read.
  final class Raw {
    let descriptor: Int32

    convenience init(_ daemon: TestDaemon, _ message: String) throws {
      try self.init(daemon)
      try send(Array(message.utf8) + [0])
    }

    init(_ daemon: TestDaemon) throws {
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let path = Array("\(daemon.folder)/io.chime".utf8)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
      let connected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(connected == 0)
    }

    func send(_ bytes: [UInt8]) throws {
      try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    /// Returns the daemon's next bytes; empty if it has closed the connection.
    func receive() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &bytes, bytes.count)
      return Array(bytes.prefix(max(0, count)))
    }

    func leave() { close(descriptor) }
  }

  static func wait(_ what: String, until isTrue: () async -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while await !isTrue() {
      try #require(ContinuousClock.now < end, "\(what) did not come about")
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  private static func clients(_ daemon: TestDaemon) async -> Int { await daemon.loop.clientCount }

  static func message(_ method: String, _ parameters: String = "{}", more: Bool = false, oneway: Bool = false) -> String
  {
    "{\"method\":\"\(method)\",\"parameters\":\(parameters),\"more\":\(more),\"oneway\":\(oneway)}"
  }

  static func add(_ title: String) -> String { "{\"reminder\":{\"title\":\"\(title)\",\"when\":\"daily at 9:00\"}}" }

  /// Blocks the request handler while a body runs.
  static func whileNothingIsAnswered(_ daemon: TestDaemon, _ body: () async throws -> Void) async throws {
    let end = DispatchSemaphore(value: 0)
    let queue = await daemon.loop.requestExecutor.queue
    queue.async { end.wait() }
    defer { end.signal() }
    try await body()
  }

  /// Blocks the store's writer while a body runs.
  static func whileNothingIsWritten(_ daemon: TestDaemon, _ body: () async throws -> Void) async throws {
    let end = DispatchSemaphore(value: 0)
    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
    let held = Task { [store = daemon.store] in
      try await store.write { _ in
        begins.yield()
        end.wait()
      }
    }
    for await _ in begun { break }
    do {
      defer { end.signal() }
      try await body()
    }
    try await held.value
  }

  @Test func requestsOfADisconnectedClientAreNotExecuted() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      // Connect the test's own client first.
      let _: Wired.List.Reply = try daemon.call(Wired.List())
      let before = await Self.clients(daemon)
      try await Self.whileNothingIsAnswered(daemon) {
        // More requests than run at once, and some without a reply.
        let waiting = try (0..<20).map { try Raw(daemon, Self.message(Wired.Add.method, Self.add("gone \($0)"))) }
        let oneway = try (0..<2).map {
          try Raw(daemon, Self.message(Wired.Add.method, Self.add("sent \($0)"), oneway: true))
        }
        try await Self.wait("22 requests") {
          let requests = await daemon.loop.requests
          return requests.runningCount + requests.waitingCount == 22
        }
        for client in waiting + oneway { client.leave() }
        try await Self.wait("20 clients gone") { await Self.clients(daemon) <= before + 2 }
        let left = await daemon.loop.requests.waitingCount
        #expect(left <= 2)
      }
      try await Self.wait("everything answered") {
        let requests = await daemon.loop.requests
        guard requests.runningCount == 0 else { return false }
        return await Self.clients(daemon) == before
      }
      let all: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(Set(all.reminders.map(\.title)) == ["sent 0", "sent 1"])
    }
  }

  /// After a stall, the daemon reads what arrived in time before it disconnects late clients.
  @Test(arguments: [(true, 0, true), (false, 0, false), (false, 2, true)])
  func dataReceivedInTimeIsReadBeforeAClientIsDropped(_ isFinished: Bool, _ late: Int, _ isAnswered: Bool) async throws
  {
    try await TestDaemon.run(inMemory: true) { daemon in
      let message = Array(Self.message(Wired.List.method).utf8) + [0]
      let client = try Raw(daemon)
      defer { client.leave() }
      let (begin, rest) = (Array(message.prefix(20)), Array(message.dropFirst(20)))
      try client.send(begin)
      try await Self.wait("an unfinished message") { await daemon.loop.clients.hasDeadlines }
      try await daemon.loop.looksLate(by: late, after: isFinished ? rest : [], from: client.descriptor)
      // A disconnected client cannot be written to.
      if isAnswered, !isFinished { try client.send(rest) }
      let answer = String(decoding: client.receive(), as: UTF8.self)
      #expect(answer.contains("reminders") == isAnswered, "\(answer)")
    }
  }

  /// A slow request delays no other, and does not wait for fast ones.
  @Test func slowRequestDelaysNoOther() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try await Self.whileNothingIsAnswered(daemon) {
        let all: Wired.List.Reply = try daemon.call(Wired.List())
        #expect(all.reminders.isEmpty)
      }
    }
  }

  /// Adds so many reminders of 16 KiB each.
  static func fill(_ daemon: TestDaemon, _ count: Int) async throws {
    let body = String(repeating: "0123456789abcdef", count: 1_000)
    let first = Instant(seconds: 4_000_000_000)
    try await daemon.store.write { transaction in
      for index in 0..<count {
        try transaction.upsert(
          Reminder(
            id: ReminderID(rawValue: "r\(1_000 + index)"), owner: getuid(), title: "\(index)", body: body,
            schedule: try Schedule(canonical: "daily at 09:00"), createdAt: .earliest), next: first)
      }
    }
  }

  @Test func backupsOfDisconnectedClientsEnd() async throws {
    try await TestDaemon.run { daemon in
      try await Self.fill(daemon, 400)
      let folder = await daemon.loop.uploads.folder
      func scratch() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
          .filter { $0.hasPrefix("scratch") }
      }
      let backup = TrackersInterface.Backup.method
      let readers = try (0..<EventLoop.mostStreams).map { _ in try Raw(daemon, Self.message(backup, more: true)) }
      try await Self.wait("streams under way") {
        let (streams, requests) = (await daemon.loop.streams, await daemon.loop.requests)
        return streams.values.reduce(0, +) == readers.count && requests.runningCount == 0
      }
      #expect(scratch().count == readers.count)
      // Another is refused with the reason.
      let refused = #expect(throws: VarlinkClientError.self) {
        let replies = try daemon.client.callMore(backup, Empty(), returning: TrackersInterface.Backup.Reply.self)
        _ = try replies.next()
      }
      #expect("\(refused.map { "\($0)" } ?? "")".contains("LimitExceeded"), "\(String(describing: refused))")
      for reader in readers { reader.leave() }
      try await Self.wait("streams ended") { await daemon.loop.streams.isEmpty }
      try await Self.wait("scratch files gone") { scratch().isEmpty }
      // One that disconnects before its turn creates no file.
      try await Self.whileNothingIsWritten(daemon) {
        let before = await Self.clients(daemon)
        let most = RequestQueue<EventLoop.QueuedRequest>.mostHeavyAlone
        let some = "{\"reminders\":[{\"title\":\"some\",\"when\":\"in 1h\"}]}"
        let others = try (0..<most).map { _ in try Raw(daemon, Self.message(Wired.AddMany.method, some)) }
        try await Self.wait("as many as are begun") { await daemon.loop.requests.runningCount == most }
        let reader = try Raw(daemon, Self.message(backup, more: true))
        try await Self.wait("one that waits") { await daemon.loop.requests.waitingCount == 1 }
        reader.leave()
        try await Self.wait("a client gone") { await Self.clients(daemon) == before + most }
        #expect(await daemon.loop.requests.waitingCount == 0)
        for other in others { other.leave() }
      }
      try await Self.wait("nothing under way") { await daemon.loop.requests.runningCount == 0 }
      #expect(scratch().isEmpty)
    }
  }

  @Test func longListingContinuesByItsCursor() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try await Self.fill(daemon, 450)
      var seen: [String] = []
      var cursor: String?
      var pages = 0
      repeat {
        let reply = try daemon.client.call(
          Wired.List.method, Wired.List(limit: 10_000, cursor: cursor), returning: JSON.self)
        // A part of a hundred after the bound at most.
        #expect(reply.bytes.count <= RequestContext.replyBytes + RequestContext.itemsInPart * 17_000)
        let page = try JSONReader.read(Wired.List.Reply.self, from: reply.bytes)
        seen += page.reminders.map(\.id)
        cursor = page.cursor
        pages += 1
      } while cursor != nil && pages < 100
      #expect(seen.count == 450 && Set(seen).count == 450)
      #expect(pages >= 4)
      let coming = try daemon.client.call(OccurrencesInterface.Upcoming(limit: 10_000))
      #expect(coming.upcoming.count == 450)
    }
  }

  @Test func endpointsOfAnOwnerAreLimited() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      func put(_ name: String) throws {
        let _: EndpointsInterface.Put.Reply = try daemon.call(
          EndpointsInterface.Put(name: name, url: "https://example.org/\(name)", newSecret: .hmac))
      }
      for index in 0..<EndpointFields.maxEndpoints { try put("e\(index)") }
      let refused = #expect(throws: VarlinkClientError.self) { try put("more") }
      #expect("\(refused.map { "\($0)" } ?? "")".contains("LimitExceeded"))
      let folder = daemon.folder + "/state/secrets"
      let left = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
      #expect(!left.contains { $0.contains("more") })
      // An existing one can still be changed.
      try put("e0")
    }
  }
}

extension EventLoop {
  fileprivate var clientCount: Int { clients.count }

  /// Expires clients as if a deadline were some seconds ago, after `rest` has just arrived from one.
  fileprivate func looksLate(by seconds: Int, after rest: [UInt8], from descriptor: Int32) throws {
    try #require(write(descriptor, rest, rest.count) == rest.count)
    expireClients(at: try #require(clients.earliestDeadline) + .seconds(seconds))
  }
}
