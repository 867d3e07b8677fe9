import ChimeCore

/// The problems of the store, and the work that waits until it takes changes again.
struct StoreTrouble {
  /// The reason why it takes no changes; nil if it does, as far as known.
  var writing: String?
  /// The reason why it cannot be read.
  var reading: String?
  /// The problems that were logged.
  private var told: Set<String> = []
  /// The number of times that fired without the store and are recorded now.
  var recorded = 0
  /// Whether waiting deliveries are to be retried at once.
  var needsWake = false

  var problem: String? { writing ?? reading }

  /// Returns whether the problem is not logged yet, and marks it as logged.
  mutating func isNew(_ sentence: String) -> Bool { told.insert(sentence).inserted }

  /// Clears the reading problem.
  mutating func isReadable() {
    guard let reading else { return }
    told.remove(reading)
    self.reading = nil
  }

  /// Returns the line for `systemctl status`.
  ///
  /// - Parameters:
  ///   - unrecorded: the number of fired times that are not in the store.
  ///   - showsMeanwhile: whether due reminders are shown from memory.
  func summary(unrecorded: Int, showsMeanwhile: Bool = true) -> String {
    if let reading { return "the store cannot be read, and nothing can fire until it can: \(reading)" }
    guard showsMeanwhile else {
      return "\(writing ?? "the store failed"); due reminders wait, and changes are refused"
    }
    let waiting = unrecorded == 0 ? "" : ", \(unrecorded) not yet recorded"
    return
      "\(writing ?? "the store failed"); reminders are shown on the desktop from memory\(waiting); changes are refused"
  }

  /// Clears all problems.
  mutating func end() { self = StoreTrouble() }
}

extension StoreFailure {
  /// Whether the store may recover by itself, for example from a full disk or a read-only file system.
  var isPassing: Bool { if case .unavailable = self { true } else { false } }
}
