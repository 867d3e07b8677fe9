import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A ManifestReader reads one file of a set. It validates each key on its own, so that all faults are found at once.
struct ManifestReader {
  var faults: PackReader
  let file: Int
  let fields: ReminderFields

  typealias Change = RemindersInterface.Draft
  typealias Table = PackReader.Table

  private static let tables = ["set", "defaults", "reminder", "endpoint", "pack", "tracker"]
  /// The keys of `[defaults]`, in the order in which they are applied.
  static let shared =
    ["timezone", "latitude", "longitude", "gap", "fold", "channels", "tags", "urgency"]
    + ReminderFields.texts.filter(\.isShared).map(\.name)
    + ["catchUp", "grace", "jitter", "nag", "quiet", "wake", "stay", "snooze"]
  private static let ownTexts = ReminderFields.texts.filter { !$0.isShared }
  static let own = ["id", "title", "when", "onlyIfDone", "within", "paused"] + ownTexts.map(\.name) + link
  static let link = ["tracker", "logs", "quietWhenDone", "followsEntries", "pace"]

  mutating func read(_ root: Table, _ prototype: Reminder, into set: inout Manifest) {
    if let pack = root["pack"], pack.isTable {
      // The file of a pack is probably in the folder by mistake. Its other keys differ and would only cause more faults.
      faults.fault(
        pack, "pack",
        "makes this the file of a pack, which cannot be in a set: keep it in another folder, and name its path in "
          + "[[pack]], file",
        atKey: true)
      return
    }
    faults.allow(Self.tables, in: root, called: "a set")
    if let node = root["set"] {
      if case .string(let name) = node.value, Manifest.isName(name) {
        if let known = set.name, known != name {
          faults.fault(
            node, "set", "differs from an earlier file's, \(TOMLText.quoted(known)); all need the same one")
        }
        set.name = set.name ?? name
      } else {
        faults.expected(Manifest.nameSentence, at: node, "set")
      }
    }
    var prototype = prototype
    if let defaults = faults.table("defaults", in: root) {
      faults.allow(Self.shared, in: defaults, called: "[defaults]")
      lay(defaults, over: &prototype)
    }
    for table in faults.tables("endpoint", in: root, atMost: Manifest.mostEndpoints) where !faults.isFull {
      if let endpoint = endpoint(table) { set.endpoints.append(endpoint) }
    }
    for table in faults.tables("pack", in: root, atMost: TrackerFields.maxPacks) where !faults.isFull {
      if let pack = pack(table, prototype) { set.packs.append(pack) }
    }
    for table in faults.tables("tracker", in: root, atMost: TrackerFields.maxTrackers) where !faults.isFull {
      if let tracker = tracker(table) { set.trackers.append(tracker) }
    }
    for table in faults.tables("reminder", in: root, atMost: Manifest.mostReminders) where !faults.isFull {
      if let item = item(table, prototype) { set.reminders.append(item) }
    }
  }

  // MARK: Reminders

  private mutating func item(_ table: Table, _ prototype: Reminder) -> Manifest.Item? {
    faults.allow(Self.own + Self.shared, in: table, called: "a reminder")
    var reminder = prototype
    let id = table["id"] == nil ? nil : faults.name("id", in: table)
    let title = required("title", in: table, "its title")
    if let title { take(Change(title: title), "title", in: table, &reminder) }
    layTexts(table, over: &reminder)
    // `within` makes a reminder critical, so it is applied before an explicit urgency.
    if let node = table["within"], let change = change("within", node, in: table) {
      take(change, "within", in: table, &reminder)
    }
    let before = faults.faults.count
    lay(table, over: &reminder)
    // The schedule depends on the zone and place, so it is only read if those are valid.
    let isContextValid = faults.faults.count == before
    let when = required("when", in: table, "a schedule, such as \"weekdays at 9:00\"")
    let (pause, link) = (pause(table), link(table))
    var item = Manifest.Item(
      place: .init(file: file, table: table), id: id.map(ReminderID.init(rawValue:)), reminder: reminder,
      when: when ?? "", pause: pause, link: link, onlyIfDone: faults.string("onlyIfDone", in: table))
    if let when, isContextValid { schedule(when, in: table, of: &item) }
    // With a faulty name the item could match another reminder.
    return title == nil || table["id"] != nil && id == nil ? nil : item
  }

