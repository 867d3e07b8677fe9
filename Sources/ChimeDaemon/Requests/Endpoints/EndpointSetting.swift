import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// An EndpointSetting describes one setting: where clients, files and the endpoint have it, and which values it takes.
struct EndpointSetting: Sendable {
  typealias Wire = EndpointsInterface.Settings

  /// The name on the wire and in files.
  let name: String
  /// Checks the value of a client, and applies it.
  let take: @Sendable (Wire, inout EndpointSettings) throws -> Void
  /// Resets the setting to its default.
  let reset: @Sendable (inout EndpointSettings) -> Void
  let show: @Sendable (EndpointSettings, inout Wire) -> Void
  /// Reads the value from a table of a file, as a client would give it.
  let read: @Sendable (inout ManifestReader, ManifestReader.Table) -> Wire?
  let text: @Sendable (EndpointSettings) -> ManifestWriter.Field

  private init<Given, Kept>(
    _ name: String, _ given: any WritableKeyPath<Wire, Given?> & Sendable,
    _ kept: any WritableKeyPath<EndpointSettings, Kept?> & Sendable,
    take: @escaping @Sendable (Given) throws -> Kept?, show: @escaping @Sendable (Kept) -> Given,
    read: @escaping @Sendable (inout ManifestReader, ManifestReader.Table) -> Given?,
    text: @escaping @Sendable (Kept?) -> ManifestWriter.Field
  ) {
    self.name = name
    self.take = { wire, settings in
      guard let value = wire[keyPath: given] else { return }
      do {
        settings[keyPath: kept] = try take(value)
      } catch let failure as ControlFailure {
        throw failure
      } catch {
        throw ControlFailure.invalidValue(field: name, "\(error)")
      }
    }
    reset = { $0[keyPath: kept] = nil }
    self.show = { $1[keyPath: given] = $0[keyPath: kept].map(show) }
    self.read = { reader, table in
      guard let value = read(&reader, table) else { return nil }
      var wire = Wire()
      wire[keyPath: given] = value
      return wire
    }
    self.text = { text($0[keyPath: kept]) }
  }

  /// Makes a setting of a text that is the same everywhere.
  private static func text(
    _ name: String, _ given: any WritableKeyPath<Wire, String?> & Sendable,
    _ kept: any WritableKeyPath<EndpointSettings, String?> & Sendable,
    check: @escaping @Sendable (String) throws -> Void
  ) -> EndpointSetting {
    EndpointSetting(
      name, given, kept,
      take: {
        try check($0)
        return $0
      }, show: { $0 }, read: { $0.string(name, in: $1) }, text: { ManifestWriter.text(name, $0) })
  }

  private static let concurrency = 1...64
  private static let rateCount = 1...10_000
  private static let rateSpan: ClosedRange<Milliseconds> = .seconds(1)...(.days(1))

  static let all: [EndpointSetting] = [
    EndpointSetting(
      "headers", \.headers, \.headers,
      take: { given in
        let headers = given.map { EndpointSettings.Header(name: $0.name, value: $0.value) }
        try HeaderRules.check(headers)
        return headers.isEmpty ? nil : headers
      }, show: { $0.map { .init(name: $0.name, value: $0.value) } }, read: { $0.headers($1) },
      text: { .init(name: "headers", text: $0.map { TOMLText.array($0.map { "\($0.name): \($0.value)" }) }) }),
    .text("template", \.template, \.template) { _ = try Template(setting: $0) },
    .text("certificates", \.certificates, \.certificates) { _ = try Certificates.count(in: $0) },
    .text("replies", \.replies, \.replies) { try EndpointURL.validate(replies: $0) },
    .text("via", \.via, \.via) { try EndpointRules.check(server: $0) },
    .text("from", \.from, \.from) { try EndpointRules.check(mailbox: $0) },
    .text("replyTo", \.replyTo, \.replyTo) { try EndpointRules.check(mailbox: $0) },
    .text("user", \.user, \.user) { try EndpointRules.check(user: $0) },
    EndpointSetting(
      "senders", \.senders, \.senders,
      take: { given in
        try EndpointRules.check(senders: given)
        return given.isEmpty ? nil : given
      }, show: { $0 }, read: { $0.senders($1) },
      text: { .init(name: "senders", text: $0.map { TOMLText.array($0) }) }),
    EndpointSetting(
      "events", \.events, \.events,
      take: { given in
        let named = Set(given.compactMap { OccurrenceEvent(rawValue: $0.rawValue) })
        try need(!named.isEmpty, "events", "give at least one event, such as done")
        return named == OccurrenceEvent.usual ? nil : OccurrenceEvent.allCases.filter(named.contains)
      }, show: { $0.compactMap { .init(rawValue: $0.rawValue) } }, read: { $0.events($1) },
      text: { .init(name: "events", text: $0.map { TOMLText.array($0.map(\.rawValue)) }) }),
    .text("reminders", \.reminders, \.reminders) { text in
      try need(
        ReminderChoice(text) != nil && text.utf8.count <= 260, "reminders",
        "give all, or tag: and a tag, such as tag:health")
    },
    EndpointSetting(
      "concurrency", \.concurrency, \.concurrency,
      take: { number in
        try need(concurrency.contains(number), "concurrency", "give a number from 1 to \(concurrency.upperBound)")
        return number
      }, show: { $0 }, read: { $0.faults.number("concurrency", in: $1) },
      text: { .init(name: "concurrency", text: $0.map(String.init)) }),
    EndpointSetting(
      "rate", \.rate, \.rate,
      take: { rate in
        try need(rateCount.contains(rate.count), "rate", "give a number of messages from 1 to \(rateCount.upperBound)")
        return .init(count: rate.count, span: try ReminderFields.duration(rate.span, "rate", rateSpan))
      }, show: { .init(count: $0.count, span: DurationText.formatISO8601($0.span)) }, read: { $0.rate($1) },
      text: { ManifestWriter.text("rate", $0.map { "\($0.count)/\(DurationText.format($0.span))" }) }),
    EndpointSetting(
      "inOrder", \.inOrder, \.inOrder, take: { $0 ? true : nil }, show: { $0 },
      read: { $0.faults.flag("inOrder", in: $1) },
      text: { .init(name: "inOrder", text: String($0 ?? false), isUsual: $0 != true) }),
  ]
}
