import ChimeDaemon
import ChimeTracking

/// A pack is refused with places in its file, the same each time, or is one that the engine can work with.
func checkPack(_ bytes: [UInt8]) throws(BrokenProperty) {
  let pack: Pack
  do throws(PackFaults) {
    pack = try PackFile.read(bytes, file: "/p")
  } catch {
    try check(error, bytes)
    return
  }
  try require(!pack.trackers.isEmpty, "a pack without a tracker")
  try require(Set(pack.trackers.map(\.id)).count == pack.trackers.count, "trackers of one name")
  try require(Set(pack.reminders.map(\.key)).count == pack.reminders.count, "reminders of one name")
  try require(Set(pack.achievements.map(\.id)).count == pack.achievements.count, "achievements of one name")
  let trackers = Set(pack.trackers.map(\.id))
  for reminder in pack.reminders {
    try require(trackers.contains(reminder.tracker), "\(reminder.key) is about no tracker of the pack")
  }
  for achievement in pack.achievements {
    let faults = achievement.criterion.faults(among: pack.trackers, hasLevels: pack.levels != nil)
    try require(faults.isEmpty, "\(achievement.id): \(faults)")
  }
  try require(pack.moods.isEmpty || pack.moods.count == Mood.allCases.count, "\(pack.moods.count) moods")
  for quote in pack.quotes {
    try require(!quote.text.unicodeScalars.contains { $0.properties.isBidiControl }, "a quote that turns text around")
    try require(!quote.source.isEmpty, "a quote without a source")
  }
  for tracker in pack.trackers {
    try require(tracker.title.texts["en"] != nil, "\(tracker.id) has no English title")
    try require((tracker.unit == nil) == (tracker.kind == .check), "\(tracker.id) and its unit")
    try require(tracker.presets.allSatisfy { $0 > .zero }, "\(tracker.id): \(tracker.presets)")
  }
}

private func check(_ error: PackFaults, _ bytes: [UInt8]) throws(BrokenProperty) {
  try require(!error.faults.isEmpty, "a refusal without a fault")
  try require(error.faults.count <= PackFaults.most + 1, "\(error.faults.count) faults")
  let lines = bytes.count { $0 == 0x0A } + 1
  var last = 0
  for fault in error.faults {
    try requireSentence(fault.message, atMost: 4_000)
    try require(
      !fault.key.unicodeScalars.contains { $0.properties.generalCategory == .control }, fault.key.debugDescription)
    try require((0...lines).contains(fault.line), "line \(fault.line) of \(lines)")
    try require(fault.column >= 0 && fault.column <= bytes.count + 1, "column \(fault.column)")
    // Those about the whole file come last.
    try require(fault.line == 0 || fault.line >= last, "line \(fault.line) after \(last)")
    last = max(last, fault.line)
  }
}
