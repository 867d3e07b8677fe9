/// The server's side of one connection, as a state machine without input or output of its own.
///
/// The owner of the socket feeds it what it reads, does what it says, answers the calls it hands out, and writes what
/// it has queued:
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
/// Calls are handed out strictly one at a time and in order: the next one when the last reply to the one before has
/// been given. Nothing it holds grows without bound, whatever the peer does.
///
/// Source: Varlink, "Method Call".
public struct ServerConnection: Sendable {
  /// What the owner has to do next.
  public enum Action: Sendable {
    /// Answer this call, now or later, with one reply; or with several, if it is called with `more`.
    case perform(VarlinkCall)
    /// The reply that confirms an upgrade is written: the socket is no longer Varlink's. Bytes already read follow.
    case upgrade(VarlinkCall.ID, remaining: [UInt8])
    /// Close the socket. A call not yet answered is forgotten; a stream has lost its reader.
    case close(CloseReason)
  }

  /// Why a connection ends.
  public enum CloseReason: Hashable, Sendable {
    /// The peer has closed it and every call is answered, or it is gone.
    case peerClosed
    /// The peer has closed it in the middle of a message.
    case unfinishedMessage
    /// The peer has sent something that is no Varlink call; what is wrong with it.
    case malformed(String)
    /// A message was longer than ``VarlinkLimits/maxMessageBytes``.
    case tooLarge
    /// A message nests deeper than ``VarlinkLimits/maxNesting``.
    case tooDeep
    /// A stream's reader has left more than ``VarlinkLimits/maxQueuedBytes`` unread.
    case slowReader
    /// The peer may not use the service.
    case refused
  }

  /// What became of a reply.
  public enum Outcome: Hashable, Sendable {
    /// The call is open: more replies are to follow.
    case open
    /// The call is over: it has had its last reply, or can have no more. A stream stops here.
    case ended
  }

  private enum State: Sendable {
    /// No call is being performed. Exits: busy (a call arrives), draining (the peer closes or breaks the rules).
    case idle
    /// A call is with the owner. Exits: idle (its last reply), draining (a slow reader), upgrading.
    case busy(VarlinkCall)
    /// The reply that confirms an upgrade is being written. Exit: closed.
    case upgrading(VarlinkCall.ID)
    /// Nothing more is read; what is queued is still written. Exit: closed.
    case draining(CloseReason)
    /// The owner has been told to close, or the socket is its own again. No exit.
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

  /// A connection that has just been accepted.
  ///
  /// - Parameters:
  ///   - service: the interfaces it offers.
  ///   - limits: its bounds.
  ///   - refusal: what the peer's first call is answered with before the connection is closed, such as
  ///     ``ServiceError/permissionDenied``; `nil` for a peer that is welcome.
  public init(
    service: VarlinkService, limits: VarlinkLimits = VarlinkLimits(), refusal: (any VarlinkError)? = nil
  ) {
    self.service = service
    self.limits = limits
    self.refusal = refusal.map { VarlinkReply(error: $0) }
    framer = MessageFramer(maxMessageBytes: limits.maxMessageBytes)
  }

  // MARK: What the owner watches the socket for

  /// Whether to read: not while the peer is ahead of its answers by a full message, and not when the end is near.
  public var wantsRead: Bool {
    switch state {
    case .idle, .busy: !isInputEnded && framer.bufferedBytes <= limits.maxMessageBytes
    case .upgrading, .draining, .closed: false
    }
  }

  /// Whether there is something to write.
  public var wantsWrite: Bool { !output.isEmpty }

  /// Whether only what is queued keeps the connection open. An owner gives the peer a limited time to read it.
  public var isEnding: Bool {
    switch state {
    case .idle, .busy: false
    case .upgrading, .draining, .closed: true
    }
  }

  /// How many bytes wait to be written.
  public var queuedBytes: Int { output.count }

