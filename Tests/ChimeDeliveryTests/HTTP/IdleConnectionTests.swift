import ChimeCore
import ChimeSchedule
import Foundation
import Glibc
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Connections that no message uses any more.
  struct IdleConnectionTests {
    /// A receiver that keeps its connection open until the other side closes it, and then returns the number of
    /// requests on it.
    private struct PatientReceiver {
      let port: Int
      let requests: Task<Int, Never>

      init() throws {
        let (listener, port) = try Loopback.listen(backlog: 4)
        self.port = Int(port)
        requests = Task {
          await withCheckedContinuation { told in
            DispatchQueue(label: "receiver").async {
              let connection = accept(listener, nil, nil)
              close(listener)
              var (count, buffer) = (0, [UInt8](repeating: 0, count: 65_536))
              var text = ""
              while case let size = recv(connection, &buffer, buffer.count, 0), size > 0 {
                text += String(decoding: buffer.prefix(size), as: UTF8.self)
                // The body is one JSON object, and the end of the request.
                guard text.hasSuffix("}") else { continue }
                (count, text) = (count + 1, "")
                let answer = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
                send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
              }
              close(connection)
              told.resume(returning: count)
            }
          }
        }
      }
    }

    /// An idle connection is kept for the next message, and closed after its time limit although nothing else wakes the
    /// channel.
    @Test(.timeLimit(.minutes(1)))
    func idleConnectionIsClosedAfterItsTimeLimit() async throws {
      let receiver = try PatientReceiver()
      let channel = try webhooks(to: "http://127.0.0.1:\(receiver.port)/") { $0.idleTimeout = .seconds(1) }
      for _ in 0..<2 {
        let report = try await channel.deliver(message(channel: "team"))
        guard case .ended(let attempt, .settled) = report else { throw Failure("the first report is \(report)") }
        #expect(attempt.outcome == .delivered)
      }
      #expect(await receiver.requests.value == 2)
      await channel.stop()
    }
  }
}
