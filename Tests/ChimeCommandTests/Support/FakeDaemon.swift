import ChimeControl
import Foundation
import Glibc
import Synchronization
import Varlink

/// A daemon with scripted answers on a real socket. The library checks each call and reply against the interface files,
/// so a verb that sends what the daemon would refuse fails here too.
final class FakeDaemon: Sendable {
  /// The answer to a call.
  enum Answer {
    case reply(any JSONWritable)
    case error(String, any JSONWritable & Sendable)
    case service(ServiceError)
    /// Several replies; then the call ends, or the connection is closed.
    case stream([any JSONWritable], thenCloses: Bool)
    /// Several replies, the last of which ends the call.
    case whole([any JSONWritable])
    case hangUp
  }

  let path: String
  private let directory: String
  private let listener: Int32
  private let seen = Mutex<[(method: String, parameters: JSON)]>([])

  /// The calls so far.
  var calls: [(method: String, parameters: JSON)] { seen.withLock { $0 } }
  var methods: [String] { calls.map { String($0.method.split(separator: ".").suffix(2).joined(separator: ".")) } }

  init(_ answer: @escaping @Sendable (_ method: String, _ parameters: JSON) -> Answer) throws {
    directory = try RunFolder.makeFolder("command")
    path = directory + "/io.chime"
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 8) == 0 else { throw POSIXError(.EIO) }
    let service = try Self.service.get()
    Thread.detachNewThread { [listener, weak self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        self?.serve(descriptor, service, answer)
        close(descriptor)
      }
      // The accepting thread closes the socket, so its descriptor cannot be reused while in use.
      close(listener)
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// The service; the interface files are read only once.
  private static let service = Result {
    var service = VarlinkService(vendor: "Chime", product: "fake", version: "0", url: "https://example.org")
    for description in [
      RemindersInterface.description, OccurrencesInterface.description, ExpectationsInterface.description,
      SchedulesInterface.description,
      DeliveriesInterface.description, EndpointsInterface.description, CommandsInterface.description,
      DaemonInterface.description, TrackersInterface.description,
    ] {
      try service.register(description)
    }
    service.checksReplies = true
    return service
  }

  private struct Failure: VarlinkError {
    var varlinkName: String
    var parameters: any JSONWritable & Sendable
    func write(to writer: inout JSONWriter) { parameters.write(to: &writer) }
  }

  private func serve(_ descriptor: Int32, _ service: VarlinkService, _ answer: (String, JSON) -> Answer) {
    var connection = ServerConnection(service: service)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      while let action = connection.next() {
        guard case .perform(let call) = action, perform(call, on: &connection, answer) else {
          flush(&connection, descriptor)
          return
        }
      }
      flush(&connection, descriptor)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { return }
      connection.receive(buffer.span.extracting(0..<count))
    }
  }

  private func perform(_ call: VarlinkCall, on connection: inout ServerConnection, _ answer: (String, JSON) -> Answer)
    -> Bool
  {
    let parameters = (try? call.parameters(JSON.self)) ?? .null
    do {
      // Any verb that reads a time may first ask for these. They are the defaults, and are not recorded as calls.
      if call.method == SchedulesInterface.Words.method {
        try connection.reply(SchedulesInterface.Words.Reply(words: [:]), to: call.id)
        return true
      }
      seen.withLock { $0.append((call.method, parameters)) }
      switch answer(call.method, parameters) {
      case .reply(let value): try connection.reply(value, to: call.id)
      case .service(let error): try connection.fail(error, call: call.id)
      case .error(let name, let parameters):
        let interface = call.method.split(separator: ".").dropLast().joined(separator: ".")
        try connection.fail(Failure(varlinkName: "\(interface).\(name)", parameters: parameters), call: call.id)
      case .stream(let values, let thenCloses):
        for value in values { try connection.reply(value, to: call.id, continues: true) }
        return !thenCloses
      case .whole(let values):
        for (index, value) in values.enumerated() {
          try connection.reply(value, to: call.id, continues: index < values.count - 1)
        }
      case .hangUp: return false
      }
    } catch {
      FileHandle.standardError.write(Data("the fake daemon cannot answer \(call.method): \(error)\n".utf8))
      return false
    }
    return true
  }

  private func flush(_ connection: inout ServerConnection, _ descriptor: Int32) {
    while connection.wantsWrite {
      connection.flush { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
  }
}
