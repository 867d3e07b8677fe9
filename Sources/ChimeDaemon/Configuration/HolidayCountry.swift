import ChimeCore
import ChimeExchange
import ChimeSchedule

/// The country of the calendar `holidays`.
enum HolidayCountry {
  /// The table of this release; nil if it is damaged, which a test rules out.
  static var table: HolidayTable? { try? HolidayTable(EmbeddedTables.holidays) }

  static let key: TOMLKey<Configuration> = .string(
    "calendars.country", \.holidayCountry,
    "the code of a country such as \"CZ\", or of a part of one such as \"DE-BY\", or \"\" for the locale's",
    read: { text in
      if text.isEmpty { return "" }
      return text.utf8.count <= 80 ? try? table?.holidays(of: text).country : nil
    }, write: { $0 })

  /// Returns the parts of a country as a sentence if a part was given that it does not have.
  static func otherParts(_ value: ConfigurationValue) -> String? {
    guard case .scalar(.string(let text)) = value, text.utf8.count <= 80 else { return nil }
    do {
      _ = try table?.holidays(of: text)
      return nil
    } catch .unknownPart(let known) where !known.isEmpty {
      let country = text.prefix { $0 != "-" }.uppercased()
      return "\(country) does not have this part; it has \(known.map { "\(country)-\($0)" }.joined(separator: ", "))"
    } catch .unknownPart {
      return "Chime knows no parts of \(text.prefix { $0 != "-" }.uppercased()); give only the country"
    } catch {
      return nil
    }
  }

  /// Returns the configured country, else the locale's; nil if the table has neither.
  static func code(_ configuration: Configuration, environment: [String: String]) -> String? {
    if !configuration.holidayCountry.isEmpty { return configuration.holidayCountry }
    guard let table else { return nil }
    return ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap { environment[$0] }.compactMap(country(ofLocale:))
      .compactMap { try? table.holidays(of: $0).country }.first
  }

  /// Returns `CZ` for `cs_CZ.UTF-8`.
  static func country(ofLocale name: String) -> String? {
    let parts = name.prefix { $0 != "." && $0 != "@" }.split(separator: "_")
    guard parts.count == 2, parts[1].utf8.count == 2 else { return nil }
    return parts[1].uppercased()
  }
}

extension PublicHolidays {
  /// The time before the last known holiday from which users are warned.
  private static let notice = Milliseconds.days(180)

  /// Returns a warning that the known holidays end, if reminders skip them; nil while there is time.
  func ending(for count: Int, now: Instant) -> String? {
    guard count > 0, Zone.utc.civil(at: now + Self.notice).date.year > years.upperBound else { return nil }
    let last = years.upperBound
    return count == 1
      ? "Chime knows public holidays through \(last), and one reminder leaves them out; a newer Chime knows more"
      : "Chime knows public holidays through \(last), and \(count) reminders leave them out; a newer Chime knows more"
  }
}
