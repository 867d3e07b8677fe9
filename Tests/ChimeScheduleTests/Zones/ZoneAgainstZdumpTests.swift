import ChimeSchedule
import Foundation
import Testing

/// Compares every zone file of the machine, or every eighth, with zdump(8), for each transition up to 2100.
@Suite struct ZoneAgainstZdumpTests {
  static let root = "/usr/share/zoneinfo"

  /// A line of `zdump -v`: the offset and abbreviation in force at an instant.
  struct State: Hashable {
    var second: Int64
    var offset: Int
    var abbreviation: String
  }

  /// Returns all TZif files, including links and `right/` copies.
  static func identifiers() throws -> [String] {
    guard let walk = FileManager.default.enumerator(atPath: root) else { return [] }
    var names: [String] = []
    for case let name as String in walk {
      guard let handle = FileHandle(forReadingAtPath: "\(root)/\(name)") else { continue }
      defer { try? handle.close() }
      if (try? handle.read(upToCount: 4)) == Data("TZif".utf8) { names.append(name) }
    }
    return names.sorted()
  }

  /// Starts zdump on some zones.
  static func start(_ identifiers: some Sequence<String>) throws -> ChildProcess {
    try ChildProcess("/usr/bin/zdump", ["-v", "-c", "1970,2100"] + identifiers)
  }

  /// Parses zdump's output by zone: `NAME  Sun Mar 29 00:59:59 2026 UT = Sun Mar 29 01:59:59 2026 CET isdst=0 gmtoff=3600`.
  static func states(in output: Data) -> [String: [State]] {
    let months: [String: Int] = [
      "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11,
      "Dec": 12,
    ]
    var states: [String: [State]] = [:]
    for line in Array(output).split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 16, words[6] == "UT", let month = months[words[2]], let day = Int(words[3]),
        let year = Int(words[5]), let date = CivilDate(year: year, month: month, day: day),
        let time = CivilTime(words[4]), let offset = Int(words[15].dropFirst(7))
      else { continue }
      let second = Int64(date.dayNumber) * 86_400 + Int64(time.secondOfDay)
      states[words[0], default: []].append(State(second: second, offset: offset, abbreviation: words[13]))
    }
    return states
  }

  /// Reads each file, but compares identical contents (links, `posix/` copies) once. Of files with leap seconds, which
  /// differ in nothing else, every twentieth is compared.
  @Test func everyZoneMatchesZdumpTo2100() throws {
    var names: [Data: String] = [:]
    let identifiers = try Self.identifiers()
    try #require(identifiers.count > 400)
    for identifier in identifiers {
      let data = try Data(contentsOf: URL(fileURLWithPath: "\(Self.root)/\(identifier)"))
      if names.updateValue(identifier, forKey: data) != nil { _ = try zone(identifier) }
    }
    let plain = names.values.filter { !$0.hasPrefix("right/") }.sorted()
    let leaping = names.values.filter { $0.hasPrefix("right/") }.sorted()
    let all = plain + leaping.enumerated().filter { $0.offset.isMultiple(of: 20) }.map(\.element)
    let step = ProofTier.amount(quick: 8, proof: 1)
    let distinct = stride(from: 0, to: all.count, by: step).map { all[$0] }
    let half = distinct.count / 2
    let runs = try [Self.start(distinct[..<half]), Self.start(distinct[half...])]
    var compared = 0
    for run in runs {
      run.wait()
      let dumped = Self.states(in: run.output)
      for (identifier, states) in dumped {
        compared += states.count
        if let disagreement = try Self.disagreement(zone(identifier), states) {
          Issue.record("\(identifier): \(disagreement)")
        }
      }
    }
    print("compared \(identifiers.count) zone files (\(distinct.count) distinct), \(compared) states with zdump")
    #expect(compared > 50_000 / step)
  }

  /// Returns the first difference between a zone and zdump's output.
  static func disagreement(_ zone: Zone, _ states: [State]) -> String? {
    var changes: [Int64] = []
    var previous: State?
    for state in states {
      let at = Instant(seconds: state.second)
      if zone.offset(at: at) != state.offset || zone.abbreviation(at: at) != state.abbreviation { return "\(state)" }
      // zdump prints the second before and the second of each change.
      if let previous, state.second == previous.second + 1, state.offset != previous.offset {
        changes.append(state.second)
      }
      previous = state
    }
    var ours: [Int64] = []
    var at = Instant.earliest
    let end = instant("2100-01-01T00:00:00Z")
    while let transition = zone.nextTransition(after: at), transition.instant < end {
      at = transition.instant
      ours.append(at.seconds)
    }
    return ours == changes ? nil : "\(ours.count) transitions instead of \(changes.count)"
  }

  /// The footer's 400-year cycle: each transition up to the year 9999 recurs after 400 years to the second.
  @Test(arguments: ["Europe/Prague", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Asia/Jerusalem"])
  func footerRepeatsEvery400Years(_ identifier: String) throws {
    let zone = try zone(identifier)
    let cycle: Int64 = 146_097 * 86_400
    var at = instant("2101-01-01T00:00:00Z")
    var count = 0
    // The last year to check.
    let last = ProofTier.amount(quick: 2_700, proof: 9_999)
    let end = last == 9_999 ? Instant.latest : instant("\(last + 1)-01-01T00:00:00Z")
    while let transition = zone.nextTransition(after: at), transition.instant < end {
      count += 1
      at = transition.instant
      guard at.seconds + cycle <= Instant.latest.seconds else { continue }
      let later = zone.nextTransition(after: Instant(seconds: at.seconds + cycle - 1))
      #expect(later?.instant.seconds == at.seconds + cycle)
      #expect(later?.offsetAfter == transition.offsetAfter)
    }
    #expect(count == 2 * (last - 2_100))
  }
}
