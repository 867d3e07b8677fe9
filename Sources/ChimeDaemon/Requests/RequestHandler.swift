import ChimeControl
import Varlink

/// A RequestHandler answers calls, each by the handler of its interface.
struct RequestHandler: RequestPart {
  let requestContext: RequestContext

  private var trackers: TrackersHandler { TrackersHandler(requestContext: requestContext) }

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
      return try await trackers.restore(call.parameters())
    }
    guard let reply = try await reply(to: call, of: Self.interface(of: call)) else {
      throw ServiceError.methodNotImplemented(method: call.method)
    }
    try need(
      reply.bytes.count <= configuration.maxMessageBytes || !call.method.hasPrefix(TrackersInterface.name + "."),
      limit: "control.maxMessageBytes: the answer has \(reply.bytes.count) bytes; request less at once")
    return reply
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
    case TrackersInterface.Backup.method: try await trackers.backup(call.parameters())
    case TrackersInterface.Export.method: try await trackers.export(call.parameters())
    case TrackersInterface.Restore.method: try RestoreRun(call.parameters(), trackers)
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
    TrackersInterface.Changes.method, TrackersInterface.Upload.method, TrackersInterface.Backup.method,
    TrackersInterface.Export.method,
  ]

  private static let longMethods: Set<String> = [
    DeliveriesInterface.Redeliver.method, DeliveriesInterface.Cancel.method, TrackersInterface.InstallPack.method,
    TrackersInterface.RemovePack.method, TrackersInterface.Remove.method, TrackersInterface.Import.method,
    TrackersInterface.Restore.method,
    TrackersInterface.Undo.method, TrackersInterface.StartOver.method,
  ]
}
