/// A VarlinkClient calls one service over one persistent connection.
///
/// Each call blocks until its deadline. The client belongs to one thread; it serves command lines and tests.
///
/// If the service closes the connection before a call is completely written, the call is repeated once on a new
/// connection. A service that restarts behind a systemd socket then receives it.
///
///     struct Ping: Codable, JSONCodable { var ping: String }
///     struct Pong: Codable, JSONCodable { var pong: String }
///     let client = try VarlinkClient("unix:/run/org.example.ping")
///     let pong: Pong = try client.call("org.example.ping.Ping", Ping(ping: "hello"))
///
/// Source: Varlink, "Method Call".
public final class VarlinkClient {
  public let address: VarlinkAddress
  /// Default time limit of a call; `nil` for none.
  public var timeout: Duration?

  private let limits: VarlinkLimits
  /// `nil` once the connection is unusable: closed, timed out or out of step.
  private var socket: ClientSocket?
  private var framer: MessageFramer
  private var readBuffer = [UInt8](repeating: 0, count: 16 << 10)
  /// Number of the call that owns the connection until its last reply.
  private var stream: UInt64?
  private var streamCount: UInt64 = 0

  /// Connects to a service.
  ///
  /// - Parameters:
  ///   - address: The service's address.
  ///   - timeout: Time limit for connecting and for each call; `nil` for none.
  ///   - limits: Limits of a reply; by default 16 MiB and a depth of 64.
  /// - Throws: ``VarlinkClientError/noSocket(_:)``, ``VarlinkClientError/refused(_:)``,
  ///   ``VarlinkClientError/timedOut`` or ``VarlinkClientError/system(operation:errno:)``.
  public init(
    _ address: VarlinkAddress, timeout: Duration? = .seconds(30),
    limits: VarlinkLimits = VarlinkLimits(maxMessageBytes: 16 << 20)
  ) throws(VarlinkClientError) {
    self.address = address
    self.timeout = timeout
    self.limits = limits
    framer = MessageFramer(maxMessageBytes: limits.maxMessageBytes)
    socket = try ClientSocket(address, deadline: timeout.map { .now + $0 })
  }

  /// User id of the process that listens at the address; `nil` once the connection is closed.
  public var peerUserID: UInt32? { socket?.peerUserID() }

  /// Connects to an address such as `unix:/run/org.example.ping`.
  public convenience init(_ address: String, timeout: Duration? = .seconds(30)) throws(VarlinkClientError) {
    guard let parsed = VarlinkAddress(address) else { throw .invalidAddress(address) }
    try self.init(parsed, timeout: timeout)
  }

  /// Descriptor of the connection for poll(2); `nil` once it is closed. The client owns it, so others must not read,
  /// write or close it.
  public var descriptor: Int32? { socket?.number() }

  /// Closes the connection. Calls in progress fail with ``VarlinkClientError/closed``.
  public func close() {
    socket = nil
    stream = nil
  }

  /// Calls a method and waits for its single reply.
  ///
  /// - Parameters:
  ///   - method: The fully qualified name.
  ///   - parameters: A value that encodes as an object.
  ///   - type: The type of the output parameters; ``Empty`` for a method without output.
  /// - Throws: ``VarlinkClientError``.
  public func call<R: JSONReadable>(
    _ method: String, _ parameters: some JSONWritable = Empty(), returning type: R.Type = R.self
  ) throws(VarlinkClientError) -> R {
    let deadline = timeout.map { ContinuousClock.now + $0 }
    try send(method, parameters, mode: .once, deadline: deadline)
    let (value, continues) = try receive(type, deadline: deadline)
    if continues { throw abandon(.protocolViolation("it continues a reply to a call without 'more'")) }
    return value
  }

  /// Calls the method whose parameters the value contains, and waits for its single reply.
  ///
  /// - Throws: ``VarlinkClientError``.
  public func call<Method: VarlinkMethod>(_ request: Method) throws(VarlinkClientError) -> Method.Reply {
    try call(Method.method, request)
  }

