/// What a schedule of the cron dialect comes down to.
struct CronRule: WallSlots {
  func next(after wall: Int64) -> Int64? { nil }
}
