import ChimeControl
import ChimeSchedule
import ChimeWords
import Glibc
import Varlink

/// The daemon as the verbs see it: typed calls, and failures as sentences for the user.
final class Daemon {
  private let client: VarlinkClient
  private let socket: SocketPath
  private let tenant: String?

  /// The time limit of a call.
  var patience: Duration { didSet { client.timeout = patience } }

  /// - Parameters:
  ///   - tenant: the tenant of all calls except those about the daemon as a whole; nil for the user's own.
  ///   - patience: the time limit of a call, and of connecting.
  init(socket: SocketPath, userID: UInt32, tenant: String?, patience: Duration = .seconds(30)) throws {
    self.socket = socket
    self.tenant = tenant
    self.patience = patience
    guard let address = VarlinkAddress(path: socket.path) else {
      throw Failure.usage(
        localized("\"%1\" cannot be the path of a socket", socket.path), hint: localized("a path has at most 107 bytes")
      )
    }
    do {
      client = try VarlinkClient(address, timeout: patience)
    } catch {
      throw Failure(connecting: error, to: socket)
    }
    if socket.isGuessed, let peer = client.peerUserID, peer != userID, peer != 0 {
      throw Failure(
        status: .notPermitted, message: localized("the daemon at %1 runs as another user (%2)", socket.path, peer),
        hints: [
          localized("if you mean that daemon: --socket %1", socket.path),
          localized("XDG_RUNTIME_DIR should be /run/user/%1", userID),
        ])
    }
  }

  /// Adds the tenant to a request.
  private func given<Method: VarlinkMethod>(_ request: Method) -> ForTenant<Method> {
    ForTenant(parameters: request, tenant: DaemonInterface.wholeMethods.contains(Method.method) ? nil : tenant)
  }

  func call<Method: VarlinkMethod>(_ request: Method) throws -> Method.Reply {
    do {
      return try client.call(Method.method, given(request))
    } catch {
      throw Failure(calling: error, at: socket)
    }
  }

  /// Calls a method that streams replies; `body` receives each and returns whether to continue.
  ///
  /// - Parameter patience: the time limit for each reply; nil for none.
  func stream<Method: VarlinkMethod>(
    _ request: Method, patience: Duration? = nil, _ body: (Method.Reply) throws -> Bool
  ) throws {
    let replies: VarlinkClient.Replies<Method.Reply>
    do {
      replies = try client.callMore(Method.method, given(request), idleTimeout: patience)
    } catch {
      throw Failure(calling: error, at: socket)
    }
    while true {
      let reply: Method.Reply?
      do { reply = try replies.next() } catch { throw Failure(calling: error, at: socket) }
      guard let reply else { return }
      guard try body(reply) else { return client.close() }
    }
  }
}

// Calls without blocking, for verbs that wait for other events too.
extension Daemon {
  /// The connection's file descriptor for poll(2); `nil` once it is closed.
  var descriptor: Int32? { client.descriptor }

  /// A call in progress, whose replies are taken as they arrive.
  struct Pending<Reply: JSONReadable> {
    fileprivate let replies: VarlinkClient.Replies<Reply>
    fileprivate let socket: SocketPath

    /// Whether more replies will come.
    var isOpen: Bool { replies.isOpen }

    /// Returns the next reply if it has arrived.
    func arrived() throws -> Reply? {
      do { return try replies.arrived() } catch { throw Failure(calling: error, at: socket) }
    }
  }

  /// Starts a call with one reply.
  func begin<Method: VarlinkMethod>(_ request: Method) throws -> Pending<Method.Reply> {
    do {
      let replies = try client.begin(Method.method, given(request), returning: Method.Reply.self)
      return Pending(replies: replies, socket: socket)
    } catch {
      throw Failure(calling: error, at: socket)
    }
  }

  /// Calls a method that may take long, and shows progress meanwhile.
  func call<Method: VarlinkMethod>(_ request: Method, telling progress: Progress) throws -> Method.Reply {
    let pending = try begin(request)
    let deadline = ContinuousClock.now + patience
    while true {
      if let reply = try pending.arrived() { return reply }
      guard ContinuousClock.now < deadline, let descriptor else {
        client.close()
        throw Failure(calling: .timedOut, at: socket)
      }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&entry, 1, 500)
      progress.tell()
    }
  }

  /// Starts a call that streams replies.
  func follow<Method: VarlinkMethod>(_ request: Method) throws -> Pending<Method.Reply> {
    do {
      return Pending(replies: try client.callMore(Method.method, given(request)), socket: socket)
    } catch {
      throw Failure(calling: error, at: socket)
    }
  }
}

extension Failure {
  init(connecting error: VarlinkClientError, to socket: SocketPath) {
    switch error {
    case .noSocket, .refused:
      self.init(
        status: .unavailable, message: localized("no daemon answers at %1", socket.path),
        hints: [socket.remedy, localized("`chime doctor` finds the cause")])
    case .system(_, let code) where code == EACCES || code == EPERM:
      self.init(
        status: .notPermitted, message: localized("you have no permission to use the daemon at %1", socket.path),
        hints: socket.isSystem ? [localized("members of the group \"chime\" may use it")] : [])
    case .system(_, let code):
      self.init(
        status: .unavailable, message: localized("cannot reach a daemon at %1: %2", socket.path, describe(errno: code)),
        hints: [socket.remedy])
    default: self.init(calling: error, at: socket)
    }
  }

