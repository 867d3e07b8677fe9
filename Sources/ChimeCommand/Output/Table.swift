import ChimeWords

/// Rows in columns, fitted to a width. Its texts are made harmless as they come in.
struct Table {
  struct Column {
    var title: String
    var alignRight = false
    /// Whether its texts may be cut when there is not enough room.
    var canShrink = false
    /// Whether its texts go on in the next line when there is not enough room, instead of being cut.
    var wraps = false
    /// Columns with the highest number are left out first when there is not enough room; 0 never is.
    var dropOrder = 0
  }

  struct Cell: ExpressibleByStringLiteral {
    var text: String
    /// What stands in its place where there is not enough room.
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

  /// The narrowest a column is made by cutting its texts: before what is shorter is taken, and before other columns are left
  /// out.
  private static let (narrow, narrowest) = (20, 12)
  /// The narrowest a column is made whose texts go on in the next line.
  private static let narrowestWrapped = 8
  private static let gap = 2

  /// The lines of the table, without white space at their ends.
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

  /// How much room these columns need when those that may be cut are.
  private func least(_ kept: some Collection<Int>, _ natural: [Int], _ narrowest: Int) -> Int {
    total(
      kept,
      columns.indices.map { index in
        let column = columns[index]
        guard column.canShrink || column.wraps else { return natural[index] }
        return min(natural[index], column.wraps ? Self.narrowestWrapped : narrowest)
      })
  }

  /// The widths of columns that fit: the widest of those that can be cut gives way first.
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

  /// A row, in as many lines as its texts that go on ask for.
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
    var owed = 0
    for index in kept {
      let cell = cell(index)
      let text = TextWidth.truncate(cell.text, to: widths[index])
      let spaces = max(0, widths[index] - TextWidth.of(text))
      if columns[index].alignRight { owed += spaces }
      if !text.isEmpty {
        line += String(repeating: " ", count: owed) + style(text, cell.tone)
        owed = 0
      }
      owed += (columns[index].alignRight ? 0 : spaces) + Self.gap
    }
    return line
  }
}
