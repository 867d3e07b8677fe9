/// Decodes keys from the bytes that a terminal sends.
///
/// A bracketed paste arrives as one text, so that pasted letters trigger no commands.
///
/// Source: ECMA-48 (CSI), xterm's "Control Sequences" (cursor keys, bracketed paste).
struct KeyReader {
  enum Key: Equatable {
    case up, down, pageUp, pageDown, home, end
    case enter, escape, backspace, clear, redraw
    case character(Character)
    case paste(String)
  }

  private var bytes: [UInt8] = []
  private var pasted: [UInt8]?

  /// Whether a lone Esc may still begin a sequence; call `flush` after a moment.
  var isWaiting: Bool { pasted == nil && bytes.first == 0x1B }

  /// Returns the keys of these bytes; keeps an incomplete sequence.
  mutating func read(_ more: some Sequence<UInt8>) -> [Key] {
    bytes += more
    var keys: [Key] = []
    while !bytes.isEmpty {
      if pasted != nil {
        guard takePaste(&keys) else { break }
        continue
      }
      guard let (key, length) = next() else { break }
      bytes.removeFirst(length)
      if let key { keys.append(key) }
    }
    // No key sequence is this long; discard it.
    if bytes.count > 64, pasted == nil { bytes = [] }
    return keys
  }

  /// Returns a pending Esc as a key, because nothing more has arrived.
  mutating func flush() -> [Key] {
    guard isWaiting else { return [] }
    bytes = []
    return [.escape]
  }

  /// Returns the first key and its length in bytes; a nil key is unknown. Returns `nil` if the sequence is incomplete.
  private mutating func next() -> (Key?, Int)? {
    switch bytes[0] {
    case 0x1B: return sequence()
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x0C: return (.redraw, 1)
    // Ctrl-U, as in the line discipline of a terminal.
    case 0x15: return (.clear, 1)
    // Ctrl-N and Ctrl-P, as in Emacs and readline.
    case 0x0E: return (.down, 1)
    case 0x10: return (.up, 1)
    case 0x00..<0x20: return (nil, 1)
    case 0x20..<0x7F: return (.character(Character(Unicode.Scalar(bytes[0]))), 1)
    default: return letter()
    }
  }

  /// Decodes a multibyte character.
  private func letter() -> (Key?, Int)? {
    let length =
      switch bytes[0] {
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 1
      }
    guard bytes.count >= length else { return nil }
    guard length > 1, let text = String(validating: bytes.prefix(length), as: UTF8.self), let character = text.first
    else {
      return (nil, 1)
    }
    return (.character(character), length)
  }

  /// Decodes a sequence that begins with Esc.
  private mutating func sequence() -> (Key?, Int)? {
    guard bytes.count > 1 else { return nil }
    switch bytes[1] {
    case UInt8(ascii: "["):
      guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else { return nil }
      let text = String(decoding: bytes[2...end], as: UTF8.self)
      if text == "200~" { pasted = [] }
      return (Self.keys[text], end + 1)
    case UInt8(ascii: "O"):
      guard bytes.count > 2 else { return nil }
      return (Self.keys[String(decoding: [bytes[2]], as: UTF8.self)], 3)
    // Esc twice is Esc; keys with Alt are ignored.
    case 0x1B: return (.escape, 1)
    default: return (nil, 2)
    }
  }

  private static let keys: [String: Key] = [
    "A": .up, "B": .down, "H": .home, "F": .end, "1~": .home, "7~": .home, "4~": .end, "8~": .end, "5~": .pageUp,
    "6~": .pageDown, "M": .enter,
  ]

  private static let endOfPaste = Array("\u{1B}[201~".utf8)

  /// Takes pasted text; returns `false` if its end has not arrived.
  private mutating func takePaste(_ keys: inout [Key]) -> Bool {
    let mark = Self.endOfPaste
    let last = bytes.count - mark.count
    if last >= 0, let at = (0...last).first(where: { bytes[$0..<($0 + mark.count)].elementsEqual(mark) }) {
      let text = (pasted ?? []) + bytes[..<at]
      bytes.removeFirst(at + mark.count)
      pasted = nil
      keys.append(.paste(String(decoding: text, as: UTF8.self)))
      return true
    }
    // Keep bytes that may begin the end marker.
    let settled = max(0, bytes.count - mark.count + 1)
    pasted = Array(((pasted ?? []) + bytes[..<settled]).prefix(4_096))
    bytes.removeFirst(settled)
    return false
  }
}
