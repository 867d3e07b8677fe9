/// A ServerConnection is the server's side of one connection, as a state machine without I/O.
///
/// The owner of the socket passes in what it reads, executes the returned actions, answers calls, and writes the queued
/// output:
///
///     connection.receive(bytes)                       // after each read
///     while let action = connection.next() {          // after each read, reply and write
///       switch action {
///       case .perform(let call): …                    // later: connection.reply(…, to: call.id)
///       case .upgrade(let call, let remaining): …     // the socket is the owner's now
///       case .close(let reason): …                    // close the socket, forget the connection's calls
///       }
///     }
///     connection.flush { write(socket, $0) }          // while `wantsWrite`; read while `wantsRead`
///
/// Calls are returned strictly in order and one at a time: the next follows the last reply to the previous one. All its
/// memory is bounded, whatever the peer does.
///
/// Source: Varlink, "Method Call".
public struct ServerConnection: Sendable {
  /// The next task of the owner.
  public enum Action: Sendable {
    /// Answer this call, now or later, with one reply; if it was made with `more`, with one or several.
    case perform(VarlinkCall)
    /// The reply that confirms an upgrade is written, and the socket leaves Varlink. `remaining` holds bytes already
    /// read.
    case upgrade(VarlinkCall.ID, remaining: [UInt8])
    /// Close the socket and forget an unanswered call.
    case close(CloseReason)
  }

  /// Why a connection ends.
  public enum CloseReason: Hashable, Sendable {
    /// The peer closed it after its calls were answered, or is gone.
    case peerClosed
    /// The peer closed it in the middle of a message.
    case unfinishedMessage
    /// The peer sent an invalid Varlink call; the text says what is wrong.
    case malformed(String)
    /// A message exceeded ``VarlinkLimits/maxMessageBytes``.
    case tooLarge
    /// A message exceeded ``VarlinkLimits/maxNesting``.
    case tooDeep
    /// A stream's reader left more than ``VarlinkLimits/maxQueuedBytes`` unread.
    case slowReader
    /// The peer may not use the service.
    case refused
  }

  /// Whether a call accepts more replies.
  public enum Outcome: Hashable, Sendable {
    /// The call is open and awaits more replies.
    case open
    /// The call is over and accepts no more replies. A stream must stop.
    case ended
  }

  private enum State: Sendable {
    /// No call is in progress. Exits: busy (a call arrives), draining (the peer closes or breaks the rules).
    case idle
    /// The owner is working on a call. Exits: idle (its last reply), draining (a slow reader), upgrading.
    case busy(VarlinkCall)
    /// The reply that confirms an upgrade is being written. Exit: closed.
    case upgrading(VarlinkCall.ID)
    /// Nothing more is read; queued output is still written. Exit: closed.
    case draining(CloseReason)
    /// The owner was told to close the socket, or has taken it over. No exit.
    case closed
  }

  private let service: VarlinkService
  private let limits: VarlinkLimits
  private let refusal: VarlinkReply?
  private var state = State.idle
  private var framer: MessageFramer
  private var output = OutputQueue()
  private var callCount: UInt64 = 0
  private var isInputEnded = false

  /// Creates the state of a newly accepted connection.
  ///
  /// - Parameters:
  ///   - service: The interfaces it offers.
  ///   - limits: Its limits.
  ///   - refusal: The error that answers the first call before the connection closes, such as
  ///     ``ServiceError/permissionDenied``; `nil` for a peer that is allowed.
  public init(
    service: VarlinkService, limits: VarlinkLimits = VarlinkLimits(), refusal: (any VarlinkError)? = nil
  ) {
    self.service = service
    self.limits = limits
    self.refusal = refusal.map { VarlinkReply(error: $0) }
    framer = MessageFramer(maxMessageBytes: limits.maxMessageBytes)
  }

  // MARK: Socket readiness

  /// Whether to read. False while a full message waits for its turn, and once the connection is ending.
  public var wantsRead: Bool {
    switch state {
    case .idle, .busy: !isInputEnded && framer.bufferedBytes <= limits.maxMessageBytes
    case .upgrading, .draining, .closed: false
    }
  }

  /// Whether output is waiting.
  public var wantsWrite: Bool { !output.isEmpty }

