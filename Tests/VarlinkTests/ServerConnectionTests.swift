import Testing
import Varlink

/// The calls of one connection, driven without a socket.
@Suite struct ServerConnectionTests {
  @Test func answersPing() throws {
    var peer = try TestPeer()
    peer.send(#"{"method":"org.example.ping.Ping","parameters":{"ping":"hi"}}"#)
    let call = try #require(peer.calls.first)
    #expect(try call.parameters(Ping.self).ping == "hi")
    try peer.connection.reply(Ping(ping: "hi"), to: call.id)
    #expect(peer.read() == [#"{"parameters":{"ping":"hi"}}"#])
  }
}
