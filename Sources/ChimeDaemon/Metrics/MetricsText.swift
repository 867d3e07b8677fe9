import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A MetricsText formats the reply of `Metrics` from values that were read and counted.
struct MetricsText {
  var meters: Meters
  var snapshot: EventLoop.Snapshot
  var transactions: UInt64
  /// The size of the store's files in bytes.
  var storeBytes: Int64
  /// The values from the store; nil if it cannot be read.
  var readings: Readings?
  var endpoints: [Endpoint]
  /// The daemons that share the store; empty if it cannot be shared.
  var members: [FleetMember] = []
  /// The monthly partitions of the history; nil if the store has none.
  var months: (months: Int, unpartitionedRows: Int)?
  /// The configured tenants.
  var tenants: [Tenants.TenantState] = []
  var now: Instant

  struct Readings: Sendable {
    var counts: StoreCounts
    var gauges: StoreGauges
    var dueToday: Int
    var nextDue: Instant?
    /// The number of due times that have not fired yet.
    var overdue = 0
    /// The number of reminders whose channels reach nobody.
    var undeliverable = 0
    /// The number of scheduled reminders by tenant number.
    var tenants: [UInt32: Int] = [:]
  }

  /// The maximum number of queues with series of their own. The others, with the fewest pending deliveries, are combined,
  /// so the number of series is bounded.
  static let queues = 64

  var text: String {
    var text = Exposition()
    let instance = snapshot.isSystem ? "system" : "user"
    text.family("chime_build_info", .gauge, "Always 1; with the version and the instance of chimed.") {
      $0.add(1, ["version": Product.version, "instance": instance])
    }
    text.family("chime_start_time_seconds", .gauge, "When chimed was started, in seconds since 1970.") {
      $0.add(Self.seconds(snapshot.startedAt))
    }
    text.family("chime_resident_memory_bytes", .gauge, "Resident memory of chimed.") {
      $0.add(snapshot.residentBytes)
    }
    text.family("chime_connections", .gauge, "Connected clients of the control socket.") {
      $0.add(snapshot.connections)
    }
    if let readings { addReminders(readings, to: &text) }
    addFirings(to: &text)
    addDeliveries(to: &text)
    if let readings { addOutbox(readings.gauges, to: &text) }
    addStore(to: &text)
    addFleet(to: &text)
    if !tenants.isEmpty { addTenants(to: &text) }
    return text.text
  }

  private static func seconds(_ instant: Instant) -> Double { Double(instant.milliseconds) / 1_000 }

  private func addReminders(_ readings: Readings, to text: inout Exposition) {
    let (counts, gauges) = (readings.counts, readings.gauges)
    text.family(
      "chime_reminders", .gauge,
      "Reminders: scheduled ones have a future time; unanswered ones have none, and an open occurrence; inactive ones "
        + "are paused or finished."
    ) {
      $0.add(gauges.scheduled, ["state": "scheduled"])
      $0.add(max(0, counts.reminders - gauges.scheduled), ["state": "unanswered"])
      $0.add(max(0, gauges.reminders - counts.reminders), ["state": "inactive"])
    }
    text.family("chime_reminders_due_today", .gauge, "Reminders with a time before midnight on the machine's clock.") {
      $0.add(readings.dueToday)
    }
    text.family("chime_occurrences_open", .gauge, "Occurrences that wait for an answer.") {
      $0.add(counts.openOccurrences)
    }
    text.family(
      "chime_reminders_undeliverable", .gauge,
      "Reminders that reach nobody, because all their channels are missing or off."
    ) { $0.add(readings.undeliverable) }
    text.family(
      "chime_expectations", .gauge,
      "Expectations; down: a missing ping or a failure was reported and is not answered yet."
    ) {
      $0.add(counts.expectationsDown, ["state": "down"])
      $0.add(counts.expectations - counts.expectationsDown, ["state": "other"])
    }
    text.family(
      "chime_next_due_timestamp_seconds", .gauge, "The earliest next time of any reminder, in seconds since 1970."
    ) {
      if let next = readings.nextDue { $0.add(Self.seconds(next)) }
    }
    text.family("chime_overdue", .gauge, "Due times that have not fired yet.") { $0.add(readings.overdue) }
    text.family("chime_overdue_oldest_seconds", .gauge, "How late the oldest overdue time is; 0 without any.") {
      $0.add(max(0, Double((now - (readings.nextDue ?? now)).rawValue) / 1_000))
    }
  }

