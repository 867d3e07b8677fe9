import ChimeCore
import ChimeSchedule

/// A FleetServer is the simulated database of a fleet: the store, sessions, transactions that hold locks, and the tables of
/// the fleet. Its clock decides.
///
/// It stands in for PostgreSQL as far as the loop can see. `FleetStormTests` proves the real one.
final class FleetServer {
  unowned let world: FleetSimulation
  let transaction = MemoryTransaction(MemoryContents(), isReadOnly: false)
  private(set) var tables = Tables()
  /// The tables as a crash of the server leaves them: heartbeats wait for no disk, the commits of transactions do.
  private var durable = Tables()
  /// When the first change was made that may not be on the disk yet.
  private var unwrittenSince: Int64?
  private(set) var sessions: [Int: Session] = [:]
  private var open: [Int: OpenTransaction] = [:]
  private var number = 0
  private(set) var isUp = true
  private(set) var upSince = Int64.min / 2
  /// Counts the starts of the server, and the promotions.
  private(set) var starts = 0
  private(set) var history = 0
  /// Counts the changes of endpoints.
  private(set) var revision: Int64 = 0

  struct Tables {
    var nodes: [Int64: Node] = [:]
    var leases = [FleetFence.Lease](repeating: FleetFence.Lease(), count: FleetFence.shards)
    var last: Int64 = 0
  }

  struct Node {
    var startedAt: Instant
    var seenAt: Int64
    /// In milliseconds of the simulation.
    var expiresAt: Int64
    var isDraining: Bool
  }

  struct Session {
    var member: ObjectIdentifier
    /// The number in the name of the session; nil before the daemon has one.
    var node: Int64?
    var since: Int64
  }

  /// A transaction that has begun and not ended, with what it has locked.
  struct OpenTransaction {
    var session: Int
    var rows: Set<ReminderID> = []
    /// The due times among them.
    var due: Set<ReminderID> = []
    var deliveries: Set<DeliveryID> = []
    var shards: Set<Int> = []
  }

  init(_ world: FleetSimulation) { self.world = world }

  // MARK: Sessions

  func connect(_ member: SimulatedMember) -> Int {
    number += 1
    sessions[number] = Session(member: ObjectIdentifier(member), node: member.leases.current.node, since: world.now)
    return number
  }

  func name(_ session: Int, _ node: Int64) { sessions[session]?.node = node }

  /// Ends the sessions that `isMeant` selects, and undoes their transactions.
  @discardableResult func end(where isMeant: (Session) -> Bool) -> Int {
    let ended = sessions.filter { isMeant($0.value) }.map(\.key)
    for session in ended { sessions[session] = nil }
    open = open.filter { sessions[$0.value.session] != nil }
    return ended.count
  }

  /// Stops for a time. `isPromoted`: another server with the same data goes on.
  func crash(isPromoted: Bool) {
    (isUp, starts) = (false, starts + 1)
    if isPromoted { history += 1 }
    end { _ in true }
    flushIfOverdue()
    (tables.nodes, tables.leases, unwrittenSince) = (durable.nodes, durable.leases, nil)
  }

  func start() { (isUp, upSince) = (true, world.now) }

  /// Writes the tables of the fleet to the disk.
  private func flush() { (durable, unwrittenSince) = (tables, nil) }

  /// Writes what a server would have written by now. It writes its log at least every 600 milliseconds.
  private func flushIfOverdue() { if let since = unwrittenSince, world.now > since + 600 { flush() } }

  // MARK: Transactions

  func fence(_ member: SimulatedMember, except own: Int? = nil) -> FleetFence {
    let held = member.leases.current
    var fence = FleetFence(node: held.node, time: world.wall)
    (fence.yielding, fence.leases) = (held.yielding, tables.leases)
    for (id, other) in open where id != own { fence.locked.formUnion(other.due) }
    return fence
  }

  /// Reads without a lock.
  func read<Value>(_ member: SimulatedMember, _ body: (any StoreTransaction) throws -> Value) throws -> Value {
    transaction.fleet = fence(member)
    return try body(transaction)
  }

  /// Begins a transaction, which locks what it is going to change; nil if it has to wait for a lock.
  ///
  /// The body runs on a copy, to find that out, and again when the transaction commits.
  func begin(
    _ kind: Work.Kind, _ session: Int, _ member: SimulatedMember, _ body: (any StoreTransaction) throws -> Void
  ) throws -> Int? {
    let before = transaction.contents
    defer {
      transaction.contents = before
      transaction.changed = MemoryTransaction.Changes()
    }
    transaction.changed = MemoryTransaction.Changes()
    transaction.change = nil
    transaction.fleet = fence(member)
    try body(transaction)
    let changed = transaction.changed
    var made = OpenTransaction(session: session, deliveries: changed.deliveries)
    made.rows = changed.reminders.union(changed.occurrences.map(\.reminder))
    if kind != .outbox { made.due = made.rows }
    let node = member.leases.current.node
    let queues = changed.deliveries.compactMap { transaction.contents.outbox[$0]?.delivery.queue }
    made.shards = Set(queues.map(FleetFence.shard).filter { tables.leases[$0].node == node })
    let blocks = open.values.contains {
      !$0.rows.isDisjoint(with: made.rows) || !$0.deliveries.isDisjoint(with: made.deliveries)
    }
    if blocks { return nil }
    number += 1
    open[number] = made
    return number
  }

