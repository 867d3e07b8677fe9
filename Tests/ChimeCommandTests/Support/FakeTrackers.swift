import ChimeControl
import ChimeSchedule
import Foundation
import Varlink

/// A fake that answers the reading methods of io.chime.Trackers from a `TrackerYear`, as far as the drawings need them.
struct FakeTrackers: Sendable {
  typealias T = TrackersInterface

  var year = TrackerYear.full
  var expectations: [ExpectationsInterface.Expectation] = []

  func daemon() throws -> FakeDaemon { try FakeDaemon { answer($0, $1) } }

  func answer(_ method: String, _ parameters: JSON) -> FakeDaemon.Answer {
    switch method {
    case T.List.method: return .reply(T.List.Reply(trackers: year.trackers))
    case T.Day.method: return .reply(T.Day.Reply(view: view))
    case T.Week.method: return .reply(week)
    case T.Packs.method: return .reply(T.Packs.Reply(packs: year.packs))
    case ExpectationsInterface.List.method:
      return .reply(ExpectationsInterface.List.Reply(expectations: expectations))
    case T.Milestones.method:
      let id = read(T.Milestones.self, parameters).tracker
      return .reply(T.Milestones.Reply(milestones: year.milestones.filter { id == nil || $0.tracker == id }))
    case T.Items.method: return .reply(T.Items.Reply(items: year.items))
    case T.Achievements.method:
      let asked = read(T.Achievements.self, parameters)
      let pack = asked.pack
      if asked.item != nil {
        return .reply(T.Achievements.Reply(achievements: Array(year.achievements.suffix(2)), levels: [], streaks: []))
      }
      return .reply(
        T.Achievements.Reply(
          achievements: year.achievements.filter { pack == nil || $0.pack == pack }, levels: year.levels,
          streaks: packStreaks))
    case T.Photo.method: return photo(read(T.Photo.self, parameters))
    case T.Days.method:
      let asked = read(T.Days.self, parameters)
      return known(asked.tracker) { .reply(T.Days.Reply(tracker: $0, days: days($0, asked.range))) }
    case T.Stats.method:
      let asked = read(T.Stats.self, parameters)
      return known(asked.tracker) { tracker in
        let range = asked.range ?? T.Range()
        let told = asked.field.map { statistics(field: $0, tracker, range) } ?? statistics(tracker, range)
        return .reply(T.Stats.Reply(statistics: told))
      }
    case T.Entries.method:
      let asked = read(T.Entries.self, parameters)
      return known(asked.tracker ?? "") { .reply(page($0, asked)) }
    default: return .service(.methodNotImplemented(method: method))
    }
  }

  private func known(_ name: String, _ answer: (T.Tracker) -> FakeDaemon.Answer) -> FakeDaemon.Answer {
    if let tracker = year.trackers.first(where: { $0.id == name || $0.title.values.contains(name) }) {
      return answer(tracker)
    }
    return .error("NotFound", Wire.NotFound(what: "tracker", id: name, similar: year.trackers.map(\.id)))
  }

  private func read<Parameters: JSONReadable>(_ type: Parameters.Type, _ json: JSON) -> Parameters {
    // The library has already checked the parameters against the interface.
    do { return try JSONReader.read(type, from: json.bytes) } catch { fatalError("\(type): \(error)") }
  }

  func days(_ tracker: T.Tracker, _ range: T.Range = T.Range()) -> [T.DayTotal] {
    (year.days[tracker.id] ?? []).filter { $0.day >= range.from ?? "" && $0.day <= range.to ?? "9" }
  }

  private func photo(_ asked: T.Photo) -> FakeDaemon.Answer {
    guard let bytes = year.photos[asked.name] else {
      return .error("NotFound", Wire.NotFound(what: "photo", id: asked.name, similar: []))
    }
    // Send small parts, so that the reader must ask more than once.
    let part = Data(bytes.dropFirst(asked.offset ?? 0).prefix(30_000))
    return .reply(T.Photo.Reply(data: part.base64EncodedString(), total: bytes.count))
  }
}
