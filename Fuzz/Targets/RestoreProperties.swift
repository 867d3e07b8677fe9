import ChimeCore
import ChimeDaemon
import ChimeDelivery
import ChimeSchedule
import ChimeTestKit

/// The lines of a backup are refused in a sentence, with the line, before anything is computed of them; or they are put in
/// place, shown, and can be backed up and restored again.
func checkRestore(_ bytes: [UInt8]) throws(BrokenProperty) {
  let first = try outcome(bytes)
  guard case .restored(let again) = first else { return }
  guard case .restored(let third) = try outcome(again) else {
    throw BrokenProperty("what was restored is refused when it is backed up and restored again")
  }
  try require(again == third, "it is another backup each time")
}

private func outcome(_ bytes: [UInt8]) throws(BrokenProperty) -> RestoreTrial.Outcome {
  let outcome: RestoreTrial.Outcome
  do {
    outcome = try RestoreTrial.run(
      bytes, now: Ground.now, context: ReminderContext(zones: GroundZones(), place: Ground.scheduleContext.place),
      in: MemoryStore.emptyTransaction())
  } catch {
    throw BrokenProperty("what was judged sound could not be restored: \(error)")
  }
  if case .refused(let line, let sentence) = outcome {
    try require(line >= 1, "a refusal of line \(line)")
    try requireSentence(sentence)
  }
  return outcome
}

/// A file of a set is refused with places in it, or what it declares is exported as a file that declares the same.
func checkApply(_ text: String) throws(BrokenProperty) {
  let context = ReminderContext(zones: GroundZones(), place: Ground.scheduleContext.place)
  switch ManifestTrial.run(text, now: Ground.now, context: context) {
  case .refused(let faults):
    let lines = text.utf8.count { $0 == 0x0A } + 1
    try require(!faults.isEmpty, "a refusal that says nothing")
    for fault in faults {
      try requireSentence(fault.message, atMost: 4_000)
      try require((0...lines).contains(fault.line), "line \(fault.line) of \(lines)")
    }
  case .taken(let exported):
    switch ManifestTrial.run(exported, now: Ground.now, context: context) {
    case .refused(let faults): throw BrokenProperty("\(exported)\nis refused: \(faults)")
    case .taken(let again): try require(again == exported, "\(exported)\nbecame\n\(again)")
    }
  }
}

struct GroundZones: ZoneSource {
  var local: Zone { Ground.scheduleContext.zone }
  func zone(_ name: String) -> Zone? { Ground.zones[name] }
}

/// Certificates are counted, or refused in a sentence; the same each time.
func checkCertificates(_ bytes: [UInt8]) throws(BrokenProperty) {
  let text = String(decoding: bytes, as: UTF8.self)
  do throws(DeliveryError) {
    let count = try Certificates.count(in: text)
    try check(count, text)
  } catch {
    try requireSentence(error.description)
  }
}

private func check(_ count: Int, _ text: String) throws(DeliveryError) {
  guard count > 0 else { fatalError("no certificate, and no refusal") }
  guard try Certificates.count(in: text + "\n") == count else { fatalError("a line end makes another number") }
}
