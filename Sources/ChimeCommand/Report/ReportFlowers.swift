/// Twenty forms of a flower. The form of a day is a hash of day and tracker, so that it stays the same and consecutive
/// days usually differ.
enum ReportFlowers {
  /// Five petal shapes, with five, six, eight or ten petals.
  static let count = 20
  private static let petals = [5, 6, 8, 10]

  /// Returns the form, 0 to 19, of a day.
  ///
  /// Source: FNV-1a, 32 bits (draft-eastlake-fnv), with its halves folded.
  static func form(_ day: String, _ tracker: String) -> Int {
    let hash = "\(tracker)/\(day)".utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return Int((hash >> 16 ^ hash & 0xFFFF) % UInt32(count))
  }

  static func id(_ form: Int) -> String { "flower-\(form)" }

  /// Returns the SVG definitions of these forms, each in a square of 38 around the origin.
  static func definitions(_ forms: Set<Int>) -> Markup {
    tag("defs") { for form in forms.sorted() { drawing(form) } }
  }

  private static func drawing(_ form: Int) -> Markup {
    let number = petals[form % petals.count]
    let shape = form / petals.count
    return tag("g", ["id": id(form)]) {
      for petal in 0..<number {
        ReportFlowers.petal(shape, of: number, turned: Double(petal) * 360 / Double(number))
      }
      // The rim distinguishes the form without color, too.
      if shape == 3 { tag("circle", ["class": "rim", "cx": "0", "cy": "0", "r": "11"]) }
      tag("circle", ["class": "heart", "cx": "0", "cy": "0", "r": "9"])
    }
  }

  /// Returns the half width of a petal, so that neighbors touch.
  private static func breadth(_ number: Int) -> Double { min(6.5, 34 / Double(number)) }

  @MarkupBuilder
  private static func petal(_ shape: Int, of number: Int, turned angle: Double) -> Markup {
    let turn = "rotate(\(coordinate(angle)))"
    let half = coordinate(breadth(number))
    switch shape {
    case 0:
      tag("ellipse", ["class": "petal", "cx": "0", "cy": "-10", "rx": half, "ry": "7.5", "transform": turn])
    case 1:
      tag("path", ["class": "petal", "d": "M0 -18.5Q\(half) -10 0 -2Q-\(half) -10 0 -18.5Z", "transform": turn])
    case 2:
      // Notched, like a cherry petal.
      tag(
        "path",
        [
          "class": "petal",
          "d":
            "M0 -15C\(half) -20 \(coordinate(breadth(number) * 1.3)) -12 0 -2C-\(coordinate(breadth(number) * 1.3)) -12 -\(half) -20 0 -15Z",
          "transform": turn,
        ])
    case 3:
      tag(
        "circle",
        ["class": "petal", "cx": "0", "cy": "-13", "r": coordinate(breadth(number) * 0.85), "transform": turn])
    default:
      // Two rings of petals, the inner one turned by half a petal.
      tag("ellipse", ["class": "petal", "cx": "0", "cy": "-11.5", "rx": half, "ry": "7", "transform": turn])
      tag(
        "ellipse",
        [
          "class": "petal", "cx": "0", "cy": "-9", "rx": coordinate(breadth(number) * 0.8), "ry": "4.5",
          "transform": "rotate(\(coordinate(angle + 180 / Double(number))))",
        ])
    }
  }
}
