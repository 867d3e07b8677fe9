import ChimeCore
import ChimeSchedule

// A store that other daemons use too: what they add, fire, answer and leave is looked for, since nothing tells of it. In a
// reading transaction: a fleet that has nothing to do writes its heartbeats and nothing else.
extension EventLoop {
  /// How often: a reminder that is added elsewhere for this very moment is late by as much at most, should the daemon that
  /// took it be gone.
  private static let lookEvery = Milliseconds.seconds(1)
  /// How often while no other daemon is known: whoever comes is heard of, and is looked for at once then.
  private static let lookEveryAlone = Milliseconds.seconds(60)

  /// What a look has found.
  private struct Found {
    var wakeups: NextWakeups
    /// Of what is held: what is owed no more.
    var settled: Set<DeliveryID>
    /// Of what stands on the desktop: what waits for no answer any more.
    var answered: Set<OccurrenceID>
  }

  /// Looks at what others have done, now and each second from now on: what is due and owed, and whether what is held is
  /// still to be sent, and what stands on the desktop to be answered.
  func lookAtOthers() {
    guard store.isShared, !isStopping else { return }
    // A start reads all of it, and looks again when it has.
    guard isReady, fleet.task == nil else {
      fleet.owesLook = true
      return
    }
    let (releases, held, shown) = (fleet.owesRelease, Array(outbox.held.keys), channels.unanswered)
    (fleet.owesRelease, fleet.owesLook) = (false, false)
    considerShares()
    let store = store
    fleet.task = Task {
      await withTaskExecutorPreference(executor) {
        if releases { await releaseFormerClaims() }
        // Of what commits from now on nothing is known; all that was heard of before is seen.
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
        if fleet.owesLook { lookAtOthers() } else { timers?.others.arm(after: nextLook) }
      }
    }
  }

  /// Until the next look.
  private var nextLook: Milliseconds {
    // What is in trouble is tried, and what is held may be settled by somebody, as soon as before.
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

  /// Claims that former owners have left in queues that are ours now are to be had again.
  private func releaseFormerClaims() async {
    do {
      let wakeups = try await store.write { [wakeupsReader] transaction in
        try transaction.releaseFormerClaims()
        return try wakeupsReader.read(transaction)
      }
      handle(.wakeups(wakeups))
    } catch {
      // With the next look. What is wrong with the store is told by those who have something to change.
      fleet.owesRelease = true
    }
  }

  /// Steps of the database's clock are those of the clock that counts.
  private func databaseClockHasStepped() {
    let step = SystemClock.takeStep()
    if step != .zero { clockHasStepped(by: step, slept: .zero, ofDatabase: true) }
  }
}
