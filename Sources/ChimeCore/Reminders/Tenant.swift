/// An owner that is no user of the system: whoever a service has reminders for.
///
/// Everything in a store belongs to an owner by number. A user's is the number that the kernel knows them by; a tenant's is
/// given by the store, and is greater than any user's (`firstNumber`).
public struct Tenant: Hashable, Sendable {
  public var name: String
  /// What the tenant's things are owned by.
  public var number: UInt32

  public init(name: String, number: UInt32) {
    self.name = name
    self.number = number
  }

  /// The least number of a tenant. No user has one from here on: kernels take them for negative in places (systemd.io,
  /// "Users, Groups, UIDs and GIDs on systemd Systems").
  public static let firstNumber: UInt32 = 1 << 31

  /// Whether things of that owner are a tenant's.
  public static func isTenant(_ owner: UInt32) -> Bool { owner >= firstNumber }

  /// Whether a tenant may have that name: 1 to 64 small letters, digits, `-` and `_`, the first of which is no sign.
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

/// Numbers of owners that are nobody's, for what a restore makes ready and lays aside (`TrackingTransaction.makeStagingOwner`).
public enum StagingOwners {
  /// The least of them. No tenant comes so far: two thousand million would have to be made before.
  public static let first: UInt32 = .max - 0xFFFF
}
