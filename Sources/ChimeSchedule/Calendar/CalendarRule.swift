/// What a schedule of the calendar dialect comes down to.
struct CalendarRule: WallSlots {
  func next(after wall: Int64) -> Int64? { nil }
}
