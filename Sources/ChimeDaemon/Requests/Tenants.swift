import ChimeControl
import ChimeCore
import ChimeSchedule
import Glibc

/// The tenants as the loop knows them: who may act for each, what its number is, and how much it has asked for.
struct Tenants: Sendable {
  /// What is known of one that is configured.
  struct TenantState: Sendable {
    let definition: TenantDefinition
    /// What the store knows it by; nil while that could not be asked.
    var number: UInt32?
    /// The users and groups of the definition, by number.
    var users: Set<UInt32> = []
    var groups: Set<UInt32> = []
    var requests: TokenBucket?
    /// Requests since the start.
    var taken = 0
    var refused = 0
    /// How its queues lie with the daemons that have the store; nil: all are this one's.
    var shares: DeliveryQueueShares?

    /// What is begun for it here at most; nil: any number.
    var rate: EndpointSettings.Rate? {
      definition.deliveriesPerSecond.map { shares?.rate(of: $0) ?? .init(count: $0, span: .seconds(1)) }
    }
  }

  var seats: [String: TenantState] = [:]
  /// All that the store knows by name, whether they are configured still.
  private(set) var names: [UInt32: String] = [:]

  /// Takes another configuration over: of whom is there still the counts stay, and of whom has the same rate its standing.
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

  /// When it was asked last whose part of the deliveries is how large, in microseconds of a clock that nobody sets.
  var sharedAt: UInt64 = 0
  /// How long, in microseconds, that is not asked again for nothing but that something has changed in the outbox.
  static let sharingPause: UInt64 = 10_000_000

  /// Takes over how their queues lie with the daemons; of whom has no queues, all are taken for this one's.
  mutating func share(_ shares: [UInt32: DeliveryQueueShares]) {
    for (name, seat) in seats { seats[name]?.shares = seat.number.flatMap { shares[$0] } }
  }

  /// What the queues of each may begin together.
  var rates: [UInt32: EndpointSettings.Rate] {
    var rates: [UInt32: EndpointSettings.Rate] = [:]
    for seat in seats.values {
      if let number = seat.number { rates[number] = seat.rate }
    }
    return rates
  }

  /// Those that are configured and have no number yet.
  var unknown: [String] { seats.values.filter { $0.number == nil }.map(\.definition.name).sorted() }

  /// The users and groups of definitions by number, by the tenant's name, and what could not be found.
  struct Members: Sendable {
    var users: [String: Set<UInt32>] = [:]
    var groups: [String: Set<UInt32>] = [:]
    var problems: [String] = []

    /// Asks the system's databases, which may take its time.
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

/// The system's users and groups.
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

  /// The groups of a user, and the one that a process of it has at the moment.
  static func groups(of uid: UInt32, gid: UInt32) -> Set<UInt32> {
    var user = passwd()
    var buffer = [CChar](repeating: 0, count: 65_536)
    var groups = [gid_t](repeating: 0, count: 1_024)
    var count = Int32(groups.count)
    // The user's name stands in the buffer, which therefore stays for as long as it is read.
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
  func wire(reminders: Int, owed: Int) -> DaemonInterface.Tenant {
    DaemonInterface.Tenant(
      name: definition.name, reminders: reminders, reminderLimit: definition.reminders,
      requestsPerSecond: definition.requestsPerSecond, requests: taken, requestsRefused: refused,
      deliveriesPerSecond: definition.deliveriesPerSecond,
      deliveriesHere: rate.map { (Double($0.count) * 1_000_000 / Double($0.span.rawValue)).rounded() / 1_000 },
      owedDeliveries: owed)
  }
}
