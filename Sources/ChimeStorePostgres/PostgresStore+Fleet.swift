public import ChimeCore
public import ChimeSchedule

extension PostgresStore: SharedStore {
  public func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void) { membership.listen(handler) }

  public var holdsLanes: Bool { membership.holdings.current.leaseEnd.map { Pulse.clock() < $0 } ?? false }

  public var isAlone: Bool { membership.holdings.current.isAlone }

  public var unansweredFor: Milliseconds? {
    membership.holdings.current.unansweredSince.map { .milliseconds(max(0, Pulse.clock() - $0)) }
  }

  public func probe() { membership.probe() }

  public func retire() { membership.retire() }

  public func shares(of owners: [UInt32]) async throws -> [UInt32: LaneShares] {
    try await read { transaction in
      guard let transaction = transaction as? Transaction else { return [:] }
      return try transaction.shares(of: owners)
    }
  }

  public func members() async throws -> [FleetMember] {
    let node = membership.holdings.current.node
    return try await read { transaction in
      guard let transaction = transaction as? Transaction else { return [] }
      return try transaction.members(asked: node)
    }
  }

  public func laneOwners() async throws -> [Lane: Int64] {
    try await read { try ($0 as? Transaction)?.laneOwners() ?? [:] }
  }

  public func heldLanes() async throws -> Set<Lane> {
    try await read { try ($0 as? Transaction)?.heldLanes() ?? [] }
  }
}