  private func addFirings(to text: inout Exposition) {
    text.family("chime_fired_total", .counter, "Occurrences that fired, with repeats.") {
      for timing in Meters.Timing.allCases { $0.add(meters.fired[timing] ?? 0, ["timing": timing.rawValue]) }
    }
    text.family("chime_missed_total", .counter, "Times that were recorded as missed.") {
      for reason in MissReason.allCases { $0.add(meters.missed[reason] ?? 0, ["reason": Self.label(reason.rawValue)]) }
    }
    text.family("chime_answered_total", .counter, "Answers to occurrences.") {
      for answer in Meters.Answer.allCases { $0.add(meters.answers[answer] ?? 0, ["answer": answer.rawValue]) }
    }
    text.family("chime_pings_total", .counter, "Pings of jobs.") {
      for kind in Ping.Kind.allCases { $0.add(meters.pings[kind] ?? 0, ["kind": kind.rawValue]) }
    }
    text.family(
      "chime_lateness_seconds", .histogram,
      "The time from the scheduled time to the commit of the firing."
    ) {
      var count = 0
      for (bound, bucket) in zip(Meters.Histogram.bounds, meters.lateness.buckets) {
        count += bucket
        $0.add(Double(count), ["le": Exposition.number(bound)], suffix: "_bucket")
      }
      count += meters.lateness.buckets.last ?? 0
      $0.add(Double(count), ["le": "+Inf"], suffix: "_bucket")
      $0.add(meters.lateness.sum, suffix: "_sum")
      $0.add(Double(count), suffix: "_count")
    }
    text.family("chime_clock_events_total", .counter, "Clock steps, zone changes and resumes from sleep.") {
      for event in Meters.ClockEvent.allCases { $0.add(meters.clock[event] ?? 0, ["event": event.rawValue]) }
    }
  }

  private func addDeliveries(to text: inout Exposition) {
    text.family("chime_delivery_attempts_total", .counter, "Delivery attempts by transport and outcome.") {
      for transport in Meters.Transport.allCases {
        for outcome in Meters.Outcome.allCases {
          let attempt = Meters.Attempt(transport: transport, outcome: outcome)
          $0.add(meters.attempts[attempt] ?? 0, ["transport": transport.rawValue, "outcome": outcome.rawValue])
        }
      }
    }
    text.family(
      "chime_deliveries_total", .counter,
      "Messages that were delivered or given up, by event; withdrawal: an earlier message is taken back."
    ) {
      for kind in Meters.DeliveryKey.kinds {
        for outcome in Meters.DeliveryKey.outcomes {
          $0.add(
            meters.deliveries[.init(kind: kind, outcome: outcome)] ?? 0,
            ["event": kind.name, "outcome": outcome.rawValue])
        }
      }
    }
    let backoffs = Set(snapshot.rests.keys)
    let disabled = endpoints.count { $0.disabled != nil }
    let backingOff = endpoints.count { $0.disabled == nil && backoffs.contains($0.queue) }
    text.family(
      "chime_replies_total", .counter, "Answers read from the topics of endpoints, by result."
    ) {
      $0.add(meters.replies[nil] ?? 0, ["result": "done"])
      for fault in TokenFault.allCases { $0.add(meters.replies[fault] ?? 0, ["result": fault.rawValue]) }
    }
    text.family("chime_reply_sources", .gauge, "Topics and rooms from which this daemon reads answers.") {
      let connected = snapshot.replies.values.count { $0.isOpen }
      $0.add(connected, ["state": "connected"])
      $0.add(snapshot.replies.count - connected, ["state": "disconnected"])
    }
    text.family("chime_endpoints", .gauge, "Endpoints of webhooks, emails, MQTT and Matrix.") {
      $0.add(endpoints.count - disabled - backingOff, ["state": "in_use"])
      $0.add(backingOff, ["state": "backoff"])
      $0.add(disabled, ["state": "disabled"])
    }
  }

  private func addOutbox(_ gauges: StoreGauges, to text: inout Exposition) {
    let sorted = gauges.queues.sorted { ($1.pending, $0.queue) < ($0.pending, $1.queue) }
    let shown = sorted.prefix(Self.queues)
    let rest = sorted.dropFirst(Self.queues)
    func all(
      _ samples: inout Exposition.Samples, _ value: (StoreGauges.DeliveryQueueGauge) -> Double?, _ together: Double?
    ) {
      for gauge in shown {
        guard let value = value(gauge) else { continue }
        let channel = gauge.queue.channel.rawValue
        // Only the system daemon has queues of several users.
        if let tenant = tenants.first(where: { $0.number == gauge.queue.owner }) {
          samples.add(value, ["tenant": tenant.definition.name, "channel": channel])
        } else if snapshot.isSystem {
          samples.add(value, ["uid": String(gauge.queue.owner), "channel": channel])
        } else {
          samples.add(value, ["channel": channel])
        }
      }
      guard !rest.isEmpty, let together else { return }
      if snapshot.isSystem {
        samples.add(together, ["uid": "", "channel": ""])
      } else {
        samples.add(together, ["channel": ""])
      }
    }
    text.family(
      "chime_outbox_pending", .gauge,
      "Pending messages of a channel; the channels beyond the largest share one line without a name."
    ) {
      all(&$0, { Double($0.pending) }, Double(rest.reduce(0) { $0 + $1.pending }))
    }
    text.family("chime_outbox_oldest_seconds", .gauge, "The age of the oldest pending message of a channel.") {
      let age: (StoreGauges.DeliveryQueueGauge) -> Double? = { gauge in
        gauge.oldest.map { max(0, Double((now - $0).rawValue) / 1_000) }
      }
      all(&$0, age, rest.compactMap(age).max())
    }
    text.family("chime_outbox_dead", .gauge, "Messages to a channel that were given up and can be sent again.") {
      all(&$0, { Double($0.dead) }, Double(rest.reduce(0) { $0 + $1.dead }))
    }
  }

