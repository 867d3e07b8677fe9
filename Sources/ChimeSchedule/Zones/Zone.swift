/// A Zone holds the rules of one time zone: the offset and abbreviation of its clocks at each instant of 1970–9999.
///
/// It is a value made from the bytes of a TZif file (RFC 9636, versions 1 to 4). After the file's last transition the POSIX
/// TZ string in its footer applies. Files with leap-second records (`right/…`) are accepted; instants stay POSIX time.
///
///     let prague = try Zone(identifier: "Europe/Prague", tzif: bytes)
///     prague.civil(at: Instant(seconds: 1_774_746_000))   // 2026-03-29 03:00, the first second after the gap
public struct Zone: Sendable, Hashable {
  /// The name it was made with: `Europe/Prague`.
  public let identifier: String
  let table: ZoneTable

  /// The largest accepted file, in bytes. The longest files of zic have a few thousand.
  public static let maximumFileSize = 262_144

  /// Parses a TZif file.
  ///
  /// - Throws: ``ZoneError`` if the name is not ``isValidIdentifier(_:)`` or the bytes violate RFC 9636.
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

  /// Coordinated Universal Time. It needs no file.
  public static let utc = Zone(utc: "UTC")

  /// Returns the offset in seconds east of UTC (negative in the Americas).
  public func offset(at instant: Instant) -> Int { Int(table.segment(at: instant.seconds).offset) }

  /// Returns the label of the zone's clocks at an instant: `CET`, `CEST`, `+03`.
  public func abbreviation(at instant: Instant) -> String { table.abbreviation(at: instant.seconds) }

  /// Returns what a wall clock shows at an instant.
  public func civil(at instant: Instant) -> CivilDateTime {
    CivilDateTime(wallSeconds: instant.seconds + table.segment(at: instant.seconds).offset)
  }

  /// Returns the instants of a wall-clock time. Instants outside 1970–9999 saturate at the ends of ``Instant``.
  public func resolve(_ civil: CivilDateTime) -> LocalResolution {
    switch table.resolve(civil.wallSeconds) {
    case .unique(let instant): .unique(Instant(seconds: instant))
    case .gap(let before, let after, let transition):
      .gap(before: Int(before), after: Int(after), transition: Instant(seconds: transition))
    case .fold(let first, let last): .fold(first: Instant(seconds: first), last: Instant(seconds: last))
    }
  }

  /// Returns the first change of offset strictly after `instant`; `nil` if there is none before the year 10000. A
  /// change of abbreviation alone does not count.
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

  /// Returns whether a text has the form of an IANA time zone name, so that it is safe to append to a directory path.
  ///
  /// A name has one to 100 ASCII characters. Its parts consist of letters, digits, `+`, `-`, `_` and `.`, with single `/`
  /// between them. It begins with a letter, and no part begins with `.` or `-`. This excludes `..`, a leading `/` and NUL.
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

/// A Transition is a moment at which a zone's clocks change their offset.
public struct Transition: Sendable, Hashable, Codable {
  /// The first instant with the new offset.
  public let instant: Instant
  /// Seconds east of UTC before it.
  public let offsetBefore: Int
  /// Seconds east of UTC from it on.
  public let offsetAfter: Int
}

/// A LocalResolution says which instants a wall-clock time means in a zone.
public enum LocalResolution: Sendable, Hashable {
  /// The time occurs once.
  case unique(Instant)
  /// The time does not occur: clocks skip it at `transition`, from one offset (seconds east) to another.
  case gap(before: Int, after: Int, transition: Instant)
  /// The time occurs twice.
  case fold(first: Instant, last: Instant)
}
