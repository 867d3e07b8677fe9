import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// The loop's state about the metrics file.
struct MetricsState {
  /// The file that is written periodically; nil if none is configured, and then no timer runs.
  var file: MetricsFile?
  /// The reason why the last write failed.
  var problem: String?
  /// The write in flight.
  var task: Task<Void, Never>?
}

// Counters, and the file that exposes them.
extension EventLoop {
  func count(_ daemonEvents: [DaemonEvent]) {
    for daemonEvent in daemonEvents { meters.count(daemonEvent, way: way(of: daemonEvent)) }
  }

  private func way(of daemonEvent: DaemonEvent) -> Meters.Way {
    guard let channel = daemonEvent.channel, channel != .desktop else { return .desktop }
    guard commands.book.commands[channel] == nil else { return .command }
    let endpoint = daemonEvent.owner.flatMap { outbox.endpoints[DeliveryQueue(owner: $0, channel: channel)] }
    switch endpoint?.kind {
    case nil, .webhook: return .webhook
    case .email: return .email
    case .mqtt: return .mqtt
    case .matrix: return .matrix
    }
  }

  /// Returns counters and gauges in the text format.
  func metrics() async -> String {
    let (zones, now, numbers) = (zones, SystemClock.now, tenants.seats.values.compactMap(\.number))
    let members = try? await fleet.store?.members()
    let months = try? await fleet.store?.partitionCounts()
    let mute = try? await muteReminders(owner: nil)
    let readings = try? await store.read { transaction in
      MetricsText.Readings(
        counts: try transaction.counts(owner: nil), gauges: try transaction.gauges(),
        dueToday: try transaction.dueCount(before: Summary.endOfDay(now, zones.local)),
        nextDue: try transaction.wakeups().nextDue, overdue: try transaction.dueCount(before: now),
        mute: mute?.count ?? 0,
        tenants: Dictionary(
          uniqueKeysWithValues: try numbers.map { ($0, try transaction.reminderCount(of: $0)) }))
    }
    return MetricsText(
      meters: meters, snapshot: present(), transactions: wakeupsReader.transactions,
      storeBytes: ["", "-wal"].reduce(0) { $0 + (SystemFiles.size(paths.storePath + $1) ?? 0) }, readings: readings,
      endpoints: Array(outbox.endpoints.values), members: members ?? [], months: months,
      tenants: Array(tenants.seats.values),
      now: now
    ).text
  }

  /// Starts, continues or stops writing the file after a change of the configuration.
  func renewMetricsFile() {
    let path = configuration.metricsFile
    if let old = metricsState.file, old.path != path { old.remove() }
    metricsState.file = path.isEmpty ? nil : MetricsFile(path: path)
    guard metricsState.file != nil else {
      metricsState.problem = nil
      timers?.metrics.disarm()
      return
    }
    metricsAreDue()
  }

  func metricsAreDue() {
    guard let file = metricsState.file, !isStopping else { return }
    timers?.metrics.arm(after: configuration.metricsEvery)
    // Only one write is in flight at a time, even if the disk hangs.
    guard metricsState.task == nil else { return }
    let handler = requestExecutor
    metricsState.task = Task {
      await withTaskExecutorPreference(executor) {
        let text = await metrics()
        let failure = await Task(executorPreference: handler) { () -> SystemError? in
          do throws(SystemError) {
            try file.write(text)
            return nil
          } catch {
            return error
          }
        }.value
        metricsState.task = nil
        wroteMetrics(to: file, failure)
      }
    }
  }

  private func wroteMetrics(to file: MetricsFile, _ failure: SystemError?) {
    // The configuration may name another file by now, or the daemon is shutting down.
    guard metricsState.file?.path == file.path, !isStopping else { return file.remove() }
    let problem = failure.map { "the metrics cannot be written: \($0.call): \($0.reason)" }
    if let problem, problem != metricsState.problem { log(.warning, problem) }
    if problem == nil, metricsState.problem != nil { log(.notice, "the metrics are written again: \(file.path)") }
    metricsState.problem = problem
  }

  /// Removes the file at shutdown: stale numbers would look current.
  func endMetricsFile() async {
    await metricsState.task?.value
    metricsState.file?.remove()
  }
}
