import ChimeCore
import ChimeSchedule

// A store that other daemons use too: what they add, fire and leave is looked for, since nothing tells of it.
extension EventLoop {
  /// How often: a reminder that is added elsewhere for this very moment is late by as much at most, should the daemon that
  /// took it be gone.
  private static let lookEvery = Milliseconds.seconds(1)

  /// Looks at what others have done, each second from now on.
  func lookAtOthers() {
    guard store.isShared, !isStopping else { return }
    // Of what commits from now on nothing is known; all that was heard of before is seen.
    let sequence = agenda.latestHorizon
    let store = store
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          var horizon = try await store.read { try $0.dueHorizon() }
          horizon.sequence = sequence
          if trouble.reading != nil { await tryStore() }
          handle(.looked(horizon))
        } catch {
          readingFailed(error)
        }
        databaseClockHasStepped()
        timers?.others.arm(after: Self.lookEvery)
      }
    }
  }

  /// Steps of the database's clock are those of the clock that counts.
  private func databaseClockHasStepped() {
    let step = SystemClock.takeStep()
    if step != .zero { clockHasStepped(by: step, slept: .zero, ofDatabase: true) }
  }
}
