/// A line in which a title and a time stand together, without quotation marks: `call mum tomorrow at 5pm`.
///
/// The time is the longest run of words that is one schedule; the words around it are the title. Words of time that are
/// left over are never taken into the title: the line is refused then, with what it may have meant.
///
///     try ScheduleLine(["call", "mum", "tomorrow", "at", "5pm"], place: .anywhere, now: now, in: surroundings)
///     // title "call mum", text "tomorrow at 5pm"
public struct ScheduleLine: Sendable {
  public let title: String
  /// The words that are the time, as a schedule of its own; in English, whatever the language of the line.
  public let text: String
  public let schedule: Schedule

  /// Where the time stands.
  public enum Place: Sendable, Hashable {
    /// At either end, or in the middle.
    case anywhere
    /// At the beginning, after a word that belongs to it: `at`, `in`.
    case after(String)
  }

  /// Why a line was refused.
  public enum Refusal: Error, Sendable {
    case noWords
    case noTitle(time: String)
    /// Nothing in it is a time; the error is that of the words that come nearest to one, if any do. Where these can be
    /// meant in several ways, there is a line for each, as words for the same command.
    case noTime(ScheduleError?, choices: [[String]])
    /// A time was understood, and words of time beside it were not.
    case leftOver(LeftOver)
  }

  /// What was understood, what was not, and the lines that may have been meant, as words for the same command.
  public struct LeftOver: Sendable {
    public let understood: String
    public let schedule: Schedule
    public let words: String
    public let choices: [[String]]
    /// Why the two are no schedule together, where the words follow the time and are wrong in themselves: `daily at 25`.
    public let error: ScheduleError?
  }

  /// No time in the middle of a line has more words than this; one at an end may, with all its exceptions.
  private static let mostWords = 24
  /// Nor has one at an end more than this.
  private static let mostWordsAtEnd = 200
  /// Nor are more lines than this offered in place of a refused one.
  private static let mostChoices = 3

  /// - Parameter words: The words of a command line. One that has spaces in it was put in quotes: it is a piece of the
  ///   title or a whole time. A single one is a line by itself.
  public init(_ words: [String], place: Place, now: Instant, in surroundings: Surroundings) throws(Refusal) {
    let words = words.count == 1 ? words[0].split(whereSeparator: \.isWhitespace).map(String.init) : words
    let reader = Reader(words: words, place: place, now: now, surroundings: surroundings)
    guard !words.isEmpty else { throw Refusal.noWords }
    // A first word in quotes is the title wherever all others are a time.
    if place == .anywhere, words.count > 1, words[0].contains(where: \.isWhitespace) {
      let text = words.dropFirst().joined(separator: " ")
      if let whole = reader.understood(text) {
        (title, self.text, schedule) = (words[0], whole.text, reader.counting(whole))
        return
      }
    }
    guard let run = reader.longestRun() else {
      let (error, choices) = reader.nearestError()
      throw Refusal.noTime(error, choices: choices)
    }
    let before = Array(words[..<run.words.lowerBound])
    let after = Array(words[run.words.upperBound...])
    let parts = [before, after].map { ScheduleLine.title($0) }.filter { !$0.isEmpty }
    guard !parts.isEmpty else { throw Refusal.noTitle(time: run.text) }
    if let left = reader.leftOver(run, before, after) { throw Refusal.leftOver(left) }
    title = parts.joined(separator: " ")
    text = run.written
    schedule = reader.counting((run.written, run.schedule))
  }

  /// A piece of a title, without the commas, colons and dashes that part it from a time.
  private static func title(_ words: [String]) -> String {
    let dashes: Set = ["-", "–", "—"]
    let words = words.drop { dashes.contains($0) }.reversed().drop { dashes.contains($0) }.reversed()
    let signs: Set<Character> = [",", ":", ";", " ", "\t"]
    var text = Substring(words.joined(separator: " ")).drop { signs.contains($0) }
    while let last = text.last, signs.contains(last) { text = text.dropLast() }
    return String(text)
  }

  struct Run {
    var words: Range<Int>
    var text: String
    /// The same in English.
    var written: String
    var schedule: Schedule
  }

  struct Reader {
    let words: [String]
    let place: Place
    let now: Instant
    let surroundings: Surroundings

    private var timeWords: TimeWords { TimeWords(language: surroundings.language) }

