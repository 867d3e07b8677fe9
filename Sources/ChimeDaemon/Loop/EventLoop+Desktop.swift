import ChimeCore
import ChimeDelivery
import Glibc

// What happens on the desktop beside the outcome of a delivery.
extension EventLoop {
  /// Under this name the store keeps which popups stood when it last changed. Of several that share it each has its own.
  nonisolated var popupsNote: String {
    store.isShared ? ["popups", ProcessFacts.machine, paths.stateFolder].joined(separator: ":") : "popups"
  }

  /// - Parameter memory: of the channels before these.
  func listenToDesktop(remembering memory: String) {
    channels.listen(remembering: memory) { [weak self] event in
      guard let self else { return }
      Task(executorPreference: executor) { await self.heard(event) }
    }
  }

  /// What the store is to know of the popups on the screen, with what came of messages; nil where it knows.
  ///
  /// It goes with the outcomes, so that a popup that is recorded as shown can be taken down by the next daemon, whatever ended this one.
  func popupsToKeep(with outcomes: [Outcome]) -> String? {
    guard outcomes.contains(where: { $0.queue.channel == .desktop }) else { return nil }
    let memory = channels.desktopMemory
    return memory == keptPopups ? nil : memory
  }

  /// Keeps for the next daemon what has changed on the screen since. What cannot be kept costs no more than that
  /// these popups stay when they are answered elsewhere.
  func rememberDesktop() async {
    let (memory, note) = (channels.desktopMemory, popupsNote)
    guard memory != keptPopups else { return }
    do {
      try await store.write { try $0.setNote(note, memory.isEmpty ? nil : memory) }
    } catch {
      log(.info, "which popups stand could not be kept; ignoring: \(error)")
    }
  }

  private func heard(_ event: DesktopEvent) {
    guard !isStopping else { return }
    switch event {
    case .answered(let occurrence, let answer, isOurs: true):
      record(OutboxTransaction.Answer(answer: answer, occurrence: occurrence, way: "desktop"))
    // A popup from before a restart has only its word for what it is about. Everyone on the bus could give it, and so
    // answer for its user, who could do so anyway, but for nobody else.
    case .answered(let occurrence, let answer, isOurs: false):
      record(OutboxTransaction.Answer(answer: answer, occurrence: occurrence, owner: geteuid(), way: "desktop"))
    case .closed(let occurrence, let reason):
      var daemonEvent = DaemonEvent(
        kind: .closed, occurrence: occurrence, message: "the popup of \"\(occurrence.title)\" \(Self.words(reason))")
      daemonEvent.channel = .desktop
      publish([daemonEvent])
    case .opened: wakeQueues { $0.channel == .desktop }
    }
  }

  private static func words(_ reason: PopupClosing) -> String {
    switch reason {
    case .expired: "expired without an answer"
    case .dismissed: "was closed by the user without an answer"
    case .closed: "was closed by a program"
    case .unknown: "went away without an answer"
    }
  }
}
