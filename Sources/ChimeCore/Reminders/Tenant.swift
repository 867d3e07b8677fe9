/// A Tenant is an owner that is no system user, on whose behalf a service has reminders.
///
/// Everything in a store has an owner number: for users their uid, for tenants a number from the store, which is above
/// all uids (`firstNumber`).
public struct Tenant: Hashable, Sendable {
  public var name: String
  /// The owner number of the tenant's data.
  public var number: UInt32

  public init(name: String, number: UInt32) {
    self.name = name
    self.number = number
  }

  /// The lowest tenant number. No user has a uid from here on, because kernels treat those as negative in places
  /// (systemd.io, "Users, Groups, UIDs and GIDs on systemd Systems").
  public static let firstNumber: UInt32 = 1 << 31

  /// Returns whether an owner is a tenant.
  public static func isTenant(_ owner: UInt32) -> Bool { owner >= firstNumber }

  /// Returns whether a tenant may have that name: 1–64 of `a-z 0-9 - _`, beginning with a letter or digit.
  ///
  ///     Tenant.isName("acme-eu")   // true
  public static func isName(_ text: String) -> Bool {
    func isPlain(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return (1...64).contains(text.utf8.count) && text.utf8.first.map(isPlain) == true
      && text.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }
}

/// StagingOwners are owner numbers for data that a restore prepares (`TrackingTransaction.makeStagingOwner`).
public enum StagingOwners {
  /// The lowest of them. Tenants never reach it: that would take two billion of them.
  public static let first: UInt32 = .max - 0xFFFF
}
