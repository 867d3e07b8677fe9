import ChimeSchedule
import Foundation
import Synchronization

/// Asks `systemd-analyze calendar` about many expressions at once.
enum CalendarOracle {
  static let program = "/usr/bin/systemd-analyze"

  /// In continuous integration, a missing program is a failure.
  static var isExpected: Bool {
    FileManager.default.isExecutableFile(atPath: program) || ProcessInfo.processInfo.environment["CI"] != nil
  }

  struct Answer {
    var normalized: String
    /// Epoch seconds, as printed.
    var elapses: [Int64]
    /// Whether systemd says that no more times follow.
    var ends: Bool
    /// Whether the search failed ("Infinite loop in calendar calculation").
    var isAbandoned = false
  }

  /// One run of the program: expressions in a local zone, after an instant.
  struct Run {
    var expressions: [String]
    var zone: String
    /// The last microsecond of this second is the base.
    var base: Int64
    var count: Int
    private let process: ChildProcess

    init(_ expressions: [String], zone: String, base: Int64, count: Int) throws {
      self.expressions = expressions
      self.zone = zone
      self.base = base
      self.count = count
      process = try ChildProcess(
        program, ["calendar", "--iterations=\(count)", "--base-time=@\(base).999999", "--"] + expressions,
        environment: ["TZ": ":" + zone, "LC_ALL": "C", "PATH": "/usr/bin:/bin"])
    }

    /// Returns an answer for each expression; `nil` for rejected ones.
    func answers() throws -> [Answer?] {
      process.wait()
      let errors = String(decoding: process.errors, as: UTF8.self)
      func named(_ introduction: String) -> Set<String> {
        Set(
          errors.split(separator: "\n").compactMap { line in
            guard let start = line.range(of: introduction + " '"), let end = line.range(of: "': ", options: .backwards)
            else { return nil }
            return String(line[start.upperBound..<end.lowerBound])
          })
      }
      let refused = named("Failed to parse calendar specification")
      let abandoned = named("Failed to determine next elapse for")
      var found = CalendarOracle.answers(
        in: process.output, zone: CalendarOracle.zones(zone) ?? .utc)[...]
      let all = try expressions.map { text in
        if refused.contains(text) { return nil as Answer? }
        if abandoned.contains(text) { return Answer(normalized: "", elapses: [], ends: true, isAbandoned: true) }
        guard let answer = found.popFirst() else { throw UnparsableOutput(output: errors) }
        return answer
      }
      guard found.isEmpty else { throw UnparsableOutput(output: errors) }
      return all
    }
  }

  struct UnparsableOutput: Error { var output: String }

  /// Parses blocks of `Normalized form:`, `Next elapse:`, `Iter. #2:` and `(in UTC):` lines. Zones that are UTC today
  /// have no `(in UTC)` line, even for times when they were not, so the local line counts there.
  static func answers(in output: Data, zone: Zone) -> [Answer] {
    var answers: [Answer] = []
    for line in Array(output).split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self)
      guard let colon = text.range(of: ": ") else { continue }
      let key = text[..<colon.lowerBound].drop { $0 == " " }
      let value = text[colon.upperBound...]
      if key == "Normalized form" {
        answers.append(Answer(normalized: String(value), elapses: [], ends: false))
        continue
      }
      guard let last = answers.indices.last else { continue }
      if key == "Next elapse" || key.hasPrefix("Iter. #") {
        if value == "never" {
          answers[last].ends = true
        } else {
          answers[last].elapses.append(seconds(value, in: zone))
        }
      } else if key == "(in UTC)", let place = answers[last].elapses.indices.last {
        answers[last].elapses[place] = seconds(value, in: .utc)
      }
    }
    return answers
  }

  /// Parses `Mon 2026-03-30 09:00:00 CEST` in a zone; the label selects the pass of a fold.
  private static func seconds(_ text: Substring, in zone: Zone) -> Int64 {
    let words = text.split(separator: " ")
    guard words.count >= 3, let date = CivilDate(String(words[1])), let time = CivilTime(String(words[2])) else {
      return .min
    }
    switch zone.resolve(CivilDateTime(date: date, time: time)) {
    case .unique(let instant): return instant.seconds
    case .fold(let first, let last):
      return (words.count > 3 && zone.abbreviation(at: first) == words[3] ? first : last).seconds
    case .gap: return .min
    }
  }

  /// A cache of the machine's zones.
  static let zones = ZoneCache()
}

/// A cache of zones.
final class ZoneCache: Sendable {
  private let known = Mutex<[String: Zone?]>([:])

  func callAsFunction(_ name: String) -> Zone? {
    if let zone = known.withLock({ $0[name] }) { return zone }
    let zone = Zone.isValidIdentifier(name) ? try? ChimeScheduleTests.zone(name) : nil
    known.withLock { $0[name] = .some(zone) }
    return zone
  }
}