  /// The ordinal of a message that has begun and not ended, while the rest of it is waited for; else `nil`.
  ///
  /// An owner that limits how long a message may take starts its clock when this becomes a new number, and calls
  /// ``disconnect()`` when time is up.
  public var unfinishedMessage: Int? { wantsRead ? framer.unfinishedMessage : nil }

  /// The call that waits for a reply.
  public var activeCall: VarlinkCall.ID? {
    if case .busy(let call) = state { call.id } else { nil }
  }

  // MARK: Input

  /// Takes in what has been read; ``next()`` says what follows from it.
  public mutating func receive(_ bytes: Span<UInt8>) {
    switch state {
    case .idle, .busy: if !isInputEnded { framer.append(bytes) }
    case .upgrading, .draining, .closed: break
    }
  }

  /// The peer sends no more, but may still read: calls it has made are answered before the connection is closed.
  public mutating func receiveEnd() { isInputEnded = true }

  /// The peer is gone, or its time is up: nothing can reach it any more.
  public mutating func disconnect(_ reason: CloseReason = .peerClosed) {
    if case .closed = state { return }
    output.removeAll()
    state = .draining(reason)
  }

  /// What to do next, or `nil` when it is the peer's turn. Ask until it is `nil`.
  public mutating func next() -> Action? {
    var unbounded = Int.max
    return next(within: &unbounded)
  }

  /// The same with a bound on the work of one turn: a peer may send thousands of calls in one piece, and those that are
  /// answered here are all answered before this returns.
  ///
  /// - Parameter turn: how many messages may still be read; one less for each. When it is used up the answer is `nil`,
  ///   though there may be more to do: ask again after others have had their turn.
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

  /// Answers a call with output parameters.
  ///
  /// - Parameters:
  ///   - parameters: a value that encodes as an object; ``Empty`` for a method without output.
  ///   - continues: whether more replies follow. A client that has not asked for `more` gets
  ///     ``ServiceError/expectedMore`` in its place, and the call is over.
  /// - Returns: whether the call is still open. A reply to a call that is over already is dropped.
  /// - Throws: ``VarlinkEncodingError``; the call is still open then and wants another answer.
  @discardableResult
  public mutating func reply(
    _ parameters: some JSONWritable, to call: VarlinkCall.ID, continues: Bool = false
  ) throws(VarlinkEncodingError) -> Outcome {
    guard call == activeCall else { return .ended }
    return try send(try VarlinkReply(parameters, continues: continues), to: call)
  }

  /// Answers a call with an error; the call is over.
  @discardableResult
  public mutating func fail(_ error: some VarlinkError, call: VarlinkCall.ID) throws(VarlinkEncodingError) -> Outcome {
    guard call == activeCall else { return .ended }
    return try send(VarlinkReply(error: error), to: call)
  }

  /// Answers a call with a reply made before; otherwise as ``reply(_:to:continues:)``.
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

  /// Answers a call that asked for `upgrade` and ends the connection's life as Varlink: once the reply is written,
  /// ``next()`` hands the socket over. For a call that did not ask, it is an ordinary reply.
  public mutating func upgrade(
    _ parameters: some JSONWritable, call id: VarlinkCall.ID
  ) throws(VarlinkEncodingError) {
    guard case .busy(let call) = state, call.id == id else { return }
    try reply(parameters, to: id)
    if call.upgrade { state = .upgrading(id) }
  }

  // MARK: Output

  /// Writes what is queued, until nothing is left or the socket takes no more.
  ///
  /// - Parameter write: writes a prefix of the bytes and returns its length; 0 or less when the socket would block or
  ///   is broken, which is the owner's to tell apart (``disconnect(_:)``).
  public mutating func flush(_ write: (UnsafeRawBufferPointer) -> Int) { output.drain(write) }

  // MARK: Within

  /// Reads one message: a call for the owner, or one that is answered here.
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

  /// The answer to a call that need not reach the owner.
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
