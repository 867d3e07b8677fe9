package import ChimeCore
package import ChimeSchedule
package import ChimeTracking

// Decoding of rows. The comment of each function lists its columns in order.
extension StoredRow {
  /// Returns a date. Days outside the calendar's range become its first or last day.
  package func day(_ column: Int32) -> CivilDate {
    CivilDate(dayNumber: int(column)) ?? (int64(column) < 0 ? .earliest : .latest)
  }

  package func optionalDay(_ column: Int32) -> CivilDate? { isNull(column) ? nil : day(column) }

  package func quantity(_ column: Int32) -> Quantity { Quantity(grains: int64(column)) }

  package func optionalQuantity(_ column: Int32) -> Quantity? { isNull(column) ? nil : quantity(column) }

  /// `entry.key, tracker_name.owner, tracker_name.id, at, day, minute, quantity, item_name.id, fields, photo, note`
  package func entry(_ reader: DefinitionReader) -> Entry {
    Entry(
      id: EntryID(rawValue: int64(0)), tracker: TrackerID(rawValue: text(2)), owner: uint32(1), at: instant(3),
      day: day(4), minute: int(5), quantity: optionalQuantity(6),
      fields: optionalText(8).map(reader.quantities) ?? [:], item: optionalText(7).map { ItemID(rawValue: $0) },
      note: optionalText(10), photo: optionalText(9))
  }

  /// `item_name.id, title, attributes, since, until, note, photo, created_at`
  package func item(of tracker: TrackerKey, _ reader: DefinitionReader) -> Item {
    Item(
      id: ItemID(rawValue: text(0)), tracker: tracker.id, owner: tracker.owner, title: text(1),
      attributes: optionalText(2).map(reader.attributes) ?? [:], since: optionalDay(3), until: optionalDay(4),
      note: optionalText(5), photo: optionalText(6), createdAt: instant(7))
  }

  /// `milestone.key, tracker_name.owner, tracker_name.id, day, title, note, photo, value, created_at`
  package func milestone() -> Milestone {
    Milestone(
      id: int64(0), tracker: TrackerID(rawValue: text(2)), owner: uint32(1), day: day(3), title: text(4),
      note: optionalText(5), photo: optionalText(6), value: optionalQuantity(7), createdAt: instant(8))
  }

  /// `day, count, total, least, most, last, first_at, last_at, first_minute, last_minute, met, goal`
  package func dayTotal(_ reader: DefinitionReader) -> DayTotal {
    DayTotal(
      day: day(0), count: int(1), total: quantity(2), least: optionalQuantity(3), most: optionalQuantity(4),
      last: optionalQuantity(5), firstAt: instant(6), lastAt: instant(7), firstMinute: int(8), lastMinute: int(9),
      isMet: int(10) != 0, goal: optionalText(11).flatMap(reader.goal))
  }
}
