import Foundation
import Glibc
import Varlink

/// A directory deleted when the test is over.
final class TemporaryDirectory {
  let path: String

  init() throws {
    path = try RunFolder.makeFolder("varlink")
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

struct SocketFailure: Error {
  var operation: String
  var number: Int32
}

/// A Unix socket on which a thread accepts one connection after the other, and runs a script on each.
final class ScriptedServer: Sendable {
  /// The server's end of one connection.
  struct Peer {
    fileprivate let descriptor: Int32

    /// Waits for one message; returns `nil` at the end.
    func message() -> String? {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) == 1 {
        if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
      return nil
    }

    /// Sends text without a NUL.
    func send(_ text: String) {
      let bytes = Array(text.utf8)
      _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
  }

  let address: VarlinkAddress
  private let listener: Int32

  init(
    _ address: VarlinkAddress, backlog: Int32 = 8, script: @escaping @Sendable (Peer) -> Void
  ) throws {
    self.address = address
    let listener = try Self.listen(address, backlog: backlog)
    self.listener = listener
    Thread.detachNewThread {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else {
          close(listener)
          return
        }
        script(Peer(descriptor: descriptor))
        close(descriptor)
      }
    }
  }

  /// Wakes the thread from accept(2), so that it closes the socket and ends.
  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Creates a listening socket; with a backlog of -1 it is only bound.
  static func listen(_ address: VarlinkAddress, backlog: Int32) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var raw = sockaddr_un()
    raw.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: address.path.utf8) }
    var length = MemoryLayout<sockaddr_un>.size
    if address.isAbstract {
      raw.sun_path.0 = 0
      length = MemoryLayout<sa_family_t>.size + address.path.utf8.count
    }
    let result = withUnsafePointer(to: &raw) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(length)) }
    }
    guard result == 0 else { throw SocketFailure(operation: "bind", number: errno) }
    if backlog >= 0, Glibc.listen(listener, backlog) != 0 { throw SocketFailure(operation: "listen", number: errno) }
    return listener
  }
}