  func isOpen(_ id: Int) -> Bool { open[id] != nil }

  func rollBack(_ id: Int) { open[id] = nil }

  /// Commits an open transaction.
  func commit<Value>(
    _ id: Int, _ member: SimulatedMember, _ body: (any StoreTransaction) throws -> Value
  ) throws -> (value: Value, changed: MemoryTransaction.Changes) {
    let before = transaction.contents
    transaction.changed = MemoryTransaction.Changes()
    transaction.change = nil
    transaction.fleet = fence(member, except: id)
    open[id] = nil
    do {
      let value = try body(transaction)
      if transaction.contents.endpoints != before.endpoints { revision += 1 }
      flush()
      return (value, transaction.changed)
    } catch {
      transaction.contents = before
      throw error
    }
  }

  // MARK: Heartbeats

  /// What a beat reads.
  struct Found {
    var node: Int64
    var living: Set<Int64> = []
    var othersEndIn: Int64?
    var hasLost = false
    var owners: [Int64?]
    var epochs: [Int64]
    var revision: Int64
    var patience: Int64
  }

  private func lives(_ node: Int64?, _ patience: Int64) -> Bool {
    node.flatMap { tables.nodes[$0] }.map { $0.expiresAt + patience > world.now } ?? false
  }

  /// Renews a daemon's lease.
  func beat(_ member: SimulatedMember, isLeaving: Bool, _ patience: Int64) -> (found: Found, isNew: Bool) {
    flushIfOverdue()
    unwrittenSince = unwrittenSince ?? world.now
    let known = member.leases.current.node.flatMap { tables.nodes[$0] == nil ? nil : $0 }
    let node: Int64
    if let known {
      node = known
    } else {
      tables.last += 1
      node = tables.last
      tables.nodes[node] = Node(startedAt: member.startedAt, seenAt: 0, expiresAt: 0, isDraining: false)
    }
    tables.nodes[node]?.seenAt = world.now
    tables.nodes[node]?.expiresAt = world.now + LeaseRenewal.lease
    tables.nodes[node]?.isDraining = isLeaving
    var found = Found(
      node: node, owners: tables.leases.map(\.node), epochs: tables.leases.map(\.epoch), revision: revision,
      patience: patience)
    for (id, other) in tables.nodes {
      let left = other.expiresAt + patience - world.now
      guard left > 0 else {
        found.hasLost = true
        continue
      }
      if !other.isDraining { found.living.insert(id) }
      if id != node { found.othersEndIn = min(found.othersEndIn ?? left, left) }
    }
    return (found, known == nil)
  }

  /// Ends the sessions of lost daemons, and returns how many.
  func endSessionsOfTheLost(_ patience: Int64) -> Int {
    end { session in
      guard let id = session.node, let node = tables.nodes[id], !lives(id, patience) else { return false }
      return session.since < max(node.expiresAt, world.now - LeaseRenewal.lease)
    }
  }

  /// Leases those of the shards that are still free.
  func take(_ shards: [Int], for node: Int64, _ patience: Int64) -> [(shard: Int, epoch: Int64)] {
    let locked = open.values.reduce(into: Set()) { $0.formUnion($1.shards) }
    return shards.compactMap { shard in
      guard !locked.contains(shard), !lives(tables.leases[shard].node, patience) else { return nil }
      tables.leases[shard].node = node
      tables.leases[shard].epoch += 1
      return (shard, tables.leases[shard].epoch)
    }
  }

  /// Releases the shards with no delivery in flight. An expired claim does not count.
  func give(_ shards: Set<Int>, of node: Int64) -> [Int] {
    let locked = open.values.reduce(into: Set()) { $0.formUnion($1.shards) }
    let contents = transaction.contents
    let given = shards.sorted().filter { shard in
      guard tables.leases[shard].node == node, !locked.contains(shard) else { return false }
      return !contents.pending.contains { queue, all in
        FleetFence.shard(of: queue) == shard
          && all.contains { pending in
            guard let entry = contents.outbox[pending.id] else { return false }
            return contents.claimEpochs[pending.id] == tables.leases[shard].epoch
              && entry.visibleAt > entry.delivery.ownTime && entry.visibleAt > world.wall
          }
      }
    }
    for shard in given { tables.leases[shard].node = nil }
    return given
  }

  /// Removes a daemon that ends.
  func leave(_ node: Int64) {
    for shard in tables.leases.indices where tables.leases[shard].node == node { tables.leases[shard].node = nil }
    tables.nodes[node] = nil
    flush()
  }

  /// Returns the daemons of the fleet.
  func members(asked: Int64?) -> [FleetMember] {
    tables.nodes.sorted { $0.key < $1.key }.map { id, node in
      FleetMember(
        id: id, name: "m", process: id, version: "", startedAt: node.startedAt,
        seenAt: world.start + .milliseconds(node.seenAt), isLiving: node.expiresAt > world.now,
        isDraining: node.isDraining, isSelf: id == asked, shards: tables.leases.count { $0.node == id })
    }
  }
}
