/// The problems of the store, and the work that waits until it takes changes again.
public struct StoreTrouble: Sendable {
  /// The reason why it takes no changes; nil if it does, as far as known.
  public private(set) var writing: String?
  /// The reason why it cannot be read.
  public internal(set) var reading: String?
  /// The problems that were reported.
  private var reported: Set<String> = []
  /// The number of times that fired without the store and are recorded now.
  var recorded = 0
  /// Whether waiting deliveries are to be retried at once.
  var needsWake = false

  public var problem: String? { writing ?? reading }

  /// Notes why it takes no changes, and returns whether that was not reported yet.
  mutating func writingFailed(_ sentence: String) -> Bool {
    writing = sentence
    return reported.insert(sentence).inserted
  }

  /// Notes why it cannot be read, and returns whether that was not reported yet.
  mutating func readingFailed(_ sentence: String) -> Bool {
    reading = sentence
    return reported.insert(sentence).inserted
  }

  static func sentence(of error: any Error) -> String { (error as? StoreFailure)?.sentence ?? "\(error)" }

  /// Clears the reading problem.
  mutating func isReadable() {
    guard let reading else { return }
    reported.remove(reading)
    self.reading = nil
  }

  /// Returns the line for `systemctl status`.
  ///
  /// - Parameters:
  ///   - unrecorded: the number of fired times that are not in the store.
  ///   - showsMeanwhile: whether due reminders are shown from memory.
  public func summary(unrecorded: Int, showsMeanwhile: Bool = true) -> String {
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

extension Error {
  /// Whether it is a failure of the store from which that may recover by itself, such as a full disk.
  public var isPassing: Bool { if case .unavailable = self as? StoreFailure { true } else { false } }
}
