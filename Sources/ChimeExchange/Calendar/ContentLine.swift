/// A ContentLine is one property of an iCalendar text: `DTSTART;TZID=Europe/Prague:20261201T090000`.
///
/// Source: RFC 5545 section 3.1 (content lines), RFC 6868 (`^` in parameter values).
struct ContentLine: Sendable, Hashable {
  struct Parameter: Sendable, Hashable {
    /// The name in capitals.
    var name: String
    /// The values without quotation marks, with `^` sequences decoded.
    var values: [String]
  }

  /// The line on which it begins, from 1.
  var line: Int
  /// The name in capitals.
  var name: String
  var parameters: [Parameter] = []
  /// The raw value: escapes of TEXT are not decoded.
  var value: String

  /// Returns the first value of a parameter.
  func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.values.first }

  /// The value as TEXT (RFC 5545 section 3.3.11).
  var text: String { CalendarText.unescaped(value) }
}

extension ContentLine {
  /// The most parameters of a line; real properties have far fewer.
  private static let mostParameters = 256

  /// Parses one unfolded line; `nil` if it is not a content line.
  init?(_ bytes: ArraySlice<UInt8>, line: Int) {
    var reader = Reader(bytes: bytes)
    guard let name = reader.name() else { return nil }
    self.line = line
    self.name = name
    value = ""
    while reader.skip(UInt8(ascii: ";")) {
      guard parameters.count < Self.mostParameters, let parameter = reader.parameter() else { return nil }
      parameters.append(parameter)
    }
    guard reader.skip(UInt8(ascii: ":")) else { return nil }
    value = String(decoding: reader.rest, as: UTF8.self)
  }

  /// A Reader scans a line once, from start to end.
  private struct Reader {
    let bytes: ArraySlice<UInt8>
    var position: Int

    init(bytes: ArraySlice<UInt8>) {
      self.bytes = bytes
      position = bytes.startIndex
    }

    var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }
    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func skip(_ byte: UInt8) -> Bool {
      guard next == byte else { return false }
      position += 1
      return true
    }

    /// Reads letters, digits, `-` and `_` as a name in capitals.
    mutating func name() -> String? {
      let start = position
      while let byte = next, isNameByte(byte) { position += 1 }
      guard position > start else { return nil }
      return String(
        decoding: bytes[start..<position].map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
    }

    mutating func parameter() -> Parameter? {
      guard let name = name(), skip(UInt8(ascii: "=")) else { return nil }
      var values: [String] = []
      repeat {
        guard let value = parameterValue() else { return nil }
        values.append(value)
      } while skip(UInt8(ascii: ","))
      return Parameter(name: name, values: values)
    }

    private mutating func parameterValue() -> String? {
      let value: ArraySlice<UInt8>
      if skip(UInt8(ascii: "\"")) {
        let start = position
        while let byte = next, byte != UInt8(ascii: "\"") { position += 1 }
        value = bytes[start..<position]
        guard skip(UInt8(ascii: "\"")) else { return nil }
      } else {
        let start = position
        while let byte = next, byte != UInt8(ascii: ";"), byte != UInt8(ascii: ":"), byte != UInt8(ascii: ",") {
          position += 1
        }
        value = bytes[start..<position]
      }
      return CalendarText.circumflexDecoded(value)
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
  }
}

/// A LineReader splits a text into unfolded lines.
///
/// Lines end with CR LF, with LF or at the end of the text. A line that begins with a space or a tab continues the line
/// before it. It joins bytes, not characters, so a fold inside a UTF-8 sequence does no harm. It skips a byte order
/// mark at the start.
struct LineReader {
  private let bytes: [UInt8]
  private var position = 0
  private var following = 1
  private var joined: [UInt8] = []

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  /// Returns the next line that is not empty, and the number of its first line.
  mutating func next() -> (bytes: ArraySlice<UInt8>, line: Int)? {
    while position < bytes.count {
      let line = following
      let first = physical()
      guard isContinued else {
        if first.isEmpty { continue }
        return (first, line)
      }
      joined.removeAll(keepingCapacity: true)
      joined.append(contentsOf: first)
      while isContinued {
        position += 1
        joined.append(contentsOf: physical())
      }
      if !joined.isEmpty { return (joined[...], line) }
    }
    return nil
  }

  private var isContinued: Bool {
    position < bytes.count && (bytes[position] == 0x20 || bytes[position] == 0x09)
  }

  private mutating func physical() -> ArraySlice<UInt8> {
    let start = position
    let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
    position = min(end + 1, bytes.count)
    following += 1
    return end > start && bytes[end - 1] == 0x0D ? bytes[start..<end - 1] : bytes[start..<end]
  }
}
