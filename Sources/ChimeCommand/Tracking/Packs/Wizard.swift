import ChimeControl
import ChimeSchedule
import ChimeWords

/// The dialog of `chime init`: questions on standard error, answers from standard input.
struct Wizard {
  typealias Pack = TrackersInterface.Pack
  typealias Tracker = TrackersInterface.Tracker
  typealias Orders = [(order: PackOrder, pack: Pack)]

  private let context: Context
  private let words: TrackerWords
  private let style: Style
  private let width: Int
  private static let steps = 4
  /// The minimum number of columns for an answer.
  private static let answerRoom = 12

  init(_ context: Context) {
    self.context = context
    words = context.trackerWords
    let process = context.process
    style = Style(
      when: context.line.value("color"), isTerminal: process.errors.isTerminal, environment: process.environment)
    width = min(max(20, process.errors.width ?? 80), 80)
  }

  /// An answer: Return for the default in brackets, the word for skipping the step, or text.
  private enum Answer: Equatable {
    case usual, skip
    case text(String)
  }

  // MARK: Questions

  private func say(_ text: String, _ tone: Style.Tone = .plain, indent: Int = 0) {
    for line in TextWidth.wrap(text, to: width, indent: indent) {
      context.process.errors.line(line.allSatisfy { $0 == " " } ? "" : style(line, tone))
    }
  }

  private func step(_ number: Int, _ title: String) {
    context.process.errors.line()
    let place = style(localized("%1 of %2", String(number), String(Self.steps)), .faint)
    context.process.errors.line("\(place)  \(style(title, .strong))")
  }

  private func ask(_ question: String, usual: String?) throws -> Answer {
    let end = usual.map { "[\($0)]:" } ?? ":"
    var lines = TextWidth.wrap(question, to: width, indent: 2)
    // Keep the default and room for the answer on one line; otherwise start a new one.
    if let last = lines.last, TextWidth.of(last) + 1 + TextWidth.of(end) + Self.answerRoom <= width {
      lines[lines.count - 1] += usual == nil ? end : " " + end
    } else {
      lines.append("  " + end)
    }
    context.process.output.flush()
    context.process.errors.write(lines.joined(separator: "\n") + " ")
    context.process.errors.flush()
    guard let line = context.process.input.line(limit: 1_024) else {
      context.process.errors.line()
      throw Failure.failed(localized("input ended before the last answer; nothing was changed"))
    }
    let answer = trimmed(String(decoding: line.bytes, as: UTF8.self))
    switch answer.lowercased() {
    case "": return .usual
    case "skip", "-", "skip it", localized("skip it").lowercased(): return .skip
    default: return .text(answer)
    }
  }

  /// Asks until the answer is valid.
  ///
  /// - Parameter read: parses the answer; its failure is shown and the question repeated.
  /// - Returns: a nil value if the user takes the default or skips the step.
  private func ask<Value>(
    _ question: String, usual: String?, _ read: (String) throws -> Value
  ) throws -> (value: Value?, isSkipped: Bool) {
    while true {
      switch try ask(question, usual: usual) {
      case .usual: return (nil, false)
      case .skip: return (nil, true)
      case .text(let text):
        do {
          return (try read(text), false)
        } catch let failure as Failure {
          say(TerminalSanitizer.line(failure.message), .caution, indent: 4)
          for line in failure.detail { context.process.errors.line("  " + line) }
          for hint in failure.hints { say(TerminalSanitizer.line(hint), .faint, indent: 4) }
        }
      }
    }
  }

  // MARK: The steps

  func welcome(_ packs: [Pack]) {
    say(localized("Welcome to Chime."), .strong)
    say(
      localized(
        """
        Four short steps set up what you want to track. Return accepts the value in [brackets], skip skips a step, \
        Ctrl-C quits without a change.
        """
      ), .faint)
  }

  /// Step 1: choose packs.
  func choosePacks(_ packs: [Pack]) throws -> [Pack] {
    step(1, localized("What would you like to track?"))
    guard !packs.isEmpty else {
      say(localized("The daemon has found no packs."), .caution, indent: 2)
      return []
    }
    let names = packs.map { TextWidth.of($0.id) }.max() ?? 0
    for (index, pack) in packs.enumerated() {
      let title = TerminalSanitizer.line(words.local(pack.title))
      let text = TerminalSanitizer.line(words.local(pack.text))
      let state = pack.installedAt == nil ? "" : " " + localized("(installed)")
      let number = String(repeating: " ", count: max(0, 2 - String(index + 1).count)) + String(index + 1)
      let indent = 6 + names + 2
      let about = (text.isEmpty ? title : text) + state
      let name = style(TextWidth.pad(pack.id, to: names), pack.installedAt == nil ? .strong : .good)
      if width >= indent + 24 {
        let wrapped = TextWidth.wrap(about, to: width, indent: indent)
        context.process.errors.line("  \(number)  \(name)  \(wrapped[0].dropFirst(indent))")
        for line in wrapped.dropFirst() { context.process.errors.line(line) }
      } else {
        let bare = style(pack.id, pack.installedAt == nil ? .strong : .good)
        context.process.errors.line("  \(number)  \(bare)")
        for line in TextWidth.wrap(about, to: width, indent: 6) { context.process.errors.line(style(line, .faint)) }
      }
    }
    // A user who already has packs may only want to look.
    let isFresh = packs.allSatisfy { $0.installedAt == nil }
    let usual = isFresh ? packs[0] : nil
    let answer = try ask(
      localized("Numbers or names, separated by commas"), usual: usual?.id ?? localized("none")
    ) { text in try Self.chosen(text, among: packs) }
    if answer.isSkipped { return [] }
    return answer.value ?? usual.map { [$0] } ?? []
  }

