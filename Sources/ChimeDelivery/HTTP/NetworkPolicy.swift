/// A NetworkPolicy decides which addresses may be dialed. It is a pure rule and checks the address that the kernel is
/// about to connect to, so that redirects and names with several or changing addresses cannot bypass it.
///
///     let rule = NetworkPolicy(isPersonal: false, allow: [AddressBlock("10.0.0.0/8")!])
///     rule.refusal(of: NetworkAddress("10.1.2.3")!)            // nil: allowed by name
///     rule.refusal(of: NetworkAddress("64:ff9b::7f00:1")!)     // the loopback address behind a NAT64
///
/// An address that embeds another (IPv4-mapped, NAT64, 6to4, Teredo) may be dialed only if both may.
public struct NetworkPolicy: Hashable, Sendable {
  /// Whether loopback, link-local, private and own addresses may be dialed without being allowed. A user can reach them
  /// anyway, so a user's daemon may. The system's daemon may not, since it would lend users the machine's place in the
  /// network.
  public var isPersonal: Bool
  /// Blocks that may be dialed regardless of their kind. A metadata service must be allowed by its exact address.
  public var allow: [AddressBlock]
  /// Blocks that may never be dialed, regardless of `allow`.
  public var deny: [AddressBlock]

  public init(isPersonal: Bool, allow: [AddressBlock] = [], deny: [AddressBlock] = []) {
    (self.isPersonal, self.allow, self.deny) = (isPersonal, allow, deny)
  }

  /// Returns why an address may not be dialed; nil if it may.
  ///
  /// - Parameter isOwn: Whether an interface of this machine has an address. Services there may trust connections from
  ///   the machine itself.
  public func refusal(
    of address: NetworkAddress, isOwn: (NetworkAddress) -> Bool = { _ in false }
  ) -> AddressRefusal? {
    let faces = [address] + address.embedded
    for face in faces {
      if let block = deny.first(where: { $0.contains(face) }) {
        return AddressRefusal(address: address, face: face, reason: .denied(block))
      }
    }
    for face in faces {
      let kind = AddressKind(face, isOwn: isOwn)
      let covering = allow.filter { $0.contains(face) || $0.contains(address) }
      let may =
        switch kind.reach {
        case .anywhere: true
        case .fromAPersonsDaemon: isPersonal || !covering.isEmpty
        case .nowhere: kind == .metadata ? covering.contains(where: \.isOne) : !covering.isEmpty
        }
      if !may { return AddressRefusal(address: address, face: face, reason: .kind(kind)) }
    }
    return nil
  }
}

/// Why an address may not be dialed, and which configuration would allow it.
public struct AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  enum Reason: Hashable, Sendable {
    case denied(AddressBlock)
    case kind(AddressKind)
  }

  /// The address to be dialed.
  public let address: NetworkAddress
  /// The refused address: the same, or one embedded in it.
  let face: NetworkAddress
  let reason: Reason

  public var description: String {
    let what = face == address ? "\(address)" : "\(address), which leads to \(face),"
    switch reason {
    case .denied(let block): return "Chime may not connect to \(what): \"\(block)\" is in deny of [webhook]"
    case .kind(let kind):
      let whose = face == address ? "\(address) is \(kind.name)" : "\(what) is \(kind.name)"
      return "\(whose), to which Chime may not connect; to allow it, add \"\(face)\" to allow of [webhook] in "
        + "chimed.toml"
    }
  }
}
