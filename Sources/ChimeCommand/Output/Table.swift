import ChimeWords

/// A table fitted to a width. It sanitizes its texts.
struct Table {
  struct Column {
    var title: String
    var alignRight = false
    /// Whether its texts may be truncated for lack of room.
    var canShrink = false
    /// Whether its texts wrap for lack of room, instead of being truncated.
    var wraps = false
    /// Columns with the highest number are dropped first for lack of room; 0 is never dropped.
    var dropOrder = 0
  }

  struct Cell: ExpressibleByStringLiteral {
    var text: String
    /// The shorter text for lack of room.
    var short: String?
    var tone: Style.Tone = .plain

    init(_ text: String, short: String? = nil, _ tone: Style.Tone = .plain) {
      self.text = TerminalSanitizer.line(text)
      self.short = short.map(TerminalSanitizer.line)
      self.tone = tone
    }
    init(stringLiteral value: String) { self.init(value) }
  }

  var columns: [Column]
  var rows: [[Cell]] = []

  /// The minimum widths of a truncated column: the first before short texts are used, the second before columns are dropped.
  private static let (narrow, narrowest) = (20, 12)
  /// The minimum width of a wrapped column.
  private static let narrowestWrapped = 8
  private static let gap = 2

  /// Returns the lines without trailing spaces.
  func lines(width: Int?, style: Style) -> [String] {
    let whole = naturalWidths
    guard let width, least(columns.indices, whole, Self.narrow) > width else {
      return lines(columns.indices, cut(columns.indices, whole, to: width ?? .max), style)
    }
    var short = self
    for row in rows.indices {
      for column in columns.indices { short.rows[row][column].text = rows[row][column].short ?? rows[row][column].text }
    }
    let natural = short.naturalWidths
    var kept = Array(columns.indices)
    while least(kept, natural, Self.narrowest) > width,
      let worst = kept.max(by: { columns[$0].dropOrder < columns[$1].dropOrder }), columns[worst].dropOrder > 0
    {
      kept.removeAll { $0 == worst }
    }
    return short.lines(kept, cut(kept, natural, to: width), style)
  }

  private var naturalWidths: [Int] {
    columns.indices.map { index in
      rows.reduce(TextWidth.of(localized(key: columns[index].title))) { max($0, TextWidth.of($1[index].text)) }
    }
  }

  private func total(_ kept: some Collection<Int>, _ widths: [Int]) -> Int {
    kept.reduce(0) { $0 + widths[$1] } + Self.gap * max(0, kept.count - 1)
  }

  /// Returns the total width of these columns with shrinkable ones at their minimum.
  private func least(_ kept: some Collection<Int>, _ natural: [Int], _ narrowest: Int) -> Int {
    total(
      kept,
      columns.indices.map { index in
        let column = columns[index]
        guard column.canShrink || column.wraps else { return natural[index] }
        return min(natural[index], column.wraps ? Self.narrowestWrapped : narrowest)
      })
  }

  /// Returns column widths that fit; the widest shrinkable column gives way first.
  private func cut(_ kept: some Collection<Int>, _ natural: [Int], to width: Int) -> [Int] {
    var widths = natural
    while total(kept, widths) > width,
      let widest = kept.filter({ (columns[$0].canShrink || columns[$0].wraps) && widths[$0] > 4 }).max(by: {
        widths[$0] < widths[$1]
      })
    {
      widths[widest] -= 1
    }
    return widths
  }

  private func lines(_ kept: some Collection<Int>, _ widths: [Int], _ style: Style) -> [String] {
    let kept = Array(kept)
    let header = line(kept, widths, style) { Cell(localized(key: columns[$0].title), .strong) }
    return [header] + rows.flatMap { row in lines(of: row, kept, widths, style) }
  }

  /// Returns a row on as many lines as its wrapped texts need.
  private func lines(of row: [Cell], _ kept: [Int], _ widths: [Int], _ style: Style) -> [String] {
    let texts = columns.indices.map { index in
      columns[index].wraps ? TextWidth.wrap(row[index].text, to: max(1, widths[index])) : [row[index].text]
    }
    return (0..<(kept.map { texts[$0].count }.max() ?? 1)).map { number in
      line(kept, widths, style) { index in
        var cell = row[index]
        cell.text = number < texts[index].count ? texts[index][number] : ""
        return cell
      }
    }
  }

  private func line(_ kept: [Int], _ widths: [Int], _ style: Style, cell: (Int) -> Cell) -> String {
    var line = ""
    var pending = 0
    for index in kept {
      let cell = cell(index)
      let text = TextWidth.truncate(cell.text, to: widths[index])
      let spaces = max(0, widths[index] - TextWidth.of(text))
      if columns[index].alignRight { pending += spaces }
      if !text.isEmpty {
        line += String(repeating: " ", count: pending) + style(text, cell.tone)
        pending = 0
      }
      pending += (columns[index].alignRight ? 0 : spaces) + Self.gap
    }
    return line
  }
}