  static func chosen(_ text: String, among packs: [Pack]) throws -> [Pack] {
    var chosen: [Pack] = []
    for word in text.split(whereSeparator: { $0 == "," || $0 == " " }).map({ $0.lowercased() }) {
      let pack: Pack
      if let number = Int(word) {
        try need(
          packs.indices.contains(number - 1),
          localized("there is no number %1: they go from 1 to %2", word, String(packs.count)))
        pack = packs[number - 1]
      } else {
        let fitting = packs.filter { $0.id.hasPrefix(word) }
        guard let found = packs.first(where: { $0.id == word }) ?? (fitting.count == 1 ? fitting[0] : nil) else {
          throw Failure.usage(
            localized("there is no pack \"%1\"", word), hint: SpellingSuggestions.question(word, among: packs.map(\.id))
          )
        }
        pack = found
      }
      if !chosen.contains(pack) { chosen.append(pack) }
    }
    return chosen
  }

  /// Steps 2 to 4, each for all packs.
  func ask(_ orders: inout Orders) throws {
    step(2, localized("How much, and when?"))
    try each(&orders) { tracker, order, pack in try askGoal(tracker, &order, pack) }
    step(3, localized("In what portions?"))
    try each(&orders) { tracker, order, pack in try askSize(tracker, &order, pack) }
    step(4, localized("Shall I remind you?"))
    try askReminders(&orders)
  }

  /// Asks about each tracker, until the user skips the step.
  private func each(
    _ orders: inout Orders, _ ask: (Tracker, inout PackOrder, Pack) throws -> Asked
  ) throws {
    var isAsked = false
    for index in orders.indices {
      for tracker in orders[index].pack.trackers {
        switch try ask(tracker, &orders[index].order, orders[index].pack) {
        case .nothing: continue
        case .asked: isAsked = true
        case .skipped: return
        }
      }
    }
    if !isAsked { say(localized("There is nothing to choose here."), .faint, indent: 2) }
  }

  /// The outcome of a question about a tracker.
  private enum Asked { case nothing, asked, skipped }

  private func askGoal(_ tracker: Tracker, _ order: inout PackOrder, _ pack: Pack) throws -> Asked {
    let title = words.title(tracker)
    switch tracker.kind {
    case .check:
      // A single check may get a name and days of its own.
      guard pack.trackers.count == 1, !tracker.hasItems else { return .nothing }
      var asked = Asked.nothing
      if order.choices.titles?[tracker.id] == nil {
        let answer = try ask(localized("What is it?"), usual: title) { $0 }
        if answer.isSkipped { return .skipped }
        if let own = answer.value { order.choices.titles = [tracker.id: own] }
        asked = .asked
      }
      if order.choices.weekdays?[tracker.id] == nil {
        let question = localized("On which days? For example mon,wed,fri or weekdays")
        let answer = try ask(question, usual: words.counting(tracker)) { try WeekdayText.parse($0, option: "days") }
        if answer.isSkipped { return .skipped }
        if let days = answer.value { order.choices.weekdays = [tracker.id: days.joined(separator: ",")] }
        asked = .asked
      }
      return asked
    case .amount:
      guard tracker.goal?.total != nil || pack.choices[tracker.id] != nil, order.choices.goals?[tracker.id] == nil
      else { return .nothing }
      return try askAmountGoal(tracker, title, &order, pack)
    case .measure: return try askMeasure(tracker, title, &order, pack)
    }
  }

