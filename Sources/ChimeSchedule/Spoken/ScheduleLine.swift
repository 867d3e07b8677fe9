/// A ScheduleLine is a line with a title and a time, without quotation marks: `call mum tomorrow at 5pm`.
///
/// The time is the longest run of words that forms one schedule; the other words are the title. Leftover words of time
/// never become part of the title: the line is refused, with suggestions.
///
///     try ScheduleLine(["call", "mum", "tomorrow", "at", "5pm"], place: .anywhere, now: now, in: scheduleContext)
///     // title "call mum", text "tomorrow at 5pm"
public struct ScheduleLine: Sendable {
  public let title: String
  /// The words of the time, as a schedule of its own. They are in English, whatever the language of the line.
  public let text: String
  public let schedule: Schedule

  /// The position of the time in the line.
  public enum Place: Sendable, Hashable {
    /// At either end, or in the middle.
    case anywhere
    /// At the start, after a word that belongs to it: `at`, `in`.
    case after(String)
  }

  /// A Refusal says why a line was refused.
  public enum Refusal: Error, Sendable {
    case noWords
    case noTitle(time: String)
    /// No words form a time. The error is that of the words that come closest, if there are any. If these are
    /// ambiguous, the choices are complete lines, as words for the same command.
    case noTime(ScheduleError?, choices: [[String]])
    /// A time was parsed, but words of time beside it are left over.
    case leftOver(LeftOver)
  }

  /// A LeftOver holds the parsed time, the leftover words, and possible lines, as words for the same command.
  public struct LeftOver: Sendable {
    public let understood: String
    public let schedule: Schedule
    public let words: String
    public let choices: [[String]]
    /// Why time and words together are not a schedule, if the words follow the time and are wrong themselves: `daily at 25`.
    public let error: ScheduleError?
  }

  /// The most words of a time in the middle of a line. A time at an end may be longer, with all its exceptions.
  private static let mostWords = 24
  /// The most words of a time at an end of the line.
  private static let mostWordsAtEnd = 200
  /// The most lines to suggest in place of a refused one.
  private static let mostChoices = 3

  /// - Parameter words: The words of a command line. A word with spaces was quoted: it is a piece of the title or a
  ///   whole time. A single word is a line by itself.
  public init(_ words: [String], place: Place, now: Instant, in scheduleContext: ScheduleContext) throws(Refusal) {
    let words = words.count == 1 ? words[0].split(whereSeparator: \.isWhitespace).map(String.init) : words
    let reader = Reader(words: words, place: place, now: now, scheduleContext: scheduleContext)
    guard !words.isEmpty else { throw Refusal.noWords }
    // A quoted first word is the title if all other words are a time.
    if place == .anywhere, words.count > 1, words[0].contains(where: \.isWhitespace) {
      let text = words.dropFirst().joined(separator: " ")
      if let whole = reader.understood(text) {
        (title, self.text, schedule) = (words[0], whole.text, reader.counting(whole))
        return
      }
    }
    if place == .anywhere, let chain = reader.chain() {
      guard !chain.title.isEmpty else { throw Refusal.noTitle(time: chain.text) }
      (title, text, schedule) = (ScheduleLine.withoutRequest(chain.title), chain.text, chain.schedule)
      return
    }
    guard let run = reader.bestRun() else {
      let (error, choices) = reader.nearestError()
      throw Refusal.noTime(error, choices: choices)
    }
    if let error = reader.ambiguity(of: run) { throw Refusal.noTime(error, choices: []) }
    let before = Array(words[..<run.words.lowerBound])
    let after = Array(words[run.words.upperBound...])
    let parts = [before, after].map { ScheduleLine.title($0) }.filter { !$0.isEmpty }
    guard !parts.isEmpty else { throw Refusal.noTitle(time: run.text) }
    if let left = reader.leftOver(run) { throw Refusal.leftOver(left) }
    title = ScheduleLine.withoutRequest(parts.joined(separator: " "))
    text = run.written
    schedule = reader.counting((run.written, run.schedule))
  }