  /// Reads the schedule of a reminder whose other fields are read.
  mutating func schedule(_ when: String, in table: Table, of item: inout Manifest.Item) {
    let (timezone, place) = (item.reminder.timezone, item.reminder.place)
    func read(at now: Instant) -> Schedule? { try? fields.read(at: now).schedule(when, in: timezone, at: place) }
    guard let schedule = read(at: fields.now) else {
      // A date that has passed since the file was written is no fault.
      if let passed = read(at: Manifest.longAgo), passed.isOneOff, let other = read(at: Manifest.lessLongAgo),
        other == passed
      {
        (item.reminder.schedule, item.hasPassed) = (passed, true)
      } else {
        take(Change(when: when), "when", in: table, &item.reminder)
      }
      return
    }
    item.reminder.schedule = schedule
    // A one-off time relative to now would differ with each reading.
    if schedule.isOneOff, read(at: fields.now - Manifest.aWhile) != schedule, let node = table["when"] {
      faults.fault(
        node, table.key("when"),
        "counts from the moment of reading, so each apply would change it; write the time: "
          + TOMLText.quoted(schedule.canonical))
    }
  }

  /// Applies the shared keys of a table to a reminder.
  mutating func lay(_ table: Table, over reminder: inout Reminder) {
    for key in Self.shared {
      guard let node = table[key], let change = change(key, node, in: table) else { continue }
      take(change, key, in: table, &reminder)
    }
  }

  @discardableResult
  mutating func take(
    _ change: Change, _ key: String, in table: Table, _ reminder: inout Reminder
  ) -> Bool {
    let node = table[key] ?? table.node
    do {
      try fields.apply(change, to: &reminder)
      return true
    } catch ControlFailure.invalidValue(_, let message) {
      faults.fault(node, table.key(key), "was rejected: \(message)")
    } catch let error as ScheduleError {
      faults.fault(node, table.key(key), "is not a schedule: \(error.message)")
    } catch ControlFailure.invalidSchedule(let error) {
      faults.fault(node, table.key(key), "is not a schedule: \(error.message)")
    } catch {
      faults.fault(node, table.key(key), "was rejected")
    }
    return false
  }

  private mutating func change(_ key: String, _ node: TOMLNode, in table: Table) -> Change? {
    let name = table.key(key)
    switch key {
    case "timezone": return string(key, in: table).map { Change(timezone: $0) }
    case "latitude", "longitude": return place(key, in: table)
    case "gap":
      if case .string("") = node.value { return Change(reset: [.gap]) }
      return faults.choice(key, in: table, Wire.Gap.self).map { Change(gap: $0) }
    case "fold":
      if case .string("") = node.value { return Change(reset: [.fold]) }
      return faults.choice(key, in: table, Wire.Fold.self).map { Change(fold: $0) }
    case "channels": return strings(node, name, "[\"desktop\", \"team\"]").map { Change(channels: $0) }
    case "tags": return strings(node, name, "[\"health\"]").map { Change(tags: $0) }
    case "urgency":
      return faults.choice(key, in: table, RemindersInterface.Reminder.Urgency.self).map { Change(urgency: $0) }
    case "catchUp": return catchUp(node, in: table).map { Change(catchUp: $0) }
    case "grace": return span(node, name).map { Change(grace: $0) }
    case "jitter": return span(node, name).map { Change(jitter: $0) }
    case "nag": return nag(node, in: table)
    case "quiet": return quiet(node, in: table)
    case "wake": return faults.flag(key, in: table).map { Change(wake: $0) }
    case "stay": return faults.flag(key, in: table).map { Change(stay: $0) }
    case "within": return span(node, name).map { Change(within: $0) }
    case "snooze": return spans(node, name).map { Change(snooze: $0) }
    default: return ReminderFields.texts.first { $0.name == key }.flatMap { change($0, in: table) }
    }
  }