  private func askAmountGoal(
    _ tracker: Tracker, _ title: String, _ order: inout PackOrder, _ pack: Pack
  ) throws -> Asked {
    let choice = pack.choices[tracker.id]
    var question =
      switch tracker.goal?.period ?? .day {
      case .day: localized("%1: how much a day?", title)
      case .week: localized("%1: how much a week?", title)
      case .month: localized("%1: how much a month?", title)
      }
    if let choice {
      question +=
        " "
        + localized(
          "From %1 to %2", words.number(choice.least, tracker), words.amount(choice.most, tracker))
      if let presets = choice.presets, !presets.isEmpty {
        let usual = presets.map { words.number($0, tracker) }.joined(separator: ", ")
        question += "; " + localized("usual are %1", usual)
      }
    }
    let usual = tracker.goal?.total.map { words.amount($0, tracker) }
    let answer = try ask(question, usual: usual ?? localized("none")) { text in
      try Self.within(choice, AmountText.value(text, option: "goal", unit: tracker.unit), tracker, words)
    }
    if answer.isSkipped { return .skipped }
    if let goal = answer.value { order.choices.goals = (order.choices.goals ?? [:]).merging([tracker.id: goal]) { $1 } }
    return .asked
  }

  /// Returns the value if it is within the offered range.
  static func within(
    _ choice: TrackersInterface.Choice?, _ value: Double, _ tracker: Tracker, _ words: TrackerWords
  ) throws -> Double {
    guard let choice else { return value }
    try need(
      value >= choice.least && value <= choice.most,
      localized(
        "give a number from %1 to %2", words.number(choice.least, tracker), words.amount(choice.most, tracker)))
    let steps = (value - choice.least) / max(choice.step, 0.000_001)
    guard choice.step <= 0 || abs(steps - steps.rounded()) < 0.000_1 else {
      let below = choice.least + steps.rounded(.down) * choice.step
      throw Failure.usage(
        localized("give a multiple of %1", words.amount(choice.step, tracker)),
        hint: localized(
          "the nearest are %1 and %2", words.amount(below, tracker), words.amount(below + choice.step, tracker)))
    }
    return value
  }

  private func askMeasure(
    _ tracker: Tracker, _ title: String, _ order: inout PackOrder, _ pack: Pack
  ) throws -> Asked {
    var asked = Asked.nothing
    var offered = (pack.milestoneSteps ?? []).filter { $0.tracker == tracker.id }.map(\.unit)
    if offered.isEmpty, tracker.unit == "kg" || tracker.unit == "lb" { offered = ["kg", "lb"] }
    // A unit cannot change once there are entries, so ask only at installation.
    if offered.count > 1, order.choices.units?[tracker.id] == nil, pack.installedAt == nil {
      let answer = try ask(
        localized("%1: in which unit? %2", title, offered.joined(separator: ", ")), usual: tracker.unit ?? offered[0]
      ) { text in
        guard let unit = offered.first(where: { $0 == text.lowercased() }) else {
          throw Failure.usage(localized("it is one of %1", offered.joined(separator: ", ")))
        }
        return unit
      }
      if answer.isSkipped { return .skipped }
      if let unit = answer.value {
        order.choices.units = (order.choices.units ?? [:]).merging([tracker.id: unit]) { $1 }
      }
      asked = .asked
    }
    let unit = order.choices.units?[tracker.id] ?? tracker.unit
    // Ask for the starting value; an installed tracker already has one.
    if pack.installedAt == nil, order.firstValues[tracker.id] == nil {
      let question =
        unit.map { localized("%1: how much is it now, in %2?", title, $0) }
        ?? localized("%1: how much is it now?", title)
      let answer = try ask(question, usual: localized("not yet")) { text in
        let value = try AmountText.value(text, option: "first", unit: unit)
        try need(value > 0, localized("give more than zero"))
        return value
      }
      if answer.isSkipped { return .skipped }
      if let value = answer.value { order.firstValues[tracker.id] = value }
      asked = .asked
    }
    guard order.choices.goals?[tracker.id] == nil else { return asked }
    let usual = goal(tracker, in: unit) ?? localized("none")
    let question =
      unit.map { localized("%1: which value would you like to reach, in %2?", title, $0) }
      ?? localized("%1: which value would you like to reach?", title)
    // The bounds are in the pack's unit; for another unit the daemon checks.
    let choice = unit == tracker.unit ? pack.choices[tracker.id] : nil
    let answer = try ask(question, usual: usual) { text in
      try Self.within(choice, AmountText.value(text, option: "goal", unit: unit), tracker, words)
    }
    if answer.isSkipped { return .skipped }
    if let goal = answer.value { order.choices.goals = (order.choices.goals ?? [:]).merging([tracker.id: goal]) { $1 } }
    return .asked
  }

  /// Returns the goal value in the chosen unit.
  private func goal(_ tracker: Tracker, in unit: String?) -> String? {
    guard let goal = tracker.goal?.value, let unit, let own = tracker.unit, unit != own else {
      return tracker.goal?.value.map { words.amount($0, tracker) }
    }
    let value = try? AmountText.value("\(TrackerWords.plain(goal)) \(own)", option: "goal", unit: unit)
    return value.map { "\(LocalizedFormat.number($0, decimals: tracker.decimals)) \(unit)" }
  }

