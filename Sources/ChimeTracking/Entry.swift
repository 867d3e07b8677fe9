public import ChimeSchedule

/// An EntryID is an entry's number, set by the store and never reused.
public struct EntryID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
  public var description: String { String(rawValue) }
  public static func < (left: EntryID, right: EntryID) -> Bool { left.rawValue < right.rawValue }
}

/// An ItemID names an item of a collection, unique per tracker: lowercase letters, digits and hyphens, derived from its title.
public struct ItemID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: ItemID, right: ItemID) -> Bool { left.rawValue < right.rawValue }
}

/// An Entry records that something was done or measured.
public struct Entry: Hashable, Sendable, Codable {
  public static let longestNote = 500

  public var id: EntryID
  public var tracker: TrackerID
  public var owner: UInt32
  public var at: Instant
  /// The tracker's day, and the local time in minutes after midnight, both as of logging: a later move to another zone
  /// changes no past day.
  public var day: CivilDate
  public var minute: Int
  /// The amount or measured value; nil for a check.
  public var quantity: Quantity?
  /// Further measures, by the name of the tracker's field.
  public var fields: [String: Quantity]
  public var item: ItemID?
  /// At most `longestNote` characters.
  public var note: String?
  /// The name of a file in the state directory.
  public var photo: String?

  public init(
    id: EntryID, tracker: TrackerID, owner: UInt32, at: Instant, day: CivilDate, minute: Int,
    quantity: Quantity? = nil, fields: [String: Quantity] = [:], item: ItemID? = nil, note: String? = nil,
    photo: String? = nil
  ) {
    self.id = id
    self.tracker = tracker
    self.owner = owner
    self.at = at
    self.day = day
    self.minute = minute
    self.quantity = quantity
    self.fields = fields
    self.item = item
    self.note = note
    self.photo = photo
  }
}

/// An Item is one thing of a collection, such as a watch.
public struct Item: Hashable, Sendable, Codable {
  public var id: ItemID
  public var tracker: TrackerID
  public var owner: UInt32
  public var title: String
  /// Such as `brand` and `model`.
  public var attributes: [String: String]
  /// The day from which on it is owned; nil if unknown.
  public var since: CivilDate?
  /// The day from which on it is no longer owned; nil if it still is.
  public var until: CivilDate?
  public var note: String?
  public var photo: String?
  public var createdAt: Instant

  public init(
    id: ItemID, tracker: TrackerID, owner: UInt32, title: String, attributes: [String: String] = [:],
    since: CivilDate? = nil, until: CivilDate? = nil, note: String? = nil, photo: String? = nil, createdAt: Instant
  ) {
    self.id = id
    self.tracker = tracker
    self.owner = owner
    self.title = title
    self.attributes = attributes
    self.since = since
    self.until = until
    self.note = note
    self.photo = photo
    self.createdAt = createdAt
  }
}

extension Item {
  /// Returns how many of these days are anniversaries of the day on which it was acquired.
  public func anniversaries(among days: some Sequence<CivilDate>) -> Int { days.count { hasAnniversary(on: $0) } }
}

/// A Milestone is a memorable day, with a note and a photo.
public struct Milestone: Hashable, Sendable, Codable {
  /// Set by the store.
  public var id: Int64
  public var tracker: TrackerID
  public var owner: UInt32
  public var day: CivilDate
  public var title: String
  public var note: String?
  public var photo: String?
  /// The value that a measure crossed; nil for a user's own milestone.
  public var value: Quantity?
  public var createdAt: Instant

  public init(
    id: Int64, tracker: TrackerID, owner: UInt32, day: CivilDate, title: String, note: String? = nil,
    photo: String? = nil, value: Quantity? = nil, createdAt: Instant
  ) {
    self.id = id
    self.tracker = tracker
    self.owner = owner
    self.day = day
    self.title = title
    self.note = note
    self.photo = photo
    self.value = value
    self.createdAt = createdAt
  }
}
