/// This part finds words of time in the rest of a line: beside the time, at the ends of the line, and within the title.
extension ScheduleLine.Reader {
  typealias Run = ScheduleLine.Run

  /// Returns the words of time that would end up in the title; `nil` if all other words are the title.
  func wordsOfTime(beside run: Run) -> Range<Int>? {
    let (before, after) = (0..<run.words.lowerBound, run.words.upperBound..<line.count)
    // "1984 tomorrow" names no task.
    if line.indices.allSatisfy({ run.words.contains($0) || line[$0].has(.digits) }) {
      return before.isEmpty ? after : before
    }
    if let day = [before.last, after.first].compactMap({ $0 }).first(where: { mayBeDay($0, beside: run) }) {
      return day..<day + 1
    }
    // A title of one word is a title even if it means time: no other title is left.
    if place == .anywhere, after.isEmpty, before.count == 1, line[0].misspelt == nil { return nil }
    return lastWords(before, of: run) ?? firstWords(after, of: run) ?? firstOfLine(before, run) ?? lastOfLine(
      after, run)
      ?? wordWithin(run, before, after).map { $0..<$0 + (feast(from: $0) ?? 1) } ?? numberOfTitle(run, after)
      ?? oftenOfTitle(run, after)
  }

  private func isNumber(_ text: String) -> Bool { text.utf8.last.map { (0x30...0x39).contains($0) } == true }

  private func word(_ index: Int, in range: Range<Int>) -> LineWord? { range.contains(index) ? line[index] : nil }

  /// Returns whether a time names no day.
  private func isDayless(_ run: Run) -> Bool { !line[run.words].contains { $0.namesDay } }

  /// Returns whether a time is one day of the month without its month: `on the 3rd`.
  private func isDayOfMonth(_ run: Run) -> Bool {
    guard case .phrase(let phrase) = run.schedule.rule, phrase.isOneOff else { return false }
    let words = line[run.words]
    return words.contains { $0.has(.ordinal) } && !words.contains { $0.has(.month) || $0.has(.unit) }
  }

  /// Returns whether a word beside a time without a day may name the day: `dentist tom at 9`. Capitalized, it is a name.
  private func mayBeDay(_ index: Int, beside run: Run) -> Bool {
    SpokenWords.perhapsDays[line[index].text] != nil && isDayless(run)
  }

  /// Returns the number of words of the feast that begins here.
  private func feast(from index: Int) -> Int? {
    guard line[index].has(.feast) else { return nil }
    return (1...min(4, line.count - index)).last { count in
      let name = line[index..<index + count].map(\.plain).joined(separator: " ")
      return SpokenWords.feasts[name.replacing("’", with: "'")] != nil
    }
  }

  /// Returns whether a month is a person's name or another word: it is capitalized, has no number beside it, and the
  /// time has its day.
  private func isName(_ index: Int, beside run: Run) -> Bool {
    let word = line[index]
    guard word.has(.alsoName), word.text != word.plain, case .phrase(let phrase) = run.schedule.rule,
      phrase.isOneOff, !isDayless(run)
    else { return false }
    let neighbours = [index - 1, index + 1].filter { line.indices.contains($0) && !run.words.contains($0) }
    return neighbours.allSatisfy { !line[$0].has(.number) && ($0 > index || !line[$0].has(.changing)) }
  }

  // MARK: Beside the time

