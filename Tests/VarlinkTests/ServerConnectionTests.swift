import Testing
import Varlink

private struct NoPing: VarlinkError, Encodable {
  var varlinkName: String { "org.example.ping.NoPing" }
  var reason: String
}

private struct Line: Codable, JSONCodable { var line: String }

/// The calls of one connection, without a socket.
@Suite struct ServerConnectionTests {
  private static func ping(_ text: String, flags: String = "") -> String {
    #"{"method":"org.example.ping.Ping"\#(flags),"parameters":{"ping":"\#(text)"}}"#
  }

  private static let follow = #"{"method":"org.example.ping.Follow","more":true}"#

  @Test func callsAreAnsweredHoweverTheBytesArrive() throws {
    let bytes = Array(Self.ping("hi").utf8) + [0]
    for split in 0...bytes.count {
      var peer = try TestPeer()
      peer.send(bytes: Array(bytes[..<split]))
      peer.send(bytes: Array(bytes[split...]))
      let call = try #require(peer.calls.first)
      #expect(call.method == "org.example.ping.Ping")
      #expect(try call.parameters(Ping.self).ping == "hi")
      #expect(try peer.connection.reply(Ping(ping: "hi"), to: call.id) == .ended)
      #expect(peer.read() == [#"{"parameters":{"ping":"hi"}}"#])
    }
  }

