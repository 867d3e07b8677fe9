import ChimeCore

/// A Caller is the user that makes a request, by the numbers that the kernel gave when it connected.
struct Caller: Hashable, Sendable {
  let uid: UInt32
  /// The owner of what the caller creates.
  let owner: UInt32
  /// The owner whose things the caller sees; nil: everyone's.
  let sees: UInt32?
  /// The tenant for whom the caller acts; nil: for itself.
  var tenant: TenantDefinition?
}

extension Caller {
  /// Throws if a change has brought the tenant above its number of reminders. Call it at the end of the transaction.
  func requireRoom(in transaction: any StoreTransaction) throws {
    guard tenant?.reminders != nil, transaction.tenantsWithMore.contains(owner) else { return }
    try requireRoom(for: transaction.reminderCount(of: owner))
  }

  /// Throws if `count` reminders are more than the tenant may have.
  func requireRoom(for count: Int) throws {
    guard let tenant, let limit = tenant.reminders, count > limit else { return }
    throw ControlFailure.limitExceeded(
      "tenant \"\(tenant.name)\" may have \(limit) reminders with a future time, and this would make \(count): "
        + "remove some, or ask for a higher limit, reminders in [tenants.\(tenant.name)] of the configuration")
  }

  /// Throws if the owner has more than `EndpointFields.maxEndpoints` endpoints, with `more` added.
  func requireRoomForEndpoints(in transaction: any StoreTransaction, more: Int = 0) throws {
    guard try transaction.endpoints(owner: owner).count + more > EndpointFields.maxEndpoints else { return }
    throw ControlFailure.limitExceeded("endpoints: at most \(EndpointFields.maxEndpoints); remove one first")
  }
}
