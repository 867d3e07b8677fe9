/// When the words for times of day are that mean another time to everybody: `every morning`, `friday`, `after lunch`.
///
/// `noon` and `midnight` are not among them: they name their time themselves. What is stored says the time that a word
/// meant when it was read, so a change of these moves no schedule that there is already.
public struct WordTimes: Sendable, Hashable {
  /// What stands for a day without a time.
  public var day = at(9)
  /// Before 12:00.
  public var morning = at(8)
  /// From 12:00 to 18:59.
  public var afternoon = at(15)
  /// From 16:00 on, as are ``tonight`` from 17:00 and ``night`` from 18:00: `8 in the evening` is 20:00 whatever it is.
  public var evening = at(19)
  public var tonight = at(20)
  public var night = at(22)
  public var lunchtime = at(12)
  public var teatime = at(16)
  public var endOfDay = at(17)

  /// Those of a configuration that says nothing of them.
  public static let usual = WordTimes()

  private init() {}

  /// Each by its name, with the times that it may be at.
  ///
  /// The ranges are those in which the grammar takes a time of a clock beside the word.
  public static let all: [Named] = [
    Named("day", \.day, 0...23), Named("morning", \.morning, 0...11), Named("afternoon", \.afternoon, 12...18),
    Named("evening", \.evening, 16...23), Named("tonight", \.tonight, 17...23), Named("night", \.night, 18...23),
    Named("lunchtime", \.lunchtime, 0...23), Named("teatime", \.teatime, 0...23),
    Named("endOfDay", \.endOfDay, 0...23),
  ]

  public struct Named: Sendable {
    public let name: String
    public let time: any WritableKeyPath<WordTimes, CivilTime> & Sendable
    /// The hours in which it may be.
    public let hours: ClosedRange<Int>

    init(_ name: String, _ time: any WritableKeyPath<WordTimes, CivilTime> & Sendable, _ hours: ClosedRange<Int>) {
      self.name = name
      self.time = time
      self.hours = hours
    }
  }

  private static func at(_ hour: Int) -> CivilTime { CivilTime(unchecked: Int32(hour * 3_600)) }
}
