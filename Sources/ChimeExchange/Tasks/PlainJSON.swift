/// A PlainJSON is a JSON value with as much as a list of tasks needs: objects remember the line on which they begin.
///
/// Source: RFC 8259.
indirect enum PlainJSON: Equatable {
  case null
  case flag(Bool)
  /// The number as written.
  case number(String)
  case text(String)
  case list([PlainJSON])
  case object([String: PlainJSON], line: Int)

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var list: [PlainJSON]? { if case .list(let list) = self { list } else { nil } }

  subscript(name: String) -> PlainJSON? {
    if case .object(let members, _) = self { members[name] } else { nil }
  }

  init(_ bytes: [UInt8]) throws(ExchangeError) {
    var reader = Reader(bytes: bytes, at: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    self = try reader.value(depth: 0)
    reader.skip()
    guard reader.at == bytes.count else { throw reader.fault("expected the end of the JSON text") }
  }

  private struct Reader {
    let bytes: [UInt8]
    var at: Int
    var line = 1

    func fault(_ message: String) -> ExchangeError { ExchangeError(line: line, message) }

    mutating func skip() {
      while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) {
        if bytes[at] == 0x0A { line += 1 }
        at += 1
      }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
      skip()
      guard at < bytes.count, bytes[at] == byte else { return false }
      at += 1
      return true
    }

    mutating func value(depth: Int) throws(ExchangeError) -> PlainJSON {
      skip()
      guard depth < 64 else { throw fault("the JSON text is nested deeper than 64 levels") }
      guard at < bytes.count else { throw fault("the JSON text ends too early") }
      switch bytes[at] {
      case UInt8(ascii: "{"):
        let start = line
        at += 1
        var members: [String: PlainJSON] = [:]
        if take(UInt8(ascii: "}")) { return .object([:], line: start) }
        repeat {
          skip()
          let name = try string()
          guard take(UInt8(ascii: ":")) else { throw fault("expected a colon") }
          members[name] = try value(depth: depth + 1)
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault("expected a comma or }") }
        return .object(members, line: start)
      case UInt8(ascii: "["):
        at += 1
        var elements: [PlainJSON] = []
        if take(UInt8(ascii: "]")) { return .list([]) }
        repeat { elements.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault("expected a comma or ]") }
        return .list(elements)
      case UInt8(ascii: "\""): return .text(try string())
      default:
        let word = bytes[at...].prefix {
          (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || [0x2B, 0x2D, 0x2E, 0x45].contains($0)
        }
        at = word.endIndex
        switch String(decoding: word, as: UTF8.self) {
        case "null": return .null
        case "true": return .flag(true)
        case "false": return .flag(false)
        case let text where Double(text) != nil: return .number(text)
        default: throw fault("expected a JSON value")
        }
      }
    }

    private mutating func string() throws(ExchangeError) -> String {
      guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw fault("expected a string") }
      at += 1
      var text: [UInt8] = []
      while at < bytes.count {
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard at < bytes.count else { break }
          let escape = bytes[at]
          at += 1
          let plain: [UInt8: UInt8] = [
            0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
          ]
          if let byte = plain[escape] {
            text.append(byte)
          } else if escape == UInt8(ascii: "u"), let scalar = scalar() {
            text += Array(String(Character(scalar)).utf8)
          } else {
            throw fault("this is not a JSON escape")
          }
        case 0x0A: throw fault("the string does not end on its line")
        default: text.append(byte)
        }
      }
      throw fault("the string does not end")
    }

    /// Reads the digits after `\u`. A lone surrogate becomes U+FFFD.
    private mutating func scalar() -> Unicode.Scalar? {
      guard let high = unit() else { return nil }
      if (0xD800..<0xDC00).contains(high), at + 1 < bytes.count, bytes[at] == 0x5C, bytes[at + 1] == 0x75 {
        let before = at
        at += 2
        if let low = unit(), (0xDC00..<0xE000).contains(low) {
          return Unicode.Scalar(0x1_0000 + (high - 0xD800) << 10 + (low - 0xDC00))
        }
        at = before
      }
      return Unicode.Scalar(high) ?? "\u{FFFD}"
    }

    private mutating func unit() -> UInt32? {
      guard at + 4 <= bytes.count, let number = UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
      else {
        return nil
      }
      at += 4
      return number
    }
  }
}
