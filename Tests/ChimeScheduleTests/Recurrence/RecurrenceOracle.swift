import Foundation

/// An independent implementation for comparison: PyPI's `dateutil`, in one process for many questions.
///
/// `CHIME_PYTHON` names a Python that has it; the default is `.venv/bin/python3` in the checkout. Without one the tests
/// fail, unless `CHIME_SKIP_PEERS=1` is set.
enum RecurrenceOracle {
  static var isLeftOut: Bool { ProcessInfo.processInfo.environment["CHIME_SKIP_PEERS"] == "1" }

  struct Question: Codable, Sendable {
    var start: String
    var rule: String
    var zone: String
    /// Epoch seconds.
    var after: Int64
    var count: Int
  }

  struct Answer: Codable, Sendable {
    /// Epoch seconds; `nil` after a timeout, or if the rule was rejected.
    var next: [Int64]?
    /// Whether the search stopped at its last year before finding enough, although the rule continues.
    var isCut: Bool
  }

  struct Missing: Error, CustomStringConvertible {
    var description: String
  }

  /// dateutil works with local times. Python's zoneinfo places them in the zone; like RFC 5545, it reads times in a gap
  /// with the offset before it, and takes the first pass of a fold.
  private static let program = #"""
    import datetime, itertools, json, signal, sys, zoneinfo
    from dateutil.rrule import rrulestr
    EPOCH = datetime.datetime(1970, 1, 1)
    class Late(Exception): pass
    def late(*_): raise Late()
    signal.signal(signal.SIGVTALRM, late)
    zones = {}
    def instants(rule, zone, after, count):
        # Readings of a gap may come out of order; some zones have left out whole days.
        margin = 0 if zone.key == "UTC" else 90000 if zone.key.startswith("Pacific") else 10800
        near = datetime.datetime.fromtimestamp(after, zone).replace(tzinfo=None) - datetime.timedelta(seconds=margin)
        found = set()
        for reading in rule.xafter(near):
            moment = int(reading.replace(tzinfo=zone).timestamp())
            if moment > after: found.add(moment)
            if len(found) >= count and moment >= sorted(found)[count - 1] + margin: break
        return sorted(found)[:count]
    for line in sys.stdin:
        question = json.loads(line)
        answer = {"next": None, "isCut": False}
        zone = zones.setdefault(question["zone"], zoneinfo.ZoneInfo(question["zone"]))
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.03)
            start = datetime.datetime.strptime(question["start"], "%Y%m%dT%H%M%S")
            rule = rrulestr(question["rule"], dtstart=start)
            answer["next"] = instants(rule, zone, question["after"], question["count"])
        except (Late, ValueError, OverflowError):
            answer["isCut"] = True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
    """#

  private static func python() throws -> String {
    let root = URL(filePath: Package.folder)
    let python =
      ProcessInfo.processInfo.environment["CHIME_PYTHON"] ?? root.appending(path: ".venv/bin/python3").path
    guard FileManager.default.isExecutableFile(atPath: python) else {
      throw Missing(
        description: """
          \(python) is no Python that has PyPI's python-dateutil: run make test, name one in CHIME_PYTHON, or leave \
          these tests out with CHIME_SKIP_PEERS=1
          """)
    }
    return python
  }

  static func answers(to questions: [Question]) throws -> [Answer] {
    let encoder = JSONEncoder()
    var lines = Data()
    for question in questions {
      lines += try encoder.encode(question)
      lines.append(UInt8(ascii: "\n"))
    }
    let result = try ChildProcess.run(try python(), ["-c", program], input: .bytes(lines))
    let answers = try result.output.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Answer.self, from: $0)
    }
    guard result.status == 0, answers.count == questions.count else {
      throw Missing(description: "dateutil answered \(answers.count) of \(questions.count) questions")
    }
    return answers
  }
}
