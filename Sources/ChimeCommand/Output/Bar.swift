/// A progress bar that fills from the left: `━━━━━━────`.
enum Bar {
  /// - Parameters:
  ///   - share: 0 to 1; larger values give a full bar.
  ///   - width: in columns.
  ///   - tone: of the filled part.
  static func text(_ share: Double, width: Int, style: Style, tone: Style.Tone = .plain) -> String {
    let filled = columns(share, of: width)
    return style(String(repeating: "━", count: filled), tone)
      + style(String(repeating: "─", count: max(0, width - filled)), .faint)
  }

  /// Returns the number of filled columns: none only for 0, all only for 1 or more.
  static func columns(_ share: Double, of width: Int) -> Int {
    guard share.isFinite, share > 0, width > 0 else { return 0 }
    guard share < 1 else { return width }
    return min(max(Int((share * Double(width)).rounded()), 1), max(1, width - 1))
  }
}
