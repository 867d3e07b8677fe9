/// A CrontabTime is the schedule of a line of a crontab, and the position of its command.
///
/// It parses the start of a line of crontab(5): the five fields, or a word such as `@daily`. It does not handle
/// comments, variable settings or empty lines, and does not interpret the command.
///
///     let line = Array("0 9 * * mon-fri  /usr/bin/backup --all".utf8)
///     let time = try CrontabTime(line: line)
///     time.schedule.canonical                                      // "cron: 0 9 * * 1-5"
///     String(decoding: line[time.commandStart...], as: UTF8.self)  // "/usr/bin/backup --all"
///
/// Source: crontab(5) of Debian's cron 3.0pl1, with the additions of the cron dialect (`L`, `W`, `#`, `?`). There is no
/// field of seconds, because a sixth field is the command.
public struct CrontabTime: Sendable, Hashable {
  /// The schedule of the fields, as `Schedule` parses them with `cron: ` in front.
  public let schedule: Schedule
  /// The offset of the first byte after the fields and blanks: the command, or in a system crontab (`/etc/crontab`,
  /// `/etc/cron.d`) the user. It equals the length of the line if nothing follows.
  public let commandStart: Int

  /// Parses the start of a line.
  ///
  /// - Parameter line: One line without its line feed. Spaces and tabs around the fields are skipped.
  /// - Throws: ``ScheduleError``: `invalidSchedule` with the column in the line (also for `@reboot`, which has no time,
  ///   and unknown words), `neverOccurs` for days that no year has (`0 0 30 2 *`). The error quotes at most the fields,
  ///   never the command, which may contain secrets.
  public init(line: [UInt8]) throws(ScheduleError) {
    let bytes = line.count <= Schedule.maximumLength ? line : Array(line.prefix(Schedule.maximumLength))
    var whole = CronParser(bytes, from: 0, to: bytes.count)
    whole.skipBlanks()
    let isWord = whole.byte == UInt8(ascii: "@")
    let count = whole.countOfFields()
    let end = whole.fieldEnd(whole.start(ofField: isWord ? 0 : min(max(count, 1), 5) - 1))
    var parser = CronParser(bytes, from: whole.position, to: end)
    do throws(Fault) {
      guard isWord || count >= 5 else { throw parser.wrong(count: count) }
      let rule = isWord ? try parser.shorthand() : try parser.fields(withSeconds: false)
      schedule = Schedule(.cron(rule))
    } catch {
      throw ScheduleReader.describe(error, String(decoding: bytes[..<end], as: UTF8.self), nil)
    }
    whole.position = end
    whole.skipBlanks()
    commandStart = whole.position
  }
}
