package import ChimeSchedule

/// The source of a named calendar: dates in the configuration, or an iCalendar file.
package enum CalendarSource: Hashable, Sendable {
  case days([ClosedRange<CivilDate>])
  case file(String)

  /// The maximum number of dates and ranges in a list.
  static let mostDays = 10_000

  static let expected =
    "an array of dates and ranges of dates such as [\"2026-12-24..2026-12-26\", \"2027-01-01\"], or the absolute path "
    + "of an .ics file"

  /// Returns whether a text is a valid calendar name: letters, digits, `-` and `_`, and no word of the schedule language,
  /// so that `except on NAME` is unambiguous.
  static func isName(_ text: String) -> Bool {
    let bytes = text.utf8
    guard (1...64).contains(bytes.count),
      bytes.allSatisfy({ byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
      })
    else { return false }
    return (try? Schedule(canonical: "daily at 00:00 except on \(text)"))?.calendarNames == [text]
  }

  /// Parses `2026-12-24`, or `2026-12-24..2026-12-26` with both ends included.
  static func range(_ text: String) -> ClosedRange<CivilDate>? {
    let ends = text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false).map {
      CivilDate(String($0).trimmed)
    }
    switch (ends.first ?? nil, ends.last ?? nil, ends.count) {
    case (let day?, _, 1): return day...day
    case (let first?, let last?, 2) where first <= last: return first...last
    default: return nil
    }
  }

  /// The value as TOML.
  var text: String {
    switch self {
    case .file(let path): TOMLText.quoted(path)
    case .days(let ranges):
      TOMLText.array(
        ranges.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)..\($0.upperBound)" })
    }
  }
}

extension ConfigurationFiles {
  static let calendars = "calendars"

  /// Adopts one calendar. `elements` are the entries of its array.
  static func applyCalendar(
    _ entry: TOMLEntry, elements: [TOMLEntry], file: String, to loaded: inout LoadedConfiguration
  ) throws(ConfigurationError) {
    let name = String(entry.path.dropFirst(calendars.count + 1))
    guard CalendarSource.isName(name) else {
      throw entry.refusal(
        file,
        "\(TOMLText.quoted(String(name.prefix(80)))) is not a name for a calendar: use 1 to 64 letters, "
          + "digits, - or _, and no word that schedules use", atKey: true)
    }
    func refusal(_ entry: TOMLEntry, _ expected: String, _ shown: String) -> ConfigurationError {
      entry.refusal(file, "\(entry.path) must be \(expected); found \(shown)")
    }
    switch entry.value {
    case .string(let path) where path.hasPrefix("/") && path.utf8.count <= 4_000 && !path.utf8.contains(0):
      loaded.configuration.calendars[name] = .file(path)
    case .array:
      guard elements.count <= CalendarSource.mostDays else {
        throw refusal(
          entry, CalendarSource.expected, "an array of \(elements.count), with more than \(CalendarSource.mostDays)")
      }
      var ranges: [ClosedRange<CivilDate>] = []
      for element in elements {
        guard case .string(let text) = element.value, let range = CalendarSource.range(text) else {
          throw refusal(
            element, "a date such as \"2027-01-01\" or a range such as \"2026-12-24..2026-12-26\"",
            shown(.scalar(element.value)))
        }
        ranges.append(range)
      }
      loaded.configuration.calendars[name] = .days(ranges)
    default: throw refusal(entry, CalendarSource.expected, shown(.scalar(entry.value)))
    }
    loaded.origins[entry.path] = "\(file):\(entry.line)"
  }
}
