import ChimeControl
import ChimeWords

/// The options that link a reminder to a tracker.
enum LinkOptions {
  static let fields: [DraftField] =
    [
      DraftField(
        option: .value(
          "tracker", nil, "NAME", "The tracker that decides whether it is done; chime done then logs an entry of it"),
        reset: .tracker, take: { $1.tracker = try link($0) }, form: { $0.tracker?.tracker ?? "" }),
      DraftField(
        option: .value(
          "logs", nil, "AMOUNT",
          "The amount that chime done logs, such as 250ml, or no; the default is the tracker's usual amount"),
        reset: .amount,
        form: {
          let amount = $0.tracker.flatMap { link in
            link.amount.map { "\($0 == $0.rounded() ? String(Int($0)) : String($0))\(link.unit ?? "")" }
          }
          return $0.tracker?.logs == false ? "no" : amount ?? ""
        }),
      DraftField(option: switches[0].on, form: { $0.tracker?.quietWhenDone == true ? "yes" : "no" }),
      DraftField(option: switches[1].on, form: { $0.tracker?.followsEntries == true ? "yes" : "no" }),
      DraftField(option: switches[2].on, form: { $0.tracker?.pace == true ? "yes" : "no" }),
    ]

  /// Boolean options with their opposites.
  static let switches: [(on: Verb.Option, off: Verb.Option)] = [
    (
      .flag("quiet-when-done", nil, localized("Skip its times once the day's goal is met")),
      .flag("no-quiet-when-done", nil, localized("Fire it even if the goal is met"))
    ),
    (
      .flag("follows-entries", nil, localized("Count an interval from the last entry")),
      .flag("no-follows-entries", nil, localized("Stop moving its times after entries"))
    ),
    (
      .flag("pace", nil, localized("Spread the rest of the goal over the rest of the window")),
      .flag("no-pace", nil, localized("Keep the interval fixed"))
    ),
  ]

  /// Returns the link given by the options; nil without options.
  static func link(_ line: ParsedLine) throws -> RemindersInterface.TrackerLink? {
    var link = RemindersInterface.TrackerLink()
    let name = line.value("tracker").map(trimmed)
    if let name, !name.isEmpty { link.tracker = name }
    func isOn(_ index: Int) throws -> Bool? {
      try RepeatOptions.isOn(line, switches[index].on, switches[index].off)
    }
    (link.quietWhenDone, link.followsEntries, link.pace) = (try isOn(0), try isOn(1), try isOn(2))
    if let text = line.value("logs").map(trimmed), !text.isEmpty {
      if text == "no" {
        link.logs = false
      } else {
        let amount = try AmountText.required(text, option: "logs")
        (link.logs, link.amount, link.unit) = (true, amount.value, amount.unit)
      }
    } else if line.has("logs") {
      link.logs = true
    }
    guard link != RemindersInterface.TrackerLink() else { return nil }
    if name == "" {
      throw Failure.usage(localized("--tracker \"\" removes the link: the other options cannot be used with it"))
    }
    return link
  }

  /// Checks a new reminder: link options require a tracker.
  static func checkNew(_ line: ParsedLine) throws {
    guard line.value("tracker") == nil,
      let lone = (["logs"] + switches.map(\.on.name)).first(where: { line.has($0) })
    else { return }
    throw Failure.usage(localized("--%1 needs --tracker NAME", lone), hint: localized("such as --tracker water"))
  }

  // MARK: As text

  /// Returns `water: done logs 250 ml, quiet when done, follows entries`.
  static func words(_ link: RemindersInterface.TrackerLink) -> String {
    var parts: [String] = []
    if link.logs == false {
      parts.append(localized("done logs nothing"))
    } else if let amount = logs(link), !amount.isEmpty {
      parts.append(localized("done logs %1", amount))
    } else {
      parts.append(localized("done logs it"))
    }
    if link.quietWhenDone == true { parts.append(localized("skipped once the goal is met")) }
    if link.followsEntries == true { parts.append(localized("counted from the last entry")) }
    if link.pace == true { parts.append(localized("paced by the rest of the goal")) }
    return "\(link.tracker ?? ""): \(parts.joined(separator: ", "))"
  }

  /// Returns the value of `--logs`; nil for the usual amount.
  private static func logs(_ link: RemindersInterface.TrackerLink) -> String? {
    link.amount.map { amount in
      let number = LocalizedFormat.number(amount, decimals: amount == amount.rounded() ? 0 : 3, grouped: false)
      return link.unit.map { "\(number) \($0)" } ?? number
    }
  }
}
