/// A TZif is the validated content of a TZif file (RFC 9636 section 3), parsed from untrusted bytes.
struct TZif {
  /// A LocalType is a kind of local time: its offset in seconds east of UTC, whether it is daylight saving, and its label.
  struct LocalType: Hashable, Sendable {
    var offset: Int32
    var isDaylight: Bool
    var abbreviation: String
  }

  /// POSIX seconds, ascending.
  private(set) var transitions: ContiguousArray<Int64> = []
  /// The index of the type that begins at each transition.
  private(set) var transitionTypes: ContiguousArray<UInt8> = []
  /// At least one; the first applies before the first transition.
  private(set) var types: ContiguousArray<LocalType> = []
  private(set) var footer: TZString?

  init(_ bytes: [UInt8]) throws(ZoneError) {
    guard bytes.count <= Zone.maximumFileSize else {
      throw ZoneError(.tooLarge, "it has more than \(Zone.maximumFileSize) bytes")
    }
    var reader = Reader(bytes: bytes)
    var header = try Header(&reader)
    guard header.version >= 2 else {
      try readBlock(header, wide: false, &reader)
      return
    }
    try reader.skip(header.blockSize(wide: false))
    let version = header.version
    header = try Header(&reader)
    guard header.version == version else {
      throw ZoneError(.malformed, "its two headers disagree on the version")
    }
    try readBlock(header, wide: true, &reader)
    footer = try readFooter(version, &reader)
  }

  private mutating func readBlock(_ header: Header, wide: Bool, _ reader: inout Reader) throws(ZoneError) {
    // All counts are checked against the remaining bytes before anything is allocated.
    guard header.blockSize(wide: wide) <= reader.remaining else { throw Reader.truncated }
    guard header.types >= 1, header.types <= 256 else {
      throw ZoneError(.malformed, "it must have 1 to 256 local time types")
    }
    guard header.characters >= 1 else { throw ZoneError(.malformed, "it has no time zone designations") }
    guard [0, header.types].contains(header.standardFlags), [0, header.types].contains(header.utcFlags) else {
      throw ZoneError(.malformed, "its indicators do not match its local time types")
    }
    transitions.reserveCapacity(header.transitions)
    for _ in 0..<header.transitions {
      let instant = try reader.integer(wide: wide)
      // RFC 9636 advises against times before the Big Bang, −2⁵⁹. The bound here is 2⁶⁰ in both directions.
      guard abs(instant.quarter) < 1 << 58, instant > transitions.last ?? .min else {
        throw ZoneError(.malformed, "its transition times are not in ascending order")
      }
      transitions.append(instant)
    }
    for _ in 0..<header.transitions {
      let type = try reader.byte()
      guard Int(type) < header.types else { throw ZoneError(.malformed, "a transition has a type that is not there") }
      transitionTypes.append(type)
    }
    try readTypes(header, &reader)
    try correctForLeapSeconds(header, wide: wide, &reader)
    for _ in 0..<header.standardFlags + header.utcFlags {
      guard try reader.byte() <= 1 else { throw ZoneError(.malformed, "an indicator is neither 0 nor 1") }
    }
  }

