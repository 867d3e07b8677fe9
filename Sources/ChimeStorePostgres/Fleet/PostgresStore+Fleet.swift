package import ChimeCore
package import ChimeSchedule

extension PostgresStore: SharedStore {
  package func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void) { membership.listen(handler) }

  package var holdsQueues: Bool { membership.leases.current.leaseEnd.map { FleetHeartbeat.clock() < $0 } ?? false }

  package var lapses: Int { membership.leases.current.lapses }

  package var isAlone: Bool { membership.leases.current.isAlone }

  package var unansweredFor: Milliseconds? {
    membership.leases.current.unansweredSince.map { .milliseconds(max(0, FleetHeartbeat.clock() - $0)) }
  }

  package func probe() { membership.probe() }

  package func retire() { membership.retire() }

  package func shares(of owners: [UInt32]) async throws -> [UInt32: DeliveryQueueShares] {
    try await read { try ($0 as? Transaction)?.shares(of: owners) ?? [:] }
  }

  package func members() async throws -> [FleetMember] {
    let node = membership.leases.current.node
    return try await read { try ($0 as? Transaction)?.members(asked: node) ?? [] }
  }

  package func queueOwners() async throws -> [DeliveryQueue: Int64] {
    try await read { try ($0 as? Transaction)?.queueOwners() ?? [:] }
  }

  package func heldQueues() async throws -> Set<DeliveryQueue> {
    try await read { try ($0 as? Transaction)?.heldQueues() ?? [] }
  }
}
