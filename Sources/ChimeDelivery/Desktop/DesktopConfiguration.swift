public import ChimeCore
public import ChimeSchedule
import ChimeWords
import Glibc

/// How the desktop channel shows popups.
public struct DesktopConfiguration: Sendable {
  /// notify-send or a drop-in for it: a path, or a name that is looked for in the `PATH` of `environment`.
  public var program = "notify-send"
  /// What the program's environment is made of: `PATH`, `DBUS_SESSION_BUS_ADDRESS`, `XDG_RUNTIME_DIR` and whatever else
  /// it is to see. Its messages are always asked for in the C locale with UTF-8.
  public var environment: [String: String]
  /// The name under which servers file the popups.
  public var appName = "Chime"
  /// How long the program may take until the server has taken the popup.
  public var showTimeout = Milliseconds.seconds(10)
  /// How long an answer is waited for. The popup stays for as long as its server keeps it.
  public var answerTimeout = Milliseconds.hours(24)
  /// Popups whose answers are waited for at once; for a further one the oldest is let go.
  public var concurrentWaits = 64
  /// The button that ends the occurrence.
  public var doneLabel = localized("Done")
  /// The button that snoozes it by the reminder's first snooze length.
  public var snoozeLabel: @Sendable (Milliseconds) -> String = {
    localized("Snooze %1", Presentation.span($0))
  }
  /// A time as the user reads clocks, in the reminder's zone; by default hours and minutes of the machine's zone.
  public var timeOfDay: @Sendable (Instant, ZoneChoice) -> String = { instant, _ in
    var seconds = time_t(instant.seconds)
    var civil = tm()
    tzset()
    localtime_r(&seconds, &civil)
    func pair(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    return pair(civil.tm_hour) + ":" + pair(civil.tm_min)
  }

  public init(environment: [String: String]) { self.environment = environment }

  /// Where the program is; nil when there is none that may be run.
  public var programPath: String? {
    Program.find(program, in: environment["PATH"]).flatMap { Program.isExecutable($0) ? $0 : nil }
  }

  /// The run of the program that shows a popup.
  ///
  /// - Parameters:
  ///   - replacing: the server's number of an earlier popup whose place it takes.
  ///   - isPlain: for a notify-send that knows neither buttons nor waiting (libnotify before 0.7.10).
  func program(for content: PopupContent, replacing: UInt32?, isPlain: Bool) -> Program {
    let look = look(of: content)
    var arguments = ["--app-name=\(look.appName)", "--urgency=\(look.urgency.rawValue)"]
    if !look.icon.isEmpty { arguments.append("--icon=\(look.icon)") }
    if look.stays { arguments.append("--expire-time=0") }
    arguments += look.hints.map { "--hint=string:\($0.name):\($0.value)" }
    if !isPlain {
      arguments.append("--print-id")
      // A summary has nothing to wait for, nor has a notice.
      if let message = content.question {
        let words = buttons(of: message).map { button in
          let word =
            switch button.answer {
            case .item(let item): "item:\(item)"
            case .snooze: "snooze"
            case .done, .amount, .dismiss: "done"
            }
          return "--action=\(word)=\(button.label)"
        }
        arguments += ["--wait"] + words
      }
      if let replacing { arguments.append("--replace-id=\(replacing)") }
    }
    // notify-send reads backslash escapes in the body.
    let body = Presentation.escaped(look.body)
    let backslash = UInt8(ascii: "\\")
    let escaped = String(decoding: body.utf8.flatMap { $0 == backslash ? [$0, $0] : [$0] }, as: UTF8.self)
    arguments += ["--", look.title, escaped]
    var environment = environment
    environment["LC_ALL"] = "C.UTF-8"
    environment["LANGUAGE"] = nil
    var helper = Program(name: program, arguments: arguments, environment: environment)
    // Nobody would hear its answer. Not an interrupt: that would take the popup off the screen.
    helper.deathSignal = SIGTERM
    return helper
  }

  /// The icon of a popup whose reminder has none (Icon Naming Specification, "Status").
  static let usualIcon = "appointment-soon"

  /// How a popup looks, whichever way it is shown.
  struct PopupAppearance: Hashable, Sendable {
    var appName: String
    var title: String
    /// Plain text, with nothing escaped.
    var body: String
    var urgency = Urgency.normal
    /// A name or a path; empty for none.
    var icon = DesktopConfiguration.usualIcon
    /// Whether it stays on the screen until somebody closes it.
    var stays = false
    /// Hints of the specification whose values are text.
    var hints: [Hint] = []

    struct Hint: Hashable, Sendable {
      var name: String
      var value: String
    }
  }

  func look(of content: PopupContent) -> PopupAppearance {
    func line(_ text: String) -> String { PlainText.withoutControls(text, lines: false) }
    switch content {
    case .summary(let summary):
      return PopupAppearance(
        appName: line(appName), title: Presentation.title(of: summary), body: Presentation.text(of: summary))
    case .occurrence(let message):
      let zone = message.reminder?.governingZone ?? .local
      var look = PopupAppearance(
        appName: line(appName), title: Presentation.title(of: message),
        body: Presentation.text(of: message) { timeOfDay($0, zone) })
      guard let reminder = message.reminder else { return look }
      // Desktops that let no popup stay, whatever time it is given, make an exception for the critical ones.
      look.urgency = reminder.stay ? .critical : reminder.urgency
      look.stays = reminder.stay
      let icon = line(reminder.icon ?? "")
      if !icon.isEmpty { look.icon = icon }
      if let sound = reminder.sound, !sound.isEmpty {
        look.hints.append(
          PopupAppearance.Hint(name: sound.hasPrefix("/") ? "sound-file" : "sound-name", value: line(sound)))
      }
      if let category = reminder.category, !category.isEmpty {
        look.hints.append(PopupAppearance.Hint(name: "category", value: line(category)))
      }
      return look
    }
  }

  /// The buttons, in order: *Done* or the items that it may be about, and *Snooze*.
  func buttons(of message: OutboundMessage) -> [(answer: Occurrence.Answer, label: String)] {
    let items = (message.report?.items ?? []).map { choice in
      let title = PlainText.clipped(PlainText.withoutControls(choice.title, lines: false), bytes: 60)
      return (Occurrence.Answer.item(choice.item), title)
    }
    let snooze = Self.snooze(of: message)
    return (items.isEmpty ? [(.done, doneLabel(of: message))] : items) + [(.snooze(for: snooze), snoozeLabel(snooze))]
  }

  /// What stands on the button that ends the occurrence: for an amount, how much it logs.
  func doneLabel(of message: OutboundMessage) -> String {
    let button = message.report?.button.map { PlainText.withoutControls($0, lines: false) } ?? ""
    return button.allSatisfy(\.isWhitespace) ? doneLabel : PlainText.clipped(button, bytes: 60)
  }

  /// The length that the snooze button stands for.
  static func snooze(of message: OutboundMessage?) -> Milliseconds {
    message?.reminder?.snoozeLengths.first ?? .minutes(10)
  }
}
