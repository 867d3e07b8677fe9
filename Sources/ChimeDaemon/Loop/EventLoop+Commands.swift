import ChimeCore
import ChimeDelivery
import ChimeSchedule

// Commands: the programs that the configuration defines.
extension EventLoop {
  /// Adopts the command definitions of a new configuration. Running commands continue. Deliveries that waited for a
  /// missing program or for the enabling switch are retried at once.
  func renewCommands(_ configuration: Configuration) async {
    let old = commands.book
    let new = configuration.commandBook(isSystem: paths.isSystem, file: paths.configurationPath)
    guard new != old else { return }
    commands.adopt(new)
    renewPolicies()
    let changed = Set(new.commands.keys).union(old.commands.keys).filter {
      new.commands[$0] != old.commands[$0] || new.isEnabled != old.isEnabled
    }
    let wakeupsReader = wakeupsReader
    do {
      let wakeups = try await store.write { transaction in
        let now = SystemClock.now
        for queue in try wakeupsReader.read(transaction).outbox.keys where changed.contains(queue.channel) {
          try transaction.wake(queue: queue, now: now)
        }
        return try wakeupsReader.read(transaction)
      }
      handle(.wakeups(wakeups))
    } catch {
      trouble.needsWake = true
      log(.warning, "what waits for a command could not be woken and waits on; ignoring: \(error)")
    }
  }
}
