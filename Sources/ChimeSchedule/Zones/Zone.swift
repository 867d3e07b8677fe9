/// The rules of one time zone: which offset and abbreviation its clocks use at each instant of 1970–9999.
///
/// It is a value made from the bytes of a TZif file (RFC 9636, versions 1 to 4). Past the file's table the POSIX
/// TZ string in its footer governs, to the end of the range. Files with leap-second records (`right/…`) are read too;
/// instants stay POSIX time.
///
///     let prague = try Zone(identifier: "Europe/Prague", tzif: bytes)
///     prague.civil(at: Instant(seconds: 1_774_746_000))   // 2026-03-29 03:00, the first second after the gap
public struct Zone: Sendable, Hashable {
  /// The name it was made with: `Europe/Prague`.
  public let identifier: String
  let table: ZoneTable

  /// The largest file that is read, in bytes. The longest that zic makes are a few thousand.
  public static let maximumFileSize = 262_144

  /// Reads a TZif file.
  ///
  /// - Throws: ``ZoneError`` when the name is not ``isValidIdentifier(_:)`` or the bytes break RFC 9636.
  public init(identifier: String, tzif: [UInt8]) throws(ZoneError) {
    guard Zone.isValidIdentifier(identifier) else {
      throw ZoneError(.invalidIdentifier, "this does not have the form of a time zone name")
    }
    self.identifier = identifier
    table = try ZoneTable(TZif(tzif))
  }

  private init(utc identifier: String) {
    self.identifier = identifier
    table = .utc
  }

  /// Coordinated Universal Time; needs no file.
  public static let utc = Zone(utc: "UTC")

  /// Seconds east of UTC (negative in the Americas).
  public func offset(at instant: Instant) -> Int { Int(table.segment(at: instant.seconds).offset) }

  /// What clocks are labelled with at that instant: `CET`, `CEST`, `+03`.
  public func abbreviation(at instant: Instant) -> String { table.abbreviation(at: instant.seconds) }

  /// What a wall clock shows at that instant.
  public func civil(at instant: Instant) -> CivilDateTime {
    CivilDateTime(wallSeconds: instant.seconds + table.segment(at: instant.seconds).offset)
  }

  /// Which instants a wall clock's reading names. Instants outside 1970–9999 saturate at the ends of ``Instant``.
  public func resolve(_ civil: CivilDateTime) -> LocalResolution {
    switch table.resolve(civil.wallSeconds) {
    case .unique(let instant): .unique(Instant(seconds: instant))
    case .gap(let before, let after, let transition):
      .gap(before: Int(before), after: Int(after), transition: Instant(seconds: transition))
    case .fold(let first, let last): .fold(first: Instant(seconds: first), last: Instant(seconds: last))
    }
  }

  /// The first change of offset strictly after `instant`, or `nil` when there is none before the year 10000.
  /// Changes of abbreviation alone are not transitions.
  public func nextTransition(after instant: Instant) -> Transition? {
    var segment = table.segment(at: instant.seconds)
    while segment.end <= Instant.latest.seconds {
      let following = table.segment(at: segment.end)
      if segment.end > instant.seconds, following.offset != segment.offset {
        return Transition(
          instant: Instant(seconds: segment.end), offsetBefore: Int(segment.offset), offsetAfter: Int(following.offset))
      }
      segment = following
    }
    return nil
  }

  /// Whether a text is shaped like an IANA time zone name, so that it may be joined to a directory's path.
  ///
  /// One to 100 ASCII characters; parts of letters, digits, `+`, `-`, `_` and `.`, parted by single `/`; the name
  /// begins with a letter, and no part begins with `.` or `-`. So no `..`, no leading `/`, no NUL gets through.
  ///
  /// Source: the naming rules in the tz database's `theory.html`.
  public static func isValidIdentifier(_ text: String) -> Bool {
    guard text.utf8.count <= 100, let first = text.utf8.first, isLetter(first) else { return false }
    var previous = UInt8(ascii: "/")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."):
        if previous == UInt8(ascii: "/") { return false }
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "_"): break
      default: if !isLetter(byte) { return false }
      }
      previous = byte
    }
    return previous != UInt8(ascii: "/")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

/// A moment at which a zone's clocks change their offset.
public struct Transition: Sendable, Hashable, Codable {
  /// The first instant with the new offset.
  public let instant: Instant
  /// Seconds east of UTC until then.
  public let offsetBefore: Int
  /// Seconds east of UTC from then on.
  public let offsetAfter: Int

  public init(instant: Instant, offsetBefore: Int, offsetAfter: Int) {
    self.instant = instant
    self.offsetBefore = offsetBefore
    self.offsetAfter = offsetAfter
  }
}

/// What a wall clock's reading means in a zone.
public enum LocalResolution: Sendable, Hashable {
  /// It happens once.
  case unique(Instant)
  /// It does not happen: clocks jump over it at `transition`, from one offset (seconds east) to another.
  case gap(before: Int, after: Int, transition: Instant)
  /// It happens twice.
  case fold(first: Instant, last: Instant)
}
