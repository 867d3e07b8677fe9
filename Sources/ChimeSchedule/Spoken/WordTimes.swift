/// WordTimes are the configurable times of words that mean different times to different people: `every morning`,
/// `friday`, `after lunch`.
///
/// `noon` and `midnight` are not included, because they are exact. A stored schedule contains the time that a word
/// meant when it was parsed, so a change here moves no existing schedule.
public struct WordTimes: Sendable, Hashable {
  /// The time of a day without one.
  public var day = at(9)
  /// Before 12:00.
  public var morning = at(8)
  /// From 12:00 to 18:59.
  public var afternoon = at(15)
  /// From 16:00 on; ``tonight`` from 17:00, ``night`` from 18:00. The hour in `8 in the evening` overrides it.
  public var evening = at(19)
  public var tonight = at(20)
  public var night = at(22)
  public var lunchtime = at(12)
  public var teatime = at(16)
  public var endOfDay = at(17)

  /// The defaults, without any configuration.
  public static let usual = WordTimes()

  private init() {}

  /// All words, each with its name and its allowed hours.
  ///
  /// The ranges are those in which the grammar accepts a clock time beside the word.
  public static let all: [Named] = [
    Named("day", \.day, 0...23), Named("morning", \.morning, 0...11), Named("afternoon", \.afternoon, 12...18),
    Named("evening", \.evening, 16...23), Named("tonight", \.tonight, 17...23), Named("night", \.night, 18...23),
    Named("lunchtime", \.lunchtime, 0...23), Named("teatime", \.teatime, 0...23),
    Named("endOfDay", \.endOfDay, 0...23),
  ]

  public struct Named: Sendable {
    public let name: String
    public let time: any WritableKeyPath<WordTimes, CivilTime> & Sendable
    /// The allowed hours.
    public let hours: ClosedRange<Int>

    init(_ name: String, _ time: any WritableKeyPath<WordTimes, CivilTime> & Sendable, _ hours: ClosedRange<Int>) {
      self.name = name
      self.time = time
      self.hours = hours
    }
  }

  private static func at(_ hour: Int) -> CivilTime { CivilTime(unchecked: Int32(hour * 3_600)) }
}
