/// A CalendarSeries is an event or to-do with its changed occurrences, which have the same UID.
struct CalendarSeries {
  var master: CalendarComponent?
  /// The components with a RECURRENCE-ID.
  var overrides: [CalendarComponent] = []

  /// Returns the series of a calendar in file order. Files that were merged from several may repeat components with the
  /// same UID and RECURRENCE-ID. The highest SEQUENCE wins, and among equal ones the last.
  static func all(in calendar: CalendarComponent, named names: [String]) -> [CalendarSeries] {
    var series: [CalendarSeries] = []
    var byKey: [String: Int] = [:]
    for component in calendar.components where names.contains(component.name) {
      guard let uid = component["UID"].map({ trimmed($0.value) }), !uid.isEmpty else {
        series.append(CalendarSeries(master: component))
        continue
      }
      let key = "\(component.name) \(uid)"
      if let index = byKey[key] {
        series[index].add(component)
      } else {
        byKey[key] = series.count
        var first = CalendarSeries()
        first.add(component)
        series.append(first)
      }
    }
    return series.map { $0.withoutRepeats() }
  }

  private mutating func add(_ component: CalendarComponent) {
    if component["RECURRENCE-ID"] != nil {
      overrides.append(component)
    } else if let master, master.sequence > component.sequence {
      return
    } else {
      master = component
    }
  }

  private func withoutRepeats() -> CalendarSeries {
    guard overrides.count > 1 else { return self }
    var kept = self
    var byID: [ContentLine.Key: Int] = [:]
    kept.overrides = []
    for component in overrides {
      guard let id = component["RECURRENCE-ID"]?.key else { continue }
      if let index = byID[id] {
        if component.sequence >= kept.overrides[index].sequence { kept.overrides[index] = component }
      } else {
        byID[id] = kept.overrides.count
        kept.overrides.append(component)
      }
    }
    return kept
  }
}

extension CalendarComponent {
  /// The revision number.
  var sequence: Int { self["SEQUENCE"].flatMap { Int(trimmed($0.value)) } ?? 0 }

  var isCancelled: Bool { self["STATUS"].map { CalendarFile.capitals($0.value) } == "CANCELLED" }
}

extension ContentLine {
  struct Key: Hashable {
    var zone: String?
    var value: String
  }

  var key: Key { Key(zone: parameter("TZID"), value: trimmed(value)) }
}
