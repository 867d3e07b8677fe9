import ChimeControl
import ChimeSchedule
import ChimeWords

/// The options for repetition (nagging) and quiet hours.
enum RepeatOptions {
  static let fields: [DraftField] = [
    DraftField(
      option: .value("nag", nil, "LENGTH", "Repeat it at this interval until it is answered, such as 5m"), reset: .nag,
      take: { $1.nag = try nag($0) }, form: { $0.nag?.every.map { LengthText.human($0) } ?? "" }),
    DraftField(
      option: .value("nag-max", nil, "N", "The number of repeats, 1 to 100 (default 10)"),
      form: { $0.nag?.max.map { String($0) } ?? "" }),
    DraftField(
      option: .value(
        "escalate", nil, "N:CHANNELS", "Add channels from the Nth repeat on, such as 3:team,phone",
        repeats: true),
      form: { text($0.nag?.escalation) }),
    DraftField(
      option: .value(
        "quiet-rule", nil, "RULE",
        "In quiet hours: hold (defer until they end), drop, or off (ring); the default is the configured rule",
        choices: RemindersInterface.Quiet.Rule.allCases.map(\.rawValue), mayBeEmpty: true),
      reset: .quiet, take: { $1.quiet = try quiet($0) }, form: { $0.quiet?.rule?.rawValue ?? "" }),
    DraftField(
      option: .value(
        "quiet-hours", nil, "SPAN",
        "Quiet hours of its own instead of the configured ones, such as \"mon-fri 22:00-07:00\"; repeat the option "
          + "for several",
        repeats: true),
      form: { ($0.quiet?.hours ?? []).joined(separator: "; ") }),
    DraftField(
      option: .value(
        "jitter", nil, "LENGTH", "Delay each of its times by up to this length, always by the same amount"),
      reset: .jitter, take: { $1.jitter = try length($0, "jitter") },
      form: { $0.jitter.map { LengthText.human($0) } ?? "" }),
    DraftField(
      option: wake, take: { $1.wake = try isOn($0, wake, noWake) }, form: { $0.wake == true ? "yes" : "no" }),
    DraftField(
      option: stay, take: { $1.stay = try isOn($0, stay, noStay) }, form: { $0.stay == true ? "yes" : "no" }),
    DraftField(
      option: within, reset: .within, take: { $1.within = try length($0, "within") },
      form: { $0.within.map { LengthText.human($0) } ?? "" },
      shown: { (localized("ping"), $0.within.map { localized("within %1", LengthText.human($0)) }) }),
  ]

  static let wake = Verb.Option.flag(
    "wake", nil, localized("Wake the sleeping machine for it, if the system allows that"))
  static let noWake = Verb.Option.flag("no-wake", nil, localized("Stop waking the machine for it"))

  static let stay = Verb.Option.flag(
    "stay", nil, localized("Keep its popup on the screen until it is answered, as for a critical one"))
  static let noStay = Verb.Option.flag("no-stay", nil, localized("Let the desktop close its popup after a while"))

  /// Returns the value of a pair of opposite options; nil if neither is given.
  static func isOn(_ line: ParsedLine, _ on: Verb.Option, _ off: Verb.Option) throws -> Bool? {
    switch (line.has(on.name), line.has(off.name)) {
    case (true, true): throw Failure.usage(localized("--%1 and --%2 contradict each other", on.name, off.name))
    case (true, false): true
    case (false, true): false
    case (false, false): nil
    }
  }

  static let within = Verb.Option.value(
    "within", nil, "LENGTH",
    localized(
      "Make it an expectation: it notifies only if no ping comes within this time, or if a run takes longer"))

  static func length(_ line: ParsedLine, _ option: String) throws -> String? {
    guard let text = line.value(option), !trimmed(text).isEmpty else { return nil }
    return try LengthText.iso(text, option: option)
  }

