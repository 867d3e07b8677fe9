import ChimeExchange
import ChimeSchedule

private let settings = ImportSettings(now: Ground.now, scheduleContext: Ground.scheduleContext)

/// A calendar is refused, or its days ascend and each reminder has a time to come.
func checkCalendarFile(_ bytes: [UInt8]) throws(BrokenProperty) {
  if let days = try? CalendarDays.read(bytes, in: Ground.scheduleContext) {
    for (first, second) in zip(days, days.dropFirst()) {
      try require(first.upperBound < second.lowerBound, "\(first) comes before \(second)")
    }
  }
  do {
    try checkPlan(CalendarImport.read(bytes, settings), bytes)
  } catch let error as BrokenProperty {
    throw error
  } catch let error as ExchangeError {
    try require(!error.message.isEmpty, "a refusal without a sentence")
  } catch {
    throw BrokenProperty("\(error)")
  }
}

/// A crontab is refused, or each of its lines becomes a reminder with a time to come, or a remark.
func checkCrontab(_ bytes: [UInt8]) throws(BrokenProperty) {
  for hasUsers in [false, true] {
    do {
      try checkPlan(CrontabImport.read(bytes, settings, hasUsers: hasUsers), bytes)
    } catch let error as BrokenProperty {
      throw error
    } catch let error as ExchangeError {
      try require(!error.message.isEmpty, "a refusal without a sentence")
    } catch {
      throw BrokenProperty("\(error)")
    }
  }
}

private func checkPlan(_ plan: ImportPlan, _ bytes: [UInt8]) throws(BrokenProperty) {
  for draft in plan.drafts.prefix(16) {
    try require(!draft.title.isEmpty, "a reminder of line \(draft.line) without a title")
    try require(draft.line >= 1 && draft.line <= bytes.count + 1, "line \(draft.line)")
    let zone = draft.timezone.flatMap { Ground.scheduleContext.zone(of: $0) }
    try require(draft.timezone == nil || zone != nil, "\(draft.timezone ?? "") is no zone here")
    let scheduleContext = Ground.scheduleContext(zone ?? Ground.scheduleContext.zone)
    let timetable = draft.schedule.timetable(in: scheduleContext)
    try require(timetable.next(after: Ground.now) != nil, "\(draft.schedule) has no time to come")
    do {
      let again = try Schedule(canonical: draft.schedule.canonical)
      try require(again == draft.schedule, "\(draft.schedule) became \(again)")
    } catch let error as BrokenProperty {
      throw error
    } catch {
      throw BrokenProperty("\(draft.schedule) does not stand alone: \(error)")
    }
  }
  for remark in plan.remarks.prefix(64) { try require(!remark.message.isEmpty, "a remark without words") }
}

extension ScheduleContext {
  fileprivate func zone(of name: String) -> Zone? {
    name == "UTC" ? .utc : name == zone.identifier ? zone : zones(name)
  }
}
