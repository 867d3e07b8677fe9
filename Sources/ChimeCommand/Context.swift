import ChimeControl
import ChimeSchedule
import ChimeWords

/// The context in which a verb runs: its command line, the process, and the means to print an answer.
final class Context {
  let line: ParsedLine
  let process: CommandProcess
  let style: Style
  private(set) lazy var now = process.now()
  private(set) lazy var glyphs = Glyphs(self)
  /// The user's preferred languages, for texts that exist in several.
  private(set) lazy var preferredLanguages = PreferredLanguages(environment: process.environment)
  /// The language besides English in which the user may write times.
  private(set) lazy var language = SpokenLanguage(tag: preferredLanguages.first)
  private lazy var zones = ZoneFiles(environment: process.environment)
  private var connection: Daemon?

  init(line: ParsedLine, process: CommandProcess) {
    self.line = line
    self.process = process
    let when = line.value("color")
    style = Style(when: when, isTerminal: process.output.isTerminal, environment: process.environment)
  }

  /// Continues in the same process with another command line, over the same connection.
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
  /// The configured times of words such as `morning`; asked from the daemon when a schedule first uses one.
  private lazy var words = DaemonWords.times(at: socket, userID: process.userID)
  /// The calendars that the daemon knows; asked when a schedule first leaves out days.
  private lazy var calendarNames = DaemonWords.calendars(
    at: socket, userID: process.userID, tenant: TenantChoice.chosen(by: line, environment: process.environment))
  private var socket: SocketPath? {
    try? SocketPath.chosen(by: line, environment: process.environment, userID: process.userID)
  }
  /// Returns the schedule in English, the only language that the daemon parses.
  func written(_ schedule: String) -> String {
    guard language != nil, let zone = try? localZone() else { return schedule }
    return Schedule.written(schedule, now: now, in: scheduleContext(in: zone, at: nil).withEverything)
  }
  func localZone() throws -> Zone { try zones.zone("local") }
  /// Returns a clock in this machine's time zone, or in UTC if the zone's rules cannot be read.
  func clock() -> WallClock { WallClock(zone: (try? localZone()) ?? .utc, now: now) }

  // MARK: The daemon

  /// Returns the connection to the daemon, which the first call opens.
  func daemon() throws -> Daemon {
    if let connection { return connection }
    let made = try connect()
    connection = made
    return made
  }

  /// Opens another connection to the daemon.
  func connect() throws -> Daemon {
    try Daemon(
      socket: .chosen(by: line, environment: process.environment, userID: process.userID), userID: process.userID,
      tenant: TenantChoice.chosen(by: line, environment: process.environment))
  }

  // MARK: Words

  /// Returns the words of the line joined into one: an id or a title needs no quotes.
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

  /// Whether a word before a time marks it as an end: `until`, or `do` in Czech.
  func isUntil(_ word: String) -> Bool {
    word.lowercased() == "until" || language == .czech && word.lowercased() == "do"
  }

  func noWords() throws {
    guard let word = line.words.first else { return }
    throw Failure.usage(
      localized("chime %1 takes no \"%2\"", line.verbName, word), hint: "`chime \(line.verbName) --help`")
  }

  // MARK: Answers

  /// Prints a line; outside UTF-8 locales, human output replaces symbols by ASCII.
  func out(_ line: String = "") {
    process.output.line(format == .human && glyphs.isASCII ? Glyphs.typed(line) : line)
  }

  /// Prints a remark on standard error, apart from the answer.
  func note(_ text: String, _ tone: Style.Tone = .plain) {
    guard !isQuiet else { return }
    let style = Style(
      when: line.value("color"), isTerminal: process.errors.isTerminal, environment: process.environment)
    process.errors.line(style(TerminalSanitizer.line(text), tone))
  }

  func warn(_ warnings: [String]) {
    for warning in warnings { note(localized("warning: %1", localizedServerMessage(warning)), .caution) }
  }

  /// Converts an interface value into JSON output.
  func json(_ value: Any?) -> JSONText { JSONText(value, preferredLanguages) }

  /// Returns the values of the fields for a line of `--plain`.
  func row(_ value: some WireValue) -> [String] {
    guard case .object(let members) = json(value) else { return [] }
    return members.map { Plain.text($0.value) }
  }

  /// Prints a header of field names and a row for each value, for `--plain`.
  func plain<Value: WireValue>(_ values: [Value]) {
    out(Plain.line(Value.fieldNames))
    for value in values { out(Plain.line(row(value))) }
  }

  /// Prints an object with these members, each of which `json(_:)` converts, and others before and after them.
  func print(
    json members: KeyValuePairs<String, Any?>, before: [JSONText.Member] = [], after: [JSONText.Member] = []
  ) {
    print(json: .object(before + members.map { JSONText.Member(name: $0.key, value: json($0.value)) } + after))
  }

  func print(json: JSONText) { out(json.text(indented: process.output.isTerminal)) }

  /// Prints the name or id of one thing, and its title.
  func print(heading name: String, _ title: String) {
    out("\(style(TerminalSanitizer.line(name), .strong))  \(TerminalSanitizer.line(title))")
  }

  func print(table: Table) {
    for line in table.lines(width: process.output.width, style: style) { out(line) }
  }

  /// Prints the facts of one item, a line for each that has a value; long values wrap under themselves.
  func print(facts: [(name: String, value: String?)]) {
    let known = facts.filter { $0.value?.isEmpty == false }
    // The column is as wide as the widest name: ten columns in English.
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

  /// Prints a list in the requested format.
  ///
  /// - Parameters:
  ///   - name: the list's field name in `Output.varlink`.
  ///   - isCut: whether there are more than the requested number.
  ///   - empty: what to tell a person when the list is empty.
  ///   - human: prints the values for a person.
  func print<Value: WireValue>(
    _ values: [Value], named name: String, isCut: Bool = false, empty: [String], human: () -> Void
  ) {
    switch format {
    case .json: print(json: [name: values, "more": isCut])
    case .plain:
      plain(values)
    case .human:
      if values.isEmpty { for line in empty { note(line) } } else { human() }
    }
    if isCut, format != .json {
      note(localized("These are the first %1; -n N or -n all shows more.", values.count), .faint)
    }
  }

  /// Prints one value in the requested format; `human` prints it for a person unless --quiet.
  func print<Value: WireValue>(
    _ value: Value, named name: String, warnings: [String]? = nil, human: () -> Void
  ) {
    switch format {
    case .json:
      print(json: [name: value], after: warnings.map { [.init(name: "warnings", value: .strings($0))] } ?? [])
    case .plain:
      plain([value])
    case .human:
      if !isQuiet { human() }
    }
    if format != .json { warn(warnings ?? []) }
  }
}
