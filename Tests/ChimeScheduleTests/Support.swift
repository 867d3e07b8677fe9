import ChimeSchedule
import Foundation
import Synchronization
import Testing

/// Returns a zone from the machine's zone files, which are cached.
func zone(_ identifier: String) throws -> Zone {
  if identifier == "UTC" { return .utc }
  if let known = knownZones.withLock({ $0[identifier] }) { return known }
  let data = try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(identifier)"))
  let zone = try Zone(identifier: identifier, tzif: Array(data))
  knownZones.withLock { $0[identifier] = zone }
  return zone
}

private let knownZones = Mutex<[String: Zone]>([:])

/// Friday 20 November 2026, 22:22:13 UTC; 23:22:13 in Prague.
let friday = instant("2026-11-20T22:22:13Z")

func instant(_ text: String) -> Instant {
  do {
    return try RFC3339.parse(text)
  } catch {
    Issue.record(error)
    return .earliest
  }
}

/// A random generator with the same numbers in each run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
