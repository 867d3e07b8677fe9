public import ChimeCore
public import ChimeSchedule
import ChimeWords
import Glibc

/// Settings of the desktop channel.
public struct DesktopConfiguration: Sendable {
  /// notify-send or a replacement: a path, or a name that is looked up in the `PATH` of `environment`.
  public var program = "notify-send"
  /// The program's environment, such as `PATH`, `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR`. `LC_ALL` is always
  /// set to `C.UTF-8`, because the program's error messages are parsed.
  public var environment: [String: String]
  /// The application name in popups.
  public var appName = "Chime"
  /// Time limit for the server to accept the popup.
  public var showTimeout = Milliseconds.seconds(10)
  /// How long the program waits for an answer. The server decides how long the popup stays.
  public var answerTimeout = Milliseconds.hours(24)
  /// Maximum popups that wait for an answer. For a further popup, the program of the oldest is ended.
  public var concurrentWaits = 64
  /// Label of the button that ends the occurrence.
  public var doneLabel = localized("Done")
  /// Label of the button that snoozes by the reminder's first snooze length.
  public var snoozeLabel: @Sendable (Milliseconds) -> String = {
    localized("Snooze %1", Presentation.span($0))
  }
  /// Formats a time of day in the reminder's zone; by default as hours and minutes in the machine's zone.
  public var timeOfDay: @Sendable (Instant, ZoneChoice) -> String = { instant, _ in
    var seconds = time_t(instant.seconds)
    var civil = tm()
    tzset()
    localtime_r(&seconds, &civil)
    func pair(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    return pair(civil.tm_hour) + ":" + pair(civil.tm_min)
  }

  public init(environment: [String: String]) { self.environment = environment }

  /// Path of the program; nil if there is none that may be run.
  public var programPath: String? {
    Program.find(program, in: environment["PATH"]).flatMap { Program.isExecutable($0) ? $0 : nil }
  }

  /// Returns the program run that shows a popup.
  ///
  /// - Parameters:
  ///   - replacing: The server's number of an earlier popup to replace.
  ///   - isPlain: Whether notify-send supports neither buttons nor waiting (libnotify before 0.7.10).
  func program(for content: PopupContent, replacing: UInt32?, isPlain: Bool) -> Program {
    let look = look(of: content)
    var arguments = ["--app-name=\(look.appName)", "--urgency=\(look.urgency.rawValue)"]
    if !look.icon.isEmpty { arguments.append("--icon=\(look.icon)") }
    if look.stays { arguments.append("--expire-time=0") }
    arguments += look.hints.map { "--hint=string:\($0.name):\($0.value)" }
    if !isPlain {
      arguments.append("--print-id")
      // Summaries and closed occurrences have no buttons to wait for.
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
    // notify-send interprets backslash escapes in the body.
    let body = Presentation.escaped(look.body)
    let backslash = UInt8(ascii: "\\")
    let escaped = String(decoding: body.utf8.flatMap { $0 == backslash ? [$0, $0] : [$0] }, as: UTF8.self)
    arguments += ["--", look.title, escaped]
    var environment = environment
    environment["LC_ALL"] = "C.UTF-8"
    environment["LANGUAGE"] = nil
    var helper = Program(name: program, arguments: arguments, environment: environment)
    // No one would read its answer. SIGINT would also close the popup.
    helper.deathSignal = SIGTERM
    return helper
  }

  /// Icon of a reminder without its own (Icon Naming Specification, "Status").
  static let usualIcon = "appointment-soon"

  /// The content of a popup, independent of the transport.
  struct PopupAppearance: Hashable, Sendable {
    var appName: String
    var title: String
    /// Plain text, without markup escapes.
    var body: String
    var urgency = Urgency.normal
    /// Icon name or path; empty for none.
    var icon = DesktopConfiguration.usualIcon
    /// Whether the popup stays until it is closed.
    var stays = false
    /// Hints of the specification with string values.
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
      // Some desktops expire every popup except critical ones.
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

  /// Returns the buttons in order: *Done* or the tracker's items, then *Snooze*.
  func buttons(of message: OutboundMessage) -> [(answer: Occurrence.Answer, label: String)] {
    let items = (message.report?.items ?? []).map { choice in
      let title = PlainText.clipped(PlainText.withoutControls(choice.title, lines: false), bytes: 60)
      return (Occurrence.Answer.item(choice.item), title)
    }
    let snooze = Self.snooze(of: message)
    return (items.isEmpty ? [(.done, doneLabel(of: message))] : items) + [(.snooze(for: snooze), snoozeLabel(snooze))]
  }

  /// Returns the label of the button that ends the occurrence. If it logs an amount, the label shows it.
  func doneLabel(of message: OutboundMessage) -> String {
    let button = message.report?.button.map { PlainText.withoutControls($0, lines: false) } ?? ""
    return button.allSatisfy(\.isWhitespace) ? doneLabel : PlainText.clipped(button, bytes: 60)
  }

  /// Returns the length of the snooze button.
  static func snooze(of message: OutboundMessage?) -> Milliseconds {
    message?.reminder?.snoozeLengths.first ?? .minutes(10)
  }
}