  /// The phrases that people say before the task itself: `remind me to call mum`.
  private static let requests = ["remind me", "please remind me", "připomeň mi", "připomeňte mi"]

  private static func withoutRequest(_ title: String) -> String {
    // Most titles begin with another letter.
    guard let first = title.utf8.first, [UInt8(ascii: "r"), UInt8(ascii: "p")].contains(first | 0x20) else {
      return title
    }
    let words = title.split(separator: " ")
    for request in requests {
      var count = request.split(separator: " ").count
      guard words.count > count, words[..<count].joined(separator: " ").lowercased() == request else { continue }
      if ["to", "about", "that", "of"].contains(words[count].lowercased()) { count += 1 }
      return words.count > count ? words[count...].joined(separator: " ") : title
    }
    return title
  }

  /// Returns a piece of a title without the commas, colons and dashes that separate it from a time.
  private static func title(_ words: [String]) -> String {
    func isDash(_ word: String) -> Bool { word == "-" || word == "–" || word == "—" }
    guard let first = words.firstIndex(where: { !isDash($0) }), let last = words.lastIndex(where: { !isDash($0) })
    else { return "" }
    func isSign(_ byte: UInt8) -> Bool { [0x2C, 0x3A, 0x3B, 0x20, 0x09].contains(byte) }
    let text = words[first...last].joined(separator: " ")
    guard let start = text.utf8.firstIndex(where: { !isSign($0) }),
      let end = text.utf8.lastIndex(where: { !isSign($0) })
    else { return "" }
    return String(text[start...end])
  }

  struct Run {
    var words: Range<Int>
    var text: String
    /// The text in English.
    var written: String
    var schedule: Schedule
  }

  struct Reader {
    let words: [String]
    let place: Place
    let now: Instant
    let scheduleContext: ScheduleContext
    /// The possible roles of each word in a time.
    let line: [LineWord]

    init(words: [String], place: Place, now: Instant, scheduleContext: ScheduleContext) {
      self.words = words
      self.place = place
      self.now = now
      self.scheduleContext = scheduleContext
      context = ParseContext(now: now, scheduleContext: scheduleContext)
      line = words.map { LineWord($0, language: scheduleContext.language) }
    }

    private let context: ParseContext

    /// Parses a text. It composes no error, and does not set ``Schedule/countsFrom``.
    func understood(_ text: String) -> (text: String, schedule: Schedule)? {
      ScheduleReader.understood(text, context: context)
    }

    /// Returns the schedule with ``Schedule/countsFrom`` set.
    func counting(_ found: (text: String, schedule: Schedule)) -> Schedule {
      var schedule = found.schedule
      if ScheduleReader.countsFromNow(found.text, schedule, context) { schedule.countsFrom = now }
      return schedule
    }

    func parse(_ text: String) -> Result<Schedule, ScheduleError> {
      do {
        return .success(try Schedule.parse(text, now: now, in: scheduleContext))
      } catch {
        return .failure(error)
      }
    }

    /// The possible prefixes of the words of a run.
    private var heads: [String] {
      guard case .after(let word) = place else { return [""] }
      // "at every day 9" means "every day 9"; "in" belongs to what follows it.
      return word == "at" ? ["at ", ""] : [word + " "]
    }

    /// Returns the possible texts of a run of words.
    func forms(_ range: Range<Int>) -> [String] {
      let text = words[range].joined(separator: " ")
      return heads.map { $0 + text }
    }

    // MARK: The time

    /// Returns a title followed by a chain. The name of the other reminder, whatever its words mean, extends to the end
    /// of the line.
    func chain() -> (title: String, text: String, schedule: Schedule)? {
      for (index, word) in words.enumerated() where ["after", "po"].contains(word.lowercased()) {
        // Include the longest possible delay before it.
        for start in max(0, index - Reader.mostWordsOfDelay)...index {
          guard let found = understood(words[start...].joined(separator: " ")), found.schedule.chain != nil else {
            continue
          }
          return (ScheduleLine.title(Array(words[..<start])), found.text, found.schedule)
        }
      }
      return nil
    }

