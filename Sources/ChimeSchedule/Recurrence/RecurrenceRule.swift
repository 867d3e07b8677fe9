/// What a schedule of the rrule dialect comes down to.
struct RecurrenceRule: WallSlots {
  func next(after wall: Int64) -> Int64? { nil }
}
