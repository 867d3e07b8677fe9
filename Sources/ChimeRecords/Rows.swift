package import ChimeCore
package import ChimeSchedule

// Decoding of rows. Each function takes the index of its first column; its comment lists the columns in order.

extension StoredRow {
  /// `alias.id, owner, title, body, schedule, zone, skip_next, created_at, generation, definition`
  ///
  /// - Throws: `UnreadableReminder` alone.
  package func reminder(_ first: Int32, _ reader: DefinitionReader) throws(UnreadableReminder) -> Reminder {
    let id = ReminderID(rawValue: text(first))
    do {
      return try reader.definition(text(first + 9)).reminder(
        id: id, owner: uint32(first + 1), title: text(first + 2), body: optionalText(first + 3),
        schedule: reader.schedule(text(first + 4)), timezone: ZoneChoice(text(first + 5)), skipNext: int(first + 6),
        createdAt: instant(first + 7), generation: int64(first + 8))
    } catch {
      throw UnreadableReminder(
        id: id, owner: uint32(first + 1), title: text(first + 2),
        reason: "the definition of reminder \(id) cannot be read; it can be removed (\(error))")
    }
  }

  /// `alias.id, scheduled_at, owner, state, rounds, fired_at, delivered_at, ended_at, snoozed_until, reason, late,
  /// run_count, run_through, title, repeats, repeat_at, answered_by`
  package func occurrence(_ first: Int32) throws -> Occurrence {
    let id = OccurrenceID(reminder: ReminderID(rawValue: text(first)), scheduledAt: instant(first + 1))
    let state: Occurrence.State? =
      switch OccurrenceCode(rawValue: int64(first + 3)) {
      case .fired: .fired
      case .delivered: .delivered
      case .snoozed: .snoozed(until: instant(first + 8))
      case .done: .done
      case .dismissed: .dismissed
      case .awaited: .awaited(until: instant(first + 8))
      case .missed: MissReason(rawValue: text(first + 9)).map { .missed($0) }
      case nil: nil
      }
    guard let state else { throw StoreFailure.internalError("occurrence \(id) has an unknown state") }
    return Occurrence(
      id: id, title: text(first + 13), owner: uint32(first + 2), state: state, firedAt: optionalInstant(first + 5),
      deliveredAt: optionalInstant(first + 6), endedAt: optionalInstant(first + 7),
      late: optionalText(first + 10).flatMap(LateCause.init), rounds: int(first + 4), repeats: int(first + 14),
      repeatAt: optionalInstant(first + 15),
      missedRun: optionalInt(first + 11).map { .init(count: $0, through: instant(first + 12)) },
      answeredBy: optionalText(first + 16))
  }

  /// `delivery.id, alias.id, scheduled_at, queue.owner, queue.channel, round, state, state_at, attempts, created_at,
  /// attempts_before, event`
  package func delivery(_ first: Int32) throws -> Delivery {
    let id = DeliveryID(stored: bytes(first))
    let at = instant(first + 7)
    let state: Delivery.State? =
      switch DeliveryCode(rawValue: int64(first + 6)) {
      case .pending: .pending
      case .waiting: .waiting(until: at)
      case .delivered: .delivered(at: at)
      case .dead: .dead(at: at)
      case .cancelled: .cancelled(at: at)
      case nil: nil
      }
    guard let state else { throw StoreFailure.internalError("delivery \(id) has an unknown state") }
    let event = try optionalText(first + 11).map { text in
      guard let event = DeliveryEvent(text: text) else {
        throw StoreFailure.internalError("delivery \(id) tells an unknown event")
      }
      return event
    }
    return Delivery(
      id: id,
      occurrence: OccurrenceID(reminder: ReminderID(rawValue: text(first + 1)), scheduledAt: instant(first + 2)),
      queue: DeliveryQueue(owner: uint32(first + 3), channel: ChannelName(rawValue: text(first + 4))),
      round: int(first + 5),
      state: state, attempts: int(first + 8), createdAt: instant(first + 9), attemptsBefore: int(first + 10),
      event: event)
  }

  /// The columns of `SQLTransaction.selectMessage`.
  package func outboundMessage(_ reader: DefinitionReader) throws -> OutboundMessage {
    OutboundMessage(
      delivery: try delivery(0), occurrence: try occurrence(12),
      // An unreadable reminder must not block the outbox. Its message is sent like one of a removed reminder.
      reminder: isNull(30) ? nil : try? reminder(29, reader))
  }

  /// `delivery.key, state, started_at, scheduled_at, reminder, event`
  package func triedDelivery() -> TriedDelivery {
    TriedDelivery(
      key: int64(0), isPending: int64(1) <= DeliveryCode.waiting.rawValue, hasAttempt: !isNull(2), isEvent: !isNull(5),
      scheduledAt: instant(3), reminder: int64(4))
  }

  /// `position, started_at, took_ms, outcome, status, answer, error`
  package func attempt() throws -> Attempt {
    guard let outcome = AttemptCode.outcome(int64(3)) else {
      throw StoreFailure.internalError("an attempt has the unknown outcome \(int64(3))")
    }
    return Attempt(
      number: int(0), startedAt: instant(1), took: Milliseconds(rawValue: int64(2)), outcome: outcome,
      status: optionalInt(4), answer: optionalText(5), error: optionalText(6))
  }

  /// `owner, channel, url, created_at, disabled, disabled_at, failing_since, settings`
  package func endpoint(_ reader: DefinitionReader) throws -> Endpoint {
    Endpoint(
      queue: DeliveryQueue(owner: uint32(0), channel: ChannelName(rawValue: text(1))), url: text(2),
      settings: try reader.settings(text(7)), createdAt: instant(3), failingSince: optionalInstant(6),
      disabled: optionalText(4).map { Endpoint.Disabled(reason: $0, at: instant(5)) })
  }
}

/// The codes in `occurrence.state`.
package enum OccurrenceCode: Int64 {
  case fired = 0
  case delivered, snoozed, done, dismissed, missed, awaited

  package static func of(_ state: Occurrence.State) -> Int64 {
    let code: Self =
      switch state {
      case .fired: .fired
      case .delivered: .delivered
      case .snoozed: .snoozed
      case .done: .done
      case .dismissed: .dismissed
      case .missed: .missed
      case .awaited: .awaited
      }
    return code.rawValue
  }
}

/// The codes in `delivery.state`.
package enum DeliveryCode: Int64 {
  case pending = 0
  case waiting, delivered, dead, cancelled

  package static func of(_ state: Delivery.State) -> (code: Int64, at: Instant?) {
    let (code, at): (Self, Instant?) =
      switch state {
      case .pending: (.pending, nil)
      case .waiting(let until): (.waiting, until)
      case .delivered(let at): (.delivered, at)
      case .dead(let at): (.dead, at)
      case .cancelled(let at): (.cancelled, at)
      }
    return (code.rawValue, at)
  }
}

/// The codes in `outcome` of `delivery` and `attempt`.
package enum AttemptCode {
  package static func of(_ outcome: Attempt.Outcome) -> Int64 {
    switch outcome {
    case .delivered: 0
    case .failed: 1
    case .refused: 2
    }
  }

  package static func outcome(_ code: Int64) -> Attempt.Outcome? {
    [.delivered, .failed, .refused].first { of($0) == code }
  }
}

extension Occurrence.State {
  /// The value of `occurrence.snoozed_until`: the time when the occurrence is due again unless something happens before.
  package var until: Instant? {
    switch self {
    case .snoozed(let until), .awaited(let until): until
    case .fired, .delivered, .done, .dismissed, .missed: nil
    }
  }
}
