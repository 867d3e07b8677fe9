/// A Unit is what a quantity is measured in: `ml`, `lb`, `%`, or a custom word such as `pages`.
///
/// A unit is a whole number of *grains*, so that conversions lose nothing. The grain of mass is 1/16 of 10 µg, in which
/// both the kilogram and the pound (0.45359237 kg exactly, NIST Handbook 44) are whole. The grain of volume is
/// 1/16,000,000 ml, in which both the liter and the fluid ounce are whole.
///
///     Unit("lb")?.grains    // 725_747_792
public struct Unit: Hashable, Sendable, Codable, CustomStringConvertible {
  public enum Dimension: String, Hashable, Sendable, Codable {
    case mass, volume, length, time, energy
    case percentage
    /// Custom things, which convert to nothing else.
    case count
  }

  public let symbol: String
  public let dimension: Dimension
  /// The number of grains in one unit.
  public let grains: Int64

  private init(_ symbol: String, _ dimension: Dimension, _ grains: Int64) {
    self.symbol = symbol
    self.dimension = dimension
    self.grains = grains
  }

  /// Creates the unit of that symbol. Any other word of 1–16 letters counts things of that name; nil if it is no word.
  public init?(_ symbol: String) {
    if let known = Self.known[symbol] {
      self = known
    } else {
      guard (1...16).contains(symbol.count), symbol.utf8.count <= 64, Self.isWord(symbol) else { return nil }
      self.init(symbol, .count, 1_000_000)
    }
  }

  /// Checks scalars, because a character may combine a letter with anything.
  private static func isWord(_ symbol: String) -> Bool {
    symbol.unicodeScalars.allSatisfy {
      switch $0.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
      case .nonspacingMark, .spacingMark: $0 != symbol.unicodeScalars.first
      default: false
      }
    }
  }

  public var description: String { symbol }

  /// Returns whether quantities in this unit can be converted to `other`.
  public func converts(to other: Unit) -> Bool {
    dimension == other.dimension && (dimension != .count || symbol == other.symbol)
  }

  public static let known: [String: Unit] = Dictionary(
    uniqueKeysWithValues: [
      Unit("mg", .mass, 1_600), Unit("g", .mass, 1_600_000), Unit("kg", .mass, 1_600_000_000),
      Unit("oz", .mass, 45_359_237), Unit("lb", .mass, 725_747_792), Unit("st", .mass, 10_160_469_088),
      Unit("ml", .volume, 16_000_000), Unit("cl", .volume, 160_000_000), Unit("dl", .volume, 1_600_000_000),
      Unit("l", .volume, 16_000_000_000), Unit("floz", .volume, 473_176_473),
      Unit("mm", .length, 1_000), Unit("cm", .length, 10_000), Unit("m", .length, 1_000_000),
      Unit("km", .length, 1_000_000_000), Unit("in", .length, 25_400), Unit("ft", .length, 304_800),
      Unit("mi", .length, 1_609_344_000),
      Unit("s", .time, 1_000), Unit("min", .time, 60_000), Unit("h", .time, 3_600_000),
      Unit("J", .energy, 1_000), Unit("kJ", .energy, 1_000_000), Unit("kcal", .energy, 4_184_000),
      Unit("%", .percentage, 1_000_000),
    ].map { ($0.symbol, $0) })

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let unit = Unit(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a unit")
    }
    self = unit
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(symbol)
  }
}

/// A Quantity is a whole number of grains of some dimension. The tracker decides in which unit it is shown.
public struct Quantity: Hashable, Comparable, Sendable, Codable {
  public let grains: Int64

  public static let zero = Quantity(grains: 0)
  /// One of the things that are counted.
  public static let one = Quantity(grains: 1_000_000)

  public init(grains: Int64) { self.grains = grains }

  /// Creates a quantity, rounded to the nearest grain; nil if `value` is no number or exceeds `limit(of:)`.
  ///
  ///     Quantity(82.4, Unit("kg")!)
  public init?(_ value: Double, _ unit: Unit) {
    let grains = (value * Double(unit.grains)).rounded()
    guard grains.isFinite, grains.magnitude <= Double(Self.limit(of: unit.dimension)) else { return nil }
    self.grains = Int64(grains)
  }

  /// Returns the largest magnitude of one quantity, in grains: 50 tonnes, 5,000 liters, 10,000 km, 300 years, 10 GJ, a
  /// billion of counted things.
  public static func limit(of dimension: Unit.Dimension) -> Int64 {
    switch dimension {
    case .mass: 80_000_000_000_000
    case .volume: 80_000_000_000_000
    case .length: 10_000_000_000_000
    case .time: 9_500_000_000_000
    case .energy: 10_000_000_000_000
    case .percentage, .count: 1_000_000_000_000_000
    }
  }

  /// Returns the value in a unit with the fewest decimals that give the same grains, so that 180.4 lb stay 180.4; the
  /// nearest `Double` if that takes more than six.
  public func value(in unit: Unit) -> Double {
    let value = Double(grains) / Double(unit.grains)
    for power in [1.0, 10, 100, 1_000, 10_000, 100_000, 1_000_000] {
      let short = (value * power).rounded() / power
      if (short * Double(unit.grains)).rounded() == Double(grains) { return short }
    }
    return value
  }

  public static func + (left: Quantity, right: Quantity) -> Quantity {
    let (sum, overflow) = left.grains.addingReportingOverflow(right.grains)
    return Quantity(grains: overflow ? (right.grains > 0 ? .max : .min) : sum)
  }

  public static func - (left: Quantity, right: Quantity) -> Quantity {
    let (difference, overflow) = left.grains.subtractingReportingOverflow(right.grains)
    return Quantity(grains: overflow ? (right.grains < 0 ? .max : .min) : difference)
  }

  public static func < (left: Quantity, right: Quantity) -> Bool { left.grains < right.grains }

  public init(from decoder: any Decoder) throws {
    self.init(grains: try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(grains)
  }
}
