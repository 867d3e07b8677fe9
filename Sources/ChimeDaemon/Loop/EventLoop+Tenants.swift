import ChimeControl
import ChimeCore
import ChimeSchedule
import Varlink

// Tenants: for whom a client acts, and at which rate it may make requests.
extension EventLoop {
  /// Adopts the configured tenants. Lookups in the system's user database run on another thread. Requests of a new
  /// tenant are refused until the store has given it a number.
  func adoptTenants(_ definitions: [String: TenantDefinition]) async {
    let members = await Task(executorPreference: requestExecutor) { Tenants.Members(of: definitions) }.value
    for problem in members.problems { log(.warning, problem) }
    tenants.adopt(definitions, members)
    await learnTenants()
  }

  /// Reads the tenants' numbers from the store, which assigns numbers to new tenants.
  func learnTenants() async {
    do {
      tenants.know(try await store.read { try $0.tenants() })
      let unknown = tenants.unknown
      if !unknown.isEmpty {
        tenants.know(
          try await store.write { transaction in try unknown.map { try transaction.enrol(tenant: $0) } })
      }
      await renewShares()
    } catch {
      log(.warning, "tenants could not be looked up in the store; tried again when one asks: \(error)")
    }
  }

  // MARK: Deliveries

  /// Reads which share of the tenants' delivery rate belongs to this daemon, and applies it to the queues.
  func renewShares() async {
    let limited = tenants.seats.values.filter { $0.definition.deliveriesPerSecond != nil }.compactMap(\.number)
    if let shared = fleet.store, !limited.isEmpty {
      tenants.sharedAt = SystemClock.monotonicMicroseconds
      do {
        tenants.share(try await shared.shares(of: limited))
      } catch {
        // The old share stays in force: queues only move when the database is reachable.
        log(.debug, "the parts of tenants' deliveries could not be read; ignoring: \(error)")
      }
    }
    renewOwners()
  }

  /// Refreshes the shares if the last refresh is old enough. Any daemon may have written for a tenant into a queue that
  /// had nothing pending. Called with each poll of other daemons' changes.
  func considerShares() {
    let isLately = SystemClock.monotonicMicroseconds - tenants.sharedAt < Tenants.sharingPause
    guard fleet.store != nil, !isLately, !scheduler.policies.owners.isEmpty else { return }
    Task { await withTaskExecutorPreference(executor) { await renewShares() } }
  }

  private func renewOwners() {
    let policies = policies(of: outbox.endpoints.values)
    if policies != scheduler.policies { handle(.policies(policies, renewed: [])) }
  }

  // MARK: Requests

  /// Returns the caller of a request: the client itself, or the tenant for which it acts.
  ///
  /// - Throws: the reason why the call is refused.
  func caller(of call: VarlinkCall, from client: inout Clients.Client) throws(ControlFailure) -> Caller {
    guard let name = call.text("tenant") else { return client.caller }
    guard let seat = tenants.seats[name], mayAct(&client, for: seat) else {
      let shown = TOMLText.harmless(String(name.prefix(64)))
      complain(
        .tenantRefused, client.caller.uid,
        "uid \(client.caller.uid) was refused: it may not act for tenant \"\(shown)\", or there is no such tenant")
      throw .notForTenant(String(name.prefix(64)))
    }
    if let wait = tenants.seats[name]?.requests?.take(at: SystemClock.monotonicMicroseconds * 1_000) {
      tenants.seats[name]?.refused += 1
      let rate = seat.definition.requestsPerSecond ?? 0
      complain(
        .tenantLimited, client.caller.uid, "tenant \(name) has exceeded its \(rate) requests per second", .notice)
      throw .tooMany(
        "tenant \"\(name)\" may make \(rate) requests per second: send fewer, or ask for a higher requestsPerSecond "
          + "in [tenants.\(name)] of the configuration",
        retryAfter: Milliseconds(rawValue: max(1, Int64((wait + 999_999) / 1_000_000))))
    }
    tenants.seats[name]?.taken += 1
    guard let number = seat.number else {
      Task { await withTaskExecutorPreference(executor) { await learnTenants() } }
      throw .storeUnavailable("tenant \"\(name)\" has no number in the store yet: try again")
    }
    return Caller(uid: client.caller.uid, owner: number, sees: number, tenant: seat.definition)
  }

  /// Returns whether the client may act for a tenant. A client that sees everyone's data may act for every tenant.
  private func mayAct(_ client: inout Clients.Client, for seat: Tenants.TenantState) -> Bool {
    if client.caller.sees == nil || seat.users.contains(client.caller.uid) { return true }
    guard !seat.groups.isEmpty else { return false }
    let groups = client.groups ?? SystemUsers.groups(of: client.caller.uid, gid: client.gid)
    client.groups = groups
    return !groups.isDisjoint(with: seat.groups)
  }

  /// Returns the tenants that a caller may see: the one for which it acts, else all for which it may act.
  func seats(for caller: Caller) -> [Tenants.TenantState] {
    let seats: [Tenants.TenantState]
    if let tenant = caller.tenant {
      seats = [tenants.seats[tenant.name]].compactMap { $0 }
    } else if caller.sees == nil {
      seats = Array(tenants.seats.values)
    } else {
      let groups = tenants.seats.isEmpty ? [] : SystemUsers.groups(of: caller.uid, gid: .max)
      seats = tenants.seats.values.filter {
        $0.users.contains(caller.uid) || !$0.groups.isDisjoint(with: groups)
      }
    }
    return seats.sorted { $0.definition.name < $1.definition.name }
  }
}
