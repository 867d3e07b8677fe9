/// The color of a category of achievements or quotations. It is the same wherever it is shown, and carries no meaning.
enum CategoryColor: CaseIterable {
  case teal, plum, leaf, amber, rose, slate

  /// Derives the color from the name, so that packs need not define it. The hash factors give the categories of each
  /// bundled pack different colors.
  init(_ category: String) {
    let sum = category.utf8.reduce(5) { ($0 * 45 + Int($1)) % 65_521 }
    self = Self.allCases[sum % Self.allCases.count]
  }

  /// The CSS class in the report.
  var hue: String {
    switch self {
    case .teal: "teal"
    case .plum: "plum"
    case .leaf: "leaf"
    case .amber: "amber"
    case .rose: "rose"
    case .slate: "slate"
    }
  }

  var tone: Style.Tone {
    switch self {
    case .teal: .teal
    case .plum: .plum
    case .leaf: .good
    case .amber: .caution
    case .rose: .bad
    case .slate: .slate
    }
  }
}
