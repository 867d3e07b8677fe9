import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeExchange

/// Compares the reader and the writer with PyPI's `icalendar` and `dateutil`, on files in the style of other programs
/// and on ours.
///
/// One process answers all questions of a test. `CHIME_PYTHON` names a Python with the libraries; the default is
/// `.venv/bin/python3` in the checkout. Without one the tests fail, unless `CHIME_SKIP_PEERS` is set.
@Suite struct ICalendarPeerTests {
  static let corpus = ["apple", "google", "nextcloud", "outlook", "thunderbird", "torn"]

  static func bytes(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: Package.folder).appending(path: "Tests/ChimeExchangeTests/Corpus")
    return Array(try Data(contentsOf: folder.appending(path: "\(name).ics")))
  }

  // MARK: Reading

  /// A component as both sides report it: its name, its lines, and the values of some of them.
  private struct Component: Codable, Equatable {
    var name: String
    var lines: [[String]]
    var values: [[String]]
  }

  @Test func foreignFilesAreReadLikeByThePeer() throws {
    let files = try Self.corpus.map { String(decoding: try Self.unfolded($0), as: UTF8.self) }
    guard let theirs: [[Component]] = try ask(Self.reader, files) else { return }
    for (name, theirs) in zip(Self.corpus, theirs) {
      let file = try CalendarFile(Self.bytes(name))
      #expect(file.faultyLines.isEmpty)
      let ours = file.calendars.flatMap(Self.walk)
      #expect(ours.count == theirs.count, "\(name)")
      for (ours, theirs) in zip(ours, theirs) { #expect(ours == theirs, "\(name)") }
    }
  }

  /// Returns a file without folds: Python unfolds after decoding, so it could not read a character split by a fold.
  private static func unfolded(_ name: String) throws -> [UInt8] {
    var reader = LineReader(try bytes(name))
    var text: [UInt8] = []
    while let (line, _) = reader.next() { text += line + [0x0D, 0x0A] }
    return text
  }

  private static func walk(_ component: CalendarComponent) -> [Component] {
    let lines = component.properties.map { line in
      [line.name] + line.parameters.map { "\($0.name)=\($0.values.joined(separator: ","))" }.sorted() + [line.text]
    }
    var values: [[String]] = []
    for line in component.properties {
      switch line.name {
      case "SUMMARY", "DESCRIPTION", "LOCATION": values.append([line.name, line.text])
      case "CATEGORIES": values.append([line.name] + CalendarText.list(line.value))
      case "DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "DTSTAMP", "COMPLETED":
        values.append([line.name, CalendarTime(line).map(described) ?? "?"])
      case "EXDATE", "RDATE":
        let times = line.value.split(separator: ",").map { CalendarTime($0.prefix { $0 != "/" }).map(described) ?? "?" }
        values.append([line.name] + times)
      case "TRIGGER", "DURATION":
        if let duration = CalendarDuration(line.value) {
          values.append([line.name, "\(duration.days * 86_400 + duration.seconds)"])
        } else {
          values.append([line.name, CalendarTime(line.value).map(described) ?? "?"])
        }
      default: break
      }
    }
    return [Component(name: component.name, lines: lines, values: values.sorted { $0.joined() < $1.joined() })]
      + component.components.flatMap(walk)
  }

  private static func described(_ time: CalendarTime) -> String {
    let date = digits(time.year, 4) + digits(time.month, 2) + digits(time.day, 2)
    if time.isDate { return date }
    let clock = digits(time.time.hour, 2) + digits(time.time.minute, 2) + digits(time.time.second, 2)
    return date + "T" + clock + (time.form == .utc ? "Z" : "")
  }

  private static let reader = """
    import datetime, icalendar, json, sys
    from icalendar.parser import Contentlines
    def described(value):
        if isinstance(value, tuple): value = value[0]
        if isinstance(value, datetime.timedelta): return str(int(value.total_seconds()))
        if not isinstance(value, datetime.datetime): return value.strftime("%Y%m%d").rjust(8, "0")
        zulu = value.tzinfo is not None and str(value.tzinfo) == "UTC"
        return value.strftime("%Y%m%dT%H%M%S") + ("Z" if zulu else "")
    def values(component):
        found = []
        for name, value in component.property_items(recursive=False, sorted=False):
            if name in ("SUMMARY", "DESCRIPTION", "LOCATION"): found.append([name, str(value)])
            elif name == "CATEGORIES": found.append([name] + [str(each) for each in value.cats])
            elif name in ("EXDATE", "RDATE"): found.append([name] + [described(each.dt) for each in value.dts])
            elif name in ("DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "DTSTAMP", "COMPLETED", "TRIGGER", "DURATION"):
                found.append([name, described(value.dt)])
        return sorted(found, key=lambda each: "".join(each).encode())
    answer = []
    for text in json.load(open(sys.argv[1])):
        components, open_ones = [], []
        for line in Contentlines.from_ical(text):
            if not line: continue
            name, parameters, value = line.parts()
            if name.upper() == "BEGIN":
                components.append({"name": value, "lines": []}); open_ones.append(components[-1])
            elif name.upper() == "END": open_ones.pop()
            else:
                listed = [f"{key}={','.join(each) if isinstance(each, list) else each}" for key, each in parameters.items()]
                open_ones[-1]["lines"].append([name.upper()] + sorted(listed, key=str.encode) + [value])
        walked = [each for calendar in icalendar.Calendar.from_ical(text, multiple=True) for each in calendar.walk()]
        assert [each.name for each in walked] == [each["name"] for each in components]
        for each, component in zip(walked, components): component["values"] = values(each)
        answer.append(components)
    json.dump(answer, sys.stdout)
    """

  // MARK: Zones

  private struct ZoneQuestion: Encodable {
    var text: String
    var name: String
    var instants: [Int64]
  }

  /// Compares the VTIMEZONE of each zone, its rules expanded by `dateutil`, with the zone.
  @Test func exportedZonesMatchTheZoneDatabase() throws {
    let names = try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/tzdata.zi"))
      .split(separator: 0x0A).filter { $0.starts(with: "Z ".utf8) }
      .map { String(decoding: $0.split(separator: 0x20)[1], as: UTF8.self) }
      .filter { zone($0) != nil }
    #expect(names.count > 300)
    var questions: [ZoneQuestion] = []
    var expected: [[Int]] = []
    for (index, name) in names.enumerated() {
      let own = try #require(zone(name))
      // From years before, after and between the changes of rules.
      let year = [1970, 1995, 2007, 2026, 2040][index % 5]
      var writer = CalendarWriter()
      writer.component("VCALENDAR") { ZoneComponent(own, from: year).write(to: &$0) }
      var instants = [own.instant(of: try #require(CivilDateTime(year: year, month: 1, day: 1)))]
      let last = try #require(CivilDateTime(year: 2140, month: 1, day: 1))
      while let change = own.nextTransition(after: instants[instants.count - 1]),
        change.instant < own.instant(of: last)
      {
        instants += [change.instant - .seconds(1), change.instant]
      }
      questions.append(ZoneQuestion(text: writer.text, name: name, instants: instants.map(\.seconds)))
      expected.append(instants.map { own.offset(at: $0) })
    }
    guard let theirs: [[Int]] = try ask(Self.zones, questions) else { return }
    for (index, name) in names.enumerated() {
      let wrong = zip(expected[index], theirs[index]).enumerated().first { $0.element.0 != $0.element.1 }
      #expect(
        wrong == nil && expected[index].count == theirs[index].count,
        "\(name) at \(wrong.map { questions[index].instants[$0.offset] } ?? 0):\n\(questions[index].text)")
    }
  }

  private static let zones = """
    import bisect, datetime, icalendar, json, sys
    from dateutil.rrule import rrulestr
    end, epoch = datetime.datetime(2141, 1, 1), datetime.datetime(1970, 1, 1)
    answer = []
    for question in json.load(open(sys.argv[1])):
        zone, = icalendar.Calendar.from_ical(question["text"]).walk("VTIMEZONE")
        assert zone["TZID"] == question["name"]
        changes = []
        for part in zone.subcomponents:
            start, before = part["DTSTART"].dt, part["TZOFFSETFROM"].td
            onsets = [start]
            if "RRULE" in part:
                onsets = rrulestr(part["RRULE"].to_ical().decode(), dtstart=start).between(start, end, inc=True)
                assert onsets[0] == start
            if "RDATE" in part: onsets += [each.dt for each in part["RDATE"].dts]
            after = int(part["TZOFFSETTO"].td.total_seconds())
            changes += [(int((onset - before - epoch).total_seconds()), after) for onset in onsets]
        changes.sort()
        starts = [start for start, _ in changes]
        answer.append([changes[bisect.bisect(starts, each) - 1][1] for each in question["instants"]])
    json.dump(answer, sys.stdout)
    """

  // MARK: Writing

  private struct ExportQuestion: Encodable {
    var text: String
    var zone: String
    var after: Int64
    var count: Int
  }

  private struct Event: Decodable {
    var uid: String
    var summary: String
    var description: String?
    var categories: [String]
    var times: [Int64]
  }

  /// Schedules of every kind, in zones all over the world: exported, read by `icalendar` and expanded by `dateutil`,
  /// they have the times that Chime computes.
  @Test func exportedSchedulesExpandToTheSameTimes() throws {
    let now = CalendarExportTests.now
    var items: [CalendarExport.Item] = []
    for (index, when) in Self.schedules.enumerated() {
      for zone in ["local", "America/New_York", "Australia/Lord_Howe", "UTC"] {
        items.append(
          try CalendarExportTests.item(when, id: "r\(items.count)", title: "Nº \(index); \(when)", zone: zone) {
            $0.body = "Line, one\nline \\two;"
            $0.tags = ["a,b", "č"]
          })
      }
    }
    let export = CalendarExport(items, now: now)
    #expect(export.count == items.count)
    let question = ExportQuestion(text: export.text, zone: "Europe/Prague", after: now.seconds, count: 30)
    guard let events: [Event] = try ask(Self.expander, question) else { return }
    #expect(events.count == items.count)
    for (item, event) in zip(items, events) {
      let reminder = item.reminder
      #expect(event.uid == "\(reminder.id)@chime")
      #expect(event.summary == reminder.title)
      #expect(event.description == reminder.body)
      #expect(event.categories == reminder.tags)
      let isListed = export.warnings.contains { $0.hasPrefix("\"\(reminder.title)\": no recurrence rule tells") }
      let end = isListed ? now + CalendarExport.listedSpan : .latest
      let times = reminder.timetable(in: item.scheduleContext).occurrences(after: now).prefix(30).prefix { $0 <= end }
        .map(\.seconds)
      #expect(event.times == times, "\(reminder.schedule) in \(reminder.timezone.text)")
    }
  }

  /// Each is exported as a single time, a recurrence rule or a list.
  static let schedules = [
    "at 2026-12-01 09:00", "at 2026-10-25 02:30", "at 2026-12-01T09:00:00Z", "cron: 30 8 * * 1-5", "daily at 2:30",
    "weekdays at 8:30 and 18:00", "every 36h", "every 90m from 8:00 to 22:00 on weekdays", "last day of month at 18:00",
    "DTSTART:20260105T092500 RRULE:FREQ=WEEKLY;BYDAY=MO,FR;UNTIL=20260531T235959 EXDATE:20260403T092500",
    "DTSTART;TZID=Europe/Prague:20260323T023000 RRULE:FREQ=DAILY;INTERVAL=3 "
      + "EXDATE;TZID=Europe/Prague:20260401T023000 RDATE;TZID=Europe/Prague:20260402T110000 TRIGGER:-PT15M",
    "DTSTART:20260227T090000Z RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=20 TRIGGER:PT1H",
    "DTSTART;TZID=America/New_York:20260101T220000 RRULE:FREQ=YEARLY;BYMONTH=3,11;BYDAY=1SU;UNTIL=20400101T000000Z",
  ]

  private static let expander = """
    import datetime, icalendar, json, sys
    from dateutil import tz
    from dateutil.rrule import rruleset, rrulestr
    question = json.load(open(sys.argv[1]))
    calendar = icalendar.Calendar.from_ical(question["text"])
    home, utc = tz.gettz(question["zone"]), datetime.timezone.utc
    def instant(value):
        # A floating time is read on the reader's clock; one in a gap with the offset before it (RFC 5545 3.3.5).
        if value.tzinfo is None: value = value.replace(tzinfo=home)
        return int(value.astimezone(utc).timestamp())
    def naive(value, zone): return value.replace(tzinfo=None) if zone is None else value.astimezone(zone).replace(tzinfo=None)
    events = []
    for event in calendar.walk("VEVENT"):
        assert not event.errors, event.errors
        alarm, = event.walk("VALARM")
        assert alarm["ACTION"] == "DISPLAY" and alarm["DESCRIPTION"]
        start = event["DTSTART"].dt
        zone = start.tzinfo
        dates = rruleset()
        if "RRULE" in event:
            # Expanded on the clock, as RFC 5545 has it, and resolved afterwards.
            rule = event["RRULE"]
            if "UNTIL" in rule: rule["UNTIL"] = [naive(each, zone) for each in rule["UNTIL"]]
            dates.rrule(rrulestr(rule.to_ical().decode(), dtstart=start.replace(tzinfo=None)))
        else: dates.rdate(start.replace(tzinfo=None))
        def each(name):
            listed = event.get(name, [])
            for group in listed if isinstance(listed, list) else [listed]:
                for value in group.dts: yield naive(value.dt, zone)
        for value in each("RDATE"): dates.rdate(value)
        for value in each("EXDATE"): dates.exdate(value)
        times = []
        for value in dates:
            at = instant(value.replace(tzinfo=zone) + alarm["TRIGGER"].dt)
            if at > question["after"] and at not in times: times.append(at)
            if len(times) == question["count"]: break
        categories = event.get("CATEGORIES")
        events.append({"uid": event["UID"], "summary": event["SUMMARY"], "description": event.get("DESCRIPTION"),
                       "categories": [str(one) for one in categories.cats] if categories else [], "times": times})
    json.dump(events, sys.stdout)
    """

  // MARK: Python

  /// Runs a script that reads JSON from a file and writes JSON; returns `nil` without Python.
  private func ask<Answer: Decodable>(_ script: String, _ question: some Encodable) throws -> Answer? {
    let environment = ProcessInfo.processInfo.environment
    let python = environment["CHIME_PYTHON"] ?? Package.folder + "/.venv/bin/python3"
    guard FileManager.default.isExecutableFile(atPath: python) else {
      if environment["CHIME_SKIP_PEERS"] == nil {
        Issue.record("no \(python): run make test, set CHIME_PYTHON, or set CHIME_SKIP_PEERS=1")
      }
      return nil
    }
    let file = RunFolder.url.appending(path: "chime-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try JSONEncoder().encode(question).write(to: file)
    let result = try ChildProcess.run(python, ["-c", script, file.path])
    try #require(result.status == 0, "the script failed: \(result.complaint)")
    return try JSONDecoder().decode(Answer.self, from: result.output)
  }
}
