/// A plot of a soak test: a small panel for each quantity, over the same time axis.
enum SoakPlot {
  private static let width = 860.0
  private static let height = 120.0
  private static let left = 70.0
  private static let gap = 46.0

  /// - Returns: an SVG file.
  static func svg(_ samples: [SoakSample], title: String) -> String {
    let columns = SoakSample.columns
    let total = 60 + Double(columns.count) * (height + gap)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(n(width + left + 30))" height="\(n(total))" \
      font-family="sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="\(n(left))" y="28" font-size="16">\(title)</text>

      """
    for (index, column) in columns.enumerated() {
      let values = samples.map { (x: $0.at / 60, y: column.value($0)) }.filter { $0.y.isFinite }
      text += panel(column.name, column.unit, values, top: 60 + Double(index) * (height + gap))
    }
    return text + "</svg>\n"
  }

  private static func panel(_ name: String, _ unit: String, _ values: [(x: Double, y: Double)], top: Double) -> String {
    let most = step(values.map(\.y).max() ?? 1)
    let end = max(values.last?.x ?? 1, 0.1)
    func x(_ minute: Double) -> Double { left + minute / end * width }
    func y(_ value: Double) -> Double { top + height - value / most * height }
    let points = values.map { "\(n(x($0.x))),\(n(y($0.y)))" }.joined(separator: " ")
    var text =
      "<text x=\"\(n(left))\" y=\"\(n(top - 6))\">\(name)\(unit.isEmpty ? "" : " (\(unit))")</text>\n"
      + "<rect x=\"\(n(left))\" y=\"\(n(top))\" width=\"\(n(width))\" height=\"\(n(height))\" fill=\"#f6f8fa\"/>\n"
    for part in [0.0, 0.5, 1.0] {
      let line = y(most * part)
      text +=
        "<line x1=\"\(n(left))\" x2=\"\(n(left + width))\" y1=\"\(n(line))\" y2=\"\(n(line))\" stroke=\"#d0d7de\"/>\n"
        + "<text x=\"\(n(left - 8))\" y=\"\(n(line + 4))\" text-anchor=\"end\">\(Figure.number(most * part))</text>\n"
    }
    for part in 0...4 {
      let minute = end * Double(part) / 4
      text +=
        "<text x=\"\(n(x(minute)))\" y=\"\(n(top + height + 15))\" text-anchor=\"middle\" fill=\"#57606a\">"
        + "\(Figure.number(minute)) min</text>\n"
    }
    return text + "<polyline fill=\"none\" stroke=\"#0969da\" stroke-width=\"1.5\" points=\"\(points)\"/>\n"
  }

  /// Returns the smallest number of the form 1, 2, 2.5 or 5 times a power of ten that is not below `value`, for the end
  /// of an axis.
  private static func step(_ value: Double) -> Double {
    guard value > 0 else { return 1 }
    var power = 1.0
    while power * 10 <= value { power *= 10 }
    while power > value { power /= 10 }
    return [1, 2, 2.5, 5, 10].lazy.map { $0 * power }.first { $0 >= value } ?? value
  }

  private static func n(_ value: Double) -> String { String((value * 10).rounded() / 10) }
}