  /// Whether only queued output keeps the connection open. An owner limits the time for the peer to read it.
  public var isEnding: Bool {
    switch state {
    case .idle, .busy: false
    case .upgrading, .draining, .closed: true
    }
  }

  /// Number of bytes waiting to be written.
  public var queuedBytes: Int { output.count }

  /// The ordinal of an unfinished message while the rest of it is awaited; `nil` otherwise.
  ///
  /// An owner that limits the duration of a message restarts its timer when this changes, and calls ``disconnect(_:)``
  /// when it expires.
  public var unfinishedMessage: Int? { wantsRead ? framer.unfinishedMessage : nil }

  /// The call that awaits a reply.
  public var activeCall: VarlinkCall.ID? {
    if case .busy(let call) = state { call.id } else { nil }
  }

  // MARK: Input

  /// Accepts bytes read from the peer. Call ``next()`` afterwards.
  public mutating func receive(_ bytes: Span<UInt8>) {
    switch state {
    case .idle, .busy: if !isInputEnded { framer.append(bytes) }
    case .upgrading, .draining, .closed: break
    }
  }

  /// Records that the peer sends no more. It may still read, so its calls are answered before the connection closes.
  public mutating func receiveEnd() { isInputEnded = true }

  /// Records that the peer is gone or has timed out, and discards the output.
  public mutating func disconnect(_ reason: CloseReason = .peerClosed) {
    if case .closed = state { return }
    output.removeAll()
    state = .draining(reason)
  }

  /// Returns the next action; `nil` if the peer must act first. Call it until it returns `nil`.
  public mutating func next() -> Action? {
    var unbounded = Int.max
    return next(within: &unbounded)
  }

  /// Returns the next action within a work limit. A peer may send thousands of calls at once, and calls that need no
  /// owner are all answered before this returns.
  ///
  /// - Parameter turn: How many messages may still be read; decremented for each. At 0 the result is `nil` although
  ///   work may be left: call again after serving other connections.
  public mutating func next(within turn: inout Int) -> Action? {
    while turn > 0 {
      switch state {
      case .busy, .closed:
        return nil
      case .upgrading(let id):
        guard output.isEmpty else { return nil }
        state = .closed
        return .upgrade(id, remaining: framer.takeRemaining())
      case .draining(let reason):
        guard output.isEmpty else { return nil }
        state = .closed
        return .close(reason)
      case .idle:
        guard output.count < limits.maxQueuedBytes else { return nil }
        do throws(MessageFramer.TooLarge) {
          if let message = try framer.next() {
            turn -= 1
            if let call = handle(message) { return .perform(call) }
          } else if isInputEnded {
            state = .draining(framer.unfinishedMessage == nil ? .peerClosed : .unfinishedMessage)
          } else {
            return nil
          }
        } catch {
          end(.tooLarge, telling: .invalidParameter(parameter: "message"))
        }
      }
    }
    return nil
  }

  // MARK: Replies

  /// Replies to a call with output parameters.
  ///
  /// - Parameters:
  ///   - parameters: A value that encodes as an object; ``Empty`` for a method without output.
  ///   - continues: Whether more replies follow. A client that did not ask for `more` gets
  ///     ``ServiceError/expectedMore`` instead, and the call is over.
  /// - Returns: Whether the call is still open. A reply to a finished call is dropped.
  /// - Throws: ``VarlinkEncodingError``. The call then stays open and needs another answer.
  @discardableResult
  public mutating func reply(
    _ parameters: some JSONWritable, to call: VarlinkCall.ID, continues: Bool = false
  ) throws(VarlinkEncodingError) -> Outcome {
    guard call == activeCall else { return .ended }
    return try send(try VarlinkReply(parameters, continues: continues), to: call)
  }

  /// Replies to a call with an error, which ends the call.
  @discardableResult
  public mutating func fail(_ error: some VarlinkError, call: VarlinkCall.ID) throws(VarlinkEncodingError) -> Outcome {
    guard call == activeCall else { return .ended }
    return try send(VarlinkReply(error: error), to: call)
  }

