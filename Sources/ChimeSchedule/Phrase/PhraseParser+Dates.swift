extension PhraseParser {
  /// Whether days by month begin here: `day 1`, `last`, `first`, `15th`, `the`, or a month and a day without a year.
  var isDates: Bool {
    switch lexer.keyword {
    case .the, .last, .ordinal: return true
    case .unit(.second): return isOrdinal
    case .unit(.day): return lexer.peek()?.kind == .number
    case .month: return isYearlyDate
    default: return isYearlyDate || isOrdinal && !isDate
    }
  }

  /// Whether a day of a month without a year begins here: `nov 17`, `17 nov`, `17th nov`. A month alone counts too.
  var isYearlyDate: Bool {
    var rest: Lexer?
    if case .month = lexer.keyword {
      guard let day = lexer.ahead(1), day.token.kind == .number else { return true }
      rest = day.ahead(day.isNumeral ? 2 : 1)
      if let after = rest, after.token.kind == .sign(UInt8(ascii: ",")) { rest = after.ahead(1) }
    } else {
      guard lexer.token.kind == .number, let month = lexer.ahead(lexer.isNumeral ? 2 : 1), case .month = month.keyword
      else { return false }
      rest = month.ahead(1)
    }
    return !(rest.map(PhraseParser.isYear) ?? false)
  }

  /// Returns whether the token is a year, not a number of times or the start of another date.
  private static func isYear(_ lexer: Lexer) -> Bool {
    guard lexer.token.kind == .number, lexer.token.range.count >= 3, let next = lexer.peek() else { return false }
    return next.keyword != .times
      && !(next.kind == .sign(UInt8(ascii: "-")) && next.range.lowerBound == lexer.token.range.upperBound)
  }

  /// Whether the token is `first` … `tenth`, `last` or `15th`.
  var isOrdinal: Bool {
    switch lexer.keyword {
    case .ordinal, .last: true
    // Other forms of "second", such as "sec", are a unit of time.
    case .unit(.second): lexer.token.range.count == 6
    default: lexer.isNumeral
    }
  }

  /// Parses `dates = date-group { ( "," | "and" ) date-group }`.
  mutating func dates() throws(Fault) -> MonthDays {
    var months = [MonthSelection](repeating: MonthSelection(), count: 12)
    let start = lexer.token.range.lowerBound
    repeat { try dateGroup(into: &months) } while try continuesDates()
    let days = MonthDays(months)
    guard !days.isEmpty else { throw noSuchDay(start..<lexer.previousEnd) }
    return days
  }

  /// Skips the separator between two groups. A comma before a bound is not one.
  private mutating func continuesDates() throws(Fault) -> Bool {
    guard let after = try listSign() else { return false }
    if PhraseParser.isBound(after) { return false }
    lexer = after
    guard isDates else {
      throw misspelt(
        "is not a day of a month", expected: "a date like nov 17, or days like \"last day of month\"",
        among: Array(Keyword.monthNames.keys) + Keyword.ordinals.keys + ["day", "last"])
    }
    return true
  }

  /// Returns the lexer after a `,`, an `and` or both; `nil` if there is none.
  private func listSign() throws(Fault) -> Lexer? {
    let isComma = lexer.token.kind == .sign(UInt8(ascii: ","))
    guard isComma || lexer.keyword == .and else { return nil }
    var ahead = lexer
    try ahead.advance()
    if isComma, ahead.keyword == .and { try ahead.advance() }
    return ahead
  }

  /// Parses `date-group = month-day | month-days "of" months`.
  private mutating func dateGroup(into months: inout [MonthSelection]) throws(Fault) {
    if isYearlyDate {
      try countDate(lexer.token.range.lowerBound)
      var (month, day) = try monthAndDay()
      while true {
        months[month - 1].insert(day: day, fromEnd: false)
        // In "nov 17 and 18", a number followed by a month, a suffix or "times" is something else.
        guard let after = try listSign(), after.token.kind == .number, !PhraseParser.isBound(after),
          let next = after.ahead(after.isNumeral ? 2 : 1)?.token, !next.isMonth, after.token.range.count <= 2,
          next.keyword != .of, !(after.isNumeral && PhraseParser.isCounted(next))
        else { return }
        let number = after.token.range
        try countDate(number.lowerBound)
        lexer = after
        day = try dayNumber()
        month = try checked(month, day, number).month
      }
    }
    let selection = try monthDays()
    let start = lexer
    guard try lexer.skip(.of) else { throw missingMonth(start) }
    for month in try monthList() { months[month - 1].formUnion(selection) }
  }

  /// Returns whether an ordinal's noun follows, or its continuation: `15th day`, `3rd mon`, `2nd last`, `1st and 3rd mon`.
  private static func isCounted(_ token: Lexer.Token) -> Bool {
    switch token.keyword {
    case .unit(.day), .weekday, .weekdays, .last, .to, .and: true
    default: token.kind == .sign(UInt8(ascii: ","))
    }
  }

  /// Parses `nov 17`, `17 nov` or `17th nov`.
  mutating func monthAndDay() throws(Fault) -> (month: Int, day: Int) {
    let start = lexer.token.range.lowerBound
    if case .month(let month) = lexer.keyword {
      try lexer.advance()
      let day = try dayNumber()
      return try checked(month, day, start..<lexer.previousEnd)
    }
    let day = try dayNumber()
    guard case .month(let month) = lexer.keyword else {
      throw misspelt("is not a month", expected: "a month (jan, feb, … dec)", among: Keyword.monthNames.keys)
    }
    try lexer.advance()
    return try checked(month, day, start..<lexer.previousEnd)
  }

  private func checked(_ month: Int, _ day: Int, _ range: Range<Int>) throws(Fault) -> (month: Int, day: Int) {
    guard day <= CivilDate.daysIn(month: month, year: 2_000) else { throw noSuchDay(range) }
    return (month, day)
  }

  private func noSuchDay(_ range: Range<Int>) -> Fault {
    Fault(
      code: .neverOccurs, range: range, problem: "\(lexer.quoted(range)) never comes",
      expected: "days that these months have")
  }

  /// Counts one more number, position or month against the limit.
  private mutating func countDate(_ start: Int) throws(Fault) {
    datesRead += 1
    try need(
      datesRead <= Phrase.mostDates, .outOfRange, at: start..<start,
      "there are more than \(Phrase.mostDates) days and months", expected: "each once, and runs of them")
  }

  /// Parses a day from 1 to 31, with or without an ordinal suffix.
  mutating func dayNumber() throws(Fault) -> Int {
    let number = lexer.token
    try need(
      number.kind == .number && (1...31).contains(number.value), at: number.range,
      number.kind == .end ? "the day is missing" : "\(lexer.quoted) is not a day of a month",
      expected: "a day from 1 to 31")
    let isNumeral = lexer.isNumeral
    try lexer.advance()
    if isNumeral { try lexer.advance() }
    return Int(number.value)
  }

  /// Parses `month-days = month-item { ( "," | "and" ) month-item }`: days without their months.
  mutating func monthDays() throws(Fault) -> MonthSelection {
    var selection = MonthSelection()
    while true {
      _ = try lexer.skip(.the)
      if lexer.keyword == .unit(.day), lexer.peek()?.kind == .number {
        try dayNumbers(into: &selection)
      } else if isOrdinal {
        try ordinalDays(into: &selection)
      } else {
        throw missingOrdinal()
      }
      guard let after = try listSign(), !PhraseParser.isBound(after) else { return selection }
      let before = lexer
      lexer = after
      if isOrdinal || lexer.keyword == .the || lexer.keyword == .unit(.day) { continue }
      if case .weekday = lexer.keyword { throw missingOrdinal() }
      lexer = before
      return selection
    }
  }

  /// Returns the fault for a token in place of an ordinal.
  private func missingOrdinal() -> Fault {
    let place = lexer.token.range.lowerBound
    let expected = "\"day\" and a number, or a place like \"first mon\" or \"last day\""
    if case .weekday(let day, _) = lexer.keyword {
      return Fault(
        range: lexer.token.range, problem: "\(lexer.quoted) does not say which one of the month", expected: expected,
        repair: .init(place..<place, "first ", shown: "first \(day.abbreviation)"))
    }
    if lexer.token.kind == .number {
      return Fault(
        range: lexer.token.range, problem: "\(lexer.quoted) needs \"day\" before it", expected: expected,
        repair: .init(place..<place, "day ", shown: "day \(wordHere)"))
    }
    return misspelt(
      "is not a day of a month", expected: expected, among: Array(Keyword.ordinals.keys) + ["day", "last", "the"])
  }

  /// Parses `day` number { ( "," | "and" ) number }, with ranges: `day 1-7,15`.
  private mutating func dayNumbers(into selection: inout MonthSelection) throws(Fault) {
    try lexer.advance()
    while true {
      let start = lexer.token.range.lowerBound
      try countDate(start)
      let first = try dayNumber()
      var last = first
      if lexer.token.kind == .dots || lexer.token.kind == .sign(UInt8(ascii: "-")) || lexer.keyword == .to {
        try lexer.advance()
        last = try dayNumber()
      }
      guard first <= last else {
        throw Fault(
          range: start..<lexer.previousEnd, problem: "the run of days ends before it begins",
          expected: "the earlier day first", repair: .init(start..<lexer.previousEnd, "\(last)-\(first)")
        ).concluding()
      }
      for day in first...last { selection.insert(day: day, fromEnd: false) }
      guard let after = try listSign(), after.token.kind == .number, !after.isNumeral, !PhraseParser.isBound(after),
        let next = after.peek(), !next.isMonth
      else { return }
      lexer = after
    }
  }

  /// Parses ordinal { ( "," | "and" ) ordinal } ( "day" | "weekday" | weekday ). Ordinals alone mean days.
  private mutating func ordinalDays(into selection: inout MonthSelection) throws(Fault) {
    var places: [(place: Int, fromEnd: Bool, range: Range<Int>)] = []
    while true {
      let start = lexer.token.range.lowerBound
      let (place, fromEnd) = try monthOrdinal()
      places.append((place, fromEnd, start..<lexer.previousEnd))
      try countDate(start)
      guard let after = try listSign() else { break }
      let before = lexer
      lexer = after
      if isOrdinal, !isYearlyDate { continue }
      lexer = before
      break
    }
    let head = lexer.token
    var most = 31
    switch head.keyword {
    case .unit(.day): try lexer.advance()
    case .weekdays:
      most = MonthSelection.mostWorkdays
      try lexer.advance()
    case .weekday:
      most = 5
      try lexer.advance()
    default: break
    }
    for (place, fromEnd, range) in places {
      try need(
        place <= most, .neverOccurs, at: range,
        most == 31 ? "no month has more than 31 days" : "no month has more than \(most) of these",
        expected: "a place from 1 to \(most)")
      switch head.keyword {
      case .weekdays: selection.insert(workday: place, fromEnd: fromEnd)
      case .weekday(let day, _): selection.insert(place, day, fromEnd: fromEnd)
      default: selection.insert(day: place, fromEnd: fromEnd)
      }
    }
  }

  /// Parses `first`, `2nd`, `last`, `second last` or `3rd to last`.
  private mutating func monthOrdinal() throws(Fault) -> (place: Int, fromEnd: Bool) {
    if try lexer.skip(.last) { return (1, true) }
    let place = try ordinal()
    var ahead = lexer
    if ahead.keyword == .to { try ahead.advance() }
    guard ahead.keyword == .last else { return (place, false) }
    try ahead.advance()
    lexer = ahead
    return (place, true)
  }

  /// Parses `first` … `tenth`, or a number with its suffix.
  mutating func ordinal() throws(Fault) -> Int {
    let token = lexer.token
    if case .ordinal(let place) = token.keyword {
      try lexer.advance()
      return place
    }
    if token.keyword == .unit(.second) {
      try lexer.advance()
      return 2
    }
    try need(
      lexer.isNumeral && token.value >= 1 && token.value <= Int64(Phrase.mostSteps), at: token.range,
      "\(lexer.quoted) is not a place in an order", expected: "a place like first, 2nd or last")
    try lexer.advance()
    try lexer.advance()
    return Int(token.value)
  }

  /// Parses `months = [ "the" | "each" | "every" ] "month" | month-range { ( "," | "and" ) month-range }`.
  private mutating func monthList() throws(Fault) -> Set<Int> {
    let start = lexer
    _ = try lexer.skip(.the)
    _ = try lexer.skip(.every)
    if try lexer.skip(.months) { return Set(1...12) }
    lexer = start
    var months: Set<Int> = []
    while true {
      try countDate(lexer.token.range.lowerBound)
      let first = try month()
      var last = first
      if lexer.token.kind == .dots || lexer.token.kind == .sign(UInt8(ascii: "-")) || lexer.keyword == .to {
        try lexer.advance()
        last = try month()
      }
      for offset in 0...(last - first + 12) % 12 { months.insert((first - 1 + offset) % 12 + 1) }
      guard let after = try listSign(), after.token.isMonth else { return months }
      // "day 1 of jan, feb 3": a month with a day begins the next date.
      if let day = after.ahead(1), day.token.kind == .number, !PhraseParser.isBound(day) { return months }
      lexer = after
    }
  }

  private mutating func month() throws(Fault) -> Int {
    guard case .month(let month) = lexer.keyword else {
      throw misspelt(
        "is not a month", expected: "\"month\", or months like mar,jun",
        among: Array(Keyword.monthNames.keys) + ["month"])
    }
    try lexer.advance()
    return month
  }

  /// Returns the fault for days without their months.
  private func missingMonth(_ lexer: Lexer) -> Fault {
    let place = lexer.previousEnd
    if lexer.token.kind == .word, lexer.keyword == nil {
      return misspelt("is not allowed here", expected: "\"of month\", or \"of\" and months", among: ["of"])
    }
    if lexer.token.isMonth || lexer.keyword == .months {
      return Fault(
        range: lexer.token.range, problem: "\(lexer.quoted) needs \"of\" before it", expected: "\"of\" and months",
        repair: .init(place..<place, " of", shown: "of \(wordHere)"))
    }
    return Fault(
      range: lexer.token.range, problem: "the month of these days is missing",
      expected: "\"of month\", or \"of\" and months",
      repair: .init(
        place..<place, " of month", shown: "\(excerpt(lexer.text(0..<place), limit: 40)) of month"))
  }
}

extension Lexer.Token {
  var isMonth: Bool {
    if case .month = keyword { true } else { false }
  }
}
