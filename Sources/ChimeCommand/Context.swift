import ChimeControl
import ChimeSchedule
import ChimeWords

/// What a verb works with: its command line, the world, and how to answer.
final class Context {
  let line: ParsedLine
  let process: CommandProcess
  let style: Style
  private(set) lazy var now = process.now()
  /// The languages of the person, for texts that come in several.
  private(set) lazy var preferredLanguages = PreferredLanguages(environment: process.environment)
  /// In which language times are said besides English.
  private(set) lazy var language = SpokenLanguage(tag: preferredLanguages.first)
  private lazy var zones = ZoneFiles(environment: process.environment)
  private var connection: Daemon?

  init(line: ParsedLine, process: CommandProcess) {
    self.line = line
    self.process = process
    let when = line.value("color")
    style = Style(when: when, isTerminal: process.output.isTerminal, environment: process.environment)
  }

  /// Goes on in the same world with another line, over the same connection.
  convenience init(line: ParsedLine, after context: Context) {
    self.init(line: line, process: context.process)
    connection = context.connection
  }

  enum Format { case human, json, plain }
  var format: Format { line.has("json") ? .json : line.has("plain") ? .plain : .human }
  var isQuiet: Bool { line.has("quiet") }

  // MARK: Times

  func zone(_ name: String) throws -> Zone { try zones.zone(name) }
  func scheduleContext(in zone: Zone, at place: Place?) -> ScheduleContext {
    var scheduleContext = zones.scheduleContext(in: zone, at: place)
    scheduleContext.words = words
    scheduleContext.calendarNames = calendarNames
    return scheduleContext
  }
  /// When the words for times of day are by the daemon's configuration, once something has such a word.
  private lazy var words = DaemonWords.times(at: socket, userID: process.userID)
  /// Which calendars the daemon knows, once a line leaves out days.
  private lazy var calendarNames = DaemonWords.calendars(
    at: socket, userID: process.userID, tenant: TenantChoice.chosen(by: line, environment: process.environment))
  private var socket: SocketPath? {
    try? SocketPath.chosen(by: line, environment: process.environment, userID: process.userID)
  }
  /// A schedule as the daemon understands it, which knows no language but English.
  func written(_ schedule: String) -> String {
    guard language != nil, let zone = try? localZone() else { return schedule }
    return Schedule.written(schedule, now: now, in: scheduleContext(in: zone, at: nil).withEverything)
  }
  func localZone() throws -> Zone { try zones.zone("local") }
  /// Times in the zone of this machine; in UTC when its rules cannot be read.
  func clock() -> WallClock { WallClock(zone: (try? localZone()) ?? .utc, now: now) }

  // MARK: The daemon

  /// The daemon, connected when first needed.
  func daemon() throws -> Daemon {
    if let connection { return connection }
    let made = try connect()
    connection = made
    return made
  }

  /// A connection of its own to the daemon.
  func connect() throws -> Daemon {
    try Daemon(
      socket: .chosen(by: line, environment: process.environment, userID: process.userID), userID: process.userID,
      tenant: TenantChoice.chosen(by: line, environment: process.environment))
  }

  // MARK: Words

  /// The words as one: an id or a title needs no quotes.
  func subject(_ what: String = localized("ID or TITLE")) throws -> String {
    guard let subject = optionalSubject() else { throw Self.noSubject(what) }
    return subject
  }

  static func noSubject(_ what: String = localized("ID or TITLE")) -> Failure {
    Failure.usage(localized("which reminder? %1 is missing", what), hint: localized("`chime list` shows them"))
  }

  func optionalSubject() -> String? {
    let words = trimmed(line.words.joined(separator: " "))
    return words.isEmpty ? nil : words
  }

  /// Whether a word before a time says that it is the end: `until`.
  func isUntil(_ word: String) -> Bool {
    word.lowercased() == "until" || language == .czech && word.lowercased() == "do"
  }