    private static let mostWordsOfDelay = 6

    /// Returns the longest run of words that forms one schedule. Of two equally long ones it takes the later, because
    /// the title usually comes first.
    func longestRun(takingFirst: Bool = false) -> Run? {
      let ends = endsOfTimes
      var best: Run?
      for start in place == .anywhere ? words.indices : 0..<min(1, words.count)
      where place != .anywhere || line[start].has([.first, .feast]) && !isBareHour(start) {
        for head in heads {
          // A run of equal length with another prefix is the same time.
          let least = best.map { $0.words.count + (takingFirst || $0.words.lowerBound == start ? 1 : 0) } ?? 1
          guard let run = longestRun(from: start, to: ends[start], head, least: least) else { continue }
          // "buy christmas presents" names no day of a reminder; "christmas eve 5pm" does.
          guard place != .anywhere || line[start].has(.first) || saysHour(run.words) else { continue }
          best = run
        }
      }
      return best
    }

    /// Returns the longest run, or an equally long one that leaves no words of time: "24.12. 17:00 Christmas dinner".
    func bestRun() -> Run? {
      guard let run = longestRun() else { return nil }
      guard run.words.lowerBound > 0, wordsOfTime(beside: run) != nil, let other = longestRun(takingFirst: true),
        other.words.lowerBound < run.words.lowerBound, wordsOfTime(beside: other) == nil
      else { return run }
      return other
    }

    /// Returns whether a number within a line may belong to the title: "Windows 11 tonight".
    private func isBareHour(_ start: Int) -> Bool {
      guard start > 0, start + 1 < line.count else { return false }
      let (word, next) = (line[start], line[start + 1])
      // "Mother's day before friday"
      if word.plain == "day", next.plain == "before" { return true }
      if word.isHourAndMinute { return true }
      let isWord = word.has(.number) && word.plain.utf8.first.map { $0 > 0x39 } == true
      guard isWord || word.has(.digits) && word.text == word.plain else { return false }
      return ["tonight", "tonite", "this", "in", "at"].contains(next.text) || isWord && next.has(.number)
    }

    /// Returns the longest run from a word on. No run that continues past the point where parsing stopped can succeed.
    private func longestRun(from start: Int, to limit: Int, _ head: String, least: Int) -> Run? {
      var text = head
      var lengths: [Int] = []
      for word in words[start..<min(limit, start + mostWordsAtEnd)] {
        if !lengths.isEmpty { text += " " }
        text += word
        lengths.append(text.utf8.count)
      }
      var count = lengths.count
      while count >= least {
        let isWhole = count <= mostWords || start == 0 || start + count == words.count
        guard isWhole, !line[start + count - 1].has(.open) else {
          count -= 1
          continue
        }
        // "tomorrow, call Bob"
        let hasComma = start == 0 && start + count < words.count && words[start + count - 1].utf8.last == 0x2C
        let length = lengths[count - 1] - (hasComma ? 1 : 0)
        let form = length == text.utf8.count ? text : String(decoding: text.utf8.prefix(length), as: UTF8.self)
        let (found, stop) = ScheduleReader.attempt(form, context: context)
        if let found {
          return Run(
            words: start..<start + count, text: form, written: found.text, schedule: found.schedule)
        }
        count = min(count - 1, stop.flatMap { stop in lengths.firstIndex { $0 + 1 >= stop } }.map { $0 + 1 } ?? count)
      }
      return nil
    }

