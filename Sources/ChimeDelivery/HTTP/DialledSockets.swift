import CCurl

/// DialledSockets finds the socket of a transfer by its ports and peer, because libcurl does not tell which connection
/// a transfer uses. Only the HTTP thread uses it.
///
/// libcurl closes sockets without notice. Each socket is therefore checked before use, and forgotten if it now has
/// another peer.
final class DialledSockets {
  /// Opened sockets that are not known to be connected.
  private var fresh: Set<Int32> = []
  /// Connected sockets by local port; several may share one.
  private var connected: [Int32: Set<Int32>] = [:]

  func add(_ socket: Int32) { fresh.insert(socket) }

  /// Returns the socket from a local port to an address; nil if it is unknown.
  func socket(from own: Int32, to peer: UnsafePointer<CChar>, _ port: Int32) -> Int32? {
    for socket in fresh {
      switch chime_socket_port(socket) {
      case ...(-1): fresh.remove(socket)
      case 0: continue
      case let found:
        fresh.remove(socket)
        connected[found, default: []].insert(socket)
      }
    }
    for socket in connected[own] ?? [] {
      if chime_socket_port(socket) == own, chime_socket_leads(socket, peer, port) != 0 { return socket }
      connected[own]?.remove(socket)
    }
    if connected[own]?.isEmpty == true { connected[own] = nil }
    return nil
  }
}
