import Foundation
import Testing

@testable import Varlink

/// Values to JSON text and back, compared with the library's other coder.
@Suite struct JSONCodingTests {
  private struct Step: JSONCodable, Equatable {
    enum Kind: String, JSONCodable { case first, last }

    var kind: Kind
    var length: Double?
    var tags: [String]

    init(kind: Kind, length: Double?, tags: [String]) { (self.kind, self.length, self.tags) = (kind, length, tags) }

    init(reading reader: inout JSONReader) throws(JSONFault) {
      var (kind, length, tags): (Kind?, Double?, [String]?)
      try reader.beginObject()
      while let key = try reader.nextName() {
        switch key {
        case "kind": kind = try reader.value(of: key) as Kind
        case "length": length = try reader.value(of: key) as Double?
        case "tags": tags = try reader.value(of: key) as [String]
        default: try reader.skip()
        }
      }
      self.kind = try JSONReader.given(kind, "kind")
      self.length = length
      self.tags = try JSONReader.given(tags, "tags")
    }

    func write(to writer: inout JSONWriter) {
      writer.beginObject()
      writer.field("kind", kind)
      writer.field("length", length)
      writer.field("tags", tags)
      writer.endObject()
    }
  }

  @Test func valueReadsBack() throws {
    for step in [
      Step(kind: .first, length: nil, tags: []), Step(kind: .last, length: 2.5, tags: ["a", "\"\\\u{0}\u{1F}\u{8}\n"]),
      Step(kind: .last, length: -1e300, tags: ["žluťoučký 🐎", "\u{2028}/"]),
    ] {
      let bytes = try JSONWriter.bytes(of: ["steps": [step, step]])
      #expect(try JSONReader.read([String: [Step]].self, from: bytes) == ["steps": [step, step]])
    }
    let missing = try JSONWriter.bytes(of: Step(kind: .first, length: nil, tags: []))
    #expect(String(decoding: missing, as: UTF8.self) == #"{"kind":"first","tags":[]}"#, "what is nil is left out")
  }

  /// The scanner looks at eight bytes at once. Each byte is at each place, between bytes of three kinds.
  @Test(arguments: [UInt8(ascii: "a"), 0xA2, 0xFF])
  func bytesThatEndAStringAreFoundAtEachPlace(between filler: UInt8) throws {
    for length in 1...18 {
      for place in 0..<length {
        for byte in UInt8.min ... .max {
          var text = [UInt8](repeating: filler, count: length)
          text[place] = byte
          var scanner = JSONScanner([UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")], maxNesting: 1)
          let found = Result { () throws(JSONScanner.Fault) in try scanner.string() }
          switch byte {
          case UInt8(ascii: "\""): #expect(found == .success(1..<place + 1))
          case UInt8(ascii: "\\"): #expect(throws: JSONScanner.Fault.self) { try found.get() }
          case 0..<0x20: #expect(found == .failure(.syntax(at: place + 1)))
          default: #expect(found == .success(1..<length + 1))
          }
        }
      }
    }
    var endless = JSONScanner([UInt8(ascii: "\"")] + [UInt8](repeating: filler, count: 18), maxNesting: 1)
    #expect(throws: JSONScanner.Fault.syntax(at: 19)) { try endless.string() }
  }

  /// Strings of all kinds of scalars, as the library writes and reads them.
  @Test func textsMatchTheStandardCoder() throws {
    var generator = SystemRandomNumberGenerator()
    let edges: [ClosedRange<UInt32>] = [0...0x7F, 0x80...0x7FF, 0x2020...0x2030, 0xE000...0xFFFF, 0x1_0000...0x10_FFFF]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    for _ in 0..<2_000 {
      let scalars = (0..<8).map { _ in Unicode.Scalar(UInt32.random(in: edges.randomElement()!, using: &generator))! }
      let text = String(String.UnicodeScalarView(scalars))
      let bytes = try JSONWriter.bytes(of: [text])
      #expect(bytes == Array(try encoder.encode([text])))
      #expect(try JSONReader.read([String].self, from: bytes) == [text])
      // As others write them: each code unit escaped.
      let escaped = text.utf16.map { "\\u" + ("000" + String($0, radix: 16)).suffix(4) }.joined()
      #expect(try JSONReader.read([String].self, from: Array("[\"\(escaped)\"]".utf8)) == [text])
    }
  }

  @Test(arguments: [0, -0.5, 1, 1e15, 1e16, 1e-7, 123_456.789, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
  func numbersMatchTheStandardCoder(_ number: Double) throws {
    let bytes = try JSONWriter.bytes(of: [number])
    #expect(bytes == Array(try JSONEncoder().encode([number])))
    #expect(try JSONReader.read([Double].self, from: bytes) == [number])
  }

  @Test func wholeNumbersAreAcceptedInAnyNotation() throws {
    #expect(try JSONReader.read([Int].self, from: Array("[3, 3.0, 3e0, -0, 30e-1]".utf8)) == [3, 3, 3, 0, 3])
    for text in ["[0.5]", "[9223372036854775808]", "[1e19]", "[\"3\"]", "[true]", "[null]"] {
      #expect(throws: JSONFault.self) { try JSONReader.read([Int].self, from: Array(text.utf8)) }
    }
    #expect(throws: JSONFault.self) { try JSONReader.read([Double].self, from: Array("[1e999]".utf8)) }
  }

  @Test func nonFiniteNumbersAreRefused() {
    for number in [Double.infinity, -.infinity, .nan] {
      #expect(throws: VarlinkEncodingError.self) { try JSONWriter.bytes(of: [number]) }
    }
  }

  @Test(
    arguments: [
      (#"{"steps":[{"kind":"first","tags":[]},{"kind":"middle","tags":[]}]}"#, "steps[1].kind", .unfit),
      (#"{"steps":[{"kind":"first"}]}"#, "steps[0].tags", .missing),
      (#"{"steps":[{"kind":null,"tags":[]}]}"#, "steps[0].kind", .unfit),
      (#"{"steps":[{"kind":"last","tags":["a",1]}]}"#, "steps[0].tags[1]", .unfit),
      (#"{"steps":{}}"#, "steps", .unfit), (#"[]"#, "", .unfit), (#"{"steps":[}"#, "steps[0]", .syntax),
      (#"{"steps":[]} x"#, "", .syntax), ("{\"steps\":[],\"\u{1}\":1}", "", .syntax),
    ] as [(String, String, JSONFault.Reason)])
  func faultStatesItsPath(_ text: String, _ path: String, _ reason: JSONFault.Reason) {
    let fault = #expect(throws: JSONFault.self) {
      try JSONReader.read([String: [Step]].self, from: Array(text.utf8))
    }
    #expect(fault?.path == path && fault?.reason == reason, "\(fault as Any)")
    #expect(fault?.field == (path.isEmpty ? nil : "steps"))
  }

  @Test func unknownMembersAreIgnored() throws {
    let text = #"{"new":{"deep":[{"a":[null,1e5,"\""]}]},"kind":"first","kind":"last","tags":["x"],"length":null}"#
    #expect(try JSONReader.read(from: Array(text.utf8)) == Step(kind: .last, length: nil, tags: ["x"]))
  }

  @Test func hostileTextsAreRefused() {
    for bytes in [[UInt8]]([[0x22, 0xFF, 0x22], Array(repeating: 0x5B, count: 100_000), [0x22, 0x5C, 0x22], [0x00]]) {
      #expect(throws: JSONFault.self) { try JSONReader.read(JSON.self, from: bytes) }
    }
  }
}