  private mutating func readTypes(_ header: Header, _ reader: inout Reader) throws(ZoneError) {
    var raw: [(offset: Int64, isDaylight: UInt8, name: Int)] = []
    for _ in 0..<header.types {
      raw.append((try reader.integer(wide: false), try reader.byte(), Int(try reader.byte())))
    }
    var names: [UInt8] = []
    for _ in 0..<header.characters { names.append(try reader.byte()) }
    for type in raw {
      guard abs(type.offset) < ZoneTable.largestOffset else {
        throw ZoneError(.malformed, "an offset from UTC is 26 hours or more")
      }
      guard type.isDaylight <= 1 else { throw ZoneError(.malformed, "a daylight saving mark is neither 0 nor 1") }
      guard type.name < names.count, let end = names[type.name...].firstIndex(of: 0) else {
        throw ZoneError(.malformed, "a time zone designation does not end")
      }
      let name = names[type.name..<end]
      guard name.count <= 32, name.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw ZoneError(.malformed, "a time zone designation is not a short ASCII text")
      }
      types.append(
        LocalType(
          offset: Int32(truncatingIfNeeded: type.offset), isDaylight: type.isDaylight == 1,
          abbreviation: String(decoding: name, as: UTF8.self)))
    }
  }

  /// Converts times that count leap seconds (`right/…` files) to POSIX times.
  private mutating func correctForLeapSeconds(
    _ header: Header, wide: Bool, _ reader: inout Reader
  ) throws(ZoneError) {
    var leaps: [(instant: Int64, total: Int64)] = []
    for _ in 0..<header.leapSeconds {
      let leap = (instant: try reader.integer(wide: wide), total: try reader.integer(wide: false))
      guard leap.instant > leaps.last?.instant ?? -1, abs(leap.total) < 86_400 else {
        throw ZoneError(.malformed, "its leap seconds are not in ascending order")
      }
      leaps.append(leap)
    }
    guard !leaps.isEmpty else { return }
    var next = 0
    var total: Int64 = 0
    for index in transitions.indices {
      while next < leaps.count, leaps[next].instant <= transitions[index] {
        total = leaps[next].total
        next += 1
      }
      transitions[index] -= total
      guard index == 0 || transitions[index - 1] < transitions[index] else {
        throw ZoneError(.malformed, "its transition times are not in ascending order")
      }
    }
  }

  private func readFooter(_ version: Int, _ reader: inout Reader) throws(ZoneError) -> TZString? {
    let newline = UInt8(ascii: "\n")
    guard try reader.byte() == newline else {
      throw ZoneError(.invalidFooter, "its footer does not begin with a newline")
    }
    var text: [UInt8] = []
    while true {
      let byte = try reader.byte()
      if byte == newline { break }
      guard text.count < 256 else { throw ZoneError(.invalidFooter, "its footer is longer than a TZ string can be") }
      text.append(byte)
    }
    return text.isEmpty ? nil : try TZString(text, extended: version >= 3)
  }
}

extension Int64 {
  /// A quarter of the value, whose magnitude cannot overflow.
  fileprivate var quarter: Int64 { self / 4 }
}

extension TZif {
  /// The 44 bytes before each block.
  private struct Header {
    /// The version, 1 to 4. A later one counts as 4, because RFC 9636 promises compatibility.
    let version: Int
    let utcFlags, standardFlags, leapSeconds, transitions, types, characters: Int

    init(_ reader: inout Reader) throws(ZoneError) {
      for expected in [UInt8(ascii: "T"), UInt8(ascii: "Z"), UInt8(ascii: "i"), UInt8(ascii: "f")] {
        guard try reader.byte() == expected else { throw ZoneError(.notTZif, "it does not begin as a TZif file does") }
      }
      switch try reader.byte() {
      case 0: version = 1
      case UInt8(ascii: "2"): version = 2
      case UInt8(ascii: "3"): version = 3
      case UInt8(ascii: "4")...UInt8(ascii: "9"): version = 4
      default: throw ZoneError(.notTZif, "its version is not one of TZif")
      }
      try reader.skip(15)
      utcFlags = try reader.count()
      standardFlags = try reader.count()
      leapSeconds = try reader.count()
      transitions = try reader.count()
      types = try reader.count()
      characters = try reader.count()
    }

    /// Returns the size in bytes of the block after this header. The counts are at most 2³², so nothing overflows.
    func blockSize(wide: Bool) -> Int {
      let time = wide ? 8 : 4
      return transitions * (time + 1) + types * 6 + characters + leapSeconds * (time + 4) + standardFlags + utcFlags
    }
  }

  /// A Reader reads big-endian numbers from a bounded sequence of bytes.
  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    static let truncated = ZoneError(.truncated, "it ends before what its header promises")
    var remaining: Int { bytes.count - position }

    mutating func byte() throws(ZoneError) -> UInt8 {
      guard position < bytes.count else { throw Reader.truncated }
      defer { position += 1 }
      return bytes[position]
    }

    mutating func skip(_ count: Int) throws(ZoneError) {
      guard count <= remaining else { throw Reader.truncated }
      position += count
    }

    mutating func count() throws(ZoneError) -> Int {
      var value = 0
      for _ in 0..<4 { value = value << 8 | Int(try byte()) }
      return value
    }

    /// Reads a signed number of eight bytes if wide, else of four.
    mutating func integer(wide: Bool) throws(ZoneError) -> Int64 {
      var value: UInt64 = 0
      for _ in 0..<(wide ? 8 : 4) { value = value << 8 | UInt64(try byte()) }
      return wide ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
    }
  }
}
