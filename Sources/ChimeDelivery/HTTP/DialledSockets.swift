import CCurl

/// The sockets that one HTTP thread has opened, found again by where they lead: libcurl tells no transfer which connection it
/// has been given. Used by the HTTP thread only.
///
/// libcurl closes them, and nobody says when. So each is looked at before it is believed, and one that leads elsewhere by now
/// is forgotten.
final class DialledSockets {
  /// Opened, and not known to be connected.
  private var fresh: Set<Int32> = []
  /// By their own ports, of which several may share one.
  private var connected: [Int32: Set<Int32>] = [:]

  func add(_ socket: Int32) { fresh.insert(socket) }

  /// The socket from a port of this machine to an address; nil when it is not known.
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
