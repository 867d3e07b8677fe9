import Testing
import Varlink

/// Invalid input from a peer, by mistake or on purpose: each kind gets its defined reaction.
@Suite struct HostileInputTests {
  /// A message, and the parameter that its error names, after which the connection is closed.
  struct Fatal: Sendable, CustomTestStringConvertible {
    var message: [UInt8]
    var parameter: String
    var reason: ServerConnection.CloseReason?
    var testDescription: String { String(decoding: message.prefix(60), as: UTF8.self) }

    init(_ message: String, _ parameter: String = "message", reason: ServerConnection.CloseReason? = nil) {
      self.init(bytes: Array(message.utf8), parameter, reason: reason)
    }

    init(bytes: [UInt8], _ parameter: String = "message", reason: ServerConnection.CloseReason? = nil) {
      message = bytes
      self.parameter = parameter
      self.reason = reason
    }
  }

  private static func ping(_ value: String) -> String {
    #"{"method":"org.example.ping.Ping","parameters":{"ping":\#(value)}}"#
  }

  static let fatal: [Fatal] = [
    Fatal(""),
    Fatal(" "),
    Fatal("nonsense"),
    Fatal("{"),
    Fatal("}"),
    Fatal("{}}"),
    Fatal("{} {}"),
    Fatal("{,}"),
    Fatal(#"{"a":1,}"#),
    Fatal(#"{"a" 1}"#),
    Fatal(#"{"a":}"#),
    Fatal(#"{a:1}"#),
    Fatal(#"{'a':1}"#),
    Fatal(#"{"a":1 "b":2}"#),
    Fatal(#"{"a":[1,]}"#),
    Fatal(#"{"a":[1 2]}"#),
    Fatal(#"{"a":[1}"#),
    Fatal(#"{"a":tru}"#),
    Fatal(#"{"a":nul}"#),
    Fatal(#"{"a":NaN}"#),
    Fatal(#"{"a":+1}"#),
    Fatal(#"{"a":01}"#),
    Fatal(#"{"a":1.}"#),
    Fatal(#"{"a":.5}"#),
    Fatal(#"{"a":1e}"#),
    Fatal(#"{"a":-}"#),
    Fatal(#"{"a":0x10}"#),
    Fatal("{\"a\":\"line\nbreak\"}"),
    Fatal("{\"a\":\"\u{1}\"}"),
    Fatal(#"{"a":"\x"}"#),
    Fatal(#"{"a":"\u12g4"}"#),
    Fatal(#"{"a":"\u12"}"#),
    Fatal(#"{"a":"open}"#),
    Fatal("\u{FEFF}{}"),
    Fatal("// comment\n{}"),
    Fatal(ping(#""\ud83c""#)),
    Fatal(ping(#""\udf75\ud83c""#)),
    Fatal(ping(#""\ud83cx""#)),
    Fatal(ping(#""\ud83c\n""#)),
    Fatal(ping(#""\ud83c\u0041""#)),
    Fatal(bytes: Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8)),
    Fatal(bytes: Array(#"{"a":""#.utf8) + [0xC0, 0x80] + Array(#""}"#.utf8)),
    Fatal(bytes: Array(#"{"a":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}"#.utf8)),
    Fatal(bytes: Array(#"{"a":""#.utf8) + [0xF0, 0x9F] + Array(#""}"#.utf8)),
    Fatal("[]", reason: .malformed("no object")),
    Fatal("[{}]", reason: .malformed("no object")),
    Fatal("null", reason: .malformed("no object")),
    Fatal("1", reason: .malformed("no object")),
    Fatal(#""text""#, reason: .malformed("no object")),
    Fatal("{}", "method"),
    Fatal(#"{"method":null}"#, "method"),
    Fatal(#"{"method":5}"#, "method"),
    Fatal(#"{"method":["a"]}"#, "method"),
    Fatal(#"{"method":"a.b.C","parameters":[]}"#, "parameters"),
    Fatal(#"{"method":"a.b.C","parameters":"x"}"#, "parameters"),
    Fatal(#"{"method":"a.b.C","more":"yes"}"#, "more"),
    Fatal(#"{"method":"a.b.C","more":1}"#, "more"),
    Fatal(#"{"method":"a.b.C","oneway":{}}"#, "oneway"),
    Fatal(#"{"method":"a.b.C","upgrade":0}"#, "upgrade"),
    Fatal(#"{"method":"a.b.C","oneway":true,"more":true}"#, "oneway"),
    Fatal(#"{"method":"a.b.C","oneway":true,"upgrade":true}"#, "oneway"),
    Fatal(#"{"method":"a.b.C","method":"a.b.D"}"#),
    Fatal(#"{"method":"a.b.C","\u006dethod":"a.b.D"}"#),
    Fatal(String(repeating: "[", count: 100_000), reason: .tooDeep),
    Fatal(String(repeating: #"{"a":"#, count: 100_000), reason: .tooDeep),
    Fatal(#"{"method":"a.b.C","parameters":"# + String(repeating: #"{"a":"#, count: 64), reason: .tooDeep),
    Fatal(String(repeating: " ", count: (1 << 20) + 1), reason: .tooLarge),
  ]

  @Test(arguments: fatal) func errorClosesTheConnection(_ fatal: Fatal) throws {
    var peer = try TestPeer()
    peer.send(bytes: fatal.message + [0])
    peer.send(#"{"method":"org.varlink.service.GetInfo"}"#)
    #expect(peer.calls.isEmpty)
    #expect(peer.closed == nil, "the error is still to be written")
    #expect(!peer.connection.wantsRead)
    let error = #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(fatal.parameter)"}}"#
    #expect(peer.read() == [error])
    let closed = try #require(peer.closed)
    if let reason = fatal.reason { #expect(closed == reason) }
  }

  @Test func singleBytesGiveTheSameReaction() throws {
    for fatal in Self.fatal where fatal.message.count < 100 {
      var peer = try TestPeer()
      for byte in fatal.message + [0] { peer.send(bytes: [byte]) }
      #expect(peer.read().count == 1)
      #expect(peer.closed != nil)
    }
  }

  @Test func earlierCallsAreAnsweredFirst() throws {
    var peer = try TestPeer()
    peer.send(bytes: Array(Self.ping(#""1""#).utf8) + [0] + Array("garbage".utf8) + [0])
    #expect(!peer.connection.wantsWrite)
    try peer.connection.reply(Ping(ping: "1"), to: peer.calls[0].id)
    peer.advance()
    let replies = peer.read()
    #expect(replies.count == 2)
    #expect(replies.first == #"{"parameters":{"ping":"1"}}"#)
  }

  /// Calls that do not match their declaration are refused, and the connection continues.
  @Test(arguments: [
    ("Ping", #"{}"#, "ping"),
    ("Ping", #"{"ping":null}"#, "ping"),
    ("Ping", #"{"ping":1}"#, "ping"),
    ("Ping", #"{"ping":"a","pong":"b"}"#, "pong"),
    ("Ping", #"{"ping":"a","ping":"b"}"#, "ping"),
    ("Configure", #"{"options":[]}"#, "options"),
    ("Configure", #"{"options":{"tags":[]}}"#, "options.depth"),
    ("Configure", #"{"options":{"depth":"3","tags":[]}}"#, "options.depth"),
    ("Configure", #"{"options":{"depth":3.5,"tags":[]}}"#, "options.depth"),
    ("Configure", #"{"options":{"depth":9223372036854775808,"tags":[]}}"#, "options.depth"),
    ("Configure", #"{"options":{"depth":1e400,"tags":[]}}"#, "options.depth"),
    ("Configure", #"{"options":{"depth":3,"tags":["a",5]}}"#, "options.tags[1]"),
    ("Configure", #"{"options":{"depth":3,"tags":[null]}}"#, "options.tags[0]"),
    ("Configure", #"{"options":{"depth":3,"tags":{}}}"#, "options.tags"),
    ("Configure", #"{"options":{"depth":3,"tags":[],"color":"blue"}}"#, "options.color"),
    ("Configure", #"{"options":{"depth":3,"tags":[],"colour":"red"}}"#, "options.colour"),
    ("Configure", #"{"options":{"depth":3,"tags":[]},"extra":[1]}"#, "extra"),
    ("Follow", #"{"lines":3}"#, "lines"),
  ])
  func callsMustMatchTheirDeclaration(method: String, parameters: String, parameter: String) throws {
    var peer = try TestPeer()
    peer.send(#"{"method":"org.example.ping.\#(method)","more":true,"parameters":\#(parameters)}"#)
    #expect(peer.calls.isEmpty)
    let error = #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(parameter)"}}"#
    #expect(peer.read() == [error])
    #expect(peer.closed == nil && peer.connection.wantsRead)
  }

  @Test(arguments: [
    #"{"options":{"depth":3,"tags":[]}}"#,
    #"{"options":{"depth":3.0,"tags":[],"color":null},"extra":null}"#,
    #"{"options":{"depth":-9223372036854775808,"tags":["\ud83c\udf75"],"color":"red"},"extra":{"a":[{"b":null}]}}"#,
    #"{"options":{"d\u0065pth":3e2,"tags":["a","b"]}}"#,
  ])
  func declaredParametersAreAccepted(parameters: String) throws {
    var peer = try TestPeer()
    peer.send(#"{"method":"org.example.ping.Configure","parameters":\#(parameters)}"#)
    let call = try #require(peer.calls.first)
    #expect(try call.parameters(JSON.self) == JSON(parsing: parameters))
    try peer.connection.reply(Empty(), to: call.id)
    #expect(peer.read() == [#"{"parameters":{}}"#])
  }

  @Test(arguments: [
    (#"{"method":"org.example.ping.Nothing"}"#, "MethodNotFound", "method", "org.example.ping.Nothing"),
    (#"{"method":"org.example.ping.NoPing"}"#, "MethodNotFound", "method", "org.example.ping.NoPing"),
    (#"{"method":"org.example.ping."}"#, "MethodNotFound", "method", "org.example.ping."),
    (#"{"method":"Ping"}"#, "MethodNotFound", "method", "Ping"),
    (#"{"method":""}"#, "MethodNotFound", "method", ""),
    (#"{"method":"org.example.pong.Ping"}"#, "InterfaceNotFound", "interface", "org.example.pong"),
    (#"{"method":".Ping"}"#, "InterfaceNotFound", "interface", ""),
    (#"{"method":"org.varlink.service.Nothing"}"#, "MethodNotFound", "method", "org.varlink.service.Nothing"),
  ])
  func unknownMethodsAndInterfacesAreNamed(message: String, error: String, key: String, value: String) throws {
    var peer = try TestPeer()
    peer.send(message)
    #expect(peer.read() == [#"{"error":"org.varlink.service.\#(error)","parameters":{"\#(key)":"\#(value)"}}"#])
    #expect(peer.closed == nil)
  }

  @Test func callsOfOtherClientsAreAccepted() throws {
    var peer = try TestPeer()
    let calls = [
      #"{"method":"org.varlink.service.GetInfo","more":false,"parameters":{}}"#,
      #"{"method":"org.varlink.service.GetInfo","parameters":null,"more":null,"oneway":null,"upgrade":null}"#,
      #" { "org.example.extension" : { "a" : [ ] } , "method" : "org.varlink.service.GetInfo" } "#,
      "{\"method\":\"org.varlink.service.GetInfo\"}\n",
      #"{"\u006dethod":"org.varlink.service.GetInfo","upgrade":false}"#,
      #"{"method":"org.varlink.service.GetInfo","more":true}"#,
    ]
    for call in calls {
      peer.send(call)
      let replies = peer.read()
      #expect(replies.count == 1 && replies[0].hasPrefix(#"{"parameters":{"interfaces":"#), "\(call)")
    }
  }

  @Test func nestingUpToTheLimitIsAccepted() throws {
    var peer = try TestPeer(limits: VarlinkLimits(maxNesting: 8))
    let start = #"{"method":"org.example.ping.Configure","parameters":{"options":{"depth":1,"tags":[]},"extra":{"a":"#
    peer.send(start + "[[[[[]]]]]}}}")
    #expect(peer.calls.count == 1)
    try peer.connection.reply(Empty(), to: peer.calls[0].id)
    #expect(peer.read().count == 1)
    peer.send(start + "[[[[[[]]]]]]}}}")
    _ = peer.read()
    #expect(peer.closed == .tooDeep)
  }

  @Test func messageOfTheLargestSizeIsAccepted() throws {
    var peer = try TestPeer()
    let frame = Self.ping(#""""#)
    let text = String(repeating: "x", count: (1 << 20) - frame.utf8.count)
    peer.send(Self.ping(#""\#(text)""#))
    #expect(try peer.calls.first?.parameters(Ping.self).ping.utf8.count == text.utf8.count)
  }

  /// However a whole number is written, it is one; the decoder itself tells some apart by their exponent.
  @Test(arguments: ["9007199254740994", "9.007199254740994e15", "9007199254740994.0", "90071992547409940e-1"])
  func wholeNumbersAreAcceptedInAnyNotation(text: String) throws {
    #expect(try JSON(parsing: text) == .int(9_007_199_254_740_994))
    #expect(try JSON(parsing: JSON(parsing: text).description) == JSON(parsing: text))
  }
}
