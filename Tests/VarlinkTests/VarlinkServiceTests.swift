import Testing
import Varlink

@Suite struct VarlinkServiceTests {
  @Test func serviceDescribesItself() throws {
    var peer = try TestPeer()
    peer.send(#"{"method":"org.varlink.service.GetInfo"}"#)
    #expect(
      peer.read() == [
        #"{"parameters":{"interfaces":["org.varlink.service","org.example.ping"],"product":"Tests","#
          + #""url":"https://example.org/","vendor":"Example","version":"1"}}"#
      ])
    peer.send(
      #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.ping"}}"#)
    let reply = try JSON(parsing: #require(peer.read().first))
    #expect(reply["parameters"]?["description"] == .string(TestPeer.definition), "the text as it was registered")
    peer.send(
      #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.varlink.service"}}"#)
    guard case .string(let text)? = try JSON(parsing: #require(peer.read().first))["parameters"]?["description"]
    else {
      Issue.record("no description")
      return
    }
    let own = try Interface(parsing: text)
    #expect(
      own.members.map(\.name) == [
        "GetInfo", "GetInterfaceDescription", "InterfaceNotFound", "MethodNotFound", "MethodNotImplemented",
        "InvalidParameter", "PermissionDenied", "ExpectedMore",
      ])
  }

  @Test(arguments: [
    (#","parameters":{"interface":"org.example.none"}"#, "InterfaceNotFound", "interface", "org.example.none"),
    (#","parameters":{"interface":7}"#, "InvalidParameter", "parameter", "interface"),
    ("", "InvalidParameter", "parameter", "interface"),
  ])
  func unknownInterfaceIsNotDescribed(parameters: String, error: String, key: String, value: String) throws {
    var peer = try TestPeer()
    peer.send(#"{"method":"org.varlink.service.GetInterfaceDescription"\#(parameters)}"#)
    #expect(peer.read() == [#"{"error":"org.varlink.service.\#(error)","parameters":{"\#(key)":"\#(value)"}}"#])
  }

  @Test func interfaceIsRegisteredOnceWithAllMethods() throws {
    var service = try TestPeer.service()
    #expect(service.interfaces == ["org.varlink.service", "org.example.ping"])
    #expect(service.interface("org.example.ping")?.method("Ping") != nil)
    #expect(throws: VarlinkService.RegistrationError.duplicate(interface: "org.example.ping")) {
      try service.register(TestPeer.definition)
    }
    #expect(throws: VarlinkService.RegistrationError.unknownMethod("Watch")) {
      try service.register("interface a.b\nmethod Look() -> ()", requiringMore: ["Watch"])
    }
    let error = #expect(throws: VarlinkService.RegistrationError.self) { try service.register("interface a") }
    #expect(error?.description.hasPrefix("the interface definition is at fault: 1:11: expected an interface") == true)
    #expect(service.interfaces.count == 2, "what failed has left nothing behind")
  }

  @Test func standardErrorsKeepTheirParameters() throws {
    let errors: [(ServiceError, String)] = [
      (.interfaceNotFound(interface: "a.b"), #"InterfaceNotFound","parameters":{"interface":"a.b"}"#),
      (.methodNotFound(method: "a.b.C"), #"MethodNotFound","parameters":{"method":"a.b.C"}"#),
      (.methodNotImplemented(method: "a.b.C"), #"MethodNotImplemented","parameters":{"method":"a.b.C"}"#),
      (.invalidParameter(parameter: "a[1]/b"), #"InvalidParameter","parameters":{"parameter":"a[1]/b"}"#),
      (.permissionDenied, #"PermissionDenied","parameters":{}"#),
      (.expectedMore, #"ExpectedMore","parameters":{}"#),
    ]
    for (error, text) in errors {
      let reply = VarlinkReply(error: error)
      #expect(String(decoding: reply.bytes, as: UTF8.self) == #"{"error":"org.varlink.service.\#(text)}"# + "\0")
      #expect(reply.errorName == error.varlinkName && !reply.continues)
    }
  }

  @Test func jsonKeepsItsValues() throws {
    let text = #"{"a":[1,-2,0.5,"\n\"é\/",true,null,{"b":[]}],"n":9223372036854775807}"#
    let value = try JSON(parsing: text)
    #expect(
      value == [
        "a": [1, -2, 0.5, "\n\"é/", true, nil, ["b": []]], "n": 9_223_372_036_854_775_807,
      ])
    #expect(value.description == #"{"a":[1,-2,0.5,"\n\"é/",true,null,{"b":[]}],"n":9223372036854775807}"#)
    #expect(try JSON(parsing: value.description) == value)
    #expect(try JSON(parsing: "1.0") == 1 && JSON(parsing: "1e2") == 100)
    #expect(try JSON(parsing: "9223372036854775808") == .double(9_223_372_036_854_775_808))
    #expect(JSON.double(.nan).description == "null")
    #expect(throws: (any Error).self) { try JSON(parsing: "{") }
  }
}
