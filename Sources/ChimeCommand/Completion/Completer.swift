import ChimeControl
import ChimeSchedule
import ChimeWords

/// Finds what could stand at the cursor: out of the table of verbs and options, and, where the line names things that
/// the daemon keeps, from the daemon. Without one, or when it does not answer at once, those are simply not offered.
struct Completer {
  /// How long the daemon has for all its answers. A person waits for them with a finger on the key.
  static let patience = Duration.milliseconds(80)

  let typed: TypedLine
  let process: CommandProcess
  let source: CompletionSource

  init(_ typed: TypedLine, process: CommandProcess) {
    self.typed = typed
    self.process = process
    source = CompletionSource(line: typed.line, process: process, deadline: .now + Self.patience)
  }

  /// What fits, with all that was typed of it.
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

  /// The verb's own words: what any of its usage lines has at that place.
  private func words(_ index: Int) -> Completion {
    guard let verb = typed.line.verb else { return Completion() }
    // `--all TRACKER` is the form of a line that has --all, and of no other.
    let usages = verb.arguments.map { ArgumentKind.Usage($0, of: verb) }
    let named = usages.filter { $0.option.map { typed.line.has($0) } ?? false }
    let forms = (named.isEmpty ? usages.filter { $0.option == nil } : named).map(\.places)
    var result = Completion()
    for form in forms {
      // `snooze [ID|TITLE] [LENGTH]`: either may be left out.
      for (place, entry) in form.enumerated() {
        let isHere = place == index || place < index && entry.goesOn || place > index && isOptional(place, verb)
        guard isHere, agrees(form, upTo: min(place, index)),
          let slot = ArgumentKind.word(entry.name, of: typed.line.path)
        else { continue }
        // Once the words of a schedule have begun, a title is over.
        if place < index, entry.name == "TITLE" { continue }
        let more = fill(slot, isValue: false, from: place)
        result.candidates += more.candidates
        result.files = result.files || more.files
        result.goesOn = result.goesOn || more.goesOn
      }
    }
    return result
  }

  /// Whether all places before this one may be left out, so that it may come first.
  private func isOptional(_ place: Int, _ verb: Verb) -> Bool {
    verb.name == "snooze" && place == 1
  }

  /// Whether the words so far are those that a form prescribes: `crontab` before its file.
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

  /// Values with commas: what stands before the last comma stays, and is not offered again.
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

  /// Ids; and titles, where the beginning of one was typed. A title of several words may stand without quotes.
  private func reminders(_ which: ArgumentKind.Reminders, isValue: Bool, from place: Int) -> [Candidate] {
    let before = isValue ? [] : Array(typed.line.words.dropFirst(place))
    let head = before.map { $0 + " " }.joined()
    let said = head + typed.current
    let known = source.reminders(which, saying: said)
    var found: [Candidate] = []
    if before.isEmpty || typed.line.verb?.arguments.contains(where: { $0.hasSuffix("…]") }) == true {
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

  /// The next word of a schedule, which may stand in several words or in one.
  private func schedule(isValue: Bool, from place: Int) -> [Candidate] {
    let before = isValue ? [] : Array(typed.line.words.dropFirst(place))
    // Within the word: what stands after the last space or comma is being typed.
    let cut = typed.current.lastIndex { $0 == " " || $0 == "," }.map { typed.current.index(after: $0) }
    let head = String(typed.current[..<(cut ?? typed.current.startIndex)])
    let tail = String(typed.current[(cut ?? typed.current.startIndex)...])
    let said = before.map { $0 + " " }.joined() + head
    return ScheduleCompletion.words(after: said, beginningWith: tail, now: process.now())
      .map { Candidate(head + $0.value, $0.note) }
  }

  /// This month and the eleven before it.
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
  /// Whether the value that is typed is a key with something after it.
  var wantsEquals: Bool {
    if case .value(let option) = place { return option.value?.contains("=") == true }
    return false
  }
}

/// The time zones of the system.
struct Zones {
  var environment: [String: String]

  /// Regions first, each to be gone into; their places once a region was typed.
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
