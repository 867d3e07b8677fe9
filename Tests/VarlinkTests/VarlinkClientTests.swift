import Dispatch
import Glibc
import Synchronization
import Testing
import Varlink

/// The client with a socket and a thread that runs a script.
@Suite struct VarlinkClientTests {
  private let directory: TemporaryDirectory
  private let address: VarlinkAddress

  init() throws {
    directory = try TemporaryDirectory()
    address = try #require(VarlinkAddress(path: directory.path + "/socket"))
  }

  /// Returns the client's error when each connection's first message is answered with this text.
  private func failure(answer: String, timeout: Duration = .seconds(60)) throws -> VarlinkClientError? {
    let server = try ScriptedServer(address) { peer in
      guard peer.message() != nil else { return }
      peer.send(answer)
    }
    defer { withExtendedLifetime(server) {} }
    let client = try VarlinkClient(address, timeout: timeout)
    return #expect(throws: VarlinkClientError.self) {
      try client.call("a.b.Ping", Ping(ping: "x"), returning: Ping.self)
    }
  }

  @Test func callReturnsItsReply() throws {
    let server = try ScriptedServer(address) { peer in
      while let message = peer.message() {
        let call = try? JSON(parsing: message)
        guard let call, call["method"] == "a.b.Ping", let parameters = call["parameters"] else {
          peer.send(#"{"error":"a.b.Unexpected","parameters":{"call":\#(message)}}"# + "\0")
          continue
        }
        peer.send(#"{"parameters":\#(parameters)}"# + "\0")
      }
    }
    let client = try VarlinkClient(server.address.description + ";mode=0600")
    for text in ["", "a", "line\nbreak\0nul", "é\u{1F375}", String(repeating: "x", count: 300_000)] {
      #expect(try client.call("a.b.Ping", Ping(ping: text)) == Ping(ping: text))
    }
    let error = #expect(throws: VarlinkClientError.self) { try client.call("a.b.Pong", returning: Empty.self) }
    let remote = try #require(error?.remote)
    let call = remote.parameters(JSON.self, of: "a.b.Unexpected")?["call"]
    #expect(call == ["method": "a.b.Pong"], "no parameters, no member for them")
    #expect(try client.call("a.b.Ping", Ping(ping: "on")) == Ping(ping: "on"), "an error does not end a connection")
  }

  @Test func streamIsReadToItsEnd() throws {
    let server = try ScriptedServer(address) { peer in
      while let message = peer.message() {
        if message.contains(#""more":true"#) {
          for text in ["a", "b"] { peer.send(#"{"continues":true,"parameters":{"ping":"\#(text)"}}"# + "\0") }
        }
        peer.send(#"{"parameters":{"ping":"last"}}"# + "\0")
      }
    }
    let client = try VarlinkClient(server.address)
    let replies = try client.callMore("a.b.Follow", returning: Ping.self)
    #expect(try replies.next()?.ping == "a")
    let busy = #expect(throws: VarlinkClientError.self) { try client.call("a.b.Ping", returning: Ping.self) }
    #expect(busy == .busy)
    #expect(try replies.next()?.ping == "b")
    #expect(try replies.next()?.ping == "last")
    #expect(try replies.next() == nil)
    #expect(try client.call("a.b.Ping", returning: Ping.self).ping == "last")
    #expect(try replies.next() == nil, "an old stream takes nothing from a later call")
  }

  /// Waits with poll(2) on the client's descriptor, as an event loop does.
  private func wait(for client: VarlinkClient) throws {
    var entry = pollfd(fd: try #require(client.descriptor), events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 60_000) == 1)
  }

  @Test func replyIsTakenOnceItIsComplete() throws {
    let gate = Gate()
    let server = try ScriptedServer(address) { peer in
      while let message = peer.message() {
        gate.wait()
        if message.contains("Follow") {
          peer.send(#"{"continues":true,"parameters":{"ping":"a"}}"# + "\0" + #"{"continues":true,"para"#)
          gate.wait()
          peer.send(#"meters":{"ping":"b"}}"# + "\0" + #"{"parameters":{"ping":"last"}}"# + "\0")
        } else {
          peer.send(#"{"parameters":{"ping":"one"}}"# + "\0")
        }
      }
    }
    let client = try VarlinkClient(server.address)
    let replies = try client.callMore("a.b.Follow", returning: Ping.self)
    #expect(try replies.arrived() == nil && replies.isOpen, "nothing has been sent yet")
    gate.open()
    try wait(for: client)
    #expect(try replies.arrived()?.ping == "a")
    #expect(try replies.arrived() == nil && replies.isOpen, "half of the second")
    gate.open()
    try wait(for: client)
    #expect(try replies.arrived()?.ping == "b")
    // The rest may arrive separately.
    var last = try replies.arrived()
    while last == nil, replies.isOpen {
      try wait(for: client)
      last = try replies.arrived()
    }
    #expect(last?.ping == "last" && !replies.isOpen)
    #expect(try replies.arrived() == nil)

    let single = try client.begin("a.b.Ping", returning: Ping.self)
    let busy = #expect(throws: VarlinkClientError.self) { try client.call("a.b.Ping", returning: Ping.self) }
    #expect(busy == .busy)
    #expect(try single.arrived() == nil && single.isOpen)
    gate.open()
    try wait(for: client)
    #expect(try single.arrived()?.ping == "one")
    #expect(!single.isOpen)
  }

  @Test func streamMayEndWithoutALastReply() throws {
    let server = try ScriptedServer(address) { peer in
      guard let message = peer.message() else { return }
      if message.contains("Endless") { peer.send(#"{"continues":true,"parameters":{"ping":"a"}}"# + "\0") }
    }
    let client = try VarlinkClient(server.address)
    let replies = try client.callMore("a.b.Follow", returning: Ping.self)
    try wait(for: client)
    #expect(#expect(throws: VarlinkClientError.self) { try replies.arrived() } == .closed)
    #expect(client.descriptor == nil && !replies.isOpen)
    let another = try VarlinkClient(server.address)
    let single = try another.begin("a.b.Endless", returning: Ping.self)
    try wait(for: another)
    let error = #expect(throws: VarlinkClientError.self) { try single.arrived() }
    #expect(error?.isProtocolViolation == true, "one reply to a call, and no more")
  }

  @Test func streamEndsWithItsError() throws {
    let server = try ScriptedServer(address) { peer in
      while peer.message() != nil {
        peer.send(#"{"continues":true,"parameters":{"ping":"a"}}"# + "\0")
        peer.send(#"{"error":"a.b.NoPing","parameters":{"reason":"too slow"}}"# + "\0")
      }
    }
    let client = try VarlinkClient(server.address)
    let replies = try client.callMore("a.b.Follow", returning: Ping.self)
    #expect(try replies.next()?.ping == "a")
    let error = #expect(throws: VarlinkClientError.self) { try replies.next() }
    let remote = try #require(error?.remote)
    #expect(remote.parameters([String: String].self, of: "a.b.NoPing") == ["reason": "too slow"])
    #expect(remote.parameters(JSON.self, of: "a.b.Other") == nil && remote.service == nil)
    #expect(try replies.next() == nil)
  }

  @Test func onewayDoesNotWait() throws {
    let server = try ScriptedServer(address) { peer in
      let first = peer.message() ?? ""
      guard peer.message() != nil else { return }
      peer.send(#"{"parameters":{"call":\#(first)}}"# + "\0")
    }
    let client = try VarlinkClient(server.address)
    try client.callOneway("a.b.Note", Ping(ping: "x"))
    let seen: [String: JSON] = try client.call("a.b.Last")
    #expect(seen["call"] == ["method": "a.b.Note", "oneway": true, "parameters": ["ping": "x"]])
  }

  @Test func standardErrorsAreRecognized() throws {
    for error: ServiceError in [
      .interfaceNotFound(interface: "a"), .methodNotFound(method: "a.B"), .methodNotImplemented(method: "a.B"),
      .invalidParameter(parameter: "c"), .permissionDenied, .expectedMore,
    ] {
      try? unlink(address)
      let failure = try failure(answer: String(decoding: VarlinkReply(error: error).bytes, as: UTF8.self))
      let remote = try #require(failure?.remote)
      #expect(remote.service == error)
      #expect(failure?.description == error.description)
    }
  }

  @Test(arguments: ["nonsense\0", "[]\0", "\0", #"{"parameters":[]}"# + "\0", #"{"error":5}"# + "\0"])
  func invalidReplyIsRefused(answer: String) throws {
    let failure = try failure(answer: answer)
    #expect(failure?.isProtocolViolation == true, "\(String(describing: failure))")
  }

  @Test func mismatchInAReplyIsNamed() throws {
    let failure = try failure(answer: #"{"parameters":{"ping":[1]}}"# + "\0")
    #expect(
      failure?.description
        == "the service violates the Varlink protocol: unexpected type of 'ping' in its reply")
  }

  @Test func unrequestedContinuationIsRefused() throws {
    let failure = try failure(answer: #"{"continues":true,"parameters":{"ping":"x"}}"# + "\0")
    #expect(failure?.isProtocolViolation == true, "\(String(describing: failure))")
  }

  @Test(arguments: ["", #"{"parameters":"#]) func disconnectionIsDetected(answer: String) throws {
    let failure = try failure(answer: answer)
    #expect(failure == .closed)
  }

  /// A service that closes before it has read the call has not processed it, so the call is sent to the next one.
  @Test func unreadCallIsRepeated() throws {
    let connections = Atomic(0)
    let server = try ScriptedServer(address) { peer in
      guard connections.wrappingAdd(1, ordering: .relaxed).newValue > 1 else { return }
      while peer.message() != nil { peer.send(#"{"parameters":{"ping":"again"}}"# + "\0") }
    }
    let client = try VarlinkClient(server.address)
    // When the thread serves the second connection, it has closed the first.
    let second = try VarlinkClient(server.address)
    #expect(try second.call("a.b.Ping", returning: Ping.self) == Ping(ping: "again"))
    second.close()
    #expect(try client.call("a.b.Ping", returning: Ping.self) == Ping(ping: "again"))
    #expect(connections.load(ordering: .relaxed) == 3)
  }

  /// A call is not repeated forever if the service keeps closing.
  @Test func repeatedDisconnectionsAreGivenUp() throws {
    let connections = Atomic(0)
    let server = try ScriptedServer(address) { _ in connections.add(1, ordering: .relaxed) }
    let client = try VarlinkClient(server.address)
    while connections.load(ordering: .relaxed) == 0 { usleep(1_000) }
    let failure = #expect(throws: VarlinkClientError.self) { try client.call("a.b.Ping", returning: Ping.self) }
    #expect(failure == .closed)
    #expect(connections.load(ordering: .relaxed) <= 2)
  }

  @Test func callEndsAtItsDeadline() throws {
    let server = try ScriptedServer(address) { peer in while peer.message() != nil {} }
    let client = try VarlinkClient(server.address, timeout: .milliseconds(50))
    let start = ContinuousClock.now
    let failure = #expect(throws: VarlinkClientError.self) { try client.call("a.b.Ping", returning: Ping.self) }
    #expect(failure == .timedOut)
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    let after = #expect(throws: VarlinkClientError.self) { try client.call("a.b.Ping", returning: Ping.self) }
    #expect(after == .closed, "a late answer must not meet another call")
  }

  @Test func serviceThatDoesNotAcceptTimesOut() throws {
    let listener = try ScriptedServer.listen(address, backlog: 0)
    defer { close(listener) }
    var failure: VarlinkClientError?
    var clients: [VarlinkClient] = []
    for _ in 0..<8 where failure == nil {
      do throws(VarlinkClientError) {
        clients.append(try VarlinkClient(address, timeout: .milliseconds(30)))
      } catch { failure = error }
    }
    #expect(failure == .timedOut)
  }

  @Test func connectionErrorStatesItsReason() throws {
    let missing = #expect(throws: VarlinkClientError.self) { try VarlinkClient(address) }
    #expect(missing == .noSocket(address))
    let deaf = try ScriptedServer.listen(address, backlog: -1)
    let refused = #expect(throws: VarlinkClientError.self) { try VarlinkClient(address) }
    close(deaf)
    #expect(refused == .refused(address))
    for text in ["", "unix:", "unix:@", "tcp:127.0.0.1:1", "/run/x", "unix:/" + String(repeating: "x", count: 107)] {
      let invalid = #expect(throws: VarlinkClientError.self) { try VarlinkClient(text) }
      #expect(invalid == .invalidAddress(text))
    }
  }

  @Test func abstractSocketNameIsFound() throws {
    let name = try #require(VarlinkAddress("unix:@varlink-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"))
    #expect(name.isAbstract)
    let server = try ScriptedServer(name) { peer in
      while peer.message() != nil { peer.send(#"{"parameters":{"ping":"abstract"}}"# + "\0") }
    }
    #expect(try VarlinkClient(server.address).call("a.b.Ping", returning: Ping.self).ping == "abstract")
  }

  private func unlink(_ address: VarlinkAddress) throws { _ = Glibc.unlink(address.path) }
}

extension VarlinkClientError {
  fileprivate var remote: RemoteError? { if case .remote(let error) = self { error } else { nil } }
  fileprivate var isProtocolViolation: Bool { if case .protocolViolation = self { true } else { false } }
}

/// Lets one waiting thread through each time it is opened.
private final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func open() { semaphore.signal() }
  func wait() { semaphore.wait() }
}