  init(calling error: VarlinkClientError, at socket: SocketPath) {
    switch error {
    case .timedOut:
      self.init(status: .tryAgain, message: localized("the daemon at %1 did not answer in time", socket.path))
    case .closed:
      self.init(
        status: .unavailable, message: localized("the daemon at %1 has closed the connection", socket.path),
        hints: [localized("`chime status` shows whether it is back; otherwise %1", socket.remedy)])
    case .remote(let remote): self.init(remote: remote)
    default: self.init(status: .failed, message: localizedServerMessage("\(error)"))
    }
  }

  /// Converts an error reply of the daemon.
  init(remote error: RemoteError) {
    let name = error.name.split(separator: ".").last.map(String.init) ?? ""
    if let service = error.service {
      self.init(service: service)
    } else if name == "NotFound", let it = error.parameters(Wire.NotFound.self) {
      let question = SpellingSuggestions.question(it.similar)
      self.init(
        status: .failed, message: localized("there is no %1 \"%2\"", StateWords.kind(it.what), it.id),
        hints: [
          question
            ?? Self.listing(of: it.what)
        ])
    } else if name == "Ambiguous", let it = error.parameters(Wire.Ambiguous.self) {
      self.init(
        status: .failed, message: localized("\"%1\" matches more than one", it.id),
        detail: it.candidates.map { "  " + TerminalSanitizer.line($0) },
        hints: [localized("choose one by its id")])
      ambiguity = it
    } else if name == "InvalidSchedule", let it = error.parameters(Wire.InvalidSchedule.self) {
      self.init(
        refused: it.text, column: it.column, expected: it.expected, suggestion: it.suggestion, message: it.message)
    } else if name == "NeverOccurs", let it = error.parameters(Wire.NeverOccurs.self) {
      self.init(refused: it.text, column: nil, expected: "", suggestion: nil, message: it.message)
    } else if name == "InvalidValue", let it = error.parameters(Wire.InvalidValue.self) {
      self.init(
        status: .failed,
        message: localized("the %1 cannot be used: %2", StateWords.field(it.field), localizedServerMessage(it.message))
      )
      said = it.message
    } else if name == "InvalidText", let it = error.parameters(RemindersInterface.InvalidText.self) {
      self.init(status: .failed, message: localizedServerMessage(it.message), isInvalidText: true, line: it.line)
    } else if name == "Conflict" || name == "InvalidConfiguration", let it = error.parameters(Wire.Conflict.self) {
      self.init(status: .failed, message: localizedServerMessage(it.message))
    } else if let failure = Failure(tracking: error, named: name) {
      self = failure
    } else if name == "LimitExceeded", let it = error.parameters(Wire.LimitExceeded.self) {
      self.init(
        status: it.retryAfter == nil ? .failed : .tryAgain,
        message: localized("the request exceeds a limit of the daemon: %1", localizedServerMessage(it.limit)))
    } else if name == "TenantAccessDenied", let it = error.parameters(Wire.TenantAccessDenied.self) {
      self.init(status: .notPermitted, message: localizedServerMessage(it.message))
    } else if name == "StoreUnavailable", let it = error.parameters(Wire.StoreUnavailable.self) {
      self.init(
        status: .tryAgain, message: localized("the store cannot be written: %1", localizedServerMessage(it.reason)),
        hints: [localized("nothing was changed; try again, and see `chime status`")])
    } else {
      self.init(status: .failed, message: localized("the daemon answered with %1", error))
    }
  }

  private init(service error: ServiceError) {
    switch error {
    case .permissionDenied:
      self.init(status: .notPermitted, message: localized("the daemon does not serve this user"))
    case .interfaceNotFound, .methodNotFound, .methodNotImplemented:
      self.init(
        status: .failed,
        message: localized("the daemon does not know this request (%1)", localizedServerMessage("\(error)")),
        hints: [
          localized(
            "it may be older than this command: compare the versions of `chime version` and `chime status`")
        ])
    default:
      let why = localizedServerMessage("\(error)")
      self.init(status: .failed, message: localized("the daemon refused the request: %1", why))
    }
  }

  private static func listing(of what: String) -> String {
    switch what {
    case "endpoint", "command": localized("`chime %1 list` shows them", what)
    case "delivery": localized("`chime deliveries` shows them with their ids")
    case "tracker", "pack": localized("`chime %1 list` shows them", what)
    case "item", "milestone", "entry": localized("`chime %1 list TRACKER` shows them", what)
    case "achievement": localized("`chime achievements` shows them")
    default: localized("`chime list` shows them")
    }
  }

  /// Describes a rejected schedule: the text, a caret under the column, and a suggestion.
  init(refused text: String, column: Int?, expected: String, suggestion: String?, message: String) {
    var problem = message
    if problem.hasPrefix("\(text): ") { problem.removeFirst(text.count + 2) }
    self.init(status: .usage, message: localizedServerMessage(problem))
    guard !text.isEmpty else { return }
    if let column, let cut = problem.firstRange(of: " (column \(column))") {
      problem = String(problem[..<cut.lowerBound])
    }
    self.message = localizedServerMessage(problem)
    detail = ["  " + TerminalSanitizer.line(text)]
    if let column {
      let before = TerminalSanitizer.line(String(text.prefix(max(0, column - 1))))
      detail.append("  " + String(repeating: " ", count: TextWidth.of(before)) + "^")
    }
    if let suggestion {
      hints = [localized("did you mean \"%1\"?", suggestion)]
    } else if !expected.isEmpty, !problem.contains(expected) {
      hints = [localized("expected %1", localizedServerMessage(expected))]
    }
  }

  init(_ error: ScheduleError) {
    self.init(
      refused: error.text, column: error.column, expected: error.expected, suggestion: error.suggestion,
      message: error.message)
    if !error.choices.isEmpty { hints = error.choices.map { localized("did you mean \"%1\"?", $0) } }
  }
}
