import Testing
import Varlink

@Suite struct MessageFramerTests {
  private static func messages(_ pieces: [[UInt8]], limit: Int = 64) throws -> [String] {
    var framer = MessageFramer(maxMessageBytes: limit)
    var messages: [String] = []
    for piece in pieces {
      framer.append(piece.span)
      while let message = try framer.next() { messages.append(String(decoding: message, as: UTF8.self)) }
    }
    return messages
  }

  @Test(arguments: [
    ("", []),
    ("a", []),
    ("a\0", ["a"]),
    ("\0", [""]),
    ("\0\0", ["", ""]),
    ("a\0b\0", ["a", "b"]),
    ("{\"a\":1}\0{\"b\":2}\0{", ["{\"a\":1}", "{\"b\":2}"]),
    ("é\0\u{1F375}\0", ["é", "\u{1F375}"]),
  ])
  func messagesAreFramedHoweverTheBytesArrive(stream: String, expected: [String]) throws {
    let bytes = Array(stream.utf8)
    for split in 0...bytes.count {
      #expect(try Self.messages([Array(bytes[..<split]), Array(bytes[split...])]) == expected, "split at \(split)")
    }
    #expect(try Self.messages(bytes.map { [$0] }) == expected, "byte by byte")
  }

  @Test func sizeLimitIsExact() throws {
    let exact = [UInt8](repeating: 0x20, count: 8) + [0]
    #expect(try Self.messages([exact], limit: 8) == ["        "])
    #expect(throws: MessageFramer.TooLarge.self) { try Self.messages([[0x20] + exact], limit: 8) }
    #expect(throws: MessageFramer.TooLarge.self) {
      try Self.messages(([0x20] + exact).map { [$0] }, limit: 8)
    }
  }

  @Test func messagesBeforeAnOversizedOneAreDelivered() throws {
    var framer = MessageFramer(maxMessageBytes: 4)
    framer.append(Array("ok\0far too long".utf8).span)
    #expect(framer.bufferedBytes == 3, "the oversized part is not kept")
    #expect(try framer.next() == Array("ok".utf8))
    #expect(throws: MessageFramer.TooLarge.self) { try framer.next() }
    framer.append(Array("\0ok\0".utf8).span)
    #expect(throws: MessageFramer.TooLarge.self, "nothing is read after it") { try framer.next() }
  }

  @Test func unfinishedMessageHasItsNumber() throws {
    var framer = MessageFramer()
    #expect(framer.unfinishedMessage == nil)
    framer.append(Array("a".utf8).span)
    #expect(framer.unfinishedMessage == 0)
    framer.append(Array("b".utf8).span)
    #expect(framer.unfinishedMessage == 0, "still the same message")
    framer.append(Array("\0".utf8).span)
    #expect(framer.unfinishedMessage == nil)
    framer.append(Array("\0c".utf8).span)
    #expect(framer.unfinishedMessage == 2)
    #expect(try framer.next() == Array("ab".utf8))
    #expect(framer.unfinishedMessage == 2)
  }

  /// A framer that searched or moved its buffer for each piece would need hours.
  @Test(.timeLimit(.minutes(5))) func longMessageByteByByteTakesLinearTime() throws {
    let size = ProofTier.amount(quick: 1 << 16, proof: 1 << 20)
    var framer = MessageFramer(maxMessageBytes: size)
    let piece: [UInt8] = [0x20]
    for _ in 0..<size {
      framer.append(piece.span)
      #expect(framer.unfinishedMessage == 0)
    }
    #expect(try framer.next() == nil)
    framer.append([0].span)
    #expect(try framer.next()?.count == size)
    #expect(framer.bufferedBytes == 0)
  }

  @Test(.timeLimit(.minutes(5))) func manyTinyMessagesTakeLinearTime() throws {
    let count = ProofTier.amount(quick: 1 << 14, proof: 1 << 18)
    var framer = MessageFramer()
    framer.append([UInt8](repeating: 0, count: count).span)
    var taken = 0
    while let message = try framer.next() {
      #expect(message.isEmpty)
      taken += 1
    }
    #expect(taken == count)
  }
}
