/// SeparatedValues reads and writes comma-separated values.
///
/// Source: RFC 4180, with extensions for real files: lines may end with LF, the text may begin with a byte order mark,
/// empty lines are skipped, and fields may be separated by semicolons or tabs, as in the header.
enum SeparatedValues {
  /// The longest text that is read, in bytes.
  static let maximumLength = 64 << 20

  struct Record {
    /// The line on which it begins, from 1.
    var line: Int
    var fields: [String]
  }

  /// Returns all records, with the header first.
  ///
  /// - Throws: ``ExchangeError`` with the line of the error.
  static func read(_ text: [UInt8]) throws(ExchangeError) -> [Record] {
    try need(text.count <= maximumLength, line: nil, "the text is longer than \(maximumLength >> 20) MiB")
    var reader = Reader(text)
    var records: [Record] = []
    while let record = try reader.record() {
      if record.fields != [""] { records.append(record) }
    }
    return records
  }

  /// Returns one record with its line end, CRLF.
  static func line(_ fields: [String]) -> String { fields.map(quoted).joined(separator: ",") + "\r\n" }

  private static func quoted(_ field: String) -> String {
    let needsQuotes =
      field.utf8.first == 0x20 || field.utf8.last == 0x20
      || field.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0D || $0 == 0x0A || $0 == 0x3B || $0 == 0x09 }
    guard needsQuotes else { return field }
    // Work on bytes, because a quote may combine with its neighbors into one character.
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
    /// The separator of fields, from the first line.
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
        if text[index] == 0x0D, index + 1 < text.count, text[index + 1] == 0x0A { index += 1 }
        index += 1
        line += 1
        return record
      }
    }

    /// Reads a field up to a separator, the end of the line or of the text.
    private mutating func field() throws(ExchangeError) -> String {
      guard index < text.count, text[index] == 0x22 else {
        let start = index
        while index < text.count, text[index] != separator, text[index] != 0x0A, text[index] != 0x0D {
          try need(
            text[index] != 0x22, line: line,
            "a quote inside a field: put the whole field in quotes, and double the quotes in it")
          index += 1
        }
        return try decoded(text[start..<index], line)
      }
      let begun = line
      index += 1
      var bytes: [UInt8] = []
      while true {
        try need(index < text.count, line: begun, "the quote that begins here has no end")
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
      try need(
        index == text.count || [separator, 0x0A, 0x0D].contains(text[index]), line: line,
        "expected a comma or the end of the line after the quote that ends a field")
      return try decoded(bytes[...], begun)
    }

    private func decoded(_ bytes: ArraySlice<UInt8>, _ line: Int) throws(ExchangeError) -> String {
      try need(!bytes.contains(0), line: line, "there is a NUL, which a text cannot have")
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw ExchangeError(line: line, "this is not UTF-8; save the file with that encoding")
      }
      return text
    }
  }
}

/// A FormulaGuard escapes texts that a spreadsheet would execute as a formula, and restores them.
///
/// A spreadsheet executes text that begins with `=`, `+`, `-` or `@`, even after a tab or a line break (OWASP, "CSV
/// Injection"). A leading apostrophe makes it plain text. A text that already has apostrophes there gets one more, so
/// that unescaping restores exactly the original.
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
