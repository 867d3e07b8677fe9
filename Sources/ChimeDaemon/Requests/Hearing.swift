import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Dispatch

/// A Hearing knows which channels can bring a message to a person at this moment.
struct Hearing: Sendable {
  /// Why popups cannot be shown; nil: they can.
  var desktopProblem: String?
  let endpoints: EndpointCache
  let commands: CommandChannel

  /// Returns why a reminder reaches nobody: each of its channels is missing or off. Nil: one of them works.
  func problem(of reminder: Reminder) -> String? {
    let channels = reminder.channels(atRepeat: .max)
    let problems = channels.compactMap { problem(of: $0, owner: reminder.owner) }
    return problems.count == channels.count ? problems.joined(separator: "; ") : nil
  }

  private func problem(of channel: ChannelName, owner: UInt32) -> String? {
    if channel == .desktop { return desktopProblem.map { "the daemon cannot show popups: \($0)" } }
    if let command = commands.book.commands[channel] {
      guard commands.book.isEnabled else { return "the command \(channel) is switched off" }
      return commands.problem(of: command).map { "the command \(channel) cannot be run: \($0)" }
    }
    guard let access = endpoints.access(DeliveryQueue(owner: owner, channel: channel)) else {
      return "there is no endpoint or command \(channel)"
    }
    if let reason = access.endpoint.disabled?.reason { return "the endpoint \(channel) is disabled: \(reason)" }
    if access.lacksSecrets { return "the endpoint \(channel) has no secret" }
    if let events = access.endpoint.settings.events, !events.contains(.fired) {
      return "the endpoint \(channel) does not receive the event fired"
    }
    return access.fault.map { "Chime cannot send to the endpoint \(channel): \($0)" }
  }
}

/// The reminders that have a time to come and reach nobody.
struct MuteReminders: Sendable {
  var count = 0
  /// The reminder of these that comes first, and why it reaches nobody.
  var first: (id: ReminderID, title: String, problem: String)?

  static let kind = "mute"

  /// The notice for `status`, `doctor` and the metrics; nil: every reminder reaches somebody.
  var notice: DaemonInterface.Notice? {
    guard let first else { return nil }
    return DaemonInterface.Notice(
      kind: Self.kind, about: first.id.rawValue,
      sentence: count == 1
        ? "\"\(first.title)\" (\(first.id)) reaches nobody: \(first.problem)"
        : "\(count) reminders reach nobody, the first of them \"\(first.title)\" (\(first.id)): \(first.problem)")
  }
}

/// The cached results of earlier checks, each with the time of the check (monotonic, in microseconds).
struct HearingState {
  struct Found {
    var mute: MuteReminders
    var transactions: UInt64
    var desktopProblem: String?
    var at: UInt64
    var took: UInt64
  }

  var desktop: (task: Task<String?, Never>, at: UInt64)?
  /// The results by owner; nil as a key: everybody's reminders.
  var found: [UInt32?: Found] = [:]
}

extension EventLoop {
  func hearing() async -> Hearing {
    Hearing(desktopProblem: await desktopProblem(), endpoints: endpoints, commands: commands)
  }

  /// Returns the reminders that reach nobody, among the first 10,000 that have a time to come.
  ///
  /// The result is cached while the store and the channels do not change, for 20 times as long as the check took, so that
  /// frequent callers do not keep the store busy.
  func muteReminders(owner: UInt32?) async throws -> MuteReminders {
    let (hearing, begin, transactions) = (
      await hearing(), SystemClock.monotonicMicroseconds, wakeupsReader.transactions
    )
    if let found = hearingState.found[owner], found.transactions == transactions,
      found.desktopProblem == hearing.desktopProblem, begin < found.at + found.took * 20
    {
      return found.mute
    }
    var mute = MuteReminders()
    let size = 500
    for part in 0..<20 {
      let page = Page(limit: size, offset: part * size)
      let (found, isLast) = try await store.read { transaction -> (MuteReminders, Bool) in
        let records = try transaction.reminders(ReminderFilter(owner: owner, includesFinished: false), page: page)
        var mute = MuteReminders()
        for reminder in records.filter({ $0.coming != nil }).map(\.reminder) {
          guard let problem = hearing.problem(of: reminder) else { continue }
          mute.count += 1
          mute.first = mute.first ?? (reminder.id, reminder.title, problem)
        }
        return (mute, records.count + transaction.unreadable.count < size)
      }
      mute.count += found.count
      mute.first = mute.first ?? found.first
      if isLast { break }
    }
    let end = SystemClock.monotonicMicroseconds
    hearingState.found[owner] = HearingState.Found(
      mute: mute, transactions: transactions, desktopProblem: hearing.desktopProblem, at: end, took: end - begin)
    return mute
  }

  /// Returns why popups cannot be shown: no bus, no notification server, or no program. Calls within one second share a result.
  private func desktopProblem() async -> String? {
    let now = SystemClock.monotonicMicroseconds
    if let known = hearingState.desktop, now < known.at + 1_000_000 { return await known.task.value }
    let (environment, channels) = (paths.environment, configuration.channels)
    let task: Task<String?, Never> = Task(executorPreference: executor) {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "io.chime.hearing").async {
          continuation.resume(returning: Self.desktopProblem(environment, channels))
        }
      }
    }
    hearingState.desktop = (task, now)
    return await task.value
  }

  private static func desktopProblem(_ environment: [String: String], _ channels: Configuration.Channels) -> String? {
    if channels.desktopTransport == .program {
      var desktop = DesktopConfiguration(environment: environment)
      desktop.program = channels.desktopProgram
      guard desktop.programPath != nil else { return "\(desktop.program) does not exist, or may not be run" }
      // A replacement of notify-send may show popups without a bus.
      guard desktop.program == "notify-send" else { return nil }
    }
    let bus = BusProbe.look(in: environment, within: .milliseconds(500))
    if let problem = bus.problem {
      return bus.address == nil ? "there is no session bus" : "the session bus: \(problem)"
    }
    if bus.server == .missing { return "no program on the session bus shows notifications" }
    return bus.serverProblem.map { "the notification server: \($0)" }
  }
}
