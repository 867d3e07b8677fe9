import ChimeSchedule
import ChimeWords

/// Finds completion candidates in the verb table and, for items that the daemon stores, from the daemon.
///
/// Without a prompt answer from the daemon, those items are not offered.
struct Completer {
  /// The time limit for all of the daemon's answers together: the user waits for them at the keyboard.
  static let patience = Duration.milliseconds(80)

  let typed: TypedLine
  let process: CommandProcess
  let source: CompletionSource

  init(_ typed: TypedLine, process: CommandProcess) {
    self.typed = typed
    self.process = process
    source = CompletionSource(line: typed.line, process: process, deadline: .now + Self.patience)
  }

  /// Returns the candidates that match everything typed so far.
  func completion() -> Completion {
    var result = all().beginning(with: typed.current)
    if !typed.kept.isEmpty {
      for index in result.candidates.indices {
        result.candidates[index].value = typed.kept + result.candidates[index].value
      }
    }
    return result
  }

  private func all() -> Completion {
    switch typed.place {
    case .nowhere: return Completion()
    case .verb: return Completion(verbs(within: typed.line.path))
    case .option:
      return Completion(typed.openOptions.map { Candidate("--\($0.name)", localized(key: $0.summary)) })
    case .value(let option): return ArgumentKind.value(of: option).map { fill($0, isValue: true) } ?? Completion()
    case .word(let index): return words(index)
    }
  }

  private func verbs(within path: [Verb]) -> [Candidate] {
    (path.isEmpty ? typed.table.verbs : path.last?.subverbs ?? [])
      .map { Candidate($0.name, localized(key: $0.summary)) }
  }

  /// Returns the candidates for a positional argument: those of all usage lines of the verb.
  private func words(_ index: Int) -> Completion {
    guard let verb = typed.line.verb else { return Completion() }
    // `--all TRACKER` is the usage of a line with --all only.
    let usages = verb.usages.map { ArgumentKind.Usage($0, of: verb) }
    let named = usages.filter { $0.option.map { typed.line.has($0) } ?? false }
    let forms = (named.isEmpty ? usages.filter { $0.option == nil } : named).map(\.places)
    var result = Completion()
    for form in forms {
      // In `snooze [ID|TITLE] [LENGTH]`, either argument is optional.
      for (place, entry) in form.enumerated() {
        let isHere = place == index || place < index && entry.goesOn || place > index && isOptional(place, verb)
        guard isHere, agrees(form, upTo: min(place, index)),
          let slot = ArgumentKind.word(entry.name, of: typed.line.path)
        else { continue }
        // A title ends where the words of a schedule begin.
        if place < index, entry.name == "TITLE" { continue }
        let more = fill(slot, isValue: false, from: place)
        result.candidates += more.candidates
        result.files = result.files || more.files
        result.goesOn = result.goesOn || more.goesOn
      }
    }
    return result
  }

  /// Whether this argument may come first because all arguments before it are optional.
  private func isOptional(_ place: Int, _ verb: Verb) -> Bool {
    verb.name == "snooze" && place == 1
  }

  /// Whether the words so far match a usage line's literals: `crontab` before its file.
  private func agrees(_ form: [ArgumentKind.Usage.Place], upTo place: Int) -> Bool {
    zip(form.prefix(place), typed.line.words).allSatisfy { entry, word in
      !entry.name.allSatisfy { $0.isLowercase } || entry.name == word
    }
  }

  private func fill(_ slot: ArgumentKind, isValue: Bool, from place: Int = 0) -> Completion {
    switch slot {
    case .free: return Completion()
    case .words(let words):
      return Completion(words, goesOn: words.contains { $0.value.hasSuffix("=") && $0.value.hasPrefix(typed.current) })
    case .files: return Completion(files: true)
    case .verbs: return Completion(helpVerbs())
    case .reminders(let which): return Completion(reminders(which, isValue: isValue, from: place))
    case .schedule: return Completion(schedule(isValue: isValue, from: place), goesOn: isValue)
    case .zones: return Zones(environment: process.environment).completion(of: typed.current)
    case .calendarsOfTime: return Completion(months())
    case .list(let inner): return list(inner)
    case .either(let first, let second):
      var result = fill(first, isValue: isValue, from: place)
      let other = fill(second, isValue: isValue, from: place)
      result.candidates += other.candidates
      result.files = result.files || other.files
      return result
    case .packReminders: return Completion(source.packReminders(typed.line), goesOn: typed.wantsEquals)
    case .fields: return Completion(source.fields(typed.line), goesOn: true)
    case .fieldNames: return Completion(source.fields(typed.line).map { Candidate(String($0.value.dropLast())) })
    default: return Completion(source.things(slot, typed.line))
    }
  }

