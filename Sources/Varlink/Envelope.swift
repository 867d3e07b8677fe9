/// The outer object of a message, a call or a reply, with the place of its parameters in the bytes.
///
/// Members it does not know are passed over: "local vendor-specific extensions" are allowed (Varlink, "Method Call").
/// One of its own that occurs twice makes a message malformed: two readers would see two different calls.
struct Envelope {
  /// Why a message is refused.
  enum Fault: Error, Hashable {
    /// Not JSON text in UTF-8, at this byte offset.
    case malformed(at: Int)
    /// JSON, but no object.
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

  /// Reads the envelope of one message and checks the grammar of all of it.
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

  /// Reads one member and passes its value; says whether it had the right type.
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
