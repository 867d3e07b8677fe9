import ChimeControl
import ChimeCore
import ChimeExchange
import ChimeSchedule
import ChimeTracking
import Glibc
import Varlink

/// A ControlFailure says why a request was refused, as one of the errors of the interfaces.
enum ControlFailure: Error {
  case notFound(what: String, id: String, similar: [String])
  case ambiguous(id: String, candidates: [String])
  case invalidSchedule(ScheduleError)
  case invalidValue(field: String, String)
  case invalidText(line: Int?, String)
  case conflict(String)
  case limitExceeded(String)
  /// A rate was exceeded; the client may try again after `retryAfter`.
  case tooMany(String, retryAfter: Milliseconds)
  case tenantAccessDenied(String)
  case invalidConfiguration(String)
  case storeUnavailable(String)
  case invalidFile(line: Int, String)
  case invalidPack(PackFaults)
  case invalidSet(PackFaults)
  case invalidDrafts([RemindersInterface.DraftFault])
  case nothingToUndo(String)
  /// An unlikely value. The client may repeat the request with `force`.
  case unlikely(field: String, String)
  case service(ServiceError)

  /// Translates any thrown error into one that a client gets.
  init(_ error: any Error) {
    switch error {
    case let failure as ControlFailure: self = failure
    case let error as ScheduleError: self = .invalidSchedule(error)
    case let error as ExchangeError: self = .invalidText(line: error.line, error.message)
    case let error as TrackingRefused: self.init(error)
    case let error as PackFaults: self = .invalidPack(error)
    case let error as ServiceError: self = .service(error)
    case let error as StoreFailure: self = .storeUnavailable(error.sentence)
    default: self = .storeUnavailable("an unexpected failure: \(type(of: error))")
    }
  }

  /// Returns the reply with the error, named within the interface that was called.
  func reply(interface: String) -> VarlinkReply {
    func named(_ name: String, _ parameters: some JSONWritable & Sendable) -> VarlinkReply {
      VarlinkReply(error: NamedError(varlinkName: "\(interface).\(name)", parameters: parameters))
    }
    switch self {
    case .notFound(let what, let id, let similar):
      return named("NotFound", Wire.NotFound(what: what, id: id, similar: similar))
    case .ambiguous(let id, let candidates):
      return named("Ambiguous", Wire.Ambiguous(id: id, candidates: candidates))
    // The interface of trackers declares no errors of schedules. It has its own errors of files.
    case .invalidSchedule(let error) where interface == TrackersInterface.name:
      return named("InvalidValue", Wire.InvalidValue(field: "when", message: error.message))
    case .invalidText(let line, let message) where interface == TrackersInterface.name:
      return named("InvalidFile", TrackersInterface.InvalidFile(line: line ?? 0, message: message))
    case .invalidSchedule(let error) where error.code == .neverOccurs:
      return named("NeverOccurs", Wire.NeverOccurs(text: error.text, message: error.message))
    case .invalidSchedule(let error) where error.code == .inexpressible:
      return named("Inexpressible", SchedulesInterface.Inexpressible(text: error.text, message: error.message))
    case .invalidSchedule(let error):
      return named(
        "InvalidSchedule",
        Wire.InvalidSchedule(
          text: error.text, column: error.column, expected: error.expected, suggestion: error.suggestion,
          message: error.message))
    case .invalidValue(let field, let message):
      return named("InvalidValue", Wire.InvalidValue(field: field, message: message))
    case .invalidText(let line, let message):
      return named("InvalidText", RemindersInterface.InvalidText(line: line, message: message))
    case .conflict(let message): return named("Conflict", Wire.Conflict(message: message))
    case .limitExceeded(let limit): return named("LimitExceeded", Wire.LimitExceeded(limit: limit))
    case .tooMany(let limit, let wait):
      return named(
        "LimitExceeded", Wire.LimitExceeded(limit: limit, retryAfter: DurationText.formatISO8601(wait)))
    case .tenantAccessDenied(let tenant):
      return named(
        "TenantAccessDenied",
        Wire.TenantAccessDenied(
          tenant: tenant,
          message:
            "you may not act for a tenant \"\(tenant)\", or there is none: ask an administrator to name your user "
            + "or one of your groups under [tenants] of the configuration"))
    case .invalidConfiguration(let message):
      return
        named("InvalidConfiguration", DaemonInterface.InvalidConfiguration(message: message))
    case .storeUnavailable(let reason): return named("StoreUnavailable", Wire.StoreUnavailable(reason: reason))
    case .invalidFile(let line, let message):
      return named("InvalidFile", TrackersInterface.InvalidFile(line: line, message: message))
    case .invalidPack(let faults):
      return named("InvalidPack", TrackersInterface.InvalidPack(faults: faults.wired))
    case .invalidSet(let faults):
      return named("InvalidSet", RemindersInterface.InvalidSet(faults: faults.wired))
    case .invalidDrafts(let faults):
      return named("InvalidDrafts", RemindersInterface.InvalidDrafts(faults: faults))
    case .nothingToUndo(let message): return named("NothingToUndo", TrackersInterface.NothingToUndo(message: message))
    case .unlikely(let field, let message):
      return named("Unlikely", TrackersInterface.Unlikely(field: field, message: message))
    case .service(let error): return VarlinkReply(error: error)
    }
  }