  /// Returns the words of time right before the time.
  private func lastWords(_ before: Range<Int>, of run: Run) -> Range<Int>? {
    guard let last = before.last, !line[last].has(.quoted), let first = run.words.first else { return nil }
    if isForSome(before, of: run) { return nil }
    if let found = stretch(before, beside: run, fromEnd: true), isTime(found) || count(found, .number) > 1 {
      return found
    }
    let word = line[last]
    // "in at 9" and the "in" of "weigh in tomorrow" are not words of time; "before 9" is.
    let isIn =
      word.plain == "in" && self.word(last - 1, in: before).map { SpokenWords.withIn.contains($0.plain) } == true
    let isChanging =
      word.has(.changing) && !(word.has(.opening) && (line[first].has(.opening) || isIn && line[first].has(.alone)))
    // "first thing tomorrow"
    if last > before.lowerBound, SpokenWords.vague.contains([line[last - 1].plain, word.plain]) {
      return last - 1..<last + 1
    }
    // "$5 a week on tuesday"
    if line[first].plain == "a", word.text.utf8.contains(where: { (0x30...0x39).contains($0) }) {
      return last..<last + 1
    }
    if word.has(.cut) || isChanging { return stretch(before, beside: run, fromEnd: true) ?? last..<last + 1 }
    guard word.has(.number) else { return nil }
    // "2 each days", but not "chapter 2 every day"
    let isCounted = line[first].has(.number) || self.word(first + 1, in: run.words)?.isPluralUnit == true
    // "chapter 7 tomorrow"
    let isNamed = self.word(last - 1, in: before)?.has(.numbered) == true
    return isCounted || !isNamed && isHour(word, before: run) ? last..<last + 1 : nil
  }

  /// Returns whether a title ends with a number of people and the time has its hour: `table for 4 at 19:00`.
  private func isForSome(_ before: Range<Int>, of run: Run) -> Bool {
    guard before.count > 2, let last = before.last, line[last].has(.number) else { return false }
    return line[last - 1].plain == "for" && saysHour(run.words)
  }

  /// Returns whether the number before a time without an hour may be the hour: `dentist 5 tomorrow`.
  private func isHour(_ word: LineWord, before run: Run) -> Bool {
    let figures = word.text.utf8.count <= 2 ? Int(word.text) : nil
    let isHour = (figures ?? SpokenWords.numbers[word.plain]).map { (0...24).contains($0) } == true
    // "dentist 1630 tomorrow"; most numbers that are names are not round times.
    guard isHour || word.isHourAndMinute && word.text.hasSuffix("0") else { return false }
    return understood("at \(word.text) \(run.text)") != nil
  }

  /// Returns the words of time right after the time.
  private func firstWords(_ after: Range<Int>, of run: Run) -> Range<Int>? {
    guard let first = after.first, !line[first].has(.quoted) else { return nil }
    let isTitled = run.words.lowerBound > 0
    // They are the title if there is no other.
    if isTitled, after.count <= 3, line[after].allSatisfy({ $0.has(.behind) }) { return after }
    let found = stretch(after, beside: run, fromEnd: false)
    if let found {
      if isTitled, found == after { return after }
      if isTime(found) || count(found, .number) > 1 { return trimmed(found) }
      // A number after a number may be its minutes, or another time. A unit makes it a duration.
      if isNumber(run.text) {
        if line[first].has(.unit), !line[first].has(.joining) { return trimmed(found) }
        if let number = found.prefix(2).first(where: { line[$0].has(.number) }), isNumber(line[number].plain) {
          return first..<number + 1
        }
      }
    }
    // The name of a calendar after excluded days: "except may holidays".
    if line[run.words].contains(where: { $0.has(.naming) }), isCalendar(first) { return first..<first + 1 }
    return nil
  }

  private func isCalendar(_ index: Int) -> Bool {
    let names = scheduleContext.calendarNames()
    return names.contains(line[index].text) || names.contains(line[index].plain)
  }

  /// Returns the words at one end of a range that may belong to a time.
  private func stretch(_ range: Range<Int>, beside run: Run, fromEnd: Bool) -> Range<Int>? {
    func isPart(_ index: Int) -> Bool {
      // "the Sunday Times"
      let isCounted = !line[index].has(.counting) || word(index - 1, in: range)?.has(.number) == true
      return line[index].has(.stretch) && isCounted && !isName(index, beside: run)
    }
    let count = fromEnd ? range.reversed().prefix(while: isPart).count : range.prefix(while: isPart).count
    guard count > 0 else { return nil }
    return fromEnd ? range.upperBound - count..<range.upperBound : range.lowerBound..<range.lowerBound + count
  }

