import ChimeControl
import Varlink

/// A RequestHandler answers calls, each by the handler of its interface.
struct RequestHandler: RequestPart {
  let requestContext: RequestContext

  /// Answers a call. Every error becomes a reply.
  func answer(_ call: VarlinkCall) async -> VarlinkReply {
    do {
      return try await perform(call)
    } catch {
      return ControlFailure(error).reply(interface: Self.interface(of: call))
    }
  }

  private func perform(_ call: VarlinkCall) async throws -> VarlinkReply {
    if call.method == TrackersInterface.Restore.method {
      return try await BackupsHandler(requestContext: requestContext).restore(call.parameters())
    }
    guard let reply = try await reply(to: call) else { throw ServiceError.methodNotImplemented(method: call.method) }
    guard reply.bytes.count <= configuration.maxMessageBytes || !call.method.hasPrefix(TrackersInterface.name + ".")
    else {
      throw ControlFailure.limitExceeded(
        "control.maxMessageBytes: the answer has \(reply.bytes.count) bytes; request less at once")
    }
    return reply
  }

  /// Returns the reply of the handler of its interface; nil: there is no such method.
  private func reply(to call: VarlinkCall) async throws -> VarlinkReply? {
    switch Self.interface(of: call) {
    case CommandsInterface.name: try await CommandsHandler(requestContext: requestContext).reply(to: call)
    case DaemonInterface.name: try await DaemonHandler(requestContext: requestContext).reply(to: call)
    case DeliveriesInterface.name: try await DeliveriesHandler(requestContext: requestContext).reply(to: call)
    case EndpointsInterface.name: try await EndpointsHandler(requestContext: requestContext).reply(to: call)
    case ExpectationsInterface.name: try await ExpectationsHandler(requestContext: requestContext).reply(to: call)
    case OccurrencesInterface.name: try await OccurrencesHandler(requestContext: requestContext).reply(to: call)
    case RemindersInterface.name: try await RemindersHandler(requestContext: requestContext).reply(to: call)
    case SchedulesInterface.name: try await SchedulesHandler(requestContext: requestContext).reply(to: call)
    case TrackersInterface.name: try await TrackersHandler(requestContext: requestContext).reply(to: call)
    default: nil
    }
  }

  private static func interface(of call: VarlinkCall) -> String {
    call.method.lastIndex(of: ".").map { String(call.method[..<$0]) } ?? ""
  }

  /// Returns whether a call is answered in several replies.
  static func isStreamed(_ call: VarlinkCall) -> Bool {
    [TrackersInterface.Backup.method, TrackersInterface.Export.method].contains(call.method)
      || call.method == TrackersInterface.Restore.method && call.more
  }

  func parts(of call: VarlinkCall) async throws -> any ReplyParts {
    switch call.method {
    case TrackersInterface.Backup.method:
      try await BackupsHandler(requestContext: requestContext).backup(call.parameters())
    case TrackersInterface.Export.method:
      try await EntryFilesHandler(requestContext: requestContext).export(call.parameters())
    case TrackersInterface.Restore.method:
      try RestoreRun(call.parameters(), BackupsHandler(requestContext: requestContext))
    default: throw ServiceError.methodNotImplemented(method: call.method)
    }
  }

  /// Returns the cost of a method, by which `RequestQueue` orders requests.
  static func weight(of method: String) -> RequestQueue<EventLoop.QueuedRequest>.Weight {
    heavyMethods.contains(method) ? .heavy : longMethods.contains(method) ? .long : .light
  }

  private static let heavyMethods: Set<String> = [
    RemindersInterface.AddMany.method, RemindersInterface.List.method, RemindersInterface.Import.method,
    RemindersInterface.Apply.method, RemindersInterface.Export.method, OccurrencesInterface.List.method,
    OccurrencesInterface.Upcoming.method, OccurrencesInterface.Audit.method, ExpectationsInterface.List.method,
    SchedulesInterface.Explain.method, SchedulesInterface.Convert.method, SchedulesInterface.Calendars.method,
    DeliveriesInterface.List.method, EndpointsInterface.List.method, TrackersInterface.Entries.method,
    TrackersInterface.Days.method,
    TrackersInterface.Stats.method, TrackersInterface.Achievements.method, TrackersInterface.Items.method,
    TrackersInterface.Milestones.method,
    TrackersInterface.Changes.method, TrackersInterface.Backup.method, TrackersInterface.Export.method,
  ]

  private static let longMethods: Set<String> = [
    DeliveriesInterface.Redeliver.method, DeliveriesInterface.Cancel.method, TrackersInterface.InstallPack.method,
    TrackersInterface.RemovePack.method, TrackersInterface.Remove.method, TrackersInterface.Import.method,
    TrackersInterface.Restore.method,
    TrackersInterface.Undo.method, TrackersInterface.StartOver.method,
  ]
}
