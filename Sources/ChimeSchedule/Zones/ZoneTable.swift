/// A ZoneTable is a lookup table of a zone's transitions: ascending instants, each with the offset that follows.
///
/// The Gregorian calendar repeats after 400 years, weekdays included, and so does every footer rule. The table
/// therefore holds the file's transitions and one such cycle of the footer. Later instants are looked up in that cycle.
struct ZoneTable: Sendable, Hashable {
  /// A Segment is a period with one offset, and the offsets around it. Seconds since 1970 and seconds east of UTC.
  struct Segment {
    /// The first second; far below zero for the first segment.
    var start: Int64
    /// The first second of the next segment; far above the range for the last.
    var end: Int64
    var offset: Int64
    var offsetBefore: Int64
    var offsetAfter: Int64
  }

  enum Resolution {
    case unique(Int64)
    case gap(before: Int64, after: Int64, transition: Int64)
    case fold(first: Int64, last: Int64)
  }

  /// 400 Gregorian years.
  static let cycle: Int64 = 146_097 * 86_400
  /// The limit of offsets in both directions (RFC 9636 section 3.2 advises −25 to +26 hours).
  static let largestOffset: Int64 = 26 * 3_600
  private static let always: Int64 = 1 << 50
  /// No wall clock within the range shows a change after this.
  private static let afterRange = Instant.latest.seconds + largestOffset * 4

  /// The first second of each segment; the first is `-always`. Adjacent segments differ in offset, so that each gap and
  /// fold lies between two of them, even if the abbreviation alone changes soon after.
  private let starts: ContiguousArray<Int64>
  private let offsets: ContiguousArray<Int32>
  /// The first second of each period with one local time type.
  private let typeStarts: ContiguousArray<Int64>
  private let types: ContiguousArray<UInt8>
  private let abbreviations: ContiguousArray<String>
  /// From this second on, lookups go back by whole cycles.
  private let directEnd: Int64

  static let utc = ZoneTable(offset: 0, abbreviation: "UTC")

  private init(offset: Int32, abbreviation: String) {
    starts = [-ZoneTable.always]
    offsets = [offset]
    typeStarts = starts
    types = [0]
    abbreviations = [abbreviation]
    directEnd = ZoneTable.always
  }

  init(_ file: TZif) throws(ZoneError) {
    var starts: ContiguousArray<Int64> = [-ZoneTable.always]
    var types: ContiguousArray<UInt8> = [0]
    var kinds = file.types
    func append(_ instant: Int64, _ type: UInt8) {
      // Transitions before the range matter only as the state at its start.
      if instant < -ZoneTable.largestOffset * 4, starts.count == 1 {
        types[0] = type
      } else if types[types.count - 1] != type {
        starts.append(instant)
        types.append(type)
      }
    }
    for (instant, type) in zip(file.transitions, file.transitionTypes) where instant < ZoneTable.afterRange {
      append(instant, type)
    }
    let last = file.transitions.last ?? -ZoneTable.always
    guard let rule = file.footer, last < ZoneTable.afterRange else {
      self.init(starts: starts, types: types, kinds: kinds, directEnd: ZoneTable.always)
      return
    }

    func number(_ type: TZif.LocalType) throws(ZoneError) -> UInt8 {
      if let known = kinds.firstIndex(of: type) { return UInt8(truncatingIfNeeded: known) }
      guard kinds.count < 256 else {
        throw ZoneError(.malformed, "it has more local time types than its format can number")
      }
      kinds.append(type)
      return UInt8(truncatingIfNeeded: kinds.count - 1)
    }
    let standard = try number(rule.standard)
    guard let daylight = rule.daylight else {
      // In a valid file the table ends in this state. Otherwise the footer applies after its last entry.
      append(file.transitions.isEmpty ? -ZoneTable.always : last + 1, standard)
      self.init(starts: starts, types: types, kinds: kinds, directEnd: ZoneTable.always)
      return
    }
    let saving = try number(daylight.type)
    let tableYear = Int(CivilDate(unchecked: dividedByDay(max(last, 0)).day).year)
    var changes: [Change] = []
    for year in max(tableYear, 1970) - 1...tableYear + 402 {
      changes.append((daylight.start.instant(year: year, offset: rule.standard.offset), saving))
      changes.append((daylight.end.instant(year: year, offset: daylight.type.offset), standard))
    }
    // Daylight saving that ends and begins at the same moment is permanent.
    changes.sort { ($0.instant, $0.type == saving ? 1 : 0) < ($1.instant, $1.type == saving ? 1 : 0) }
    let ordered = ZoneTable.withoutEmptyStretches(changes)
    for change in ordered where change.instant > last { append(change.instant, change.type) }
    let end = Int64(CivilDate.dayNumber(year: tableYear + 402, month: 1, day: 1)) * 86_400
    self.init(starts: starts, types: types, kinds: kinds, directEnd: end)
  }