    /// What a text means, without a reason where it means nothing, and without what it counts from.
    func understood(_ text: String) -> (text: String, schedule: Schedule)? {
      ScheduleReader.understood(text, anchor: Anchor(now: now, surroundings: surroundings))
    }

    /// The same with what it counts from.
    func counting(_ found: (text: String, schedule: Schedule)) -> Schedule {
      (try? Schedule.parse(found.text, now: now, in: surroundings)) ?? found.schedule
    }

    private func speaksOfTime(_ word: String) -> Bool {
      ScheduleLine.speaksOfTime(word, in: surroundings.language)
    }

    private func isJoining(_ word: String) -> Bool { SpokenWords.joining.contains(timeWords.plain(word)) }

    /// Whether a schedule may begin with a word.
    private func canBegin(_ word: String) -> Bool {
      guard let first = word.utf8.first else { return false }
      if word.contains(where: \.isWhitespace) || word.contains(":") { return true }
      return (0x30...0x39).contains(first) || !ScheduleLine.isASCIILetter(first) || speaksOfTime(word)
    }

    func parse(_ text: String) -> Result<Schedule, ScheduleError> {
      do {
        return .success(try Schedule.parse(text, now: now, in: surroundings))
      } catch {
        return .failure(error)
      }
    }

    /// The texts that a run of words may stand for.
    func forms(_ range: Range<Int>) -> [String] {
      let text = words[range].joined(separator: " ")
      guard case .after(let word) = place else { return [text] }
      // "at every day 9" says "every day 9"; "in" is a part of what follows it.
      return word == "at" ? ["at \(text)", text] : ["\(word) \(text)"]
    }

    /// - Parameter all: whether runs are tried too that have words of no time in them, which takes long.
    func longestRun(all: Bool = false) -> Run? {
      let ends = all ? [] : endsOfTimes
      for count in stride(from: min(words.count, mostWordsAtEnd), through: 1, by: -1) {
        let last = place == .anywhere ? words.count - count : 0
        // The title is mostly the first, so of two times that are as long the later one is taken.
        let starts = stride(from: last, through: 0, by: count > mostWords ? -max(last, 1) : -1)
        for start in starts where place != .anywhere || canBegin(words[start]) {
          guard all || ends[start] >= start + count else { continue }
          for form in forms(start..<start + count) {
            guard let found = understood(form) else { continue }
            return Run(
              words: start..<start + count, text: form, written: found.text, schedule: found.schedule)
          }
        }
      }
      return nil
    }

    /// Where a time that begins at a word ends at the latest: before the next word that can be in none.
    private var endsOfTimes: [Int] {
      var ends = [Int](repeating: 0, count: words.count)
      var end = words.count
      for index in words.indices.reversed() {
        if !mayBeInTime(words[index]) { end = index }
        // The names of calendars may be any words: "except holidays and vacation".
        let isOpen = SpokenWords.namesFollow.contains(timeWords.plain(words[index]))
        ends[index] = isOpen ? words.count : end
        if isOpen { end = words.count }
      }
      return ends
    }

    private func mayBeInTime(_ word: String) -> Bool {
      if speaksOfTime(word) || word.contains(where: { $0.isWhitespace || $0 == ":" || $0 == "=" || $0 == "*" }) {
        return true
      }
      guard let first = word.utf8.first, ScheduleLine.isASCIILetter(first) else { return true }
      let plain = timeWords.plain(word)
      return SpokenWords.inTimes.contains(plain) || surroundings.language?.mayBeInTime(plain) == true
    }

    /// The refusal of the words that come nearest to a time: the longest run of words of time.
    func nearestError() -> (error: ScheduleError?, choices: [[String]]) {
      var best = 0..<0
      // With the first word as the title the others may be a schedule with a word misspelt.
      if place == .anywhere, words.count > 1 {
        let rest = words.dropFirst().joined(separator: " ")
        if case .failure(let error) = parse(rest) {
          let isTitle =
            words[0].contains(where: \.isWhitespace) && words.dropFirst().contains(where: { speaksOfTime($0) })
          if error.suggestion != nil || isTitle { return (error, lines(error, 1..<words.count)) }
        }
      }
      if place == .anywhere {
        var start = 0
        while start < words.count {
          var end = start
          while end < words.count, speaksOfTime(words[end]) { end += 1 }
          if end - start > best.count, (start..<end).contains(where: { !isJoining(words[$0]) }) {
            best = start..<end
          }
          start = max(end, start + 1)
        }
      } else {
        while best.upperBound < words.count, speaksOfTime(words[best.upperBound]) {
          best = 0..<best.upperBound + 1
        }
      }
      if best.isEmpty, place != .anywhere { best = 0..<1 }
      guard !best.isEmpty, let text = forms(best).first, case .failure(let error) = parse(text) else {
        return (nil, [])
      }
      return (error, lines(error, best))
    }