  /// Returns the range without words at its end that join it to the title.
  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    var range = range
    while range.count > 1, line[range.upperBound - 1].has(.open) { range = range.dropLast() }
    return range
  }

  private func count(_ range: Range<Int>, _ kinds: LineWord.Kinds) -> Int { line[range].count { $0.has(kinds) } }

  /// Returns whether words beside a time form a time themselves: `next monday`, `at 5`, `1 day`, `on the 2nd`.
  private func isTime(_ range: Range<Int>) -> Bool {
    range.contains { index in
      let word = line[index]
      if word.has([.alone, .clock, .date, .ordinal]) { return true }
      let before = self.word(index - 1, in: range)
      // "2 days kk from now at 18:15"
      if word.plain == "now", before?.plain == "from" { return true }
      if word.has(.unit), !word.has(.number), before?.has([.number, .one]) == true { return true }
      return word.has(.number) && before?.has([.hours, .lengths]) == true
    }
  }

  // MARK: At the ends of the line

  /// Returns the words of time at the start of the line.
  private func firstOfLine(_ before: Range<Int>, _ run: Run) -> Range<Int>? {
    guard let found = stretch(before, beside: run, fromEnd: false), saysTime(found) else { return nil }
    return trimmed(found)
  }

  /// Returns the words of time at the end of the line.
  private func lastOfLine(_ after: Range<Int>, _ run: Run) -> Range<Int>? {
    guard let found = stretch(after, beside: run, fromEnd: true),
      saysTime(found) || line[found.upperBound - 1].has(.ordinal)
    else {
      return nil
    }
    return found
  }

  /// Returns whether words away from the time form one. `5 minutes` and `2nd` do not, because a title may have them.
  private func saysTime(_ range: Range<Int>) -> Bool {
    range.contains { index in
      let word = line[index]
      if word.has([.clock, .date]) { return true }
      let before = self.word(index - 1, in: range)
      if word.has(.unit) {
        guard before?.has([.number, .one]) == true else { return word.has(.alone) && before == nil }
        let isCounted = before?.has(.number) == true
        return isCounted ? self.word(index - 2, in: range)?.has(.lengths) == true : before?.has(.changing) == true
      }
      return word.has(.alone) || word.has(.number) && before?.has(.hours) == true
    }
  }

  // MARK: Within the title

  /// Returns the first word of a title that cannot be there by chance: it forms a time or a day alone or with its
  /// neighbors, such as `17:30`, `every`, the month of `6 may`.
  private func wordWithin(_ run: Run, _ before: Range<Int>, _ after: Range<Int>) -> Int? {
    // Any day counts if the time names none, and any named time of day if it has none.
    let isDayless = isDayless(run)
    let isTimeless = !saysHour(run.words)
    let isDayOfMonth = isDayOfMonth(run)
    for range in [before, after] {
      let found = range.first {
        // Without its "every", "pay rent every month on the 3rd" is not one time.
        isDayOfMonth && SpokenWords.monthWords.contains(line[$0].plain) && !line[$0].has(.quoted)
          || saysTime($0, in: range, isDayless, isTimeless)
      }
      if let found { return found }
    }
    guard let last = after.last else { return nil }
    // The year of a date may be separated from it: "march 20 Zyx 2027".
    let lacksYear = line[run.words].contains { $0.has(.month) } && !line[run.words].contains { $0.has(.year) }
    return after.first { index in
      // With a title on both sides, the word may have been cut out of a time.
      if line[index].has(.year), lacksYear ? index < after.lowerBound + 3 : !before.isEmpty { return true }
      guard !before.isEmpty, !line[index].has(.quoted) else { return false }
      let isUnit = line[index].has(.unit)
      return line[index].has(.alone) && !isUnit || isUnit && (isCounted(index, in: after) || index == last)
        || isCalendar(index)
    }
  }

  /// Returns whether a unit has a number before it, with words between: `one more day`.
  private func isCounted(_ index: Int, in range: Range<Int>) -> Bool {
    (index - 3..<index).contains { place in
      guard let word = word(place, in: range) else { return false }
      return !word.has(.quoted) && word.has([.number, .one])
    }
  }

  /// Returns whether a word of a title means a time: `17:30`, `24.12.`, `every`, `tomorrow`.
  private func saysTime(_ index: Int, in range: Range<Int>, _ isDayless: Bool, _ isTimeless: Bool) -> Bool {
    let word = line[index]
    guard !word.has(.quoted) else { return false }
    if word.has([.clock, .date, .every, .asking, .near]) { return true }
    // "new year's day parade at noon" does not mean today.
    if place == .anywhere, isDayless, word.has(.perhapsDate) || feast(from: index) != nil { return true }
    if isTimeless, word.has(.named) { return true }
    // "1730 friday" begins with an hour in the form of at(1).
    if isTimeless, index == 0, range.count == 1, word.isHourAndMinute { return true }
    let (before, after) = (self.word(index - 1, in: range), self.word(index + 1, in: range))
    if word.has(.number) {
      if before?.has(.hours) == true || after?.has(.half) == true { return true }
      if before?.plain == "in", !word.has(.year) { return true }
      if word.has(.ordinal), after?.plain == "of" { return true }
      if after?.plain == "past" { return true }
      // In "at Zyx 9", the number may be the hour if the time has none.
      if isTimeless, word.isHour, self.word(index - 2, in: range)?.has(.hours) == true { return true }
    }
    if word.has(.unit) {
      if after?.plain == "from", isCounted(index, in: range) { return true }
      if word.plain == "day", after?.has(.behind) == true { return true }
      if word.has(.one), after?.plain == "past" { return true }
      // "in 1 apple day"
      let length = (index - 4..<index).first { self.word($0, in: range)?.has(.lengths) == true }
      if let length, (length + 1..<index).contains(where: { line[$0].has([.number, .one]) }) { return true }
    }
    if word.has(.often) {
      return isDayless || before?.has(.bounding) == true || after?.has(.bounding) == true
    }
    if word.has(.month) { return isDayless || before?.has(.number) == true || after?.has(.number) == true }
    guard word.has(.weekday) else { return false }
    let isListed =
      after?.has([.weekday, .sign]) == true || after.map { $0.has(.bounding) || $0.plain == "and" } == true
    return isDayless || word.has(.weekdays) || isListed
  }

  /// Returns whether a time has a time of day.
  func saysHour(_ range: Range<Int>) -> Bool {
    if case .after("at") = place, line[range].first?.has(.number) == true { return true }
    return range.contains { index in
      if line[index].has([.clock, .named, .half]) { return true }
      return line[index].has(.number) && word(index - 1, in: range)?.has(.hours) == true
    }
  }

  /// Returns the word for how often at the end of a time that already says so, because it may belong to the title after
  /// it: `every monday at 9, weekly plan`.
  private func oftenOfTitle(_ run: Run, _ after: Range<Int>) -> Range<Int>? {
    guard !after.isEmpty, run.words.count > 1, let last = run.words.last, line[last].has(.often) else { return nil }
    let rest = words[run.words.dropLast()].joined(separator: " ")
    let text = rest.hasSuffix(",") ? String(rest.dropLast()) : rest
    return understood(text)?.schedule == run.schedule ? last..<last + 1 : nil
  }

  /// Returns the number at the end of a time if it may belong to the title after it: `tomorrow 5 apples`.
  private func numberOfTitle(_ run: Run, _ after: Range<Int>) -> Range<Int>? {
    guard !after.isEmpty, run.words.count > 1, let last = run.words.last, line[last].has(.digits),
      line[last].text.utf8.count == line[last].plain.utf8.count
    else { return nil }
    let previous = line[last - 1]
    let isCounted = previous.has(.hours) || ["and", "to", "from", "-", "–", "&", "till"].contains(previous.plain)
    // The day and the year of a date belong to the date: "10 march 2027", "starting dec 1".
    let isOfDate =
      previous.has(.month) || line[last].has(.year) && line[run.words].suffix(3).contains { $0.has(.month) }
    guard !isCounted, !isOfDate, !previous.text.hasSuffix(",") else { return nil }
    // "tomorrow 9 Water the plants" means nine o'clock after "at".
    if place != .anywhere, !line[run.words.upperBound].isPlural { return nil }
    let rest = run.words.dropLast()
    guard forms(rest).contains(where: { understood($0) != nil }) else { return nil }
    return last..<last + 1
  }
}
