import Glibc

/// Resolves host names on a thread of their own, so that an unresponsive name server blocks nothing else.
enum NameLookup {
  /// - Parameter completion: Called once from that thread, with the addresses in the order to try them or with the fault.
  /// - Throws: `SystemError` if no thread is available.
  static func begin(
    _ host: String, completion: @escaping @Sendable (Result<[NetworkAddress], DeliveryError>) -> Void
  ) throws(SystemError) {
    try WorkerThread.start(name: "chime-names") { completion(addresses(of: host)) }
  }

  private static func addresses(of host: String) -> Result<[NetworkAddress], DeliveryError> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    guard code == 0 else {
      return .failure(DeliveryError("the name \(host) has no address: \(String(cString: gai_strerror(code)))"))
    }
    defer { freeaddrinfo(list) }
    var found: [NetworkAddress] = []
    var next = list
    while let entry = next?.pointee {
      let bytes = UnsafeRawBufferPointer(start: entry.ai_addr, count: Int(entry.ai_addrlen))
      if let address = NetworkAddress(bytes), !found.contains(address) { found.append(address) }
      next = entry.ai_next
    }
    return found.isEmpty ? .failure(DeliveryError("the name \(host) has no address")) : .success(found)
  }
}
