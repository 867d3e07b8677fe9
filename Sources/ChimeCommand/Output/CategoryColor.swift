/// The colour that a category of achievements or quotations has: the same wherever it is shown, and no meaning by itself.
enum CategoryColor: CaseIterable {
  case teal, plum, leaf, amber, rose, slate

  /// By its name, so that a pack need not say it. The factors are such that no two categories of a pack that comes with Chime
  /// share a colour.
  init(_ category: String) {
    let sum = category.utf8.reduce(5) { ($0 * 45 + Int($1)) % 65_521 }
    self = Self.allCases[sum % Self.allCases.count]
  }

  /// The class of a report's style sheet.
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