  func noWords() throws {
    guard let word = line.words.first else { return }
    throw Failure.usage(
      localized("chime %1 takes no \"%2\"", line.verbName, word), hint: "`chime \(line.verbName) --help`")
  }

  // MARK: Answers

  /// For a person, outside UTF-8 locales, with the characters of a typewriter in the place of ours.
  func out(_ line: String = "") {
    process.output.line(format == .human && Glyphs(self).isASCII ? Glyphs.typed(line) : line)
  }

  /// Something to know beside the answer, on standard error.
  func note(_ text: String, _ tone: Style.Tone = .plain) {
    guard !isQuiet else { return }
    let style = Style(
      when: line.value("color"), isTerminal: process.errors.isTerminal, environment: process.environment)
    process.errors.line(style(TerminalSanitizer.line(text), tone))
  }

  func warn(_ warnings: [String]) {
    for warning in warnings { note(localized("warning: %1", localizedServerMessage(warning)), .caution) }
  }

  /// A value of the interfaces for a program.
  func json(_ value: Any?) -> JSONText { JSONText(value, preferredLanguages) }

  /// Its fields for a line of `--plain`.
  func row(_ value: some WireValue) -> [String] {
    guard case .object(let members) = json(value) else { return [] }
    return members.map { Plain.text($0.value) }
  }

  /// Values under the names of their fields, for `--plain`.
  func plain<Value: WireValue>(_ values: [Value]) {
    out(Plain.line(Value.fieldNames))
    for value in values { out(Plain.line(row(value))) }
  }

  func print(json: JSONText) { out(json.text(indented: process.output.isTerminal)) }

  func print(table: Table) {
    for line in table.lines(width: process.output.width, style: style) { out(line) }
  }

  /// What is known of one thing, a line for each that has a value; longer ones go on beneath themselves.
  func print(facts: [(name: String, value: String?)]) {
    let known = facts.filter { $0.value?.isEmpty == false }
    // As wide as the widest, which in English has ten columns.
    let names = known.reduce(10) { max($0, TextWidth.of($1.name)) }
    for (name, value) in known {
      let value = TerminalSanitizer.line(value ?? "")
      let room = process.output.width.map { $0 - names - 4 }
      let lines = room.map { $0 < 16 ? [value] : TextWidth.wrap(value, to: $0) } ?? [value]
      for (place, line) in lines.enumerated() {
        let head = style(TextWidth.pad(place == 0 ? name : "", to: names), .faint)
        out("  \(head)  \(line)")
      }
    }
  }

  /// A list in the form that was asked for.
  ///
  /// - Parameters:
  ///   - name: what the list is called, as in `Output.varlink`.
  ///   - isCut: whether there are more than were asked for.
  ///   - empty: what to tell a person when there are none.
  ///   - human: prints them for a person.
  func print<Value: WireValue>(
    _ values: [Value], named name: String, isCut: Bool = false, empty: [String], human: () -> Void
  ) {
    switch format {
    case .json:
      print(json: .object([.init(name: name, value: json(values)), .init(name: "more", value: .bool(isCut))]))
    case .plain:
      plain(values)
    case .human:
      if values.isEmpty { for line in empty { note(line) } } else { human() }
    }
    if isCut, format != .json {
      note(localized("These are the first %1; -n N or -n all shows more.", values.count), .faint)
    }
  }

  /// One thing in the form that was asked for; `human` prints it for a person unless --quiet.
  func print<Value: WireValue>(
    _ value: Value, named name: String, warnings: [String]? = nil, human: () -> Void
  ) {
    switch format {
    case .json:
      var members = [JSONText.Member(name: name, value: json(value))]
      if let warnings { members.append(JSONText.Member(name: "warnings", value: .strings(warnings))) }
      print(json: .object(members))
    case .plain:
      plain([value])
    case .human:
      if !isQuiet { human() }
    }
    if format != .json { warn(warnings ?? []) }
  }
}