  private mutating func change(_ text: ReminderFields.Text, in table: Table) -> Change? {
    guard let value = string(text.name, in: table) else { return nil }
    var change = Change()
    change[keyPath: text.given] = value
    return change
  }

  /// Applies the texts of a table that cannot be shared.
  mutating func layTexts(_ table: Table, over reminder: inout Reminder) {
    for text in Self.ownTexts {
      if let change = change(text, in: table) { take(change, text.name, in: table, &reminder) }
    }
  }

  /// Reads both coordinates with the first key.
  private mutating func place(_ key: String, in table: Table) -> Change? {
    let other = key == "latitude" ? "longitude" : "latitude"
    guard table[other] != nil else {
      faults.fault(table[key] ?? table.node, table.key(key), "is incomplete: \(other) is missing")
      return nil
    }
    guard key == "latitude" else { return nil }
    guard let latitude = degrees("latitude", in: table), let longitude = degrees("longitude", in: table) else {
      return nil
    }
    return Change(latitude: latitude, longitude: longitude)
  }

  private mutating func degrees(_ key: String, in table: Table) -> Double? {
    switch table[key]?.value {
    case .float(let number): return number
    case .integer(let number): return Double(number)
    default:
      if let node = table[key] { faults.expected("degrees as a number, such as 50.0875", at: node, table.key(key)) }
      return nil
    }
  }

  private mutating func catchUp(_ node: TOMLNode, in table: Table) -> RemindersInterface.CatchUp? {
    guard node.isTable else {
      return faults.choice("catchUp", in: table, RemindersInterface.CatchUp.Rule.self).map {
        RemindersInterface.CatchUp(suspend: $0, downtime: $0)
      }
    }
    guard let rules = faults.table("catchUp", in: table) else { return nil }
    faults.allow(["suspend", "downtime"], in: rules, called: "catchUp")
    return RemindersInterface.CatchUp(
      suspend: faults.choice("suspend", in: rules, RemindersInterface.CatchUp.Rule.self) ?? .latest,
      downtime: faults.choice("downtime", in: rules, RemindersInterface.CatchUp.Rule.self) ?? .latest)
  }

  private mutating func nag(_ node: TOMLNode, in table: Table) -> Change? {
    if case .boolean(false) = node.value { return Change(reset: [.nag]) }
    guard let nag = faults.table("nag", in: table) else { return nil }
    faults.allow(["every", "max", "escalation"], in: nag, called: "nag")
    guard let every = nag["every"] else {
      faults.fault(node, nag.key("every"), "is missing: the interval of repeats until it is answered, such as \"5m\"")
      return nil
    }
    var steps: [RemindersInterface.Escalation] = []
    for step in faults.tables("escalation", in: nag, atMost: Nag.maxSteps) {
      faults.allow(["from", "channels"], in: step, called: "a step of escalation")
      let from = faults.number("from", in: step)
      let channels = step["channels"].flatMap { strings($0, step.key("channels"), "[\"phone\"]") }
      if step["from"] == nil || step["channels"] == nil {
        faults.fault(step.node, step.key, "needs from, the first repeat that uses them, and channels")
      }
      if let from, let channels { steps.append(.init(from: from, channels: channels)) }
    }
    guard let every = span(every, nag.key("every")) else { return nil }
    let max = faults.number("max", in: nag)
    return Change(nag: .init(every: every, max: max ?? Nag.usualMax, escalation: steps), reset: [.nag])
  }

  private mutating func quiet(_ node: TOMLNode, in table: Table) -> Change? {
    if case .boolean(false) = node.value { return Change(reset: [.quiet]) }
    guard let quiet = faults.table("quiet", in: table) else { return nil }
    faults.allow(["rule", "hours"], in: quiet, called: "quiet")
    let rule = faults.choice("rule", in: quiet, RemindersInterface.Quiet.Rule.self)
    let hours = quiet["hours"].flatMap { strings($0, quiet.key("hours"), "[\"22:00-07:00\"]") }
    return Change(quiet: .init(rule: rule, hours: hours), reset: [.quiet])
  }

