/// A terminal screen as a grid of cells, and the escape sequences that turn the previous frame into it.
///
///     var frame = Frame(width: 80, height: 24)
///     frame.put("Tea", 2, 0, .strong, room: 20)
///     terminal.write(frame.changes(after: shown, style: style))
///
/// Source: ECMA-48 (CUP, CHA, EL, SGR).
struct Frame: Equatable {
  struct Cell: Equatable {
    /// `nil` is the second half of a wide character.
    var character: Character? = " "
    var tone = Style.Tone.plain

    /// Whether the cell is blank; its tone is invisible then.
    var isBlank: Bool { character == " " }
  }

  let width: Int
  let height: Int
  private(set) var cells: [Cell]

  /// The size limit of a frame, in columns and rows.
  static let largest = 1_000

  init(width: Int, height: Int) {
    (self.width, self.height) = (min(max(width, 1), Self.largest), min(max(height, 1), Self.largest))
    cells = Array(repeating: Cell(), count: self.width * self.height)
  }

  /// Writes text, truncated with `…` to `room` columns; text outside the frame is ignored.
  ///
  /// - Returns: the column after the text.
  @discardableResult
  mutating func put(_ text: String, _ x: Int, _ y: Int, _ tone: Style.Tone = .plain, room: Int = .max) -> Int {
    guard (0..<height).contains(y), x >= 0, x < width else { return x }
    var column = x
    for character in TextWidth.truncate(text, to: min(room, width - x)) {
      let columns = TextWidth.of(character)
      // A lone combining mark takes no column.
      guard columns > 0, column + columns <= width else { continue }
      let place = y * width + column
      // Overwriting half of a wide character erases the other half.
      if cells[place].character == nil { cells[place - 1] = Cell() }
      if column + columns < width, cells[place + columns].character == nil { cells[place + columns] = Cell() }
      cells[place] = Cell(character: character, tone: character == " " ? .plain : tone)
      if columns == 2 { cells[place + 1] = Cell(character: nil, tone: tone) }
      column += columns
    }
    return column
  }

  /// The rows as plain text without trailing spaces.
  var rows: [String] {
    (0..<height).map { y in
      var line = String(cells[(y * width)..<((y + 1) * width)].compactMap(\.character))
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  // MARK: Writing

  /// Returns the output that turns the shown frame into this one; empty if both are the same.
  ///
  /// A frame of another size, or nil, is cleared first.
  func changes(after shown: Frame?, style: Style) -> String {
    let shown = shown.flatMap { $0.width == width && $0.height == height ? $0 : nil }
    var pen = Pen(style: style)
    if shown == nil { pen.text += "\u{1B}[0m\u{1B}[2J" }
    let before = shown ?? Frame(width: width, height: height)
    for y in 0..<height { write(row: y, after: before, with: &pen) }
    pen.set(.plain)
    return pen.text
  }

  /// The most unchanged cells that are rewritten between two changes, which costs less than a cursor move.
  private static let gap = 4

  private func write(row y: Int, after before: Frame, with pen: inout Pen) {
    let start = y * width
    func same(_ x: Int) -> Bool { cells[start + x] == before.cells[start + x] }
    guard let first = (0..<width).first(where: { !same($0) }) else { return }
    // Cells from `end` on are blank; erase them at once if they were not.
    let end = (0..<width).last { !cells[start + $0].isBlank }.map { $0 + 1 } ?? 0
    let wasEnd = (0..<width).last { !before.cells[start + $0].isBlank }.map { $0 + 1 } ?? 0
    var x = first
    while x < end {
      if same(x) {
        x += 1
        continue
      }
      // Write a wide character as a whole.
      while x > 0, cells[start + x].character == nil { x -= 1 }
      var stop = x
      var unchanged = 0
      for column in x..<end {
        unchanged = same(column) ? unchanged + 1 : 0
        if unchanged > Self.gap { break }
        if unchanged == 0 { stop = column + 1 }
      }
      while stop < end, cells[start + stop].character == nil { stop += 1 }
      pen.move(x, y)
      write(start + x..<start + stop, y, with: &pen)
      x = stop
    }
    if wasEnd > end {
      pen.move(end, y)
      pen.set(.plain)
      pen.text += "\u{1B}[K"
    }
  }

  private func write(_ range: Range<Int>, _ y: Int, with pen: inout Pen) {
    var isUnsure = false
    for index in range {
      guard let character = cells[index].character else { continue }
      // Terminals disagree about the width of emoji, so set the cursor again after one.
      if isUnsure { pen.move(index - y * width, y) }
      isUnsure = Self.isUnsure(character)
      // A blank shows no tone, so keep the current one.
      if character != " " { pen.set(cells[index].tone) }
      pen.text.append(character)
    }
  }

  private static func isUnsure(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first else { return false }
    if first.value < 0x300 { return character.unicodeScalars.count > 1 }
    return character.unicodeScalars.count > 1 || !(0x2010...0x25FF).contains(first.value)
  }

  private struct Pen {
    let style: Style
    var text = ""
    private var tone = Style.Tone.plain

    init(style: Style) { self.style = style }

    mutating func move(_ x: Int, _ y: Int) { text += "\u{1B}[\(y + 1);\(x + 1)H" }

    mutating func set(_ wanted: Style.Tone) {
      guard style.isColored, wanted != tone else { return }
      tone = wanted
      text += wanted == .plain ? "\u{1B}[0m" : "\u{1B}[0;\(wanted.rawValue)m"
    }
  }
}
