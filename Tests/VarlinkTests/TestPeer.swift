import Varlink

struct Ping: Codable, JSONCodable, Equatable { var ping: String }

/// A peer at the other end of a `ServerConnection`: sends text, collects actions, reads replies.
struct TestPeer {
  static let definition = """
    # For the tests.
    interface org.example.ping

    type Color (red, green)

    type Options (
      depth: int,
      color: ?Color,
      tags: []string
    )

    method Ping(ping: string) -> (ping: string)

    method Follow() -> (line: string)

    method Configure(options: Options, extra: ?object) -> ()

    error NoPing (reason: string)
    """

  var connection: ServerConnection
  private(set) var calls: [VarlinkCall] = []
  private(set) var closed: ServerConnection.CloseReason?
  private(set) var upgraded: [UInt8]?

  static func service() throws -> VarlinkService {
    var service = VarlinkService(vendor: "Example", product: "Tests", version: "1", url: "https://example.org/")
    try service.register(definition, requiringMore: ["Follow"])
    service.checksReplies = true
    return service
  }

  init(limits: VarlinkLimits = VarlinkLimits(), refusal: (any VarlinkError)? = nil) throws {
    self.init(ServerConnection(service: try Self.service(), limits: limits, refusal: refusal))
  }

  init(_ connection: ServerConnection) { self.connection = connection }

  /// Sends one message with its NUL.
  mutating func send(_ message: String) { send(bytes: Array(message.utf8) + [0]) }

  mutating func send(bytes: [UInt8]) {
    connection.receive(bytes.span)
    advance()
  }

  mutating func advance() {
    while let action = connection.next() {
      switch action {
      case .perform(let call): calls.append(call)
      case .upgrade(_, let remaining): upgraded = remaining
      case .close(let reason): closed = reason
      }
    }
  }

  /// Reads at most `most` bytes of the queued output.
  mutating func readBytes(_ most: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    connection.flush { piece in
      let count = min(piece.count, most - bytes.count)
      bytes += piece.prefix(count)
      return count
    }
    advance()
    return bytes
  }

  /// Reads all queued output as messages.
  mutating func read() -> [String] {
    var messages: [String] = []
    while true {
      let bytes = readBytes()
      guard !bytes.isEmpty else { return messages }
      messages += bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    }
  }
}
