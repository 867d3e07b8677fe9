import ChimeCore

/// What is wrong with the store, and what waits until it takes changes again.
struct StoreTrouble {
  /// Why it takes no changes; nil while it does, as far as is known.
  var writing: String?
  /// Why it cannot even be read.
  var reading: String?
  /// Sentences that the log has had.
  private var told: Set<String> = []
  /// Times that fired without the store and are in it now.
  var recorded = 0
  /// Whether what waits in queues is to be tried at once.
  var owesWake = false

  var problem: String? { writing ?? reading }

  /// Whether the log has not heard this yet.
  mutating func isNew(_ sentence: String) -> Bool { told.insert(sentence).inserted }

  /// It can be read again.
  mutating func isReadable() {
    guard let reading else { return }
    told.remove(reading)
    self.reading = nil
  }

  /// The line for `systemctl status`.
  ///
  /// - Parameters:
  ///   - unrecorded: times that have fired and are not in the store.
  ///   - showsMeanwhile: whether what is due is shown all the same.
  func summary(unrecorded: Int, showsMeanwhile: Bool = true) -> String {
    if let reading { return "the store cannot be read, and nothing can fire until it can: \(reading)" }
    guard showsMeanwhile else {
      return "\(writing ?? "the store failed"); due reminders wait, and changes are refused"
    }
    let waiting = unrecorded == 0 ? "" : ", \(unrecorded) not yet recorded"
    return
      "\(writing ?? "the store failed"); reminders are shown on the desktop from memory\(waiting); changes are refused"
  }

  /// Ends it: it works.
  mutating func end() { self = StoreTrouble() }
}

extension StoreFailure {
  /// Whether the store may work again by itself: a disk that is full, a file system that is read-only.
  var isPassing: Bool { if case .unavailable = self { true } else { false } }
}