  /// Returns the nagging rule; nil without options, or if an empty value removes it.
  static func nag(_ line: ParsedLine) throws -> RemindersInterface.Nag? {
    let max = try isEmpty(line, "nag-max") ? nil : line.count("nag-max", maximum: 100)
    let steps = try line.has("escalate") ? parts(line, "escalate").map(step) : nil
    guard let text = line.value("nag") else {
      return max == nil && steps == nil ? nil : RemindersInterface.Nag(max: max, escalation: steps)
    }
    if isEmpty(line, "nag") {
      try need(
        max == nil && steps?.isEmpty ?? true,
        localized("--nag \"\" removes the repeats: --nag-max and --escalate cannot be used with it"))
      return nil
    }
    return RemindersInterface.Nag(every: try LengthText.iso(text, option: "nag"), max: max, escalation: steps)
  }

  /// Checks a new reminder: a repetition limit requires a repetition.
  static func checkNew(_ line: ParsedLine) throws {
    guard line.value("nag") == nil, let lone = ["nag-max", "escalate"].first(where: { line.has($0) }) else { return }
    throw Failure.usage(localized("--%1 needs --nag LENGTH", lone), hint: localized("such as --nag 5m"))
  }

  /// Parses an escalation step: `3:team,phone`.
  private static func step(_ text: String) throws -> RemindersInterface.Escalation {
    let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { trimmed(String($0)) }
    let channels = pair.count == 2 ? pair[1].split(separator: ",").map { trimmed(String($0)) } : []
    guard let from = pair.first.flatMap({ Int($0) }), (1...100).contains(from), !channels.isEmpty,
      !channels.contains("")
    else {
      throw Failure.usage(
        localized("--escalate needs the number of a repeat and channels, not \"%1\"", text),
        hint: localized("such as --escalate 3:team,phone")
      )
    }
    return RemindersInterface.Escalation(from: from, channels: channels)
  }

  static func quiet(_ line: ParsedLine) throws -> RemindersInterface.Quiet? {
    let rule = line.value("quiet-rule").flatMap { RemindersInterface.Quiet.Rule(rawValue: $0) }
    guard line.has("quiet-hours") else { return rule.map { RemindersInterface.Quiet(rule: $0) } }
    do {
      return RemindersInterface.Quiet(rule: rule, hours: try QuietHours(parts(line, "quiet-hours")).texts)
    } catch {
      throw Failure.usage(localized("--quiet-hours: %1", localizedServerMessage(error.message)))
    }
  }

  /// Splits the values of an option at semicolons, as in the edit form.
  private static func parts(_ line: ParsedLine, _ name: String) -> [String] {
    line.values(name).flatMap { $0.split(separator: ";") }.map { trimmed(String($0)) }.filter { !$0.isEmpty }
  }

  private static func isEmpty(_ line: ParsedLine, _ name: String) -> Bool { line.value(name).map(trimmed) == "" }

  // MARK: As text

  static func text(_ steps: [RemindersInterface.Escalation]?) -> String {
    (steps ?? []).map { "\($0.from):\($0.channels.joined(separator: ","))" }.joined(separator: "; ")
  }

  /// Returns `every 5m, at most 6 times; team from the 3rd on`.
  static func words(_ nag: RemindersInterface.Nag) -> String {
    let times = nag.max.map { localized(count: $0, ", once", ", at most %n times") } ?? ""
    let steps = (nag.escalation ?? []).map {
      localized("%1 from the %2 on", $0.channels.joined(separator: ", "), Words.ordinal($0.from))
    }
    return ([localized("every %1%2", nag.every.map { LengthText.human($0) } ?? "", times)] + steps).joined(
      separator: "; ")
  }

  /// Returns `dropped, mon-fri 22:00-07:00; sat,sun 23:00-09:00`.
  static func words(_ quiet: RemindersInterface.Quiet) -> String {
    let rule =
      switch quiet.rule {
      case .hold: localized("deferred until they end")
      case .drop: "dropped"
      case .off: localized("off: it rings in them")
      case nil: localized("as configured")
      }
    guard let hours = quiet.hours, !hours.isEmpty, quiet.rule != .off else { return rule }
    return "\(rule), \(hours.joined(separator: "; "))"
  }
}
