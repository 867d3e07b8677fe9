import ChimeCore
import ChimeSchedule

/// An ActionKey is the action key of a popup's button. It contains the answer and the occurrence, because the server
/// reports button presses to every program on the bus and the daemon may have restarted since.
///
///     done:r7k2@1774852200
///     item:speedmaster:r7k2@1774852200
///     snooze:10m:r7k2@1774852200
package struct ActionKey: Hashable, Sendable {
  let answer: Occurrence.Answer
  let occurrence: OccurrenceID

  init(answer: Occurrence.Answer, occurrence: OccurrenceID) {
    self.answer = answer
    self.occurrence = occurrence
  }

  /// Nil for a key of another program.
  package init?(_ text: String) {
    guard text.utf8.count <= 200 else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard let last = parts.last, let occurrence = OccurrenceID(last) else { return nil }
    switch (parts.count, parts[0]) {
    case (2, "done"): answer = .done
    case (3, "item"):
      guard let item = Occurrence.Answer(item: parts[1]) else { return nil }
      answer = item
    case (3, "snooze"):
      guard let length = try? DurationText.parse(parts[1]), length > .zero else { return nil }
      answer = .snooze(for: length)
    default: return nil
    }
    self.occurrence = occurrence
  }

  package var text: String {
    switch answer {
    case .done: "done:\(occurrence)"
    case .item(let item): "item:\(item):\(occurrence)"
    // Popups have no such buttons.
    case .dismiss, .amount: "dismiss:\(occurrence)"
    case .snooze(let length): "snooze:\(DurationText.format(length)):\(occurrence)"
    }
  }
}
