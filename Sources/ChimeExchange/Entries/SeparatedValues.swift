/// Comma-separated values.
///
/// Source: RFC 4180. Beyond it, as people's files need it: lines may end with LF alone, the text may begin with a byte order
/// mark, empty lines are passed over, and the header may say that fields are parted by semicolons or tabs.
enum SeparatedValues {
  /// The longest text that is read, in bytes.
  static let maximumLength = 64 << 20

  struct Record {
    /// Where it begins, from 1.
    var line: Int
    var fields: [String]
  }

  /// All records, the header's as the first.
  ///
  /// - Throws: ``ExchangeError`` with the line at fault.
  static func read(_ text: [UInt8]) throws(ExchangeError) -> [Record] {
    guard text.count <= maximumLength else {
      throw ExchangeError(line: nil, "the text is longer than \(maximumLength >> 20) MiB")
    }
    var reader = Reader(text)
    var records: [Record] = []
    while let record = try reader.record() {
      if record.fields != [""] { records.append(record) }
    }
    return records
  }

  /// One record with its line end, CRLF.
  static func line(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") + "\r\n" }

  private static func quoted(_ field: String) -> String {
    let needsQuotes =
      field.utf8.first == 0x20 || field.utf8.last == 0x20
      || field.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0D || $0 == 0x0A || $0 == 0x3B || $0 == 0x09 }
    guard needsQuotes else { return field }
    // By bytes: as a character, a quote may be one with what stands beside it.
    var bytes = [UInt8(ascii: "\"")]
    for byte in field.utf8 {
      if byte == UInt8(ascii: "\"") { bytes.append(byte) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
  }

  private struct Reader {
    let text: [UInt8]
    var index: Int
    var line = 1
    /// What parts fields: as the first line has it.
    let separator: UInt8

    init(_ text: [UInt8]) {
      self.text = text
      index = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      let first = text[index...].prefix { $0 != 0x0A && $0 != 0x0D }
      separator = first.contains(0x2C) ? 0x2C : first.contains(0x3B) ? 0x3B : first.contains(0x09) ? 0x09 : 0x2C
    }

    mutating func record() throws(ExchangeError) -> Record? {
      guard index < text.count else { return nil }
      var record = Record(line: line, fields: [])
      while true {
        record.fields.append(try field())
        guard index < text.count else { return record }
        if text[index] == separator {
          index += 1
          continue
        }
        // The end of the line.
        if text[index] == 0x0D, index + 1 < text.count, text[index + 1] == 0x0A { index += 1 }
        index += 1
        line += 1
        return record
      }
    }

    /// Up to a separator, the end of the line or of the text.
    private mutating func field() throws(ExchangeError) -> String {
      guard index < text.count, text[index] == 0x22 else {
        let start = index
        while index < text.count, text[index] != separator, text[index] != 0x0A, text[index] != 0x0D {
          guard text[index] != 0x22 else {
            throw ExchangeError(
              line: line, "a quote inside a field: put the whole field in quotes, and double the quotes in it")
          }
          index += 1
        }
        return try decoded(text[start..<index], line)
      }
      let begun = line
      index += 1
      var bytes: [UInt8] = []
      while true {
        guard index < text.count else { throw ExchangeError(line: begun, "the quote that begins here has no end") }
        let byte = text[index]
        index += 1
        if byte == 0x22 {
          guard index < text.count, text[index] == 0x22 else { break }
          index += 1
        } else if byte == 0x0A || byte == 0x0D && !(index < text.count && text[index] == 0x0A) {
          line += 1
        }
        bytes.append(byte)
      }
      guard index == text.count || [separator, 0x0A, 0x0D].contains(text[index]) else {
        throw ExchangeError(line: line, "expected a comma or the end of the line after the quote that ends a field")
      }
      return try decoded(bytes[...], begun)
    }

    private func decoded(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(ExchangeError) -> String {
      guard !bytes.contains(0) else { throw ExchangeError(line: line, "there is a NUL, which a text cannot have") }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw ExchangeError(line: line, "this is not UTF-8; save the file with that encoding")
      }
      return text
    }
  }
}

/// Texts that a spreadsheet would take for a formula, made harmless and given back as they were.
///
/// A spreadsheet computes what begins with `=`, `+`, `-` or `@`, also after a tab or a line break (OWASP, "CSV Injection"); an
/// apostrophe before it makes it a text. What begins with apostrophes before such a sign is given one more, so that reading
/// it back takes away what writing has added and nothing else.
enum FormulaGuard {
  static func guarded(_ text: String) -> String { isDangerous(text) ? "'" + text : text }

  static func unguarded(_ text: String) -> String {
    text.utf8.first == 0x27 && isDangerous(text) ? String(text.unicodeScalars.dropFirst()) : text
  }

  private static func isDangerous(_ text: String) -> Bool {
    guard let first = text.utf8.drop(while: { $0 == 0x27 }).first else { return false }
    return [0x3D, 0x2B, 0x2D, 0x40, 0x09, 0x0D, 0x0A].contains(first)
  }
}
