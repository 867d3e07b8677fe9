import Glibc

/// A NetworkAddress is an IPv4 or IPv6 address.
///
///     NetworkAddress("::ffff:127.0.0.1")   // 127.0.0.1: what the kernel dials for it
///     NetworkAddress("127.1")              // nil: only the full form, as inet_pton(3) takes it
public enum NetworkAddress: Hashable, Sendable {
  case v4(UInt32)
  /// The first and the last 64 bits.
  case v6(UInt64, UInt64)

  /// Parses an address without a zone. An IPv4-mapped address (RFC 4291, 2.5.5.2) becomes the IPv4 address.
  public init?(_ text: String) {
    var v4 = in_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      self = .v4(UInt32(bigEndian: v4.s_addr))
      return
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
    self = Self.v6(v6).unmapped
  }

  /// Reads a socket address for connect(2); nil for another family or too few bytes.
  init?(_ address: UnsafeRawBufferPointer) {
    guard address.count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where address.count >= MemoryLayout<sockaddr_in>.size:
      self = .v4(UInt32(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
    case AF_INET6 where address.count >= MemoryLayout<sockaddr_in6>.size:
      self = Self.v6(address.loadUnaligned(as: sockaddr_in6.self).sin6_addr).unmapped
    default: return nil
    }
  }

  /// Whether an interface of this machine has the address now. A datagram to an own address would also have it as its
  /// source. Nothing is sent. Listing the interfaces would need AF_NETLINK, which the system unit forbids. True if no
  /// descriptor is available for the check.
  var isOfThisMachine: Bool {
    switch self {
    case .v4(let address):
      var target = sockaddr_in()
      target.sin_family = sa_family_t(AF_INET)
      target.sin_port = in_port_t(9).bigEndian
      target.sin_addr.s_addr = address.bigEndian
      return isSource(of: target, AF_INET)
    case .v6(let first, let last):
      var target = sockaddr_in6()
      target.sin6_family = sa_family_t(AF_INET6)
      target.sin6_port = in_port_t(9).bigEndian
      withUnsafeMutableBytes(of: &target.sin6_addr) {
        $0.storeBytes(of: first.bigEndian, as: UInt64.self)
        $0.storeBytes(of: last.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      return isSource(of: target, AF_INET6)
    }
  }

  /// Returns whether a datagram to `target`, which is this address, would also come from it.
  private func isSource<Address>(of target: Address, _ family: Int32) -> Bool {
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return errno != EAFNOSUPPORT }
    defer { close(descriptor) }
    return withUnsafeBytes(of: target) { bytes in
      guard let start = bytes.baseAddress else { return true }
      let isConnected =
        connect(descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
      // There is no route to the address.
      guard isConnected else { return false }
      return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 16) { source in
        var count = socklen_t(source.count)
        guard let place = source.baseAddress,
          getsockname(descriptor, place.assumingMemoryBound(to: sockaddr.self), &count) == 0
        else { return true }
        return NetworkAddress(UnsafeRawBufferPointer(rebasing: source.prefix(Int(count)))) == self
      }
    }
  }

  private static func v6(_ address: in6_addr) -> NetworkAddress {
    withUnsafeBytes(of: address) { bytes in
      .v6(
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  private var unmapped: NetworkAddress {
    guard case .v6(0, let low) = self, low >> 32 == 0xFFFF else { return self }
    return .v4(UInt32(truncatingIfNeeded: low))
  }

  /// The IPv4 addresses that a translator or tunnel may derive from this address.
  ///
  /// - IPv4-compatible `::/96` (RFC 4291, 2.5.5.1) and 6to4 `2002::/16` (RFC 3056, 2).
  /// - NAT64: `64:ff9b::/96` (RFC 6052, 2.1), and `64:ff9b:1::/48` (RFC 8215), in which the address may start after 48,
  ///   56, 64 or 96 bits (RFC 6052, 2.2); all four are returned.
  /// - Teredo `2001::/32` (RFC 4380, 4): the server's address and the client's, which is stored inverted.
  var embedded: [NetworkAddress] {
    guard case .v6(let high, let low) = self else { return [] }
    func address(_ bits: UInt64) -> NetworkAddress { .v4(UInt32(truncatingIfNeeded: bits)) }
    if high == 0, low >> 32 == 0, low > 1 { return [address(low)] }
    if high >> 48 == 0x2002 { return [address(high >> 16)] }
    if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return [address(low)] }
    if high >> 16 == 0x0064_FF9B_0001 {
      // Bits 64 to 71 are not part of the address.
      return [
        address((high & 0xFFFF) << 16 | low >> 40 & 0xFFFF), address((high & 0xFF) << 24 | low >> 32 & 0xFF_FFFF),
        address(low >> 24), address(low),
      ]
    }
    if high >> 32 == 0x2001_0000 { return [address(high), address(~low)] }
    return []
  }
}

extension NetworkAddress: CustomStringConvertible {
  public var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch self {
    case .v4(let bits):
      var address = in_addr(s_addr: bits.bigEndian)
      inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
    case .v6(let high, let low):
      var bytes = (high.bigEndian, low.bigEndian)
      inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// An AddressBlock is a range of addresses with a common prefix (RFC 4632, 3.1; RFC 4291, 2.3).
///
///     AddressBlock("10.0.0.0/8")    // 16,777,216 addresses
///     AddressBlock("::1")           // one
///     AddressBlock("10.0.0.1/8")    // nil: it has bits set behind the first eight
public struct AddressBlock: Hashable, Sendable {
  let base: NetworkAddress
  /// Length of the prefix in bits.
  let prefix: Int

  /// Parses an address, or an address, a slash and the prefix length.
  ///
  /// A block of IPv4-mapped addresses becomes the IPv4 block.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let address = NetworkAddress(parts[0]) else { return nil }
    // An address in colon notation has a prefix length out of 128 bits.
    let isMapped = address.bits == 32 && parts[0].contains(":")
    guard parts.count == 2 else {
      self.init(address, prefix: address.bits)
      return
    }
    guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let written = Int(parts[1])
    else { return nil }
    self.init(address, prefix: isMapped ? written - 96 : written)
  }

  private init?(_ address: NetworkAddress, prefix: Int) {
    guard (0...address.bits).contains(prefix), address.masked(to: prefix) == address else { return nil }
    (base, self.prefix) = (address, prefix)
  }

  /// - Parameter text: A valid block; anything else is a programming error.
  init(known text: String) {
    guard let block = AddressBlock(text) else { preconditionFailure("\(text) is no block of addresses") }
    self = block
  }

  public func contains(_ address: NetworkAddress) -> Bool {
    address.bits == base.bits && address.masked(to: prefix) == base
  }

  /// Whether the block contains a single address.
  var isOne: Bool { prefix == base.bits }
}

extension AddressBlock: CustomStringConvertible {
  public var description: String { isOne ? "\(base)" : "\(base)/\(prefix)" }
}

extension NetworkAddress {
  fileprivate var bits: Int { if case .v4 = self { 32 } else { 128 } }

  /// Clears all bits after the first `count`. Shifts beyond the width give 0, as `<<` does on Swift's integers.
  fileprivate func masked(to count: Int) -> NetworkAddress {
    switch self {
    case .v4(let bits): .v4(bits & (UInt32.max << (32 - count)))
    case .v6(let high, let low):
      .v6(high & (UInt64.max << max(0, 64 - count)), low & (UInt64.max << min(64, 128 - count)))
    }
  }
}