    /// The latest end of a time that begins at each word: before the next word that cannot be part of a time.
    private var endsOfTimes: [Int] {
      var ends = [Int](repeating: 0, count: line.count)
      var (end, endOfNames) = (line.count, line.count)
      for index in line.indices.reversed() {
        // Names of calendars may be any words, each after a word that asks for one: "except holidays and vacation".
        let before = index > 0 ? line[index - 1] : nil
        let mayBeName =
          before.map { $0.has([.naming, .joining, .sign]) || $0.plain == "during" || $0.text.utf8.last == 0x2C } == true
        let isWithin = line[index].has(.within)
        if !isWithin { end = index }
        if !isWithin, !mayBeName { endOfNames = index }
        if line[index].has(.naming) { end = endOfNames }
        ends[index] = end
      }
      return ends
    }

    /// Returns the error of the words that come closest to a time: the longest run of words of time.
    func nearestError() -> (error: ScheduleError?, choices: [[String]]) {
      var best = 0..<0
      // A quoted argument that begins like a schedule is the wrong part.
      if place == .anywhere, let quoted = line.indices.dropFirst().last(where: { line[$0].has(.quoted) }),
        case .failure(let error) = parse(words[quoted]), error.code != .invalidSchedule || error.column ?? 1 > 1
      {
        return (error, lines(error, quoted..<quoted + 1))
      }
      // With the first word as the title, the others may be a schedule with a misspelled word.
      if place == .anywhere, words.count > 1 {
        let rest = words.dropFirst().joined(separator: " ")
        if case .failure(let error) = parse(rest) {
          let isTitle = line[0].has(.quoted) && line.dropFirst().contains { $0.speaks }
          if error.suggestion != nil || isTitle { return (error, lines(error, 1..<words.count)) }
        }
      }
      if place == .anywhere {
        var (start, bestRank) = (0, 0)
        while start < line.count {
          var end = start
          while end < line.count, line[end].speaks { end += 1 }
          // Prefer the run with a word of time: "Close the coop at sunset".
          let rank = (end - start) + (line[start..<end].contains { $0.has(.time) } ? line.count : 0)
          if rank > bestRank, line[start..<end].contains(where: { !$0.has(.joining) }) {
            (best, bestRank) = (start..<end, rank)
          }
          start = max(end, start + 1)
        }
      } else {
        best = 0..<line.prefix { $0.speaks }.count
      }
      if best.isEmpty, place != .anywhere { best = 0..<1 }
      guard !best.isEmpty, let text = forms(best).first, case .failure(let error) = parse(text) else {
        return (nil, [])
      }
      return (error, lines(error, best))
    }

    /// Returns the error if the one word before a run cannot be a title. With it the time is ambiguous ("next tuesday
    /// at 9"), and the line has no other words.
    func ambiguity(of run: Run) -> ScheduleError? {
      guard run.words == 1..<words.count, line[0].speaks, !line[0].has(.quoted),
        case .failure(let error) = parse(words.joined(separator: " ")), error.choices.count > 1
      else { return nil }
      return error
    }

    /// Returns the line for each choice of an error, put in place of the words in the range.
    private func lines(_ error: ScheduleError, _ range: Range<Int>) -> [[String]] {
      ([error.suggestion].compactMap { $0 } + error.choices).prefix(mostChoices).compactMap { choice in
        var time = choice.split(separator: " ").map(String.init)
        if case .after(let word) = place, time.first == word { time.removeFirst() }
        let line = words[..<range.lowerBound] + time + words[range.upperBound...]
        return isLine(Array(line)) ? Array(line) : nil
      }
    }

    /// Returns whether some words are a line with a title and a time. It does not look for suggestions, which would
    /// lead to endless recursion.
    private func isLine(_ words: [String]) -> Bool {
      let reader = Reader(words: words, place: place, now: now, scheduleContext: scheduleContext)
      if place == .anywhere, words.count > 1, words[0].contains(where: \.isWhitespace),
        reader.understood(words.dropFirst().joined(separator: " ")) != nil
      {
        return true
      }
      guard let run = reader.bestRun() else { return false }
      let titles = [words[..<run.words.lowerBound], words[run.words.upperBound...]].map {
        ScheduleLine.title(Array($0))
      }
      return titles.contains { !$0.isEmpty } && reader.wordsOfTime(beside: run) == nil
    }