  /// Adds the tenants with the most scheduled reminders, up to the same number as of queues.
  private func addTenants(to text: inout Exposition) {
    let counts = readings?.tenants ?? [:]
    let shown = tenants.map { (seat: $0, reminders: $0.number.flatMap { counts[$0] } ?? 0) }
      .sorted { ($1.reminders, $0.seat.definition.name) < ($0.reminders, $1.seat.definition.name) }
      .prefix(Self.queues)
    func all(_ name: String, _ kind: Exposition.Kind, _ what: String, _ value: (Tenants.TenantState, Int) -> Int?) {
      text.family(name, kind, what) { samples in
        for (seat, reminders) in shown {
          if let value = value(seat, reminders) { samples.add(value, ["tenant": seat.definition.name]) }
        }
      }
    }
    all("chime_tenant_reminders", .gauge, "Reminders of a tenant with a future time.") { $1 }
    all("chime_tenant_reminders_limit", .gauge, "The limit of reminders of a tenant; absent without a limit.") {
      seat, _ in
      seat.definition.reminders
    }
    all("chime_tenant_requests_total", .counter, "Requests accepted for a tenant.") { seat, _ in seat.taken }
    all(
      "chime_tenant_requests_refused_total", .counter,
      "Requests of a tenant refused for exceeding its limit per second."
    ) { seat, _ in seat.refused }
  }

  private func addStore(to text: inout Exposition) {
    text.family("chime_store_bytes", .gauge, "Size of the store and its log.") { $0.add(Double(storeBytes)) }
    text.family("chime_store_transactions_total", .counter, "Transactions committed to the store.") {
      $0.add(Double(transactions))
    }
    text.family("chime_store_failures_total", .counter, "How often the store began to refuse changes or reads.") {
      $0.add(meters.storeFailures)
    }
    text.family("chime_store_up", .gauge, "1 while the store can be read and written, otherwise 0.") {
      $0.add(snapshot.storeProblem == nil && readings != nil ? 1 : 0)
    }
    text.family("chime_unrecorded", .gauge, "Times that fired in degraded mode and are not recorded yet.") {
      $0.add(snapshot.unrecorded)
    }
    text.family("chime_snapshot_timestamp_seconds", .gauge, "When the newest snapshot of the store was taken.") {
      if let latest = snapshot.lastSnapshot { $0.add(Self.seconds(latest.takenAt)) }
    }
    if let heartbeat = snapshot.heartbeat {
      text.family(
        "chime_heartbeats_total", .counter,
        "Heartbeats by outcome: suppressed ones were not sent, because nothing could fire."
      ) {
        for outcome in Meters.Heartbeat.allCases {
          $0.add(meters.heartbeats[outcome] ?? 0, ["outcome": outcome.rawValue])
        }
      }
      text.family(
        "chime_heartbeat_timestamp_seconds", .gauge,
        "When the receiver accepted the last heartbeat, in seconds since 1970."
      ) {
        if let accepted = heartbeat.acceptedAt { $0.add(Self.seconds(accepted)) }
      }
    }
    text.family("chime_problems", .gauge, "Problems that need attention, as chime status shows them.") {
      $0.add(snapshot.notices.count + snapshot.rests.count)
    }
  }

  /// Adds the daemons that share the store, without lost ones that were replaced.
  private func addFleet(to text: inout Exposition) {
    let states = members.map { ($0, FleetReport.state(of: $0, among: members)) }.filter { $0.1 != .replaced }
    guard !states.isEmpty else { return }
    text.family("chime_fleet_daemons", .gauge, "Daemons that share the store; lost: without a heartbeat.") {
      for state in [DaemonInterface.Daemon.State.running, .draining, .lost] {
        $0.add(states.count { $0.1 == state }, ["state": state.rawValue])
      }
    }
    text.family("chime_fleet_shards", .gauge, "The number of the outbox's 256 shards that a daemon holds.") {
      for (member, _) in states { $0.add(member.shards, ["host": member.name, "pid": String(member.process)]) }
    }
    text.family("chime_fleet_heartbeat_age_seconds", .gauge, "The age of a daemon's last heartbeat.") {
      for (member, _) in states {
        $0.add(
          max(0, Double((now - member.seenAt).rawValue) / 1_000),
          ["host": member.name, "pid": String(member.process)])
      }
    }
    text.family("chime_fleet_unassigned_shards", .gauge, "Shards of the outbox that no running daemon holds.") {
      $0.add(max(0, FleetMember.allShards - members.filter(\.isLiving).reduce(0) { $0 + $1.shards }))
    }
    guard let months else { return }
    text.family("chime_history_partitions", .gauge, "Monthly partitions of the history.") { $0.add(months.months) }
    text.family(
      "chime_history_unpartitioned_occurrences", .gauge,
      "The approximate number of occurrences outside these partitions."
    ) {
      $0.add(months.unpartitionedRows)
    }
  }

  /// Converts `doneAlready` to `done_already`.
  static func label(_ name: String) -> String {
    name.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
  }
}