  /// Calls a method without a reply. Returns once the operating system has accepted the call.
  public func callOneway(_ method: String, _ parameters: some JSONWritable = Empty()) throws(VarlinkClientError) {
    try send(method, parameters, mode: .oneway, deadline: timeout.map { .now + $0 })
  }

  /// Calls a method without waiting for its single reply, for programs that also wait for other events.
  /// ``Replies/arrived()`` returns the reply once it is complete. Until then the call owns the connection.
  public func begin<R: JSONReadable>(
    _ method: String, _ parameters: some JSONWritable = Empty(), returning type: R.Type
  ) throws(VarlinkClientError) -> Replies<R> {
    try send(method, parameters, mode: .once, deadline: timeout.map { .now + $0 })
    streamCount += 1
    stream = streamCount
    return Replies(client: self, number: streamCount, idleTimeout: nil, isSingle: true)
  }

  /// Calls a method that may send several replies.
  ///
  /// The stream owns the connection until its last reply; other calls fail with ``VarlinkClientError/busy``.
  ///
  ///     let events = try client.callMore("org.example.log.Follow", returning: Entry.self)
  ///     while let entry = try events.next() { … }
  ///
  /// - Parameter idleTimeout: Time limit for each reply; `nil`, the usual choice, for none.
  public func callMore<R: JSONReadable>(
    _ method: String, _ parameters: some JSONWritable = Empty(), returning type: R.Type = R.self,
    idleTimeout: Duration? = nil
  ) throws(VarlinkClientError) -> Replies<R> {
    try send(method, parameters, mode: .more, deadline: timeout.map { .now + $0 })
    streamCount += 1
    stream = streamCount
    return Replies(client: self, number: streamCount, idleTimeout: idleTimeout)
  }

  /// Calls the method whose parameters the value contains, and which may send several replies.
  public func callMore<Method: VarlinkMethod>(
    _ request: Method, idleTimeout: Duration? = nil
  ) throws(VarlinkClientError) -> Replies<Method.Reply> {
    try callMore(Method.method, request, idleTimeout: idleTimeout)
  }

  /// The replies to one call, in order of arrival.
  public struct Replies<R: JSONReadable> {
    fileprivate let client: VarlinkClient
    fileprivate let number: UInt64
    fileprivate let idleTimeout: Duration?
    /// Whether the call was made without `more`.
    fileprivate var isSingle = false

    /// Waits for the next reply.
    ///
    /// - Returns: The reply; `nil` after the last one.
    /// - Throws: ``VarlinkClientError``, which ends the stream.
    public func next() throws(VarlinkClientError) -> R? {
      guard client.stream == number else { return nil }
      do throws(VarlinkClientError) {
        let (value, continues) = try client.receive(R.self, deadline: idleTimeout.map { .now + $0 })
        if continues, isSingle {
          throw client.abandon(.protocolViolation("it continues a reply to a call without 'more'"))
        }
        if !continues { client.stream = nil }
        return value
      } catch {
        client.stream = nil
        throw error
      }
    }

    /// Whether more replies may follow.
    public var isOpen: Bool { client.stream == number }

    /// Returns the next reply if it is complete, without waiting.
    ///
    /// When the descriptor becomes readable, call this until it returns `nil`: several replies may have arrived
    /// together.
    ///
    /// - Returns: `nil` if no complete reply is available or the stream has ended; ``isOpen`` tells which.
    /// - Throws: ``VarlinkClientError``, which ends the stream.
    public func arrived() throws(VarlinkClientError) -> R? {
      guard client.stream == number else { return nil }
      do throws(VarlinkClientError) {
        guard let message = try client.arrivedMessage() else { return nil }
        let (value, continues) = try client.reading(R.self, from: message)
        if continues, isSingle {
          throw client.abandon(.protocolViolation("it continues a reply to a call without 'more'"))
        }
        if !continues { client.stream = nil }
        return value
      } catch {
        client.stream = nil
        throw error
      }
    }
  }

  // MARK: Implementation

  /// The reply mode of a call, as JSON members.
  private enum Mode: String {
    case once = ""
    case oneway = ",\"oneway\":true"
    case more = ",\"more\":true"
  }

