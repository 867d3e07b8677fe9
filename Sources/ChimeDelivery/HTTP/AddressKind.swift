/// An AddressKind classifies an address by IANA's special-purpose registries (RFC 6890, as of 2025) and by the metadata
/// services of cloud providers.
enum AddressKind: String, Hashable, Sendable, CaseIterable {
  case ordinary
  /// An ordinary address of one of this machine's interfaces.
  case ofThisMachine
  case unspecified, loopback, linkLocal, `private`, shared, documentation, benchmarking
  case multicast, broadcast, reserved
  /// A service that gives the machine's credentials to any process on it.
  case metadata

  /// - Parameter isOwn: Whether an interface of this machine has the address; called only for ordinary addresses.
  init(_ address: NetworkAddress, isOwn: (NetworkAddress) -> Bool = { _ in false }) {
    let known = Self.table.first { $0.block.contains(address) }?.kind ?? .ordinary
    self = Self.metadataServices.contains(address) ? .metadata : known
    if self == .ordinary, isOwn(address) { self = .ofThisMachine }
  }

  /// From where an address may be dialed without being allowed by name.
  enum Reach: Hashable, Sendable { case anywhere, fromAPersonsDaemon, nowhere }

  var reach: Reach {
    switch self {
    case .ordinary: .anywhere
    case .ofThisMachine, .loopback, .linkLocal, .private, .shared, .documentation, .benchmarking: .fromAPersonsDaemon
    case .unspecified, .multicast, .broadcast, .reserved, .metadata: .nowhere
    }
  }

  /// The kind with its article, as in "is a private address".
  var name: String {
    switch self {
    case .ordinary: "an ordinary address"
    case .ofThisMachine: "an address of this machine"
    case .unspecified: "an unspecified address"
    case .loopback: "a loopback address"
    case .linkLocal: "a link-local address"
    case .private: "a private address"
    case .shared: "an address shared by a provider's customers"
    case .documentation: "an address for documentation"
    case .benchmarking: "an address for benchmarks"
    case .multicast: "a multicast address"
    case .broadcast: "the broadcast address"
    case .reserved: "a reserved address"
    case .metadata: "a cloud's metadata service"
    }
  }

  /// As documented by Amazon EC2, ECS and EKS, Google, Azure, OpenStack, Alibaba, Oracle, Scaleway and Tencent. Several
  /// use the first address.
  private static let metadataServices = Set(
    [
      "169.254.169.254", "fd00:ec2::254", "169.254.170.2", "169.254.170.23", "fd00:ec2::23", "fd20:ce::254",
      "168.63.129.16", "fe80::a9fe:a9fe", "100.100.100.200", "192.0.0.192", "169.254.42.42", "fd00:42::42",
      "169.254.0.23",
    ].compactMap(NetworkAddress.init))

  /// The first block that contains an address decides. IPv4-mapped addresses never get here, since they are parsed as
  /// IPv4.
  private static let table = entries.map { (block: AddressBlock(known: $0.0), kind: $0.1) }

  private static let entries: [(String, AddressKind)] = [
    ("0.0.0.0/8", .unspecified), ("10.0.0.0/8", .private), ("100.64.0.0/10", .shared), ("127.0.0.0/8", .loopback),
    ("169.254.0.0/16", .linkLocal), ("172.16.0.0/12", .private),
    // Anycast addresses of the Port Control Protocol and TURN. The rest of the block is for protocol assignments.
    ("192.0.0.9/32", .ordinary), ("192.0.0.10/32", .ordinary), ("192.0.0.0/24", .reserved),
    ("192.0.2.0/24", .documentation), ("192.168.0.0/16", .private), ("198.18.0.0/15", .benchmarking),
    ("198.51.100.0/24", .documentation), ("203.0.113.0/24", .documentation), ("224.0.0.0/4", .multicast),
    ("255.255.255.255/32", .broadcast), ("240.0.0.0/4", .reserved), ("0.0.0.0/0", .ordinary),

    ("::/128", .unspecified), ("::1/128", .loopback),
    // Embedded IPv4 addresses are checked separately. The second block is a network's own NAT64.
    ("64:ff9b::/96", .ordinary), ("64:ff9b:1::/48", .private), ("2002::/16", .ordinary), ("2001::/32", .ordinary),
    ("2001:2::/48", .benchmarking), ("2001:db8::/32", .documentation), ("3fff::/20", .documentation),
    // Overlay identifiers (RFC 4843, RFC 7343) are not host addresses.
    ("2001:10::/28", .reserved), ("2001:20::/28", .reserved), ("5f00::/16", .private), ("fc00::/7", .private),
    ("fe80::/10", .linkLocal), ("fec0::/10", .private), ("ff00::/8", .multicast),
    // Only 2000::/3 is assigned to hosts (RFC 4291, 2.4). The rest includes IPv4-compatible and discard-only addresses.
    ("2000::/3", .ordinary), ("::/0", .reserved),
  ]
}