  /// Completes the last of several comma-separated values; earlier ones stay and are not offered again.
  private func list(_ inner: ArgumentKind) -> Completion {
    let parts = typed.current.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    let head = parts.dropLast().map { $0 + "," }.joined()
    var given = Set(parts.dropLast())
    if case .value(let option) = typed.place { given.formUnion(typed.line.list(option.name) ?? []) }
    var result = fill(inner, isValue: true)
    result.candidates = result.candidates.filter { !given.contains($0.value) }
      .map { Candidate(head + $0.value, $0.note) }
    return result
  }

  private func helpVerbs() -> [Candidate] {
    guard let name = typed.line.words.first else { return verbs(within: []) }
    guard typed.line.words.count == 1, let verb = typed.table.verbs.first(where: { $0.name == name }) else { return [] }
    return verbs(within: [verb])
  }

  // MARK: Reminders

  /// Returns reminder ids, and titles that begin with the typed text. A title of several words needs no quotes.
  private func reminders(_ which: ArgumentKind.Reminders, isValue: Bool, from place: Int) -> [Candidate] {
    let before = isValue ? [] : Array(typed.line.words.dropFirst(place))
    let head = before.map { $0 + " " }.joined()
    let said = head + typed.current
    let known = source.reminders(which, saying: said)
    var found: [Candidate] = []
    if before.isEmpty || typed.line.verb?.usages.contains(where: { $0.hasSuffix("…]") }) == true {
      found += known.map { Candidate($0.id, $0.title) }
    }
    if !said.isEmpty {
      let lowered = said.lowercased()
      found += known.filter { $0.title.lowercased().hasPrefix(lowered) }
        .map { Candidate(String($0.title.dropFirst(head.count)), $0.id) }
    }
    return found
  }

  // MARK: Schedules

  /// Returns the next word of a schedule, whether the schedule is one argument or several.
  private func schedule(isValue: Bool, from place: Int) -> [Candidate] {
    let before = isValue ? [] : Array(typed.line.words.dropFirst(place))
    // Within one argument, the text after the last space or comma is being typed.
    let cut = typed.current.lastIndex { $0 == " " || $0 == "," }.map { typed.current.index(after: $0) }
    let head = String(typed.current[..<(cut ?? typed.current.startIndex)])
    let tail = String(typed.current[(cut ?? typed.current.startIndex)...])
    let said = before.map { $0 + " " }.joined() + head
    return ScheduleCompletion.words(after: said, beginningWith: tail, now: process.now())
      .map { Candidate(head + $0.value, $0.note) }
  }

  /// Returns this month and the eleven before it.
  private func months() -> [Candidate] {
    let today = RFC3339.format(process.now(), in: .utc)
    guard var year = Int(today.prefix(4)), var month = Int(today.dropFirst(5).prefix(2)) else { return [] }
    return (0..<12).map { _ in
      defer { (year, month) = month == 1 ? (year - 1, 12) : (year, month - 1) }
      return Candidate("\(year)-\(month < 10 ? "0" : "")\(month)")
    }
  }
}

extension TypedLine {
  /// Whether the value is a key that `=` must follow.
  var wantsEquals: Bool {
    if case .value(let option) = place { return option.value?.contains("=") == true }
    return false
  }
}

/// Completes the time zones of the system.
struct Zones {
  var environment: [String: String]

  /// Offers regions first, and the zones of a region once its name is typed.
  func completion(of typed: String) -> Completion {
    let folder = environment["TZDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/usr/share/zoneinfo"
    let plain = [
      Candidate("local", localized("the machine's zone, whatever it is at that time")), Candidate("UTC"),
    ]
    guard let slash = typed.lastIndex(of: "/") else {
      let regions = Self.regions.filter { !Files.entries("\(folder)/\($0)").isEmpty }.map { Candidate($0 + "/") }
      let all = Completion(plain + regions).beginning(with: typed)
      return Completion(all.candidates, goesOn: all.candidates.contains { $0.value.hasSuffix("/") })
    }
    let region = String(typed[..<slash])
    guard Zone.isValidIdentifier(region) else { return Completion() }
    var goesOn = false
    let places = Files.entries("\(folder)/\(region)").sorted().map { name in
      let isFolder = !Files.entries("\(folder)/\(region)/\(name)").isEmpty
      goesOn = goesOn || isFolder && "\(region)/\(name)".hasPrefix(typed)
      return Candidate("\(region)/\(name)" + (isFolder ? "/" : ""))
    }
    return Completion(places, goesOn: goesOn)
  }

  private static let regions = [
    "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific", "Etc",
  ]
}