  private func askSize(_ tracker: Tracker, _ order: inout PackOrder, _ pack: Pack) throws -> Asked {
    let title = words.title(tracker)
    let unit = order.choices.units?[tracker.id] ?? tracker.unit
    if tracker.kind == .amount {
      guard order.choices.usual?[tracker.id] == nil else { return .nothing }
      let presets = tracker.presets.map { words.number($0, tracker) }.joined(separator: ", ")
      let question = localized("%1: how much at a time?", title) + (presets.isEmpty ? "" : " \(presets)")
      let answer = try ask(question, usual: tracker.usual.map { words.amount($0, tracker) } ?? localized("none")) {
        text in
        let value = try AmountText.value(text, option: "usual", unit: unit)
        try need(value > 0, localized("give more than zero"))
        return value
      }
      if answer.isSkipped { return .skipped }
      if let usual = answer.value {
        order.choices.usual = (order.choices.usual ?? [:]).merging([tracker.id: usual]) { $1 }
      }
      return .asked
    }
    guard tracker.kind == .measure, order.choices.milestoneSteps?[tracker.id] == nil,
      let steps = pack.milestoneSteps?.first(where: { $0.tracker == tracker.id && $0.unit == unit })?.steps,
      !steps.isEmpty
    else { return .nothing }
    let list = steps.map { TrackerWords.shortest($0) }.joined(separator: ", ")
    let usual = unit == tracker.unit ? tracker.milestoneStep ?? steps[0] : steps[0]
    let answer = try ask(
      localized("%1: celebrate every how many %2: %3", title, unit ?? "", list), usual: TrackerWords.shortest(usual)
    ) { text in
      let value = try AmountText.value(text, option: "milestones", unit: unit)
      try need(steps.contains(value), localized("it is one of %1", list))
      return value
    }
    if answer.isSkipped { return .skipped }
    order.choices.milestoneSteps = (order.choices.milestoneSteps ?? [:]).merging(
      [tracker.id: answer.value ?? usual]) { $1 }
    return .asked
  }

  private func askReminders(_ orders: inout Orders) throws {
    var isAsked = false
    for index in orders.indices {
      for reminder in orders[index].pack.reminders where orders[index].order.choices.reminders?[reminder.key] == nil {
        if !isAsked {
          say(localized("yes, no, or a schedule of your own, such as every 2h from 9:00 to 21:00"), .faint, indent: 2)
        }
        isAsked = true
        // For an installed pack, the default is the current setting, not the pack's.
        let isWanted =
          orders[index].pack.installedAt == nil ? !reminder.optional : reminder.id != nil
        let own = orders[index].order.choices.titles?[reminder.tracker]
        let name = PackPage.title(reminder, orders[index].pack, words, tracker: own)
        let title = "\(name), \(TerminalSanitizer.line(reminder.when))"
        let answer = try ask(title, usual: isWanted ? localized("yes") : localized("no")) { try wish($0) }
        if answer.isSkipped { return leaveOut(&orders) }
        switch answer.value ?? (isWanted ? .yes : .no) {
        case .yes: orders[index].order.want(reminder.key, true)
        case .no: orders[index].order.want(reminder.key, false)
        case .when(let schedule):
          orders[index].order.want(reminder.key, true)
          orders[index].order.choices.when = (orders[index].order.choices.when ?? [:]).merging(
            [reminder.key: schedule]) { $1 }
        }
      }
    }
    if !isAsked { say(localized("There is nothing to choose here."), .faint, indent: 2) }
  }

  /// Skips the step: reminders that do not exist are not created, existing ones stay.
  private func leaveOut(_ orders: inout Orders) {
    for index in orders.indices {
      for reminder in orders[index].pack.reminders
      where reminder.id == nil && orders[index].order.choices.reminders?[reminder.key] == nil {
        orders[index].order.want(reminder.key, false)
      }
    }
  }

  private enum Wish { case yes, no, when(String) }

  private func wish(_ text: String) throws -> Wish {
    let lower = text.lowercased()
    func means(_ word: String) -> Bool { lower == word.lowercased() || lower == word.lowercased().prefix(1) }
    if means("yes") || means(localized("yes")) { return .yes }
    if means("no") || means(localized("no")) { return .no }
    let zone = try context.localZone()
    do {
      _ = try Schedule.parse(text, now: context.now, in: context.scheduleContext(in: zone, at: nil))
    } catch {
      // Only the daemon can check schedules that refer to the sun or to configured calendars.
      let parts = ["sun", "dawn", "dusk", "noon", "calendar", "workday", "holiday"]
      guard parts.contains(where: { lower.contains($0) }) else { throw Failure(error) }
    }
    return .when(context.written(text))
  }
}
