import ChimeCore
import ChimeSchedule

// A shared store is polled for what other daemons add, fire, answer and release, because nothing notifies this one. The
// poll is a reading transaction, so an idle fleet writes nothing but heartbeats.
extension EventLoop {
  /// The poll interval. If the daemon that took a reminder dies, a reminder due at that moment is late by at most this.
  private static let lookEvery = Milliseconds.seconds(1)
  /// The poll interval while no other daemon is known. A new daemon is noticed separately and triggers a poll.
  private static let lookEveryAlone = Milliseconds.seconds(60)

  /// The result of a poll.
  private struct Found {
    var wakeups: NextWakeups
    /// Held deliveries that are no longer pending.
    var settled: Set<DeliveryID>
    /// Occurrences with a visible popup that no longer wait for an answer.
    var answered: Set<OccurrenceID>
  }

  /// Polls for changes by other daemons, and schedules the next poll. Reads due times, pending deliveries, held
  /// deliveries that were settled, and shown occurrences that were answered.
  func lookAtOthers() {
    guard store.isShared, !isStopping else { return }
    // The start reads everything itself and polls afterwards.
    guard isReady, fleet.task == nil else {
      fleet.needsLook = true
      return
    }
    let (releases, held, shown) = (fleet.needsRelease, Array(outbox.held.keys), channels.unanswered)
    (fleet.needsRelease, fleet.needsLook) = (false, false)
    considerShares()
    let store = store
    fleet.task = Task {
      await withTaskExecutorPreference(executor) {
        if releases { await releaseFormerClaims() }
        // The result counts as of the latest commit known now, so that it overrides no later one.
        let sequence = scheduler.latestWakeups
        do {
          let found = try await store.read { transaction in
            Found(
              wakeups: try transaction.dueWakeups(), settled: try transaction.settled(among: held),
              answered: try transaction.answered(among: shown))
          }
          if trouble.problem != nil { await tryStore() }
          take(found, as: sequence)
        } catch {
          readingFailed(error)
        }
        databaseClockHasStepped()
        fleet.task = nil
        if fleet.needsLook { lookAtOthers() } else { timers?.others.arm(after: nextLook) }
      }
    }
  }

  /// The time until the next poll.
  private var nextLook: Milliseconds {
    // Trouble and held deliveries can be resolved by other daemons, so they keep the short interval.
    let isAtRest = trouble.problem == nil && outbox.held.isEmpty && fleet.store?.isAlone == true
    return isAtRest ? Self.lookEveryAlone : Self.lookEvery
  }

  private func take(_ found: Found, as sequence: UInt64) {
    for occurrence in found.answered { channels.withdraw(occurrence) }
    if !found.settled.isEmpty { drop { found.settled.contains($0.delivery.id) } }
    var wakeups = found.wakeups
    wakeups.sequence = sequence
    handle(.looked(wakeups))
  }

  /// Releases claims that former lease holders left in queues of this daemon.
  private func releaseFormerClaims() async {
    do {
      let wakeups = try await store.write { [wakeupsReader] transaction in
        try transaction.releaseFormerClaims()
        return try wakeupsReader.read(transaction)
      }
      handle(.wakeups(wakeups))
    } catch {
      // The next poll retries. Writers report the store's trouble.
      fleet.needsRelease = true
    }
  }

  /// Handles a step of the database's clock, which is the reference clock.
  private func databaseClockHasStepped() {
    let step = SystemClock.takeStep()
    if step != .zero { clockHasStepped(by: step, slept: .zero, ofDatabase: true) }
  }
}
