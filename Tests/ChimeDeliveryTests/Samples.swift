import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

/// 2026-03-29T00:30:00Z: half an hour before the clocks go forward in Prague.
let scheduled = Instant(seconds: 1_774_744_200)

/// Returns a message about one firing of a reminder.
func message(
  _ title: String = "Stand up", body: String? = nil, id: String = "r7k2", channel: String = "desktop", round: Int = 1,
  late: LateCause? = nil, lateBy: Milliseconds = .zero, change: (inout Reminder) -> Void = { _ in }
) throws -> OutboundMessage {
  var reminder = Reminder(
    id: ReminderID(rawValue: id), owner: 1_000, title: title, body: body,
    schedule: try Schedule(canonical: "weekdays at 08:30"), createdAt: scheduled)
  change(&reminder)
  let occurrence = Occurrence(
    id: OccurrenceID(reminder: reminder.id, scheduledAt: scheduled), title: title, owner: 1_000, state: .fired,
    firedAt: scheduled + lateBy, late: late, rounds: round)
  let delivery = Delivery(
    id: DeliveryID(rawValue: "msg_\(id)_\(round)"), occurrence: occurrence.id,
    queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: channel)), round: round,
    createdAt: scheduled + lateBy)
  return OutboundMessage(delivery: delivery, occurrence: occurrence, reminder: reminder)
}

extension ChannelReport {
  var attempt: Attempt? { if case .ended(let attempt, _) = self { attempt } else { nil } }
  var next: NextStep? { if case .ended(_, let next) = self { next } else { nil } }
}

extension Channel {
  /// Sends, and returns the first report.
  func deliver(_ message: OutboundMessage, within span: Duration = .seconds(120)) async throws -> ChannelReport {
    try await reports(of: message).next(within: span)
  }

  /// Sends, and returns the reports.
  func reports(of message: OutboundMessage) -> Events<ChannelReport> {
    let reports = Events<ChannelReport>()
    send(message) { reports.append($0) }
    return reports
  }
}

/// Tests that run programs and count what is left of them: one after another.
@Suite(.serialized) enum SerialTests {}
