/// When a line of a crontab runs, and where in the line its command begins.
///
/// It reads what stands first in a line of crontab(5): the five fields, or a word like `@daily`. Comments, settings of
/// variables and empty lines are not its business, nor is what the command means.
///
///     let line = Array("0 9 * * mon-fri  /usr/bin/backup --all".utf8)
///     let time = try CrontabTime(line: line)
///     time.schedule.canonical                                      // "cron: 0 9 * * 1-5"
///     String(decoding: line[time.commandStart...], as: UTF8.self)  // "/usr/bin/backup --all"
///
/// Source: crontab(5) of Debian's cron 3.0pl1, whose syntax this reads, with the additions that the cron dialect has
/// (`L`, `W`, `#`, `?`). There is no field of seconds here, since a sixth field is the command.
public struct CrontabTime: Sendable, Hashable {
  /// What the fields say, as `Schedule` understands it with `cron: ` before it.
  public let schedule: Schedule
  /// Offset into the line of the first byte after the fields and the blanks that follow them: the command, or in a system
  /// crontab (`/etc/crontab`, `/etc/cron.d`) the user. It is the line's count when nothing follows.
  public let commandStart: Int

  /// Reads the beginning of a line.
  ///
  /// - Parameter line: One line, without its line feed. Spaces and tabs before the fields and between them are skipped.
  /// - Throws: ``ScheduleError``: `invalidSchedule` with the column in the line (`@reboot`, which names no time, and
  ///   unknown words too), `neverOccurs` for days that no year has (`0 0 30 2 *`). Its text and its message quote the
  ///   fields at most, never the command, which may hold what nobody else should read.
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