    // MARK: The title

    /// Returns the words of time beside a run, if there are any.
    func leftOver(_ run: Run) -> LeftOver? {
      guard let words = wordsOfTime(beside: run) else { return nil }
      let isNumber = words.upperBound == run.words.upperBound
      let time =
        isNumber
        ? Run(
          words: run.words.dropLast(), text: self.words[run.words.dropLast()].joined(separator: " "),
          written: run.written, schedule: run.schedule) : run
      return LeftOver(
        understood: run.text, schedule: run.schedule, words: self.words[words].joined(separator: " "),
        choices: choices(time, words), error: isNumber ? nil : error(run, words))
    }

    /// Returns what is wrong with the words after a time, if it is more than their position.
    private func error(_ run: Run, _ left: Range<Int>) -> ScheduleError? {
      guard left.lowerBound == run.words.upperBound, let first = run.text.split(separator: " ").first else {
        return nil
      }
      let head = words[run.words].first == String(first) ? [] : [String(first)]
      let text = (head + words[run.words.lowerBound..<left.upperBound]).joined(separator: " ")
      guard case .failure(let error) = parse(text) else { return nil }
      let isVague = ["does not belong", "as part of the time", "what stands before it"].contains {
        error.message.contains($0)
      }
      return isVague ? nil : error
    }

    /// Returns the possible lines: with the words added to the time, or with the whole title in quotes.
    private func choices(_ run: Run, _ left: Range<Int>) -> [[String]] {
      var choices: [[String]] = []
      let time = Array(words[run.words])
      let more = line[left].map { SpokenWords.perhapsDays[$0.text] ?? $0.misspelt ?? $0.text }
      let rest = words.indices.filter { !run.words.contains($0) && !left.contains($0) }.map { words[$0] }
      func offer(_ time: [String], _ title: [String]) {
        guard !title.isEmpty, choices.count < mostChoices else { return }
        let line = place == .anywhere ? title + time : time + title
        if !choices.contains(line), isLine(line) { choices.append(line) }
      }
      let isBefore = left.upperBound <= run.words.lowerBound
      var orders = [time + more, more + time, time + ["and"] + more]
      if isBefore { orders.swapAt(0, 1) }
      if more.count == 1, let last = more.last, last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
        orders = [time + ["at"] + more, ["at"] + more + time]
        // "9 30"
        if last.utf8.count == 2, time.last?.utf8.allSatisfy({ (0x30...0x39).contains($0) }) == true {
          orders.insert(time.dropLast() + ["\(time.last ?? ""):\(last)"], at: 0)
        }
      }
      if left.count == 1, line[left.lowerBound].has(.number), !line[left.lowerBound].has(.digits) {
        orders.append(["at"] + more + time)
      }
      for joined in orders where !rest.isEmpty {
        let reader = Reader(words: joined, place: place, now: now, scheduleContext: scheduleContext)
        for form in reader.forms(0..<joined.count) {
          switch parse(form) {
          case .success(let schedule):
            // "at midnight and Midnight" adds nothing.
            if joined == time + ["and"] + more, schedule == run.schedule { continue }
            offer(joined, rest)
          case .failure(let error):
            for choice in error.choices {
              var words = choice.split(separator: " ").map(String.init)
              if case .after(let word) = place, words.first == word { words.removeFirst() }
              offer(words, rest)
            }
          }
        }
        if !choices.isEmpty { break }
      }
      // If the title is on both sides of the time, quoting it would join words that were not typed together.
      let isSplit = run.words.lowerBound > 0 && run.words.upperBound < words.count
      let title = (words[..<run.words.lowerBound] + words[run.words.upperBound...]).joined(separator: " ")
      if !isSplit, title.contains(" ") { offer(time, [title]) }
      return choices
    }
  }
}
