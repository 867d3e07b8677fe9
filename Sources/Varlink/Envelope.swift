/// An Envelope is the outer object of a call or reply, with the position of its parameters in the bytes.
///
/// Unknown members are ignored, because "local vendor-specific extensions" are allowed (Varlink, "Method Call"). A
/// known member that occurs twice makes a message malformed: two readers could see two different calls.
struct Envelope {
  /// Why a message is refused.
  enum Fault: Error, Hashable {
    /// Not UTF-8 JSON; the byte offset of the error.
    case malformed(at: Int)
    /// JSON, but not an object.
    case notObject
    /// Nested deeper than allowed.
    case tooDeep
    /// A member of the envelope has the wrong type.
    case member(String)

    init(_ fault: JSONScanner.Fault) {
      switch fault {
      case .syntax(let offset): self = .malformed(at: offset)
      case .tooDeep: self = .tooDeep
      }
    }
  }

  private(set) var method: String?
  private(set) var error: String?
  private(set) var parameters: Range<Int>?
  private(set) var oneway = false
  private(set) var more = false
  private(set) var upgrade = false
  private(set) var continues = false

  /// Parses the envelope of a message and checks the syntax of the whole message.
  init(_ bytes: [UInt8], maxNesting: Int) throws(Fault) {
    guard (try? UTF8Span(validating: bytes.span)) != nil else { throw .malformed(at: 0) }
    var scanner = JSONScanner(bytes, maxNesting: maxNesting)
    var seen: [String] = []
    var wrongMember: String?
    do throws(JSONScanner.Fault) {
      let isObject = try scanner.peek() == .object
      if isObject {
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
          let name = scanner.text(key)
          if Self.names.contains(name) {
            guard !seen.contains(name) else { throw JSONScanner.Fault.syntax(at: key.lowerBound) }
            seen.append(name)
          }
          if try !readMember(name, from: &scanner) { wrongMember = wrongMember ?? name }
        }
      } else {
        try scanner.skipValue()
      }
      try scanner.expectEnd()
      if !isObject { wrongMember = "" }
    } catch { throw Fault(error) }
    if let wrongMember { throw wrongMember.isEmpty ? .notObject : .member(wrongMember) }
  }

  /// Reads the value of a member. Returns whether its type is right.
  private mutating func readMember(
    _ name: String, from scanner: inout JSONScanner
  ) throws(JSONScanner.Fault) -> Bool {
    let kind = try scanner.peek()
    switch (name, kind) {
    case (_, .null): try scanner.null()
    case ("method", .string): method = scanner.text(try scanner.string())
    case ("error", .string): error = scanner.text(try scanner.string())
    case ("parameters", .object): parameters = try scanner.skipValue()
    case ("oneway", .bool): oneway = try scanner.bool()
    case ("more", .bool): more = try scanner.bool()
    case ("upgrade", .bool): upgrade = try scanner.bool()
    case ("continues", .bool): continues = try scanner.bool()
    default:
      try scanner.skipValue()
      return !Self.names.contains(name)
    }
    return true
  }

  private static let names = ["method", "error", "parameters", "oneway", "more", "upgrade", "continues"]
}
