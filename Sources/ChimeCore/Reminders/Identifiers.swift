public import ChimeSchedule

/// A ReminderID is a short, typeable name: four or more characters of an alphabet without look-alikes (`r7k2`).
///
/// It is unique in one store. Commands also take a unique prefix of it, or the reminder's title.
public struct ReminderID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a random id. Its first character is a letter, so that an id is never mistaken for a number or an option.
  ///
  /// - Parameter length: the number of characters, at least 4. Callers use a longer one if the store already has the id.
  public init(length: Int = 4, using generator: inout some RandomNumberGenerator) {
    let characters = (0..<max(4, length)).map { position in
      let alphabet = position == 0 ? Self.letters : Self.letters + Self.digits
      return alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
    }
    rawValue = String(characters)
  }

  public var description: String { rawValue }

  public static func < (left: ReminderID, right: ReminderID) -> Bool { left.rawValue < right.rawValue }

  static let letters = Array("abcdefghjkmnpqrstvwxyz")
  static let digits = Array("23456789")
}

/// An OccurrenceID is a reminder and one scheduled time, which makes the record of a firing unique.
///
/// Its text form is `r7k2@1774852200`: the reminder's id and the scheduled time in whole seconds since the epoch.
public struct OccurrenceID: Hashable, Sendable, Codable, CustomStringConvertible {
  public let reminder: ReminderID
  public let scheduledAt: Instant

  public init(reminder: ReminderID, scheduledAt: Instant) {
    self.reminder = reminder
    self.scheduledAt = scheduledAt
  }

  /// Reads the text form; nil if it is malformed.
  public init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let seconds = Int64(parts[1]),
      (0...Instant.latest.seconds).contains(seconds)
    else { return nil }
    self.init(reminder: ReminderID(rawValue: String(parts[0])), scheduledAt: Instant(seconds: seconds))
  }

  public var description: String { "\(reminder)@\(scheduledAt.seconds)" }
}

/// A DeliveryID names one message to one channel, globally unique and the same for all attempts.
///
/// A webhook's receiver recognizes duplicates by it (`webhook-id` of Standard Webhooks 1.0.0).
public struct DeliveryID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a new id: `msg_` and a ULID (48 bits of time in milliseconds, 80 random bits) in lowercase. The leading
  /// time keeps ids of one day together in a store's index.
  public init(at now: Instant, using generator: inout some RandomNumberGenerator) {
    // Two draws instead of sixteen: each may be a system call, and thousands of ids are created per second.
    let random = (generator.next(), generator.next())
    rawValue = String(unsafeUninitializedCapacity: 30) { text in
      var end = text.initialize(fromContentsOf: "msg_".utf8)
      func append(_ bits: UInt64) {
        text.initializeElement(at: end, to: Self.alphabet[Int(bits & 31)])
        end += 1
      }
      let time = UInt64(bitPattern: now.milliseconds)
      for shift in stride(from: 45, through: 0, by: -5) { append(time >> shift) }
      for bits in [random.0, random.1] {
        for shift in stride(from: 0, to: 40, by: 5) { append(bits >> shift) }
      }
      return end
    }
  }

  /// Creates the id whose characters after `msg_` encode these 128 bits.
  public init(number: UInt128) {
    rawValue = String(unsafeUninitializedCapacity: 30) { text in
      var end = text.initialize(fromContentsOf: "msg_".utf8)
      for shift in stride(from: 125, through: 0, by: -5) {
        text.initializeElement(at: end, to: Self.alphabet[Int(truncatingIfNeeded: number >> UInt128(shift)) & 31])
        end += 1
      }
      return end
    }
  }

  /// The 128 bits that the characters encode; nil for an id of another form.
  public var number: UInt128? {
    var text = rawValue
    return text.withUTF8 { text in
      guard text.count == 30, text.starts(with: "msg_".utf8) else { return nil }
      var number: UInt128 = 0
      for (place, sign) in text.dropFirst(4).enumerated() {
        let value = Self.values[Int(sign)]
        // 26 characters hold two bits more than needed.
        guard value < (place == 0 ? 8 : 32) else { return nil }
        number = number << 5 | UInt128(value)
      }
      return number
    }
  }

  public var description: String { rawValue }

  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
  /// The value of each character; 255 for invalid ones.
  private static let values = alphabet.enumerated().reduce(into: [UInt8](repeating: 255, count: 256)) {
    $0[Int($1.element)] = UInt8($1.offset)
  }
}

/// A ChannelName names a channel for messages: `desktop`, or the name of an endpoint.
public struct ChannelName: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String

  public static let desktop = ChannelName(rawValue: "desktop")

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Whether an endpoint may have the name: 1–64 of `a-z A-Z 0-9 . _ -`, beginning with a letter or digit, and not `desktop`.
  public var isValidForEndpoint: Bool {
    guard self != .desktop, (1...64).contains(rawValue.utf8.count), let first = rawValue.utf8.first else {
      return false
    }
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
    return isAlphanumeric(first)
      && rawValue.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
  }

  public var description: String { rawValue }

  public static func < (left: ChannelName, right: ChannelName) -> Bool { left.rawValue < right.rawValue }
}