  /// Sends a prepared reply; otherwise like ``reply(_:to:continues:)``.
  @discardableResult
  public mutating func send(
    _ reply: VarlinkReply, to id: VarlinkCall.ID
  ) throws(VarlinkEncodingError) -> Outcome {
    guard case .busy(let call) = state, call.id == id else { return .ended }
    if service.checksReplies {
      do { try service.check(reply, to: call.method) } catch { throw .nonconforming(error) }
    }
    if reply.continues, call.more {
      guard output.count + reply.bytes.count <= limits.maxQueuedBytes || output.isEmpty else {
        output.removeUnstarted()
        if let error = service.slowReaderError { output.append(error.bytes) }
        state = .draining(.slowReader)
        return .ended
      }
      output.append(reply.bytes)
      return .open
    }
    if !call.oneway {
      output.append(reply.continues ? VarlinkReply(error: ServiceError.expectedMore).bytes : reply.bytes)
    }
    state = .idle
    return .ended
  }

  /// Replies to a call that asked for `upgrade`. Once the reply is written, ``next()`` hands the socket over. For other
  /// calls it is an ordinary reply.
  public mutating func upgrade(
    _ parameters: some JSONWritable, call id: VarlinkCall.ID
  ) throws(VarlinkEncodingError) {
    guard case .busy(let call) = state, call.id == id else { return }
    try reply(parameters, to: id)
    if call.upgrade { state = .upgrading(id) }
  }

  // MARK: Output

  /// Writes queued output until it is empty or the socket accepts no more.
  ///
  /// - Parameter write: Writes a prefix of the bytes and returns its length; 0 or less if the socket would block or is
  ///   broken. For a broken socket the owner calls ``disconnect(_:)``.
  public mutating func flush(_ write: (UnsafeRawBufferPointer) -> Int) { output.drain(write) }

  // MARK: Implementation

  /// Parses a message. Returns the call for the owner, or nil if it was answered here.
  private mutating func handle(_ message: [UInt8]) -> VarlinkCall? {
    if let refusal {
      output.append(refusal.bytes)
      state = .draining(.refused)
      return nil
    }
    let envelope: Envelope
    do {
      envelope = try Envelope(message, maxNesting: limits.maxNesting)
    } catch {
      refuse(error)
      return nil
    }
    guard let method = envelope.method else {
      refuse(.member("method"))
      return nil
    }
    if envelope.oneway, envelope.more || envelope.upgrade {
      refuse(.member("oneway"))
      return nil
    }
    callCount += 1
    let call = VarlinkCall(
      id: VarlinkCall.ID(ordinal: callCount), method: method, envelope: envelope, message: message)
    guard let answer = answer(to: call, parameters: envelope.parameters, in: message) else {
      state = .busy(call)
      return call
    }
    if !call.oneway { output.append(answer.bytes) }
    return nil
  }

  /// Returns the answer to a call that does not need the owner.
  private func answer(to call: VarlinkCall, parameters: Range<Int>?, in message: [UInt8]) -> VarlinkReply? {
    switch service.resolve(call.method) {
    case .info: return service.infoReply
    case .failure(let error): return VarlinkReply(error: error)
    case .interfaceDescription:
      do throws(ServiceError) {
        guard let name = call.text("interface") else { throw .invalidParameter(parameter: "interface") }
        guard let reply = service.descriptionReply(name) else { throw .interfaceNotFound(interface: name) }
        return reply
      } catch { return VarlinkReply(error: error) }
    case .method(let input, let interface, let requiresMore):
      do throws(Mismatch) {
        try interface.validate(message, range: parameters ?? 0..<0, as: input, maxNesting: limits.maxNesting)
      } catch {
        return VarlinkReply(error: ServiceError.invalidParameter(parameter: error.path))
      }
      return requiresMore && !call.more ? VarlinkReply(error: ServiceError.expectedMore) : nil
    }
  }

  private mutating func refuse(_ fault: Envelope.Fault) {
    switch fault {
    case .malformed(let offset):
      end(.malformed("no JSON at byte \(offset)"), telling: .invalidParameter(parameter: "message"))
    case .notObject: end(.malformed("no object"), telling: .invalidParameter(parameter: "message"))
    case .tooDeep: end(.tooDeep, telling: .invalidParameter(parameter: "message"))
    case .member(let name):
      end(.malformed("'\(name)' is missing or of the wrong type"), telling: .invalidParameter(parameter: name))
    }
  }

  private mutating func end(_ reason: CloseReason, telling error: ServiceError) {
    output.append(VarlinkReply(error: error).bytes)
    state = .draining(reason)
  }
}