    /// The line with each choice of an error in the place of some of its words.
    private func lines(_ error: ScheduleError, _ range: Range<Int>) -> [[String]] {
      error.choices.prefix(mostChoices).compactMap { choice in
        var time = choice.split(separator: " ").map(String.init)
        if case .after(let word) = place, time.first == word { time.removeFirst() }
        let line = words[..<range.lowerBound] + time + words[range.upperBound...]
        guard (try? ScheduleLine(Array(line), place: place, now: now, in: surroundings)) != nil else { return nil }
        return Array(line)
      }
    }

    /// The words of time beside a run, if there are any.
    func leftOver(_ run: Run, _ before: [String], _ after: [String]) -> LeftOver? {
      let isNumber = run.text.utf8.last.map { (0x30...0x39).contains($0) } == true
      // They are the title where there is no other.
      let isBehind = !before.isEmpty && (timeWords.areBehind(after) || timeWords.areRemains(after))
      let leading =
        isBehind
        ? after.count
        : max(
          timeWords.leading(after, afterNumber: isNumber), timeWords.stretch(after), calendarBehind(run, after))
      let trailing = max(
        timeWords.trailing(before, beforeTime: true), hourBefore(run, before), timeWords.stretch(before.reversed()),
        dangling(run, before))
      // A title of one word that speaks of time is a title: there is no other that it could stand beside.
      if place == .anywhere, after.isEmpty, before.count == 1, timeWords.misspelt(before[0]) == nil,
        Int(before[0]) == nil
      {
        return nil
      }
      var found: [Range<Int>] = []
      if trailing > 0 { found.append(before.count - trailing..<before.count) }
      let offset = run.words.upperBound
      if leading > 0 { found.append(offset..<offset + leading) }
      if found.isEmpty {
        let first = timeWords.leading(before, afterNumber: false)
        if first > 0 { found.append(0..<first) }
        let last = timeWords.trailing(after, beforeTime: false)
        if last > 0 { found.append(words.count - last..<words.count) }
      }
      if found.isEmpty { found += inTitle(run, before, after) }
      if found.isEmpty, let number = numberOfTitle(run, after) {
        let time = Run(
          words: run.words.dropLast(), text: self.words[run.words.dropLast()].joined(separator: " "),
          written: run.written, schedule: run.schedule)
        return LeftOver(
          understood: run.text, schedule: run.schedule, words: self.words[number.lowerBound],
          choices: choices(time, number), error: nil)
      }
      guard let words = found.first else { return nil }
      return LeftOver(
        understood: run.text, schedule: run.schedule, words: self.words[words].joined(separator: " "),
        choices: choices(run, words), error: error(run, words))
    }

    /// What is wrong with the words that follow a time, if that is more than that they do.
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

    /// A word further off from the time that another time may be made of.
    private func inTitle(_ run: Run, _ before: [String], _ after: [String]) -> [Range<Int>] {
      let withDays = !timeWords.namesDay(words[run.words])
      let withTimes = !timeWords.namesTime(words[run.words])
      var places: [Int] = []
      if let place = timeWords.firstInTitle(before, withDays: withDays, withTimes: withTimes) { places.append(place) }
      let offset = run.words.upperBound
      if let place = timeWords.firstInTitle(after, withDays: withDays, withTimes: withTimes) {
        places.append(offset + place)
      }
      // A title on both sides may have been cut out of a time.
      if !before.isEmpty,
        let place = after.firstIndex(where: { timeWords.countsTime($0) || isCalendar($0) || timeWords.isYear($0) })
      {
        places.append(offset + place)
      }
      return places.map { $0..<$0 + 1 }
    }

    /// Whether the name of a calendar follows days that are left out: `except may holidays`.
    private func calendarBehind(_ run: Run, _ after: [String]) -> Int {
      guard let name = after.first,
        words[run.words].contains(where: { SpokenWords.namesFollow.contains(timeWords.plain($0)) }),
        isCalendar(name)
      else { return 0 }
      return 1
    }