  private func send(
    _ method: String, _ parameters: some JSONWritable, mode: Mode, deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) {
    guard stream == nil else { throw .busy }
    let message: [UInt8]
    do throws(VarlinkEncodingError) {
      let name = try JSONWriter.bytes(of: method)
      let object = try JSONWriter.bytes(of: parameters)
      guard object.first == UInt8(ascii: "{") else { throw VarlinkEncodingError.notObject("\(type(of: parameters))") }
      let rest = object == Array("{}".utf8) ? [] : Array(",\"parameters\":".utf8) + object
      message = Array("{\"method\":".utf8) + name + Array(mode.rawValue.utf8) + rest + [UInt8(ascii: "}"), 0]
    } catch { throw .encoding(error) }
    do throws(VarlinkClientError) {
      if try socket?.write(message, deadline: deadline) ?? false { return }
      guard socket != nil else { throw .closed }
      // The service closed before it had the whole message, so the call has had no effect. A last reply may say why.
      if mode != .oneway, try receiveBytes(deadline: deadline) { return }
      framer = MessageFramer(maxMessageBytes: limits.maxMessageBytes)
      socket = try ClientSocket(address, deadline: deadline)
      if try socket?.write(message, deadline: deadline) ?? false { return }
      throw .closed
    } catch {
      throw abandon(error)
    }
  }

  /// Waits for bytes of a reply. Returns `false` at the end of the stream.
  private func receiveBytes(deadline: ContinuousClock.Instant?) throws(VarlinkClientError) -> Bool {
    let count = try socket?.read(into: &readBuffer, deadline: deadline) ?? 0
    let buffer = readBuffer
    framer.append(buffer.span.extracting(0..<count))
    return count > 0
  }

  private func receive<R: JSONReadable>(
    _ type: R.Type, deadline: ContinuousClock.Instant?
  ) throws(VarlinkClientError) -> (R, continues: Bool) {
    try reading(type, from: receiveMessage(deadline: deadline))
  }

  private func reading<R: JSONReadable>(
    _ type: R.Type, from message: [UInt8]
  ) throws(VarlinkClientError) -> (R, continues: Bool) {
    let envelope: Envelope
    do {
      envelope = try Envelope(message, maxNesting: limits.maxNesting)
    } catch {
      throw abandon(.protocolViolation("it sent no reply: \(error)"))
    }
    let parameters = envelope.parameters.map { Array(message[$0]) } ?? []
    if let name = envelope.error { throw .remote(RemoteError(name: name, parameters: parameters)) }
    do {
      return (try JSONReader.read(type, from: parameters), envelope.continues)
    } catch {
      let fault = VarlinkClientError.protocolViolation(
        "unexpected type of '\(error.path.isEmpty ? "parameters" : error.path)' in its reply")
      throw envelope.continues ? abandon(fault) : fault
    }
  }

  private func framedMessage() throws(VarlinkClientError) -> [UInt8]? {
    do throws(MessageFramer.TooLarge) {
      return try framer.next()
    } catch {
      throw abandon(.protocolViolation("its reply is longer than \(error.maxMessageBytes) bytes"))
    }
  }

  /// Returns a complete message if one is available, without waiting.
  private func arrivedMessage() throws(VarlinkClientError) -> [UInt8]? {
    while true {
      if let message = try framedMessage() { return message }
      guard socket != nil else { throw .closed }
      do throws(VarlinkClientError) {
        guard try socket?.hasBytes() == true else { return nil }
        if try !receiveBytes(deadline: nil) { throw .closed }
      } catch {
        throw abandon(error)
      }
    }
  }

  private func receiveMessage(deadline: ContinuousClock.Instant?) throws(VarlinkClientError) -> [UInt8] {
    while true {
      if let message = try framedMessage() { return message }
      do throws(VarlinkClientError) {
        if try !receiveBytes(deadline: deadline) { throw .closed }
      } catch {
        throw abandon(error)
      }
    }
  }

  /// Closes the connection, because further replies could not be assigned to calls.
  private func abandon(_ error: VarlinkClientError) -> VarlinkClientError {
    close()
    return error
  }
}
