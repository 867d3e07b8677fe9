import FoundationEssentials

// Codable types need only declare the conformance:
//
//     struct Ping: Codable, JSONCodable { var ping: String }

extension JSONReadable where Self: Decodable {
  public init(reading reader: inout JSONReader) throws(JSONFault) {
    let text = try reader.text()
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text))
    } catch {
      throw JSONFault(error)
    }
  }
}

extension JSONWritable where Self: Encodable {
  public func write(to writer: inout JSONWriter) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    writer.append((try? encoder.encode(self)).map(Array.init))
  }
}

extension JSONFault {
  fileprivate init(_ error: any Error) {
    switch error {
    case DecodingError.keyNotFound(let key, let context): self.init(.missing, context.codingPath + [key])
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      self.init(.unfit, context.codingPath)
    default: self.init(.unfit)
    }
  }

  private init(_ reason: Reason, _ path: [any CodingKey]) {
    self = path.reversed().reduce(JSONFault(reason)) { fault, key in
      fault.within(key.intValue.map { "[\($0)]" } ?? key.stringValue)
    }
  }
}
