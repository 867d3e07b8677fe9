import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A ManifestWriter writes reminders and endpoints as a set's TOML, for `chime export` and for diffs. Two things with the
/// same text are equal to `chime apply`.
enum ManifestWriter {
  struct Field: Hashable {
    var name: String
    /// The value as TOML in one line; nil if there is none.
    var text: String?
    /// Whether an omitted key means the same under the `[defaults]` of an export.
    var isUsual = false
    /// The value in a file if it has several lines.
    var lines: String?
  }

  /// The meaning of an omitted key under the `[defaults]` of an export.
  static let usualGrace = Milliseconds.hours(12)
  static let usualSnooze = [Milliseconds.minutes(10), .hours(1)]

  static func fields(of reminder: Reminder, now: Instant) -> [Field] {
    var fields = [
      text("title", reminder.title), text("body", reminder.body), text("when", reminder.schedule.canonical),
      text("onlyIfDone", reminder.onlyIfDone?.rawValue), text("timezone", reminder.timezone.text, usual: "local"),
      text("gap", reminder.gap?.rawValue),
      text("fold", reminder.fold?.rawValue),
      Field(name: "latitude", text: reminder.place.map { number($0.latitude) }),
      Field(name: "longitude", text: reminder.place.map { number($0.longitude) }),
      Field(
        name: "channels", text: TOMLText.array(reminder.channels.map(\.rawValue)),
        isUsual: reminder.channels == [.desktop]),
      Field(name: "tags", text: TOMLText.array(reminder.tags), isUsual: reminder.tags.isEmpty),
      text("urgency", reminder.urgency.rawValue, usual: reminder.isExpectation ? "critical" : "normal"),
    ]
    fields += ReminderFields.texts.dropFirst().map { text($0.name, reminder[keyPath: $0.stored]) }
    fields += [
      Field(name: "catchUp", text: catchUp(reminder.catchUp), isUsual: reminder.catchUp == CatchUp()),
      Field(name: "grace", text: span(reminder.grace), isUsual: reminder.grace == usualGrace),
      Field(name: "jitter", text: span(reminder.jitter), isUsual: reminder.jitter == .zero),
      Field(name: "nag", text: reminder.nag.map(nag)), Field(name: "quiet", text: reminder.quiet.map(quiet)),
      Field(name: "wake", text: String(reminder.wake), isUsual: !reminder.wake),
      Field(name: "stay", text: String(reminder.stay), isUsual: !reminder.stay),
      Field(name: "within", text: reminder.within.map(span)),
      Field(
        name: "snooze", text: "[" + reminder.snoozeLengths.map(span).joined(separator: ", ") + "]",
        isUsual: reminder.snoozeLengths == usualSnooze),
    ]
    if let link = reminder.tracker { fields += self.fields(of: link) }
    fields.append(paused(reminder.pause, now: now))
    return fields
  }

  private static func fields(of link: TrackerLink) -> [Field] {
    var logs = Field(name: "logs", text: "true", isUsual: true)
    if !link.logsWhenDone {
      logs = Field(name: "logs", text: "false")
    } else if let amount = link.amount, let unit = link.unit {
      logs = text("logs", "\(fixed(amount.value(in: unit))) \(unit.symbol)")
    }
    return [
      text("tracker", link.tracker.rawValue), logs,
      Field(name: "quietWhenDone", text: String(link.quietWhenDone), isUsual: !link.quietWhenDone),
      Field(name: "followsEntries", text: String(link.followsEntries), isUsual: !link.followsEntries),
      Field(name: "pace", text: String(link.pace), isUsual: !link.pace),
    ]
  }

  private static func paused(_ pause: Pause, now: Instant) -> Field {
    switch pause {
    case .until(let end) where end > now: text("paused", RFC3339.format(end, in: .utc))
    case .indefinitely: Field(name: "paused", text: "true")
    default: Field(name: "paused", text: "false", isUsual: true)
    }
  }

