import ChimeCore
import ChimeSchedule
import FoundationEssentials
import Synchronization

/// A MatrixClient sends requests to a homeserver, one at a time, on an HTTP engine's thread.
struct MatrixClient: Sendable {
  let engine: HTTPEngine
  let configuration: EndpointConfiguration
  let access: @Sendable () -> EndpointAccess?

  /// Why a request failed.
  struct Fault: Error {
    /// A redacted sentence without a full stop.
    var reason: String
    var retryAfter: Milliseconds?
    /// Whether no response arrived, or only one of an intermediary.
    var isOnTheWay = false
    var status: Int?
    /// The server's error code, such as `M_FORBIDDEN`.
    var code: String?
  }

  struct Answer: Sendable {
    var result: HTTPResult
    var body: [UInt8]
  }

  /// Maximum length of a response in bytes.
  static let longest = 1 << 20

  /// Returns a request with the endpoint's token.
  static func request(
    _ access: EndpointAccess, _ method: String, _ path: String, query: [(String, String)] = [], body: [UInt8] = [],
    version: String
  ) throws(DeliveryError) -> HTTPRequest {
    let server = try MatrixServer(access.endpoint.settings.via ?? "")
    let query = query.map { "\($0.0)=\(TemplateFilter.percentEncoded($0.1))" }.joined(separator: "&")
    var headers = ["accept: application/json", "user-agent: Chime/\(version)"]
    if method != "GET" { headers.append("content-type: application/json") }
    if let token = access.token { headers.append("authorization: Bearer \(token.text)") }
    return HTTPRequest(
      method: method, url: server.url + path + (query.isEmpty ? "" : "?\(query)"), headers: headers, body: body,
      certificates: access.endpoint.settings.certificates, redaction: Redaction(token: access.token?.text))
  }

  /// - Parameters:
  ///   - number: Identifies the request for cancellation; nil if it cannot be canceled.
  ///   - limit: Time limit for the whole request.
  func ask(
    _ method: String, _ path: String, query: [(String, String)] = [], body: [UInt8] = [], number: UInt64? = nil,
    limit: Milliseconds? = nil
  ) async throws(Fault) -> Answer {
    guard let access = access() else { throw Fault(reason: "the endpoint no longer exists") }
    if let fault = access.fault { throw Fault(reason: fault) }
    let request: HTTPRequest
    do throws(DeliveryError) {
      request = try Self.request(access, method, path, query: query, body: body, version: configuration.version)
    } catch { throw Fault(reason: error.description) }
    let limit = limit ?? configuration.totalTimeout
    let intake = Intake()
    let stream = HTTPStream(number: number ?? 0, quiet: limit, take: { intake.take($0) })
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<HTTPResult, Never>) in
      engine.send(
        HTTPJob(
          queue: nil, limit: limit, stream: stream, prepare: { _ in request },
          finish: { continuation.resume(returning: $0) }
        )
      )
    }
    return try Self.judged(result, intake.bytes, isTooLong: intake.isTooLong)
  }

  /// Sends a GET request and decodes the response.
  func ask<Value: Decodable>(
    for type: Value.Type, _ path: String, query: [(String, String)] = [], number: UInt64, limit: Milliseconds? = nil
  ) async throws(Fault) -> Value {
    let answer = try await ask("GET", path, query: query, number: number, limit: limit)
    guard let value = try? JSONDecoder().decode(type, from: Data(answer.body)) else {
      throw Fault(reason: "the server's answer is not Matrix: is --via the homeserver's address?")
    }
    return value
  }

  private static func judged(_ result: HTTPResult, _ body: [UInt8], isTooLong: Bool) throws(Fault) -> Answer {
    if isTooLong { throw Fault(reason: "the server sends too much: more than \(longest >> 10) KiB for one answer") }
    guard let status = result.status else {
      throw Fault(reason: result.failure ?? "no answer", isOnTheWay: !result.isCutShort)
    }
    guard (200..<300).contains(status) else {
      let said = MatrixReply.Fault(result.answer)
      throw Fault(
        reason: sentence(status, said), retryAfter: said?.wait ?? result.retryAfter,
        isOnTheWay: said == nil && status >= 500 || status == 408, status: status, code: said?.errcode)
    }
    if let failure = result.failure { throw Fault(reason: failure, isOnTheWay: true, status: status) }
    return Answer(result: result, body: body)
  }

  /// Returns a sentence that explains a refusal and says what to do.
  static func sentence(_ status: Int, _ said: MatrixReply.Fault?) -> String {
    let answered = said.map { "\(status) \($0.errcode)" } ?? "\(status)"
    return switch (status, said?.errcode) {
    case (300..<400, _):
      "answered \(status), a redirect, which Chime does not follow: give the target address with --via"
    case (401, _):
      "the homeserver rejects the access token (\(answered)): give a valid one with --token-file"
    case (403, "M_FORBIDDEN"?):
      "the account has no permission for that in the room (\(answered)): invite it, and let it send messages"
    case (404, "M_UNRECOGNIZED"?), (404, nil), (405, _):
      "answered \(answered): is --via the homeserver's address?"
    case (429, _): "answered \(answered): too many requests"
    default: "answered \(answered)"
    }
  }

  /// The body of one response. The engine's thread fills it before the request ends; the lock satisfies the compiler.
  private final class Intake: Sendable {
    private let state = Mutex<(bytes: [UInt8], isTooLong: Bool)>(([], false))

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var isTooLong: Bool { state.withLock { $0.isTooLong } }

    func take(_ part: UnsafeRawBufferPointer) -> Bool {
      state.withLock { state in
        guard state.bytes.count + part.count <= MatrixClient.longest else {
          state.isTooLong = true
          return false
        }
        state.bytes.append(contentsOf: part)
        return true
      }
    }
  }
}

extension MatrixClient {
  /// Returns Chime's user id after checking that it is in the room and the room is not encrypted. It accepts an
  /// invitation.
  func enter(_ room: String, number: UInt64) async throws(Fault) -> String {
    let user = try await ask(for: MatrixReply.Whoami.self, Matrix.path("account", "whoami"), number: number).user_id
    do throws(Fault) {
      try await requirePlain(room, number)
    } catch {
      guard error.code == "M_FORBIDDEN" else { throw error }
      do throws(Fault) {
        _ = try await ask("POST", Matrix.path("join", room), body: Array("{}".utf8), number: number)
      } catch {
        guard error.status == 403 || error.status == 404 else { throw error }
        throw Fault(
          reason: "\(user) is not in the room: invite it there, and Chime accepts the invitation", status: error.status)
      }
      try await requirePlain(room, number)
    }
    return user
  }

  private func requirePlain(_ room: String, _ number: UInt64) async throws(Fault) {
    do throws(Fault) {
      _ = try await ask("GET", Matrix.path("rooms", room, "state", "m.room.encryption"), number: number)
    } catch {
      guard error.code == "M_NOT_FOUND" else { throw error }
      return
    }
    throw Self.isEncrypted
  }

  static let isEncrypted = Fault(
    reason: "the room is encrypted, which Chime does not support: create one without encryption, and give its id")
}
