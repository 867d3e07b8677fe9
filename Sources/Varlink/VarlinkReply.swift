/// A VarlinkReply is one encoded reply.
///
/// A server that sends the same reply to many clients encodes it once:
///
///     let reply = try VarlinkReply(event, continues: true)
///     for id in watchers.keys { watchers[id]?.send(reply, to: call) }
///
/// Source: Varlink, "Method Call", Reply.
public struct VarlinkReply: Hashable, Sendable {
  /// The JSON object followed by NUL.
  public let bytes: [UInt8]
  /// Whether more replies to the same call follow.
  public let continues: Bool
  /// The fully qualified name of the error; nil for a successful reply.
  public let errorName: String?

  /// Creates a reply with output parameters.
  ///
  /// - Parameter parameters: A value that encodes as an object.
  /// - Throws: ``VarlinkEncodingError`` if it does not encode as an object, or contains a number that is not finite.
  public init(_ parameters: some JSONWritable, continues: Bool = false) throws(VarlinkEncodingError) {
    self.continues = continues
    errorName = nil
    let object = try Self.object(parameters)
    bytes = Self.message(continues ? "{\"continues\":true,\"parameters\":" : "{\"parameters\":", object)
  }

  /// Creates an error reply, which is always the last of its call.
  ///
  /// Parameters that cannot be encoded are omitted, because the name must reach the peer.
  public init(error: some VarlinkError) {
    continues = false
    errorName = error.varlinkName
    let object = (try? Self.object(error)) ?? Array("{}".utf8)
    // Encoding a string cannot fail.
    let name = (try? JSONWriter.bytes(of: error.varlinkName)) ?? Array("\"\"".utf8)
    bytes = Self.message("{\"error\":\(String(decoding: name, as: UTF8.self)),\"parameters\":", object)
  }

  private static func message(_ head: String, _ object: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(head.utf8.count + object.count + 2)
    bytes += head.utf8
    bytes += object
    bytes += [UInt8(ascii: "}"), 0]
    return bytes
  }

  private static func object(_ value: some JSONWritable) throws(VarlinkEncodingError) -> [UInt8] {
    let bytes = try JSONWriter.bytes(of: value)
    guard bytes.first == UInt8(ascii: "{") else { throw .notObject("\(type(of: value))") }
    return bytes
  }
}

/// Why output parameters cannot be sent. The call still needs an answer.
public enum VarlinkEncodingError: Error, Hashable, CustomStringConvertible {
  /// The value cannot be encoded.
  case notEncodable(String)
  /// Parameters must encode as an object, and this type does not.
  case notObject(String)
  /// The reply differs from its declaration; detected if ``VarlinkService/checksReplies`` is set.
  case nonconforming(Mismatch)

  public var description: String {
    switch self {
    case .notEncodable(let reason): "the reply cannot be encoded: \(reason)"
    case .notObject(let type): "the reply's \(type) does not encode as an object"
    case .nonconforming(let mismatch): "the reply does not conform to its interface: \(mismatch)"
    }
  }
}

/// The parameters of a method or error that has none.
public struct Empty: JSONCodable, Hashable, Sendable {
  public init() {}

  public init(reading reader: inout JSONReader) throws(JSONFault) {
    try reader.beginObject()
    while try reader.nextName() != nil { try reader.skip() }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.endObject()
  }
}