  mutating func pause(_ table: Table) -> Pause? {
    guard let node = table["paused"] else { return nil }
    switch node.value {
    case .boolean(let isPaused): return isPaused ? .indefinitely : Pause.none
    case .string(let text):
      if let end = try? RFC3339.parse(text) { return end > fields.now ? .until(end) : Pause.none }
    default: break
    }
    faults.expected("true, false, or until when, such as \"2026-12-01T09:00:00+01:00\"", at: node, table.key("paused"))
    return nil
  }

  private mutating func link(_ table: Table) -> RemindersInterface.TrackerLink? {
    guard table["tracker"] != nil else {
      for key in Self.link {
        if let node = table[key] {
          faults.fault(
            node, table.key(key), "needs a tracker: tracker = \"water\"", atKey: true)
        }
      }
      return nil
    }
    var link = self.link(in: table)
    link.tracker = faults.string("tracker", in: table)
    return link
  }

  /// Reads the options of a link to a tracker.
  mutating func link(in table: Table) -> RemindersInterface.TrackerLink {
    var link = RemindersInterface.TrackerLink(
      quietWhenDone: faults.flag("quietWhenDone", in: table),
      followsEntries: faults.flag("followsEntries", in: table), pace: faults.flag("pace", in: table))
    switch table["logs"]?.value {
    case nil: break
    case .boolean(let logs): link.logs = logs
    default:
      let what = "true, false, or an amount such as \"250 ml\""
      if let (amount, unit) = faults.parsed("logs", in: table, as: what, PackAmounts.quantity) {
        (link.logs, link.amount, link.unit) = (true, amount.value(in: unit), unit.symbol)
      }
    }
    return link
  }

  // MARK: Values

  mutating func required(_ key: String, in table: Table, _ what: String) -> String? {
    guard let node = table[key] else {
      faults.fault(table.node, table.key(key), "is missing: \(what)")
      return nil
    }
    if case .string(let text) = node.value, !text.isEmpty { return text }
    faults.expected("a string that is not empty: \(what)", at: node, table.key(key))
    return nil
  }

  mutating func string(_ key: String, in table: Table) -> String? { faults.plain(key, in: table) }

  mutating func strings(_ node: TOMLNode, _ key: String, _ example: String) -> [String]? {
    var texts: [String] = []
    for child in node.children {
      guard case .string(let text) = child.value else { break }
      texts.append(text)
    }
    guard node.value == .array, texts.count == node.children.count else {
      faults.expected("an array of strings, such as \(example)", at: node, key)
      return nil
    }
    return texts
  }

  /// Returns a duration in the format of the protocol.
  private mutating func span(_ node: TOMLNode, _ key: String) -> String? {
    faults.parsed(node, key, as: "a duration, such as \"10m\"") { text in
      (try? DurationText.parse(text)).map(DurationText.formatISO8601)
    }
  }

  private mutating func spans(_ node: TOMLNode, _ key: String) -> [String]? {
    guard node.value == .array, !node.children.isEmpty else {
      faults.expected("an array of durations, such as [\"10m\", \"1h\"]", at: node, key)
      return nil
    }
    var spans: [String] = []
    for (index, child) in node.children.enumerated() {
      if let span = span(child, "\(key)[\(index + 1)]") { spans.append(span) }
    }
    return spans.count == node.children.count ? spans : nil
  }
}

extension ReminderFields {
  /// Returns the same fields at another time.
  func read(at now: Instant) -> ReminderFields {
    ReminderFields(context: context, configuration: configuration, now: now)
  }
}

extension Manifest {
  static let longAgo = Instant(seconds: 86_400)
  static let lessLongAgo = Instant(seconds: 90 * 86_400 + 4_321)
  /// The distance to an earlier reading that reveals which parts of a schedule depend on the present. The span changes
  /// the time of day, the weekday and the date.
  static let aWhile = Milliseconds.days(1_003) + .hours(7) + .minutes(13) + .seconds(11)
  static let nameSentence = "a name of 1 to 64 letters, digits, . _ or -"

  /// Returns whether a text is a valid name of a set.
  static func isName(_ text: String) -> Bool {
    ChannelName(rawValue: text).isValidForEndpoint || text == ChannelName.desktop.rawValue
  }
}
