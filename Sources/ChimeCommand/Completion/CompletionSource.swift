import ChimeControl
import ChimeWords
import Varlink

/// Completion candidates fetched from the daemon. Errors are ignored: completion must never print.
final class CompletionSource {
  /// The most candidates of one kind.
  private static let most = 200

  private let line: ParsedLine
  private let process: CommandProcess
  private let deadline: ContinuousClock.Instant
  private lazy var words = TrackerWords(preferredLanguages: PreferredLanguages(environment: process.environment))
  private var daemon: Daemon?
  private var isSilent = false
  /// The tenant to ask for, if it differs from the line's.
  private var tenant: String??

  init(line: ParsedLine, process: CommandProcess, deadline: ContinuousClock.Instant) {
    self.line = line
    self.process = process
    self.deadline = deadline
  }

  struct Reminder {
    var id: String
    var title: String
  }

  func reminders(_ which: ArgumentKind.Reminders, saying said: String) -> [Reminder] {
    if which == .open {
      let filter = OccurrencesInterface.Filter(open: true)
      let open =
        ask(OccurrencesInterface.List(filter: filter, limit: Self.most))?.occurrences ?? []
      return open.reduce(into: []) { found, one in
        if !found.contains(where: { $0.id == one.reminder }) {
          found.append(Reminder(id: one.reminder, title: one.title))
        }
      }
    }
    let filter = RemindersInterface.Filter(
      state: which == .paused ? .paused : nil, text: said.isEmpty ? nil : said, all: which == .all ? true : nil)
    let reply = ask(RemindersInterface.List(filter: filter, limit: Self.most))
    return (reply?.reminders ?? []).filter {
      (which != .running || $0.state != .paused) && (which != .expected || $0.within != nil)
    }
    .map { Reminder(id: $0.id, title: $0.title) }
  }

  /// Returns the candidates of any kind other than reminders.
  func things(_ slot: ArgumentKind, _ line: ParsedLine) -> [Candidate] {
    switch slot {
    case .trackers:
      return trackers().map { Candidate($0.id, words.local($0.title)) }
    case .items:
      guard let tracker = tracker(line) else { return [] }
      return ask(TrackersInterface.Items(tracker: tracker, limit: Self.most))?.items.map { Candidate($0.id, $0.title) }
        ?? []
    case .amounts: return amounts(line)
    case .entries:
      return ask(TrackersInterface.Entries(limit: 20))?.entries.map { entry in
        let amount = entry.value.map { "\(TrackerWords.shortest($0)) \(entry.unit ?? "")" }
        return Candidate(
          String(entry.id), [entry.day, entry.tracker, amount, entry.item].compactMap { $0 }.joined(separator: "  "))
      } ?? []
    case .milestones:
      return ask(TrackersInterface.Milestones(limit: 50))?.milestones.map {
        Candidate(String($0.id), "\($0.day)  \($0.tracker)  \($0.title)")
      } ?? []
    case .packs(let installed):
      return packs().filter { installed == nil || installed == ($0.installedAt != nil) }
        .map { Candidate($0.id, words.local($0.title)) }
    case .endpoints: return endpoints()
    case .commands: return commands()
    case .channels: return [Candidate("desktop", localized("a popup"))] + endpoints() + commands()
    case .templates:
      return ask(EndpointsInterface.Templates())?.templates
        .map { Candidate($0.name, $0.summary) } ?? []
    case .calendars:
      return ask(SchedulesInterface.Calendars(count: 1))?.calendars.map {
        Candidate($0.name, $0.country ?? $0.file ?? "")
      } ?? []
    case .tags:
      let reply = ask(RemindersInterface.List(filter: .init(all: true), limit: Self.most))
      return Set((reply?.reminders ?? []).flatMap(\.tags)).sorted().map { Candidate($0) }
    case .tenants:
      // Ask for the user's own tenant list, whichever tenant the line has so far.
      tenant = .some(nil)
      return ask(DaemonInterface.Status())?.status.tenants?
        .map { Candidate($0.name) } ?? []
    case .deliveries:
      let reply = ask(DeliveriesInterface.List(limit: 50))
      return (reply?.deliveries ?? []).map { Candidate($0.id, "\($0.state.rawValue)  \($0.channel)  \($0.title)") }
    default: return []
    }
  }

  /// Returns the reminder keys of the packs that the line names.
  func packReminders(_ line: ParsedLine) -> [Candidate] {
    let named = Set(line.words + (line.list("pack") ?? []))
    return packs().filter { named.contains($0.id) }.flatMap { pack in
      pack.reminders.map { Candidate($0.key, words.local($0.title)) }
    }
  }

  /// Returns the additional measures of the line's tracker, each with `=`.
  func fields(_ line: ParsedLine) -> [Candidate] {
    guard let id = tracker(line), let tracker = trackers().first(where: { $0.id == id }) else { return [] }
    return tracker.fields.sorted { $0.key < $1.key }.map { Candidate($0.key + "=", $0.value) }
  }

  // MARK: Requests to the daemon

  /// Returns the id of the tracker, which is the verb's first argument or --tracker.
  private func tracker(_ line: ParsedLine) -> String? { line.words.first ?? line.value("tracker") }

  private func trackers() -> [TrackersInterface.Tracker] {
    ask(TrackersInterface.List())?.trackers ?? []
  }

  private func packs() -> [TrackersInterface.Pack] {
    ask(TrackersInterface.Packs())?.packs ?? []
  }

  /// Returns the preset amounts of the line's tracker.
  private func amounts(_ line: ParsedLine) -> [Candidate] {
    guard let id = tracker(line), let tracker = trackers().first(where: { $0.id == id }) else { return [] }
    let offered = (tracker.usual.map { [$0] } ?? []) + tracker.presets
    return offered.map { Candidate(TrackerWords.shortest($0) + (tracker.unit ?? "")) }
  }

  private func endpoints() -> [Candidate] {
    ask(EndpointsInterface.List())?.endpoints
      .map { Candidate($0.name, $0.url) } ?? []
  }

  private func commands() -> [Candidate] {
    ask(CommandsInterface.List())?.commands
      .map { Candidate($0.name, $0.program) } ?? []
  }

  /// Asks the daemon; returns `nil` after the deadline or an error, and asks nothing more from then on.
  private func ask<Method: VarlinkMethod>(_ request: Method) -> Method.Reply? {
    let left = deadline - .now
    guard !isSilent, left > .zero else { return nil }
    do {
      let daemon = try self.daemon ?? connect(left)
      self.daemon = daemon
      daemon.patience = left
      return try daemon.call(request)
    } catch {
      isSilent = true
      return nil
    }
  }

  private func connect(_ patience: Duration) throws -> Daemon {
    try Daemon(
      socket: .chosen(by: line, environment: process.environment, userID: process.userID), userID: process.userID,
      tenant: tenant ?? TenantChoice.chosen(by: line, environment: process.environment), patience: patience)
  }
}
