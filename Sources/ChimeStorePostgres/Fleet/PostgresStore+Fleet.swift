public import ChimeCore
public import ChimeSchedule

extension PostgresStore: SharedStore {
  public func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void) { membership.listen(handler) }

  public var holdsQueues: Bool { membership.leases.current.leaseEnd.map { FleetHeartbeat.clock() < $0 } ?? false }

  public var lapses: Int { membership.leases.current.lapses }

  public var isAlone: Bool { membership.leases.current.isAlone }

  public var unansweredFor: Milliseconds? {
    membership.leases.current.unansweredSince.map { .milliseconds(max(0, FleetHeartbeat.clock() - $0)) }
  }

  public func probe() { membership.probe() }

  public func retire() { membership.retire() }

  public func shares(of owners: [UInt32]) async throws -> [UInt32: DeliveryQueueShares] {
    try await read { transaction in
      guard let transaction = transaction as? Transaction else { return [:] }
      return try transaction.shares(of: owners)
    }
  }

  public func members() async throws -> [FleetMember] {
    let node = membership.leases.current.node
    return try await read { transaction in
      guard let transaction = transaction as? Transaction else { return [] }
      return try transaction.members(asked: node)
    }
  }

  public func queueOwners() async throws -> [DeliveryQueue: Int64] {
    try await read { try ($0 as? Transaction)?.queueOwners() ?? [:] }
  }

  public func heldQueues() async throws -> Set<DeliveryQueue> {
    try await read { try ($0 as? Transaction)?.heldQueues() ?? [] }
  }
}
