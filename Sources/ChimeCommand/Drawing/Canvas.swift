/// The character set of a drawing: Unicode or ASCII.
///
/// Unicode needs a UTF-8 locale and a font with braille and block characters; `--ascii` is for all other terminals.
struct Glyphs: Sendable, Equatable {
  var isASCII: Bool

  static let option = Verb.Option.flag(
    "ascii", nil, "Draw with ASCII characters; the default outside UTF-8 locales")

  init(isASCII: Bool) { self.isASCII = isASCII }

  /// Chooses by --ascii and the locale. Source: locale(7), LC_ALL before LC_CTYPE before LANG.
  init(_ context: Context) {
    let environment = context.process.environment
    let named = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
    let locale = named.lowercased().replacing("-", with: "")
    isASCII = context.line.has("ascii") || !locale.contains("utf8")
  }

  /// Replaces symbols by ASCII characters of the same width.
  static func typed(_ line: String) -> String {
    if line.utf8.allSatisfy({ $0 < 0x80 }) { return line }
    return String(String.UnicodeScalarView(line.unicodeScalars.map { signs[$0] ?? $0 }))
  }

  private static let signs: [Unicode.Scalar: Unicode.Scalar] = [
    "✓": "+", "✔": "+", "✗": "x", "×": "x", "★": "*", "☆": "o", "●": "*", "◐": "/", "○": "o", "·": ".", "•": "*",
    "━": "=", "─": "-", "–": "-", "—": "-", "→": ">", "↗": "/", "↘": "\\", "…": "~", "“": "\"", "”": "\"", "’": "'",
  ]

  var tee: String { isASCII ? "|" : "┤" }
  var corner: String { isASCII ? "+" : "└" }
  var dash: String { isASCII ? "-" : "─" }
  var tick: String { isASCII ? "+" : "┬" }
  var goal: Character { isASCII ? "-" : "┄" }
  var point: Character { isASCII ? "o" : "∘" }
  var mean: Character { isASCII ? "*" : "•" }
  var ahead: Character { isASCII ? "=" : "┅" }
  var band: Character { isASCII ? ":" : "░" }
  var star: String { isASCII ? "*" : "★" }
  var met: String { isASCII ? "x" : "●" }
  var bullet: String { isASCII ? "*" : "●" }
  var part: String { isASCII ? "/" : "◐" }
  var open: String { isASCII ? "o" : "○" }
  var free: String { isASCII ? "." : "·" }
  /// Returns a legend, with as many entries per line as fit.
  static func legend(_ signs: [String], width: Int) -> [String] {
    signs.reduce(into: []) { lines, sign in
      if let last = lines.last, TextWidth.of(last) + 3 + TextWidth.of(sign) <= width {
        lines[lines.count - 1] = "\(last)   \(sign)"
      } else {
        lines.append(sign)
      }
    }
  }

  /// Column tops, from one to eight eighths of a cell.
  var eighths: [Character] {
    isASCII ? [" ", " ", ".", ".", ":", ":", "#", "#"] : ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  }
}

/// A grid of terminal cells that holds characters, and dots at a finer resolution (braille has 2 by 4 dots in a cell).
///
/// Source: Unicode, "Braille Patterns", U+2800 to U+28FF, for the bit of each dot.
struct Canvas {
  let width: Int
  let height: Int
  private var cells: [Cell]

  private struct Cell {
    var character: Character = " "
    var dots: UInt8 = 0
    var tone = Style.Tone.plain
  }

  init(width: Int, height: Int) {
    (self.width, self.height) = (max(width, 1), max(height, 1))
    cells = Array(repeating: Cell(), count: self.width * self.height)
  }

  /// Draws a character; one outside the canvas is ignored.
  mutating func put(_ character: Character, _ x: Int, _ y: Int, _ tone: Style.Tone = .plain) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    cells[y * width + x] = Cell(character: character, tone: tone)
  }

  func isEmpty(_ x: Int, _ y: Int) -> Bool {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return false }
    return cells[y * width + x].character == " " && cells[y * width + x].dots == 0
  }

  /// Draws a dot at braille resolution; it replaces a character in its cell.
  mutating func dot(_ x: Int, _ y: Int, _ tone: Style.Tone = .plain) {
    guard (0..<(width * 2)).contains(x), (0..<(height * 4)).contains(y) else { return }
    let at = y / 4 * width + x / 2
    let bits: [[UInt8]] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]]
    if cells[at].dots == 0 { cells[at] = Cell(tone: tone) }
    cells[at].dots |= bits[x % 2][y % 4]
  }

  /// Calls `body` with each point of a straight line.
  static func line(_ from: (x: Int, y: Int), _ to: (x: Int, y: Int), _ body: (Int, Int) -> Void) {
    let steps = max(abs(to.x - from.x), abs(to.y - from.y))
    for step in 0...steps {
      let share = steps == 0 ? 0 : Double(step) / Double(steps)
      body(
        from.x + Int((Double(to.x - from.x) * share).rounded()), from.y + Int((Double(to.y - from.y) * share).rounded())
      )
    }
  }

  /// Returns the rows without trailing spaces, and with as few color changes as possible.
  func rows(_ style: Style) -> [String] {
    (0..<height).map { y in
      var line = ""
      var run = ""
      var tone = Style.Tone.plain
      let row = cells[(y * width)..<((y + 1) * width)]
      let end = row.lastIndex { $0.character != " " || $0.dots != 0 } ?? row.startIndex - 1
      for cell in row[..<(end + 1)] {
        let isBlank = cell.character == " " && cell.dots == 0
        if !isBlank, cell.tone != tone {
          line += style(run, tone)
          (run, tone) = ("", cell.tone)
        }
        run.append(cell.dots == 0 ? cell.character : Self.braille(cell.dots))
      }
      return line + style(run, tone)
    }
  }

  private static func braille(_ dots: UInt8) -> Character {
    Character(Unicode.Scalar(0x2800 + UInt32(dots)) ?? " ")
  }
}
