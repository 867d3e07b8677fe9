import ChimeCore
import ChimeExchange
import ChimeSchedule

/// The named calendars: their days, and the identities of their files, by which changes are detected.
struct CalendarFiles: Sendable {
  /// The days of each calendar that was read.
  private(set) var days: [String: [ClosedRange<CivilDate>]] = [:]
  /// The problem of each unreadable calendar file, by calendar. The calendar keeps the days that were read last.
  private(set) var problems: [String: String] = [:]
  /// The shipped public holidays, unless the configuration defines a calendar of that name.
  private(set) var holidays: PublicHolidays?
  private var sources: [String: CalendarSource] = [:]
  private var identities: [String: FileIdentity] = [:]

  /// The maximum size of a calendar file in bytes.
  static let maxBytes = 4 << 20

  init() {}

  var paths: [String] {
    sources.values.compactMap { source in
      if case .file(let path) = source { path } else { nil }
    }
  }

  /// The folders of the calendar files.
  var folders: Set<String> {
    Set(
      paths.compactMap { path in
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
      })
  }

  /// A hash of the days for comparison after a restart: FNV-1a over names and day numbers.
  var fingerprint: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for (name, ranges) in days.sorted(by: { $0.key < $1.key }) {
      for byte in name.utf8 { add(byte) }
      add(0)
      for day in ranges.flatMap({ [$0.lowerBound.dayNumber, $0.upperBound.dayNumber] }) {
        for shift in [0, 8, 16, 24] { add(UInt8(truncatingIfNeeded: day >> shift)) }
      }
    }
    return String(hash, radix: 16)
  }

  /// Adopts the configured calendars, and reads new and changed files. Returns the names of calendars whose days changed,
  /// including removed ones.
  ///
  /// - Parameter country: the country of the public holidays; nil if unknown.
  mutating func update(
    _ wanted: [String: CalendarSource], country: String? = nil, zones: ZoneCatalog
  ) -> Set<String> {
    let before = days
    for name in sources.keys where wanted[name] == nil { forget(name) }
    for (name, source) in wanted {
      // A new source under an old name is a new calendar.
      if sources[name] != source { forget(name) }
      sources[name] = source
      switch source {
      case .days(let ranges): days[name] = ranges
      case .file(let path): read(path, as: name, zones)
      }
    }
    takeHolidays(of: wanted[PublicHolidays.calendarName] == nil ? country : nil)
    return Set(Set(before.keys).union(days.keys).filter { before[$0] != days[$0] })
  }

  private mutating func takeHolidays(of country: String?) {
    guard country != holidays?.country else { return }
    if holidays != nil, sources[PublicHolidays.calendarName] == nil { days[PublicHolidays.calendarName] = nil }
    holidays = country.flatMap { try? HolidayCountry.table?.holidays(of: $0) }
    if let holidays { days[PublicHolidays.calendarName] = holidays.ranges }
  }

  private mutating func forget(_ name: String) {
    (sources[name], days[name], problems[name], identities[name]) = (nil, nil, nil, nil)
  }

  private mutating func read(_ path: String, as name: String, _ zones: ZoneCatalog) {
    let identity = FileIdentity(path)
    if let identity, identity == identities[name] { return }
    identities[name] = identity
    do {
      days[name] = try CalendarDays.read(
        SystemFiles.read(path, atMost: Self.maxBytes),
        in: ScheduleContext(zone: zones.local, zones: { zones.zone($0) }))
      problems[name] = nil
    } catch let error as SystemError {
      problems[name] = "the calendar \(name): \(path) cannot be read: \(error.reason)"
    } catch {
      problems[name] = "the calendar \(name): \(path) is not a calendar: \(error)"
    }
  }
}
