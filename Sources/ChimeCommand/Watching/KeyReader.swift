/// What a person presses, read from the bytes that a terminal sends.
///
/// A paste is no keys: what stands between the marks of a bracketed paste comes as one text, which answers nothing.
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

  /// Whether an Esc has come that may yet turn out to begin something longer: ask again in a moment, with `flush`.
  var isWaiting: Bool { pasted == nil && bytes.first == 0x1B }

  /// The keys of these bytes; an unfinished sequence waits for the rest.
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
    // Nobody types that much into one sequence.
    if bytes.count > 64, pasted == nil { bytes = [] }
    return keys
  }

  /// Nothing more has come: an Esc was the key.
  mutating func flush() -> [Key] {
    guard isWaiting else { return [] }
    bytes = []
    return [.escape]
  }

  /// The first key and its bytes; a key of `nil` is none that is known. `nil`: not all of it is here.
  private mutating func next() -> (Key?, Int)? {
    switch bytes[0] {
    case 0x1B: return sequence()
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x0C: return (.redraw, 1)
    // Ctrl-U, as a terminal's own line has it.
    case 0x15: return (.clear, 1)
    // Ctrl-N and Ctrl-P, as in Emacs and readline.
    case 0x0E: return (.down, 1)
    case 0x10: return (.up, 1)
    case 0x00..<0x20: return (nil, 1)
    case 0x20..<0x7F: return (.character(Character(Unicode.Scalar(bytes[0]))), 1)
    default: return letter()
    }
  }

  /// A character of several bytes.
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

  /// What begins with Esc.
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
    // Esc twice is Esc; a key with Alt is none.
    case 0x1B: return (.escape, 1)
    default: return (nil, 2)
    }
  }

  private static let keys: [String: Key] = [
    "A": .up, "B": .down, "H": .home, "F": .end, "1~": .home, "7~": .home, "4~": .end, "8~": .end, "5~": .pageUp,
    "6~": .pageDown, "M": .enter,
  ]

  private static let endOfPaste = Array("\u{1B}[201~".utf8)

  /// Takes what was pasted; `false` when its end is not here yet.
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
    // All but what may be the beginning of the mark.
    let settled = max(0, bytes.count - mark.count + 1)
    pasted = Array(((pasted ?? []) + bytes[..<settled]).prefix(4_096))
    bytes.removeFirst(settled)
    return false
  }
}
