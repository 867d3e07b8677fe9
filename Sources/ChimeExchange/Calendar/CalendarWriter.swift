/// A CalendarWriter writes content lines: folded at 75 octets, ended with CR LF.
///
/// Source: RFC 5545 section 3.1.
struct CalendarWriter {
  private(set) var bytes: [UInt8] = []

  /// Writes one line; `content` must not contain a line break.
  mutating func line(_ content: String) {
    var room = 75
    for character in content.unicodeScalars {
      let width = UTF8.width(character)
      if width > room {
        bytes += "\r\n ".utf8
        room = 74
      }
      bytes += UTF8.encode(character).map(Array.init) ?? []
      room -= width
    }
    bytes += "\r\n".utf8
  }

  mutating func text(_ name: String, _ value: String) { line("\(name):\(CalendarText.escaped(value))") }

  mutating func component(_ name: String, _ body: (inout CalendarWriter) -> Void) {
    line("BEGIN:\(name)")
    body(&self)
    line("END:\(name)")
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
}
