import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// What the loop knows of the file of metrics.
struct MetricsState {
  /// The one that is written now and then; nil: none, and nobody is woken for it.
  var file: MetricsFile?
  /// Why the last one could not be written.
  var problem: String?
  /// The file that is being written.
  var task: Task<Void, Never>?
}

// Counters, and the file in which they are for others to read.
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

  /// Counters and gauges as text.
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

  /// Begins, goes on or ceases to write the file, as the configuration has it now.
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
    // A disk that hangs is no reason to begin another beside it.
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
    // The configuration may have named another meanwhile, or the daemon is about to end.
    guard metricsState.file?.path == file.path, !isStopping else { return file.remove() }
    let problem = failure.map { "the metrics cannot be written: \($0.call): \($0.reason)" }
    if let problem, problem != metricsState.problem { log(.warning, problem) }
    if problem == nil, metricsState.problem != nil { log(.notice, "the metrics are written again: \(file.path)") }
    metricsState.problem = problem
  }

  /// Takes the file away: numbers that nobody brings up to date any more would be taken for how it is.
  func endMetricsFile() async {
    await metricsState.task?.value
    metricsState.file?.remove()
  }
}
