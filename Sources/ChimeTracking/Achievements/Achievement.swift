public import ChimeSchedule

/// An AchievementID names an achievement, unique in its pack: `first_sip`.
public struct AchievementID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: AchievementID, right: AchievementID) -> Bool { left.rawValue < right.rawValue }
}

/// An Achievement is something that deserves praise, once.
public struct Achievement: Hashable, Sendable, Codable {
  public var id: AchievementID
  public var title: LocalizedText
  public var text: LocalizedText
  public var category: String?
  public var icon: String?
  /// The XP that it is worth.
  public var experience: Int
  public var criterion: Criterion

  public init(
    id: AchievementID, title: LocalizedText, text: LocalizedText, category: String? = nil, icon: String? = nil,
    experience: Int = 0, criterion: Criterion
  ) {
    self.id = id
    self.title = title
    self.text = text
    self.category = category
    self.icon = icon
    self.experience = experience
    self.criterion = criterion
  }
}

/// An AchievementProgress is the stored progress of an achievement. Unlocked achievements stay unlocked, whatever the data.
public struct AchievementProgress: Hashable, Sendable, Codable {
  public var pack: PackID
  public var achievement: AchievementID
  /// From 0 to `Criterion.target`.
  public var reached: Int
  public var unlockedAt: Instant?
  /// Whether data from before its pack's installation unlocked it, without a message.
  public var wasSilent: Bool

  public init(
    pack: PackID, achievement: AchievementID, reached: Int = 0, unlockedAt: Instant? = nil, wasSilent: Bool = false
  ) {
    self.pack = pack
    self.achievement = achievement
    self.reached = reached
    self.unlockedAt = unlockedAt
    self.wasSilent = wasSilent
  }
}