  private typealias Change = (instant: Int64, type: UInt8)

  /// Keeps only the last of several changes at one instant.
  private static func withoutEmptyStretches(_ changes: [Change]) -> [Change] {
    var kept: [Change] = []
    for change in changes {
      if let previous = kept.last, previous.instant == change.instant { kept.removeLast() }
      kept.append(change)
    }
    return kept
  }

  private init(
    starts: ContiguousArray<Int64>, types: ContiguousArray<UInt8>, kinds: ContiguousArray<TZif.LocalType>,
    directEnd: Int64
  ) {
    typeStarts = starts
    self.types = types
    self.directEnd = directEnd
    var changes: ContiguousArray<Int64> = []
    var offsets: ContiguousArray<Int32> = []
    for (start, type) in zip(starts, types) {
      let offset = Int(type) < kinds.count ? kinds[Int(type)].offset : 0
      guard offset != offsets.last else { continue }
      changes.append(start)
      offsets.append(offset)
    }
    self.starts = changes
    self.offsets = offsets
    abbreviations = ContiguousArray(kinds.map(\.abbreviation))
  }
}

extension ZoneTable {
  /// Returns how far to move `second` back to find it in the table: whole cycles.
  @inline(__always)
  private func shift(_ second: Int64) -> Int64 {
    second < directEnd ? 0 : ((second - directEnd) / ZoneTable.cycle + 1) * ZoneTable.cycle
  }

  /// Returns the index of the last period that starts at or before `second`, which must lie in the table's own range.
  @inline(__always)
  private func index(_ second: Int64, in starts: ContiguousArray<Int64>) -> Int {
    starts.withUnsafeBufferPointer { starts in
      var low = 0
      var count = starts.count
      while count > 1 {
        let half = count / 2
        low = starts[low + half] <= second ? low + half : low
        count -= half
      }
      return low
    }
  }

  func abbreviation(at second: Int64) -> String {
    let type = Int(types[index(second - shift(second), in: typeStarts)])
    return type < abbreviations.count ? abbreviations[type] : ""
  }

  /// Returns the segment that contains a second.
  func segment(at second: Int64) -> Segment {
    let shift = shift(second)
    let index = index(second - shift, in: starts)
    let offset = Int64(offsets[index])
    var segment = Segment(
      start: starts[index] + shift, end: ZoneTable.always, offset: offset, offsetBefore: offset, offsetAfter: offset)
    if index > 0 { segment.offsetBefore = Int64(offsets[index - 1]) }
    if index + 1 < starts.count {
      segment.end = starts[index + 1] + shift
      segment.offsetAfter = Int64(offsets[index + 1])
    }
    return segment
  }

  /// Returns the seconds that a wall-clock time means.
  func resolve(_ wall: Int64) -> Resolution {
    // Read as UTC, the time is at most 26 hours off. Far enough from both ends of the segment, by the largest
    // difference of two offsets, the result is unique.
    let near = segment(at: wall)
    let guess = wall - near.offset
    if guess >= near.start + 2 * ZoneTable.largestOffset, guess < near.end - 2 * ZoneTable.largestOffset {
      return .unique(guess)
    }
    return resolveNearTransition(wall)
  }

  private func resolveNearTransition(_ wall: Int64) -> Resolution {
    var segment = segment(at: wall - ZoneTable.largestOffset)
    var first: Int64?
    var last: Int64 = 0
    // A second change may set the clock back soon after a gap, so that the skipped time still occurs.
    var gap: Resolution?
    while true {
      let instant = wall - segment.offset
      if instant >= segment.start, instant < segment.end {
        if first == nil { first = instant }
        last = instant
      }
      if gap == nil, instant >= segment.end, wall - segment.offsetAfter < segment.end {
        gap = .gap(before: segment.offset, after: segment.offsetAfter, transition: segment.end)
      }
      if segment.end > wall + ZoneTable.largestOffset { break }
      segment = self.segment(at: segment.end)
    }
    // Without a match or a gap, the time lies beyond the range. The last offset applies.
    guard let first else { return gap ?? .unique(wall - segment.offset) }
    return first == last ? .unique(first) : .fold(first: first, last: last)
  }
}
