import ChimeSchedule

/// AtImport makes reminders of the queue of at: the time, and the command. It runs nothing.
///
/// The text is the output of `LC_ALL=C atq`, one job a line. The commands of a job may follow, each line after a tab.
/// `chime import at` adds them from `at -c`, without the environment that at stores with them.
///
///     7	Mon Mar  1 09:15:00 2027 a anna
///     	backup --all
///
/// Source: at(1) of Debian's at 3.2.5.
public enum AtImport {
  /// - Throws: ``ExchangeError`` if no line of the text is a job.
  public static func read(_ text: [UInt8], _ settings: ImportSettings) throws(ExchangeError) -> ImportPlan {
    var plan = ImportPlan()
    var job: (line: Int, job: Job, commands: [String])?
    var number = 0
    var lawful = 0
    for line in try PlainLines(text) {
      number += 1
      if line.hasPrefix("\t"), job != nil {
        job?.commands.append(String(line.dropFirst()))
        continue
      }
      if let job { try take(job.line, job.job, job.commands, settings, into: &plan) }
      job = nil
      if trimmed(line[...]).isEmpty { continue }
      guard let found = Job(line) else {
        plan.remark(number, nil, .refused, "expected a job of atq, such as \"7 Mon Mar 1 09:15:00 2027 a anna\"")
        continue
      }
      lawful += 1
      job = (number, found, [])
    }
    if let job { try take(job.line, job.job, job.commands, settings, into: &plan) }
    if lawful == 0, let first = plan.remarks.first {
      throw ExchangeError(line: first.line, "this is not a queue of at: \(first.message)")
    }
    return plan
  }

  private static func take(
    _ line: Int, _ job: Job, _ commands: [String], _ settings: ImportSettings, into plan: inout ImportPlan
  ) throws(ExchangeError) {
    let name =
      commands.lazy.map { trimmed($0[...]) }.first { !$0.isEmpty && !$0.hasPrefix("#") }
      .flatMap { DraftText.line($0, maximum: CrontabCommand.longestTitle) }
    let title = name ?? "at job \(job.number)"
    guard job.queue != "=" else {
      plan.remark(line, title, .past, "it runs at this moment")
      return
    }
    try plan.take(
      "at \(job.time)", settings, line: line, title: title, body: commands.joined(separator: "\n"))
    // The reader must know that the time of a batch job is not when it runs.
    if job.queue.isUppercase || job.queue == "b" {
      plan.remark(line, title, .note, "it is in the queue \(job.queue) of batch, which waits for an idle machine")
    }
  }

  private struct Job {
    var number: Int
    /// The date and time: `2027-03-01 09:15:00`.
    var time: String
    var queue: Character

    init?(_ line: String) {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      guard words.count >= 7, let number = Int(words[0]), number >= 0,
        EnglishNames.number(of: words[1], in: EnglishNames.weekdays) != nil,
        let month = EnglishNames.number(of: words[2], in: EnglishNames.months), let day = Int(words[3]),
        let year = Int(words[5]), let date = CivilDate(year: year, month: month, day: day),
        let time = CivilTime(String(words[4])), words[6].count == 1, let queue = words[6].first
      else { return nil }
      self.number = number
      self.time = "\(date) \(time)"
      self.queue = queue
    }
  }
}
