import ChimeSchedule
import FoundationEssentials

/// `chime when --batch`: answers each line of input with a line of output.
struct Batch {
  private let zones: ZoneFiles
  private let decoder = JSONDecoder()

  init(environment: [String: String]) { zones = ZoneFiles(environment: environment) }

  /// The length limit of a line, in bytes.
  private static let longestLine = 1 << 20

  private struct Question: Decodable {
    var when: String?
    /// A title with a schedule, as `add` takes them.
    var line: String?
    var timezone: String?
    var after: Int64?
    var count: Int?
    var gap: GapRule?
    var fold: FoldRule?
    var latitude: Double?
    var longitude: Double?
    var `as`: Dialect?
  }

  /// An error as the answer to a line.
  private struct Refusal: Error {
    var code: String
    var column: Int?
    var message: String
    var suggestion: String?
  }

  /// Answers every line; flushes the answers before it waits for input.
  func run(_ process: CommandProcess) {
    let now = process.now()
    while true {
      if !process.input.hasLine { process.output.flush() }
      guard let line = process.input.line(limit: Self.longestLine) else { return }
      // Skip blank lines.
      if line.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      process.output.line(answer(line.bytes, isCut: line.isCut, now: now).text())
    }
  }

  private func answer(_ line: [UInt8], isCut: Bool, now: Instant) -> JSONText {
    do throws(Refusal) {
      if isCut { throw Refusal(code: "invalidJSON", message: "the line is longer than \(Self.longestLine) bytes") }
      return try answer(question(line), now: now)
    } catch {
      return .members([
        "error": .members([
          "code": .string(error.code), "column": .optional(error.column), "message": .string(error.message),
          "suggestion": .optional(error.suggestion),
        ])
      ])
    }
  }