  private init(_ error: TrackingRefused) {
    switch error {
    case .noTracker(let id): self = .notFound(what: "tracker", id: id.rawValue, similar: [])
    case .noEntry(let id): self = .notFound(what: "entry", id: id.description, similar: [])
    case .noItem(let id, _): self = .notFound(what: "item", id: id.rawValue, similar: [])
    case .noMilestone(let id): self = .notFound(what: "milestone", id: String(id), similar: [])
    case .noPack(let id): self = .notFound(what: "pack", id: id.rawValue, similar: [])
    case .invalid(let field, let message): self = .invalidValue(field: field, message)
    case .unlikely(let field, let message): self = .unlikely(field: field, message)
    case .conflict(let message): self = .conflict(message)
    case .nothingToUndo: self = .nothingToUndo("there is nothing left to undo from the last 30 days")
    }
  }

  private struct NamedError<Parameters: JSONWritable & Sendable>: VarlinkError {
    let varlinkName: String
    let parameters: Parameters

    func write(to writer: inout JSONWriter) { parameters.write(to: &writer) }
  }
}

extension PackFaults {
  fileprivate var wired: [Wire.Fault] {
    faults.map { Wire.Fault(file: $0.file, line: $0.line, column: $0.column, key: $0.key, message: $0.message) }
  }
}

/// Refuses the value of a field unless it follows a rule.
func need(_ rule: Bool, _ field: String, _ message: @autoclosure () -> String) throws(ControlFailure) {
  guard rule else { throw .invalidValue(field: field, message()) }
}

/// Refuses a request unless the state that it finds allows it.
func need(_ rule: Bool, conflict message: @autoclosure () -> String) throws(ControlFailure) {
  guard rule else { throw .conflict(message()) }
}

/// Refuses a request that exceeds a limit.
func need(_ rule: Bool, limit message: @autoclosure () -> String) throws(ControlFailure) {
  guard rule else { throw .limitExceeded(message()) }
}

extension StoreFailure {
  /// The sentence with which chimed ends when it cannot open the store at its start.
  var advice: String {
    guard case .corrupt = self else { return sentence }
    return "\(sentence); restore your own copy in its place, or, for an empty store, move the damaged files out of "
      + "its folder; then start chimed again (store.md)"
  }

  /// The exit status of chimed when this failure ends it (sysexits(3)). With 78 the unit is not restarted.
  var exitStatus: Int32 {
    switch self {
    case .held: EX_TEMPFAIL
    case .corrupt, .newerSchema: EX_CONFIG
    default: EX_IOERR
    }
  }
}
