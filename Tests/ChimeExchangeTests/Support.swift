import ChimeSchedule
import Foundation

@testable import ChimeExchange

/// Returns the machine's zone of that name.
func zone(_ name: String) -> Zone? {
  if name == "UTC" { return .utc }
  guard Zone.isValidIdentifier(name), let data = FileManager.default.contents(atPath: "/usr/share/zoneinfo/\(name)")
  else { return nil }
  return try? Zone(identifier: name, tzif: Array(data))
}

let prague = zone("Europe/Prague") ?? .utc

/// A schedule context in Prague, with every zone of the machine.
let scheduleContext = ScheduleContext(zone: prague, zones: { zone($0) })
