import ChimeControl
import ChimeCore
import ChimeSchedule
import Glibc

/// The tenants as the loop knows them: who may act for each, its number, and its use.
struct Tenants: Sendable {
  /// The state of one configured tenant.
  struct TenantState: Sendable {
    let definition: TenantDefinition
    /// The number under which the store knows it; nil: not known yet.
    var number: UInt32?
    /// The user ids and group ids that may act for it.
    var users: Set<UInt32> = []
    var groups: Set<UInt32> = []
    var requests: TokenBucket?
    /// The number of requests since the start.
    var taken = 0
    var refused = 0
    /// How its queues are spread over the daemons that share the store; nil: all are this daemon's.
    var shares: DeliveryQueueShares?

    /// The most deliveries that this daemon begins for it; nil: no limit.
    var rate: EndpointSettings.Rate? {
      definition.deliveriesPerSecond.map { shares?.rate(of: $0) ?? .init(count: $0, span: .seconds(1)) }
    }
  }

  var seats: [String: TenantState] = [:]
  /// The names of all tenants that the store knows, configured or not, by owner.
  private(set) var names: [UInt32: String] = [:]

  /// Takes over a new configuration. Tenants that stay keep their counts, and the state of an unchanged rate limit.
  mutating func adopt(_ definitions: [String: TenantDefinition], _ members: Members) {
    seats = definitions.mapValues { definition in
      let former = seats[definition.name]
      var seat = TenantState(definition: definition, number: former?.number)
      seat.users = members.users[definition.name] ?? []
      seat.groups = members.groups[definition.name] ?? []
      (seat.taken, seat.refused, seat.shares) = (former?.taken ?? 0, former?.refused ?? 0, former?.shares)
      seat.requests =
        former?.definition.requestsPerSecond == definition.requestsPerSecond
        ? former?.requests : definition.requestsPerSecond.map(TokenBucket.init(perSecond:))
      return seat
    }
  }

  mutating func know(_ tenants: [Tenant]) {
    for tenant in tenants {
      names[tenant.number] = tenant.name
      seats[tenant.name]?.number = tenant.number
    }
  }

  /// When the shares of deliveries were last read (monotonic, in microseconds).
  var sharedAt: UInt64 = 0
  /// The pause before a change of the outbox alone has them read again, in microseconds.
  static let sharingPause: UInt64 = 10_000_000

  /// Takes over how the queues are spread. A tenant without queues counts as all this daemon's.
  mutating func share(_ shares: [UInt32: DeliveryQueueShares]) {
    for (name, seat) in seats { seats[name]?.shares = seat.number.flatMap { shares[$0] } }
  }

  /// The delivery rates, by owner.
  var rates: [UInt32: EndpointSettings.Rate] {
    var rates: [UInt32: EndpointSettings.Rate] = [:]
    for seat in seats.values {
      if let number = seat.number { rates[number] = seat.rate }
    }
    return rates
  }

  /// The configured tenants whose number is not known yet.
  var unknown: [String] { seats.values.filter { $0.number == nil }.map(\.definition.name).sorted() }

  /// The user and group ids of each tenant, and the names that were not found.
  struct Members: Sendable {
    var users: [String: Set<UInt32>] = [:]
    var groups: [String: Set<UInt32>] = [:]
    var problems: [String] = []

    /// Reads the user and group databases. This may block.
    init(of definitions: [String: TenantDefinition]) {
      for (name, definition) in definitions.sorted(by: { $0.key < $1.key }) {
        for user in definition.users {
          let number = Self.number(user, SystemUsers.number(ofUser:))
          if let number { users[name, default: []].insert(number) }
          if number == nil {
            problems.append(
              "tenant \(name): there is no user \(user); a later user of that name counts after a reload")
          }
        }
        for group in definition.groups {
          let number = Self.number(group, SystemUsers.number(ofGroup:))
          if let number { groups[name, default: []].insert(number) }
          if number == nil {
            problems.append("tenant \(name): there is no group \(group); its later members count after a reload")
          }
        }
      }
    }

    private static func number(_ member: TenantDefinition.Member, _ find: (String) -> UInt32?) -> UInt32? {
      switch member {
      case .number(let number): number
      case .name(let name): find(name)
      }
    }
  }
}

extension TenantDefinition.Member: CustomStringConvertible {
  package var description: String {
    switch self {
    case .name(let name): name
    case .number(let number): String(number)
    }
  }
}

/// Looks up the system's users and groups.
enum SystemUsers {
  static func number(ofUser name: String) -> UInt32? {
    var user = passwd()
    var buffer = [CChar](repeating: 0, count: 65_536)
    var found: UnsafeMutablePointer<passwd>?
    guard getpwnam_r(name, &user, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return user.pw_uid
  }

  static func number(ofGroup name: String) -> UInt32? {
    var group = Glibc.group()
    var buffer = [CChar](repeating: 0, count: 65_536)
    var found: UnsafeMutablePointer<Glibc.group>?
    guard getgrnam_r(name, &group, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return group.gr_gid
  }

  /// Returns the groups of a user, and the group that one of its processes has now.
  static func groups(of uid: UInt32, gid: UInt32) -> Set<UInt32> {
    var user = passwd()
    var buffer = [CChar](repeating: 0, count: 65_536)
    var groups = [gid_t](repeating: 0, count: 1_024)
    var count = Int32(groups.count)
    // `pw_name` points into the buffer, which must outlive its use.
    let isKnown = buffer.withUnsafeMutableBufferPointer { buffer in
      var found: UnsafeMutablePointer<passwd>?
      guard let start = buffer.baseAddress, getpwuid_r(uid, &user, start, buffer.count, &found) == 0, found != nil,
        let name = user.pw_name
      else { return false }
      return getgrouplist(name, user.pw_gid, &groups, &count) >= 0
    }
    return isKnown ? Set(groups.prefix(Int(count))).union([gid]) : [gid]
  }
}

extension Tenants.TenantState {
  func wire(reminders: Int, pending: Int) -> DaemonInterface.Tenant {
    DaemonInterface.Tenant(
      name: definition.name, reminders: reminders, reminderLimit: definition.reminders,
      requestsPerSecond: definition.requestsPerSecond, requests: taken, requestsRefused: refused,
      deliveriesPerSecond: definition.deliveriesPerSecond,
      deliveriesPerSecondHere: rate.map { (Double($0.count) * 1_000_000 / Double($0.span.rawValue)).rounded() / 1_000 },
      pendingDeliveries: pending)
  }
}