  /// Calls that the connection answers itself must not keep its owner from other connections.
  @Test func callsPerTurnAreBounded() throws {
    var connection = ServerConnection(service: try TestPeer.service())
    let info = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0]
    connection.receive(Array([[UInt8]](repeating: info, count: 10).joined()).span)
    var replies: [Int] = []
    for _ in 0..<4 {
      var turn = 4
      let action = connection.next(within: &turn)
      #expect(action == nil)
      var count = 0
      connection.flush { bytes in
        count += bytes.count { $0 == 0 }
        return bytes.count
      }
      replies.append(count)
    }
    #expect(replies == [4, 4, 2, 0])
  }

  @Test func callsAreHandedOutOneAtATimeInOrder() throws {
    var peer = try TestPeer()
    peer.send(bytes: (0..<5).flatMap { Array(Self.ping("\($0)").utf8) + [0] })
    for number in 0..<5 {
      #expect(peer.calls.count == number + 1)
      #expect(try peer.calls[number].parameters(Ping.self).ping == "\(number)")
      try peer.connection.reply(Ping(ping: "\(number)"), to: peer.calls[number].id)
      peer.advance()
    }
    #expect(peer.read() == (0..<5).map { #"{"parameters":{"ping":"\#($0)"}}"# })
    #expect(peer.connection.activeCall == nil)
  }

  @Test func replyToAnEndedCallIsDropped() throws {
    var peer = try TestPeer()
    peer.send(Self.ping("1"))
    let first = peer.calls[0].id
    try peer.connection.reply(Ping(ping: "1"), to: first)
    #expect(try peer.connection.reply(Ping(ping: "again"), to: first) == .ended)
    peer.send(Self.ping("2"))
    #expect(try peer.connection.reply(Ping(ping: "late"), to: first) == .ended)
    #expect(peer.read().count == 1)
    #expect(peer.connection.activeCall == peer.calls[1].id)
  }

  @Test func onewayCallGetsNoReply() throws {
    var peer = try TestPeer()
    let oneway = #","oneway":true"#
    peer.send(Self.ping("1", flags: oneway))
    try peer.connection.reply(Ping(ping: "1"), to: peer.calls[0].id)
    peer.send(Self.ping("2", flags: oneway))
    try peer.connection.fail(NoPing(reason: "tired"), call: peer.calls[1].id)
    peer.send(#"{"method":"org.example.ping.Missing","oneway":true}"#)
    peer.send(#"{"method":"org.varlink.service.GetInfo","oneway":true}"#)
    peer.send(#"{"method":"org.example.ping.Ping","oneway":true,"parameters":{"ping":5}}"#)
    #expect(peer.read().isEmpty)
    peer.send(Self.ping("3"))
    try peer.connection.reply(Ping(ping: "3"), to: peer.calls[2].id)
    #expect(peer.read() == [#"{"parameters":{"ping":"3"}}"#])
  }

  @Test func streamContinuesUntilItsLastReply() throws {
    var peer = try TestPeer()
    peer.send(Self.follow)
    peer.send(Self.ping("after"))
    let call = peer.calls[0]
    #expect(call.more)
    #expect(try peer.connection.reply(Line(line: "a"), to: call.id, continues: true) == .open)
    #expect(try peer.connection.reply(Line(line: "b"), to: call.id, continues: true) == .open)
    #expect(peer.calls.count == 1, "the next call waits")
    #expect(try peer.connection.reply(Line(line: "c"), to: call.id) == .ended)
    peer.advance()
    #expect(peer.calls.count == 2)
    #expect(
      peer.read() == [
        #"{"continues":true,"parameters":{"line":"a"}}"#,
        #"{"continues":true,"parameters":{"line":"b"}}"#,
        #"{"parameters":{"line":"c"}}"#,
      ])
  }

  @Test func streamNeedsMore() throws {
    let expected = [#"{"error":"org.varlink.service.ExpectedMore","parameters":{}}"#]
    var peer = try TestPeer()
    peer.send(#"{"method":"org.example.ping.Follow"}"#)
    #expect(peer.calls.isEmpty)
    #expect(peer.read() == expected)
    peer.send(#"{"method":"org.example.ping.Follow","more":false}"#)
    #expect(peer.read() == expected)
    peer.send(Self.ping("hi"))
    #expect(try peer.connection.reply(Ping(ping: "hi"), to: peer.calls[0].id, continues: true) == .ended)
    #expect(peer.read() == expected)
    #expect(peer.closed == nil)
  }

  @Test func slowReaderIsDroppedWithAFinalError() throws {
    var service = try TestPeer.service()
    service.slowReaderError = VarlinkReply(error: NoPing(reason: "too slow"))
    var peer = TestPeer(ServerConnection(service: service, limits: VarlinkLimits(maxQueuedBytes: 4096)))
    peer.send(Self.follow)
    let call = peer.calls[0].id
    #expect(try peer.connection.reply(Line(line: "first"), to: call, continues: true) == .open)
    let begun = peer.readBytes(10)
    var sent = 1
    while try peer.connection.reply(Line(line: "more"), to: call, continues: true) == .open {
      sent += 1
      #expect(peer.connection.queuedBytes <= 4096)
    }
    #expect(sent > 50)
    #expect(peer.connection.queuedBytes < 256, "what the reader has not begun to read is given up at once")
    #expect(peer.connection.isEnding && !peer.connection.wantsRead)
    peer.advance()
    #expect(peer.closed == nil, "it may still read the last word")
    let rest = peer.readBytes()
    #expect(
      String(decoding: begun + rest, as: UTF8.self)
        == #"{"continues":true,"parameters":{"line":"first"}}"# + "\0"
        + #"{"error":"org.example.ping.NoPing","parameters":{"reason":"too slow"}}"# + "\0")
    #expect(peer.closed == .slowReader)
  }

  @Test func streamThatIsReadIsNeverDropped() throws {
    var peer = try TestPeer(limits: VarlinkLimits(maxQueuedBytes: 256))
    peer.send(Self.follow)
    for number in 0..<1000 {
      #expect(
        try peer.connection.reply(Line(line: "\(number)"), to: peer.calls[0].id, continues: true) == .open)
      #expect(peer.read().count == 1)
    }
  }

  @Test func clientThatDoesNotReadIsNotServed() throws {
    var peer = try TestPeer(limits: VarlinkLimits(maxMessageBytes: 4096, maxQueuedBytes: 1024))
    let call = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8) + [0]
    var sent = 0
    while peer.connection.wantsRead, sent < 10_000 {
      peer.send(bytes: call)
      sent += 1
    }
    #expect(sent < 200)
    #expect(peer.connection.queuedBytes < 2048)
    #expect(peer.connection.unfinishedMessage == nil, "no clock runs against a peer that is not read from")
    #expect(peer.read().count == sent, "every call is answered once it reads")
    #expect(peer.connection.wantsRead)
  }

  @Test func callsMadeBeforeTheEndAreAnswered() throws {
    var peer = try TestPeer()
    peer.send(Self.ping("1"))
    peer.send(Self.ping("2"))
    peer.connection.receiveEnd()
    #expect(!peer.connection.wantsRead)
    for number in 0..<2 {
      try peer.connection.reply(Ping(ping: "x"), to: peer.calls[number].id)
      peer.advance()
    }
    #expect(peer.closed == nil, "the replies are still to be written")
    #expect(peer.read().count == 2)
    #expect(peer.closed == .peerClosed)
  }

  @Test func endInsideAMessageIsReported() throws {
    var peer = try TestPeer()
    peer.send(bytes: Array(#"{"method":"org."#.utf8))
    #expect(peer.connection.unfinishedMessage == 0)
    peer.connection.receiveEnd()
    peer.advance()
    #expect(peer.closed == .unfinishedMessage)
  }

  @Test func disconnectedPeerEndsAllCalls() throws {
    var peer = try TestPeer()
    peer.send(Self.follow)
    let call = peer.calls[0].id
    try peer.connection.reply(Line(line: "unread"), to: call, continues: true)
    peer.connection.disconnect()
    peer.advance()
    #expect(peer.closed == .peerClosed)
    #expect(!peer.connection.wantsWrite)
    #expect(try peer.connection.reply(Line(line: "x"), to: call, continues: true) == .ended)
    peer.send(Self.ping("x"))
    #expect(peer.calls.count == 1)
    #expect(peer.connection.next() == nil)
  }

  @Test func unauthorizedPeerIsRefused() throws {
    var peer = try TestPeer(refusal: ServiceError.permissionDenied)
    #expect(peer.read().isEmpty, "nothing is said before it asks")
    peer.send(#"{"method":"org.varlink.service.GetInfo"}"#)
    #expect(peer.read() == [#"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#])
    #expect(peer.closed == .refused)
  }

  @Test func upgradeHandsOverTheSocket() throws {
    var peer = try TestPeer()
    peer.send(bytes: Array(Self.ping("up", flags: #","upgrade":true"#).utf8) + [0] + Array("raw bytes".utf8))
    try peer.connection.upgrade(Ping(ping: "go"), call: peer.calls[0].id)
    #expect(!peer.connection.wantsRead)
    #expect(peer.upgraded == nil)
    #expect(peer.read() == [#"{"parameters":{"ping":"go"}}"#])
    #expect(peer.upgraded == Array("raw bytes".utf8))
    #expect(peer.connection.next() == nil)
  }

  @Test func unrequestedUpgradeIsAnOrdinaryReply() throws {
    var peer = try TestPeer()
    peer.send(Self.ping("1"))
    try peer.connection.upgrade(Ping(ping: "1"), call: peer.calls[0].id)
    #expect(peer.read().count == 1)
    #expect(peer.upgraded == nil && peer.connection.wantsRead)
  }

  @Test func unencodableReplyLeavesTheCallOpen() throws {
    var peer = try TestPeer()
    peer.send(Self.ping("1"))
    let call = peer.calls[0].id
    #expect(throws: VarlinkEncodingError.notObject("Array<Int>")) { try peer.connection.reply([1], to: call) }
    #expect(throws: VarlinkEncodingError.self) { try peer.connection.reply(["ping": Double.nan], to: call) }
    let error = #expect(throws: VarlinkEncodingError.self) { try peer.connection.reply(["ping": 1], to: call) }
    #expect(
      error?.description == "the reply does not conform to its interface: ping: must be a string, is a number")
    #expect(throws: VarlinkEncodingError.self) { try peer.connection.reply(Empty(), to: call) }
    struct Undeclared: VarlinkError, Encodable { var varlinkName: String { "org.example.ping.Surprise" } }
    #expect(throws: VarlinkEncodingError.self) { try peer.connection.fail(Undeclared(), call: call) }
    #expect(!peer.connection.wantsWrite && peer.connection.activeCall == call)
    try peer.connection.fail(NoPing(reason: "none"), call: call)
    #expect(peer.read() == [#"{"error":"org.example.ping.NoPing","parameters":{"reason":"none"}}"#])
  }
}