  /// Returns all fields of an endpoint but its secret and token.
  static func fields(of endpoint: Endpoint) -> [Field] {
    [text("url", endpoint.url)] + EndpointSetting.all.map { $0.text(endpoint.settings) }
  }

  // MARK: Files

  /// The beginning of an export. It fixes the meaning of omitted keys, independent of the configuration where the file is
  /// applied.
  static let head = """
    # `chime apply` takes this file. [defaults] holds for what a reminder does not say itself.

    [defaults]
    timezone = "local"
    channels = ["desktop"]
    catchUp = "latest"
    grace = "12h"
    jitter = "0s"
    snooze = ["10m", "1h"]

    """

  static func table(_ reminder: Reminder, now: Instant) -> String {
    table("reminder", [text("id", reminder.id.rawValue)] + fields(of: reminder, now: now))
  }

  /// Returns the table of an endpoint. `hasSecret` and `hasToken` add the names of the files.
  static func table(_ endpoint: Endpoint, hasSecret: Bool, hasToken: Bool) -> String {
    let name = endpoint.queue.channel.rawValue
    var fields = fields(of: endpoint)
    fields.insert(text("name", name), at: 0)
    if hasSecret { fields.append(text("secretFile", "\(name).secret")) }
    if hasToken { fields.append(text("tokenFile", "\(name).token")) }
    return table("endpoint", fields)
  }

  static func table(_ name: String, _ fields: [Field]) -> String {
    let lines = fields.compactMap { field -> String? in
      guard !field.isUsual, let text = field.lines ?? field.text else { return nil }
      return "\(field.name) = \(text)\n"
    }
    return "\n[[\(name)]]\n" + lines.joined()
  }

  // MARK: Values

  static func text(_ name: String, _ text: String?, usual: String? = nil) -> Field {
    Field(
      name: name, text: text.map(TOMLText.quoted), isUsual: text != nil && text == usual,
      lines: text.flatMap(TOMLText.lines))
  }

  private static func span(_ length: Milliseconds) -> String { TOMLText.quoted(DurationText.format(length)) }

  private static func catchUp(_ rules: CatchUp) -> String {
    guard rules.suspend != rules.downtime else { return TOMLText.quoted(rules.suspend.rawValue) }
    return "{ suspend = \(TOMLText.quoted(rules.suspend.rawValue)), "
      + "downtime = \(TOMLText.quoted(rules.downtime.rawValue)) }"
  }

  private static func nag(_ nag: Nag) -> String {
    var parts = ["every = \(span(nag.every))", "max = \(nag.max)"]
    if !nag.escalation.isEmpty {
      let steps = nag.escalation.map {
        "{ from = \($0.from), channels = \(TOMLText.array($0.channels.map(\.rawValue))) }"
      }
      parts.append("escalation = [\(steps.joined(separator: ", "))]")
    }
    return "{ \(parts.joined(separator: ", ")) }"
  }

  private static func quiet(_ rule: QuietRule) -> String {
    let parts = [
      rule.handling.map { "rule = \(TOMLText.quoted($0.rawValue))" },
      rule.hours.map { "hours = \(TOMLText.array($0.texts))" },
    ]
    return "{ \(parts.compactMap { $0 }.joined(separator: ", ")) }"
  }

  /// Formats a number as TOML.
  private static func number(_ value: Double) -> String { "\(value)" }

  /// Formats a number without an exponent, and without a point if it is an integer.
  static func fixed(_ value: Double) -> String {
    if value == value.rounded(), value.magnitude < 1e15 { return String(Int64(value)) }
    let plain = "\(value)"
    guard plain.contains("e"), value.magnitude < 1 else { return plain }
    let digits = String(Int64((value.magnitude * 1e12).rounded()))
    let padded = String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    var figures = Substring(padded)
    while figures.last == "0" { figures.removeLast() }
    return "\(value < 0 ? "-" : "")0.\(figures)"
  }
}
