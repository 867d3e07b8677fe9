import ChimeCore
import ChimeSchedule
import Foundation
import Glibc
import Synchronization
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Answer streams over real sockets.
  struct ReplyReaderTests {
    /// Accepts one connection at a time, records the request, and sends the scripted answer; then nothing more, unless
    /// `floods`.
    private final class Server: Sendable {
      let port: Int
      private let asked = Mutex<[String]>([])
      private let listener: Int32

      var requests: [String] { asked.withLock { $0 } }

      init(_ answer: String, floods: String? = nil, ends: Bool = false) throws {
        let (listener, port) = try Loopback.listen(backlog: 8)
        (self.listener, self.port) = (listener, Int(port))
        DispatchQueue(label: "topic").async { [self] in
          while case let connection = accept(listener, nil, nil), connection >= 0 {
            var (text, buffer) = ("", [UInt8](repeating: 0, count: 65_536))
            while !text.hasSuffix("\r\n\r\n"), case let size = recv(connection, &buffer, buffer.count, 0), size > 0 {
              text += String(decoding: buffer.prefix(size), as: UTF8.self)
            }
            asked.withLock { $0.append(text) }
            func say(_ text: String) -> Bool {
              send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count
            }
            _ = say(answer)
            if let floods { while say(floods) {} }
            // Until the other side closes.
            while !ends, recv(connection, &buffer, buffer.count, 0) > 0 {}
            close(connection)
          }
        }
      }

      func end() { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
    private static let open = #"{"id":"o1","event":"open"}"# + "\n"

    /// Reads a stream to its end.
    private func read(
      _ server: Server, quiet: Milliseconds = .seconds(60), after last: String? = nil,
      configure: (inout EndpointConfiguration) -> Void = { _ in }, change: (inout Endpoint) -> Void = { _ in },
      hear: @escaping @Sendable (ReplyReader.Event, ReplyReader) -> Void = { _, _ in }
    ) async throws -> (opened: Bool, replies: [ReplyReader.Reply], nonsense: Int, end: ReplyReader.End) {
      var configuration = EndpointConfiguration(version: "1.2.3")
      configure(&configuration)
      var endpoint = Endpoint(
        queue: ActionTokenTests.queue, url: "http://127.0.0.1:\(server.port)/alerts", createdAt: scheduled)
      endpoint.settings.replies = "http://127.0.0.1:\(server.port)/answers"
      change(&endpoint)
      let access = EndpointAccess(
        endpoint: endpoint, secrets: [SigningSecret(try Secret(SecretTests.text))], token: try Token("tk_reader"))
      let reader = ReplyReader(configuration: configuration, clock: { ActionTokenTests.now }, quiet: quiet) { _ in
        access
      }
      let seen = Mutex<(opened: Bool, replies: [ReplyReader.Reply], nonsense: Int)>((false, [], 0))
      let end = await withCheckedContinuation { (ended: CheckedContinuation<ReplyReader.End, Never>) in
        reader.open(endpoint.queue, after: last, number: 7) { event in
          seen.withLock { seen in
            switch event {
            case .opened: seen.opened = true
            case .came(let replies, let nonsense):
              seen.replies += replies
              seen.nonsense += nonsense
            case .ended(let end): ended.resume(returning: end)
            }
          }
          hear(event, reader)
        }
      }
      await reader.stop()
      server.end()
      let found = seen.withLock { $0 }
      return (found.opened, found.replies, found.nonsense, end)
    }

    /// Without any data the reader gives up, because a timer on this machine wakes the thread.
    @Test(.timeLimit(.minutes(1))) func silentStreamIsGivenUp() async throws {
      let found = try await read(Server(Self.head + Self.open), quiet: .milliseconds(400))
      #expect(found.opened && found.end.reason == "no data arrived for 400ms, not even a keep-alive", "\(found)")
      let silent = try await read(Server(""), quiet: .milliseconds(400))
      #expect(!silent.opened && silent.end.reason.contains("not even a keep-alive"), "\(silent)")
    }

    @Test(.timeLimit(.minutes(1))) func streamIsClosedOnRequest() async throws {
      let found = try await read(
        Server(Self.head + Self.open),
        hear: { event, reader in
          if case .opened = event { reader.close(7) }
        })
      #expect(found.opened && found.end.reason == HTTPLoop.stopping)
    }

    private static func subject(_ reply: ReplyReader.Reply) -> ActionToken.Subject? {
      if case .success(.token(let token)) = reply.said { token.subject } else { nil }
    }

    /// It asks for what came after the last message, with the endpoint's credentials, and distinguishes tokens from
    /// other text.
    @Test(.timeLimit(.minutes(1))) func streamTokensAreRead() async throws {
      let text = try #require(ActionToken(ActionTokenTests.subjects[0]).text(try ActionTokenTests.key()))
      let lines = [
        #"{"id":"a1","event":"message","message":"\#(text)"}"#, #"{"id":"a2","event":"message","message":"hello"}"#,
        "nonsense", #"{"id":"k","event":"keepalive"}"#, #"{"id":"a3","event":"message","message":" \#(text)\n"}"#,
      ].map { $0 + "\n" }.joined().replacingOccurrences(of: "\n\"", with: "\\n\"")
      let server = try Server(Self.head + Self.open + lines, ends: true)
      let found = try await read(
        server, after: "xyz",
        change: {
          $0.settings.headers = [.init(name: "X-Room", value: "7")]
          $0.settings.template = "ntfy"
        })
      #expect(
        found.opened && found.nonsense == 1 && found.end.reason == "the server has ended the connection", "\(found)")
      #expect(found.replies.map(\.id) == ["a1", "a2", "a3"])
      #expect(
        found.replies.map(Self.subject) == [ActionTokenTests.subjects[0], nil, ActionTokenTests.subjects[0]])
      let request = try #require(server.requests.first)
      #expect(request.hasPrefix("GET /answers/json?since=xyz HTTP/1.1\r\n"), "\(request)")
      #expect(
        request.contains("authorization: Bearer tk_reader\r\n") && request.contains("X-Room: 7\r\n"), "\(request)")
      #expect(!request.contains("Priority") && !request.contains("Actions"), "\(request)")
    }

    private func ask(_ body: String?, after last: String? = nil) async throws -> (
      found: (opened: Bool, replies: [ReplyReader.Reply], nonsense: Int, end: ReplyReader.End), request: String
    ) {
      let type = "Content-Type: application/json"
      let head = body.map { "200 OK\r\n\(type)\r\nContent-Length: \($0.utf8.count)\r\n\r\n\($0)" }
      let server = try Server("HTTP/1.1 " + (head ?? "204 No Content\r\n\r\n"), ends: true)
      let found = try await read(
        server, after: last,
        change: { $0.settings.replies = "poll:http://127.0.0.1:\(server.port)/answers?room=7" })
      return (found, try #require(server.requests.first))
    }

    /// A poll address is requested once, with a signature, and its answers are returned.
    @Test(.timeLimit(.minutes(1))) func pollAddressIsRequestedOnceAndSigned() async throws {
      let text = try #require(ActionToken(ActionTokenTests.subjects[0]).text(try ActionTokenTests.key()))
      let (found, request) = try await ask(
        #"{"answers": [{"id": "41", "token": "\#(text)"}, {"id": "42", "token": "hello"}], "more": 1}"#, after: "xyz")
      #expect(found.opened && found.end.isAnswered && found.replies.map(\.id) == ["41", "42"], "\(found)")
      #expect(found.replies.map(Self.subject) == [ActionTokenTests.subjects[0], nil])
      #expect(request.hasPrefix("GET /answers?room=7&after=xyz HTTP/1.1\r\n"), "\(request)")
      for part in [
        "webhook-id: msg_", "webhook-timestamp: ", "webhook-signature: v1,", "authorization: Bearer tk_reader",
      ] {
        #expect(request.contains(part), "\(request)")
      }
      for body in [nil, "", #"{"answers": []}"#] {
        let (found, request) = try await ask(body)
        #expect(found.opened && found.end.isAnswered && found.replies.isEmpty, "\(found)")
        #expect(request.hasPrefix("GET /answers?room=7 HTTP/1.1\r\n"), "\(request)")
      }
    }

    @Test(
      .timeLimit(.minutes(1)),
      arguments: [
        ("nonsense", "is invalid"),
        (#"{"answers": [{"id": "a b", "token": "x"}]}"#, "an id of its answers is invalid"),
        (#"{"answers": [{"id": "a"}]}"#, "is invalid"),
        (#"{"answers": ["# + String(repeating: " ", count: 70_000) + "]}", "more than 64 KiB"),
      ])
    func invalidPollResponseIsRefused(_ body: String, _ reason: String) async throws {
      let (found, _) = try await ask(body)
      #expect(!found.end.isAnswered && found.replies.isEmpty && found.end.reason.contains(reason), "\(found.end)")
    }

    /// A token is not sent to a server other than the endpoint's.
    @Test(.timeLimit(.minutes(1))) func tokenIsNotSentToAnotherServer() async throws {
      let server = try Server(Self.head + Self.open, ends: true)
      let found = try await read(
        server,
        change: {
          $0.url = "http://127.0.0.1:9/alerts"
          $0.settings.headers = [.init(name: "Authorization", value: "Basic abc")]
        })
      #expect(found.opened)
      let request = try #require(server.requests.first)
      #expect(request.hasPrefix("GET /answers/json?since=all "), "\(request)")
      #expect(!request.lowercased().contains("authorization"), "\(request)")
    }

    /// A limit ends the stream before memory runs out.
    @Test(
      .timeLimit(.minutes(1)),
      arguments: [
        ("x", "line of more than 32 KiB"), (#"{"id":"k","event":"keepalive"}"# + "\n", "too much"), ("\n", "too much"),
      ])
    func endlessStreamIsCut(_ text: String, _ word: String) async throws {
      let before = try residentBytes()
      let flood = String(repeating: text, count: 65_536 / text.utf8.count)
      let found = try await read(try Server(Self.head, floods: flood))
      #expect(found.end.reason.contains(word), "\(found.end)")
      #expect(try residentBytes() - before < 200 << 20)
    }

    @Test(.timeLimit(.minutes(1))) func addressRulesApply() async throws {
      let server = try Server(Self.head + Self.open)
      let found = try await read(server) { $0.network = NetworkPolicy(isPersonal: false) }
      #expect(!found.opened && found.end.reason.contains("127.0.0.1"), "\(found.end)")
      #expect(server.requests.isEmpty)
      let moved = try await read(
        Server("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
      #expect(moved.end.reason.contains("redirects"), "\(moved.end)")
      let later = try await read(
        Server("HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n"))
      #expect(later.end.reason == "the server answered with status 503" && later.end.retryAfter == .seconds(30))
    }

    private final class Box: Sendable {
      let reader = Mutex<ReplyReader?>(nil)
    }

    /// While no data arrives, the thread sleeps; measured by the kernel's counters.
    @Test(.proof(.patience), .timeLimit(.minutes(1))) func idleStreamCostsNothing() async throws {
      @Sendable func switches() -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.reduce(0) { sum, task in
          guard (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == "chime-replies\n",
            let status = try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches") })
          else { return sum }
          return sum + (Int(line.split(separator: "\t").last ?? "") ?? 0)
        }
      }
      let box = Box()
      async let found = read(
        Server(Self.head + Self.open), configure: { $0.connectTimeout = .seconds(1) },
        hear: { event, reader in
          if case .opened = event { box.reader.withLock { $0 = reader } }
        })
      while box.reader.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(10)) }
      // libcurl wakes once more, at the end of the connection timeout.
      try await Task.sleep(for: .seconds(2))
      let before = switches()
      try await Task.sleep(for: .seconds(5))
      let after = switches()
      box.reader.withLock { $0 }?.close(7)
      #expect(try await found.opened && before > 0 && after == before, "\(before) and \(after)")
    }
  }
}
