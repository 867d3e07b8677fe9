/// Which addresses may be dialled: a pure rule, asked with the very address that the kernel is about to connect to, so
/// that neither a redirect nor a name that changes its address or has several can get round it.
///
///     let rule = NetworkPolicy(isPersonal: false, allow: [AddressBlock("10.0.0.0/8")!])
///     rule.refusal(of: NetworkAddress("10.1.2.3")!)            // nil: allowed by name
///     rule.refusal(of: NetworkAddress("64:ff9b::7f00:1")!)     // the loopback address behind a NAT64
///
/// An address that holds another (IPv4-mapped, NAT64, 6to4, Teredo) may be dialled only where both may.
public struct NetworkPolicy: Hashable, Sendable {
  /// Whether loopback, link-local and private addresses, and the machine's own, may be dialled without being allowed: in the
  /// daemon of a user, who can reach them anyway, but not in the system's, where they would lend a user the machine's place in
  /// the network.
  public var isPersonal: Bool
  /// What may be dialled although its kind says otherwise. A metadata service is only allowed by a block of its very
  /// address.
  public var allow: [AddressBlock]
  /// What may not be dialled, whatever `allow` says.
  public var deny: [AddressBlock]

  public init(isPersonal: Bool, allow: [AddressBlock] = [], deny: [AddressBlock] = []) {
    (self.isPersonal, self.allow, self.deny) = (isPersonal, allow, deny)
  }

  /// Why an address may not be dialled; nil when it may.
  ///
  /// - Parameter isOwn: whether an interface of this machine has an address: what listens there may take whoever comes from
  ///   the machine itself for one of its own.
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

/// That an address may not be dialled, and what in the configuration would allow it.
public struct AddressRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  enum Reason: Hashable, Sendable {
    case denied(AddressBlock)
    case kind(AddressKind)
  }

  /// What was about to be dialled.
  public let address: NetworkAddress
  /// The same, or the address within it that may not be reached.
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