  private func question(_ line: [UInt8]) throws(Refusal) -> Question {
    do {
      return try decoder.decode(Question.self, from: Data(line))
    } catch DecodingError.keyNotFound(let key, _) {
      throw Refusal(code: "invalidValue", message: "\"\(key.stringValue)\" is missing")
    } catch DecodingError.typeMismatch(_, let context) where context.codingPath.isEmpty {
      throw Refusal(code: "invalidJSON", message: "the line is no JSON object")
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      throw Self.badMember(context)
    } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
      throw Self.badMember(context)
    } catch {
      throw Refusal(code: "invalidJSON", message: "the line is no JSON object")
    }
  }

  private static func badMember(_ context: DecodingError.Context) -> Refusal {
    let name = context.codingPath.first?.stringValue ?? ""
    let expected =
      switch name {
      case "when", "line", "timezone": "a text"
      case "after": "whole seconds since 1970"
      case "count": "a whole number"
      case "gap": "shift or skip"
      case "fold": "first, last or both"
      case "as": "one of \(Dialect.allCases.map(\.rawValue).joined(separator: ", "))"
      default: "a number"
      }
    return Refusal(code: "invalidValue", message: "\"\(name)\" is \(expected)")
  }

  private func answer(_ question: Question, now: Instant) throws(Refusal) -> JSONText {
    let count = question.count ?? 5
    guard (0...When.most).contains(count) else {
      throw Refusal(code: "invalidValue", message: "\"count\" is a number from 0 to \(When.most)")
    }
    var after = now
    if let seconds = question.after {
      guard (0...Instant.latest.seconds).contains(seconds) else {
        throw Refusal(code: "outOfRange", message: "\"after\" lies outside the years 1970–9999")
      }
      after = Instant(seconds: seconds)
    }
    let place = try place(question)
    let zone: Zone
    do {
      zone = try zones.zone(question.timezone ?? "local")
    } catch {
      let failure = Failure(any: error)
      throw Refusal(code: "invalidTimezone", message: failure.said, suggestion: failure.suggestion)
    }
    do {
      let scheduleContext = zones.scheduleContext(in: zone, at: place)
      var read: [JSONText.Member] = []
      var schedule: Schedule
      switch (question.when, question.line) {
      case (let when?, nil): schedule = try Schedule.parse(when, now: after, in: scheduleContext)
      case (nil, let line?): (read, schedule) = try self.read(line, now: after, in: scheduleContext)
      case (nil, nil): throw Refusal(code: "invalidValue", message: "\"when\" is missing")
      case (_?, _?): throw Refusal(code: "invalidValue", message: "\"when\" and \"line\" exclude each other")
      }
      var remarks: [String]?
      if let dialect = question.as {
        let conversion = try schedule.converted(to: dialect, now: after, in: scheduleContext)
        (schedule, remarks) = (conversion.schedule, conversion.remarks)
      }
      let times = schedule.timetable(in: scheduleContext, gap: question.gap, fold: question.fold)
        .occurrences(after: after)
      var members =
        read + [
          .init(name: "canonical", value: .string(schedule.canonical)),
          .init(name: "dialect", value: .string(schedule.dialect.rawValue)),
          .init(name: "next", value: .list(times.prefix(count).map { .int(Int($0.seconds)) })),
        ]
      if let remarks { members.append(.init(name: "remarks", value: .strings(remarks))) }
      return .object(members)
    } catch let error as ScheduleError {
      throw Refusal(
        code: error.code.rawValue, column: error.column, message: error.message,
        suggestion: error.suggestion ?? error.choices.first)
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw Refusal(code: "invalidSchedule", message: "\(error)")
    }
  }

  private func read(
    _ line: String, now: Instant, in scheduleContext: ScheduleContext
  ) throws -> (members: [JSONText.Member], schedule: Schedule) {
    let marks: QuickMarks
    let words: [String]
    do {
      (marks, words) = try QuickMarks.taken(from: [line])
    } catch {
      throw Refusal(code: "invalidValue", message: Failure(any: error).message)
    }
    do throws(ScheduleLine.Refusal) {
      let read = try ScheduleLine(words, place: .anywhere, now: now, in: scheduleContext)
      return ([.init(name: "title", value: .string(read.title))] + marks.members, read.schedule)
    } catch {
      switch error {
      case .noTime(let refusal?, let choices):
        throw Refusal(
          code: refusal.code.rawValue, column: refusal.column, message: refusal.message,
          suggestion: choices.first?.joined(separator: " "))
      case .noWords, .noTime(nil, _):
        throw Refusal(
          code: "invalidSchedule", message: "no time was understood; expected a line like \"Tea tomorrow at 9\"")
      case .noTitle:
        throw Refusal(
          code: "invalidSchedule",
          message: "a title is missing beside the time; expected a line like \"Tea tomorrow at 9\"")
      case .leftOver(let left):
        if let error = left.error { throw error }
        let suggestion = left.choices.lazy.map { $0.joined(separator: " ") }.first { choice in
          // A single line has lost the quotes around a title, so the suggestion may fail again; offer only those that parse.
          (try? ScheduleLine([choice], place: .anywhere, now: now, in: scheduleContext)) != nil
        }
        let example = suggestion == nil ? "; expected one time, as in \"Tea \(left.understood)\"" : ""
        throw Refusal(
          code: "invalidSchedule",
          message: "\"\(left.understood)\" was understood, but \"\(left.words)\" beside it was not\(example)",
          suggestion: suggestion)
      }
    }
  }
}

extension Batch {
  private func place(_ question: Question) throws(Refusal) -> Place? {
    if question.latitude == nil, question.longitude == nil { return nil }
    guard let latitude = question.latitude, let longitude = question.longitude else {
      throw Refusal(code: "invalidValue", message: "\"latitude\" and \"longitude\" belong together")
    }
    if let place = Place(latitude: latitude, longitude: longitude) { return place }
    throw Refusal(
      code: "invalidValue", message: "\"latitude\" is from -90 to 90 and \"longitude\" from -180 to 180")
  }
}