    private func isCalendar(_ word: String) -> Bool { ["holiday", "holidays"].contains(timeWords.plain(word)) }

    /// Whether the last word before a time lacks what belongs to it (`at`), or is a number that a number follows.
    private func dangling(_ run: Run, _ before: [String]) -> Int {
      guard let last = before.last, let first = words[run.words].first else { return 0 }
      let isCut = ["at", "@", "&", "the", "a", "an"].contains(last.lowercased())
      // "2 each days", but not "chapter 2 every day"
      let next = words[run.words].dropFirst().first.map { timeWords.plain($0) } ?? ""
      let isCounted = timeWords.isNumber(first) || next.hasSuffix("s") && SpokenWords.units.contains(next)
      return isCut || timeWords.isNumber(last) && isCounted ? 1 : 0
    }

    /// Whether the number before a time without an hour of its own may be that hour: `dentist 5 tomorrow`.
    private func hourBefore(_ run: Run, _ before: [String]) -> Int {
      guard let last = before.last, last.utf8.count <= 2, let hour = Int(last), (0...24).contains(hour),
        case .success = parse("at \(last) \(run.text)")
      else { return 0 }
      return 1
    }

    /// Whether the number at the end of a time may belong to the title behind it: `tomorrow 5 apples`.
    private func numberOfTitle(_ run: Run, _ after: [String]) -> Range<Int>? {
      guard place == .anywhere, !after.isEmpty, run.words.count > 1 else { return nil }
      let (last, previous) = (words[run.words.upperBound - 1], words[run.words.upperBound - 2].lowercased())
      let isCounted = ["at", "@", "by", "and", "to", "past", "from", "until", "till", "-"].contains(previous)
      // The year of a date is its own: "10 march 2027".
      let isYear =
        last.utf8.count == 4
        && (Keyword.monthNames[previous] != nil
          || run.words.count > 2 && Keyword.monthNames[words[run.words.upperBound - 3].lowercased()] != nil)
      guard last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !isCounted, !isYear, !previous.hasSuffix(","),
        case .success = parse(words[run.words.dropLast()].joined(separator: " "))
      else { return nil }
      return run.words.upperBound - 1..<run.words.upperBound
    }

    /// The lines that may have been meant: with the words taken into the time, or with all of the title in quotes.
    private func choices(_ run: Run, _ left: Range<Int>) -> [[String]] {
      var choices: [[String]] = []
      let time = Array(words[run.words])
      let more = words[left].map { timeWords.misspelt($0) ?? $0 }
      let rest = words.indices.filter { !run.words.contains($0) && !left.contains($0) }.map { words[$0] }
      func offer(_ time: [String], _ title: [String]) {
        guard !title.isEmpty, choices.count < mostChoices else { return }
        let line = place == .anywhere ? title + time : time + title
        if !choices.contains(line), (try? ScheduleLine(line, place: place, now: now, in: surroundings)) != nil {
          choices.append(line)
        }
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
      for joined in orders where !rest.isEmpty {
        let reader = Reader(words: joined, place: place, now: now, surroundings: surroundings)
        for form in reader.forms(0..<joined.count) {
          switch parse(form) {
          case .success:
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
      let title = words.indices.filter { !run.words.contains($0) }.map { words[$0] }.joined(separator: " ")
      if title.contains(" ") { offer(time, [title]) }
      return choices
    }
  }

  private static func isASCIILetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) || byte >= 0x80 }

  /// Whether a word may be a part of a time.
  static func speaksOfTime(_ word: String, in language: SpokenLanguage?) -> Bool {
    let lowered = word.lowercased().trimmingPrefix { $0 == "," }
    let plain = String(lowered).split { $0 == "," || $0 == "-" || $0 == "." || $0 == "!" || $0 == "/" }
    guard let first = plain.first else { return false }
    let text = language?.gloss(String(first)) ?? String(first)
    if text.utf8.contains(where: { (0x30...0x39).contains($0) }) { return true }
    return SpokenWords.alone.contains(text) || SpokenWords.joining.contains(text) || SpokenWords.units.contains(text)
      || SpokenWords.numbers[text] != nil || SpokenWords.tens[text] != nil || SpokenWords.ordinals[text] != nil
      || Keyword(ArraySlice(text.utf8)) != nil || SolarWord(ArraySlice(text.utf8)) != nil
  }
}
