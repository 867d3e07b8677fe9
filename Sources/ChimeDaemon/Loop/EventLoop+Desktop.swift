import ChimeCore
import ChimeDelivery
import Glibc

// Desktop events apart from outcomes of deliveries.
extension EventLoop {
  /// The name of the store's note about visible popups. With a shared store each daemon has its own.
  nonisolated var popupsNote: String {
    store.isShared ? ["popups", ProcessFacts.machine, paths.stateFolder].joined(separator: ":") : "popups"
  }

  /// Subscribes to desktop events. `memory` is the popup record of the previous channels.
  func listenToDesktop(remembering memory: String) {
    channels.listen(remembering: memory) { [weak self] event in
      guard let self else { return }
      Task(executorPreference: executor) { await self.heard(event) }
    }
  }

  /// Returns the record of visible popups to be stored; nil if the store already has it.
  ///
  /// It is stored together with the outcomes. The next daemon can therefore withdraw every popup that is recorded as
  /// shown, whatever ended this daemon.
  func popupsToKeep(with outcomes: [Outcome]) -> String? {
    guard outcomes.contains(where: { $0.queue.channel == .desktop }) else { return nil }
    let memory = channels.desktopMemory
    return memory == keptPopups ? nil : memory
  }

  /// Stores the record of visible popups at shutdown. After a failure these popups merely stay when they are answered elsewhere.
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
    // A popup from before a restart proves its occurrence only by its own text. Any program on the bus could send that,
    // but only to answer for this user, which it can do anyway. The answer therefore counts for this user only.
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
