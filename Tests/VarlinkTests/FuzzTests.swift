import Testing
import Varlink

/// The SplitMix64 generator: the same numbers for the same seed, so that a failure can be repeated.
private struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension [UInt8] {
  /// Returns the bytes after a few random cuts, copies and changes.
  fileprivate func mutated(_ generator: inout SeededGenerator, alphabet: [UInt8]) -> [UInt8] {
    var bytes = self
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      let end = Swift.min(bytes.count, place + Int.random(in: 1...8, using: &generator))
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: bytes.removeSubrange(place..<end)
      case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 2: bytes[place] = alphabet.randomElement(using: &generator) ?? 0
      case 3: bytes.insert(alphabet.randomElement(using: &generator) ?? 0, at: place)
      default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      }
    }
    return bytes
  }
}

/// Random damage to valid input: nothing crashes, and the invariants hold.
@Suite struct FuzzTests {
  private static let messages = [
    #"{"method":"org.example.ping.Ping","parameters":{"ping":"h\u00e9\ud83c\udf75\n"}}"#,
    #"{"method":"org.example.ping.Follow","more":true,"oneway":false}"#,
    #"{"method":"org.example.ping.Configure","parameters":{"options":{"depth":-1.5e3,"tags":["a","b"],"color":"red"}}}"#,
    #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example.ping"}}"#,
    #"{"method":"org.example.ping.Configure","parameters":{"options":{"depth":1,"tags":[]},"extra":{"a":[[null]]}}}"#,
  ]

  @Test(arguments: 1...ProofTier.amount(quick: 4, proof: 100)) func connectionKeepsItsInvariants(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("\0{}[]\",:\\u0189aeE+-.tfn \u{7f}é".utf8)
    let limits = VarlinkLimits(maxMessageBytes: 512, maxNesting: 6, maxQueuedBytes: 2048)
    for _ in 0..<100 {
      var peer = try TestPeer(limits: limits)
      var answered = 0
      while peer.closed == nil, answered < 50 {
        guard let message = Self.messages.randomElement(using: &generator) else { return }
        var bytes = Array(message.utf8) + [0]
        if Bool.random(using: &generator) { bytes = bytes.mutated(&generator, alphabet: alphabet) }
        let split = Int.random(in: 0...bytes.count, using: &generator)
        peer.send(bytes: Array(bytes[..<split]))
        peer.send(bytes: Array(bytes[split...]))
        while answered < peer.calls.count {
          let call = peer.calls[answered]
          // What the scanner accepts, the decoder must read.
          #expect(throws: Never.self) { try call.parameters(JSON.self) }
          try peer.connection.fail(ServiceError.methodNotImplemented(method: call.method), call: call.id)
          answered += 1
          peer.advance()
        }
        #expect(peer.connection.queuedBytes < limits.maxQueuedBytes + 2048)
        for reply in peer.read() { #expect(throws: Never.self, "\(reply)") { try JSON(parsing: reply) } }
        if Int.random(in: 0..<40, using: &generator) == 0 { peer.connection.receiveEnd() }
        peer.advance()
      }
      peer.send(Self.messages[0])
      if peer.closed != nil { #expect(peer.calls.count == answered && !peer.connection.wantsWrite) }
    }
  }

  @Test(arguments: 1...ProofTier.amount(quick: 4, proof: 100)) func definitionsAreParsedOrRefused(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("()[]?:,->#\n\r ABab_.19é".utf8)
    var accepted = 0
    for _ in 0..<100 {
      let bytes = Array(InterfaceTests.everything.utf8).mutated(&generator, alphabet: alphabet)
      let text = String(decoding: bytes, as: UTF8.self)
      do {
        let interface = try Interface(parsing: text)
        #expect(try Interface(parsing: interface.description) == interface, "\(text)")
        accepted += 1
      } catch {
        #expect(error.line >= 1 && error.column >= 1)
      }
    }
    #expect(accepted > 0, "some damage is harmless")
  }
}
