import Foundation
import Testing

/// The invariants of a daemon that was killed repeatedly, checked through its socket and its receivers.
struct CrashProof: Sendable {
  let home: Home
  let expectations: CrashExpectations.State
  /// The received webhooks, with the responses.
  let requests: [JSON]
  /// The recurring reminders: id, and period in seconds.
  let recurring: [String: Int64]
  /// The time until which all occurrences must be recorded, in seconds since 1970.
  let last: Int64

  /// Checks that a definition is as acknowledged.
  static func expect(_ found: JSON?, is wanted: CrashExpectations.ExpectedReminder, _ id: String) throws {
    guard let found else { throw HarnessFailure("\(id) was acknowledged and is gone: \(wanted)") }
    let isPaused = found["state"].string == "paused"
    guard found["title"].string == wanted.title, found["body"].string == wanted.body,
      found["urgency"].string == wanted.urgency, found["when"].string == wanted.when,
      found["channels"].elements.compactMap(\.string) == wanted.channels, wanted.isSoon || isPaused == wanted.isPaused
    else { throw HarnessFailure("\(id) is not as it was acknowledged: \(wanted), but \(found)") }
  }

  /// Checks that the secret file holds the endpoint's last secret completely.
  static func checkSecret(_ expectations: CrashExpectations, _ home: Home) throws {
    let known = expectations.now.secret
    let text = String(
      decoding: FileManager.default.contents(atPath: "\(home.state)/secrets/\(geteuid())-side") ?? Data(), as: UTF8.self
    )
    let found = [known.known, known.doubt ?? known.known].first { text.contains($0) }
    guard let found else { throw HarnessFailure("the secret that was acknowledged is not in its file") }
    expectations.change { $0.secret.known = found }
  }

  /// - Returns: the numbers for the report.
  func prove() async throws -> [(String, Int)] {
    let reminders = try await all("io.chime.Reminders.List", "reminders", ["all": true])
    let occurrences = try await all("io.chime.Occurrences.List", "occurrences")
    let deliveries = try await all("io.chime.Deliveries.List", "deliveries")
    proveDefinitions(Dictionary(reminders.map { ($0["id"].string ?? "", $0) }, uniquingKeysWith: { $1 }))
    proveOccurrences(occurrences)
    proveNoGap(occurrences)
    let runs = try proveDeliveries(deliveries)
    let ids = Set(requests.compactMap { $0["id"].string })
    return [
      ("reminders", reminders.count + expectations.removed.count), ("occurrences", occurrences.count),
      ("deliveries", deliveries.count), ("requests at the receiver", requests.count),
      ("repeats among them", requests.count - ids.count), ("runs of a command", runs.count),
      ("repeats among them", runs.count - Set(runs).count),
    ]
  }

  private func proveDefinitions(_ found: [String: JSON]) {
    for (id, wanted) in expectations.reminders {
      do { try Self.expect(found[id], is: wanted, id) } catch { Issue.record("\(error)") }
    }
    for (id, title) in expectations.imported { #expect(found[id]?["title"].string == title, "imported \(id)") }
    let known = Set(expectations.reminders.keys).union(expectations.imported.keys).union(recurring.keys)
    let strange = Set(found.keys).subtracting(known)
    #expect(strange.isEmpty, "removed, or made twice: \(strange.compactMap { found[$0] })")
  }

  private func proveOccurrences(_ occurrences: [JSON]) {
    var byID: [String: JSON] = [:]
    var counts: [String: Int] = [:]
    for occurrence in occurrences {
      counts[occurrence["reminder"].string ?? "", default: 0] += 1
      let before = byID.updateValue(occurrence, forKey: occurrence["id"].string ?? "")
      #expect(before == nil, "recorded twice: \(occurrence)")
    }
    for (id, wanted) in expectations.reminders where wanted.isSoon {
      #expect(counts[id] == 1, "\(wanted.title) has come \(counts[id] ?? 0) times")
    }
    for id in expectations.removed { #expect(counts[id] ?? 0 <= 1) }
    for (id, answer) in expectations.answers {
      let found = byID[id] ?? .null
      let state = found["state"].string ?? "nothing"
      let isKept =
        switch answer {
        case .done, .dismissed: state == answer.rawValue
        // It has fired again since, unless it was answered before.
        case .snoozed: ["snoozed", "done", "dismissed"].contains(state) || found["rounds"].int ?? 0 > 1
        }
      #expect(isKept, "\(id) was \(answer), and is \(state)")
    }
  }

  /// Checks that each time of a recurring reminder has a record; one record may cover a run of missed times.
  private func proveNoGap(_ occurrences: [JSON]) {
    for (reminder, period) in recurring {
      let own = occurrences.filter { $0["reminder"].string == reminder }
        .map { (time: Self.time($0), count: Int64($0["missedCount"].int ?? 1), state: $0["state"].string ?? "") }
        .sorted { $0.time < $1.time }
      #expect(own.count > 1, "nothing to see: \(own)")
      for (one, next) in zip(own, own.dropFirst()) {
        #expect(
          one.time + period * one.count == next.time,
          "after \(one) comes \(next): a gap, or a time recorded twice")
      }
      let end = own.last.map { $0.time + period * $0.count } ?? 0
      #expect(end > last, "nothing is recorded after \(end), and it is \(last)")
      let reasons = occurrences.filter { $0["reminder"].string == reminder && $0["state"].string == "missed" }
      #expect(reasons.allSatisfy { $0["missed"].string != nil }, "what was missed has a reason")
    }
  }

  /// Returns the scheduled time, in seconds.
  private static func time(_ occurrence: JSON) -> Int64 {
    Int64(occurrence["id"].string?.split(separator: "@").last ?? "") ?? 0
  }

  /// - Returns: the deliveries for which commands ran, in order.
  private func proveDeliveries(_ deliveries: [JSON]) throws -> [String] {
    let byID = Dictionary(deliveries.map { ($0["id"].string ?? "", $0) }, uniquingKeysWith: { $1 })
    let keys = deliveries.map {
      "\($0["occurrence"].string ?? "") \($0["channel"].string ?? "") \($0["round"].int ?? 0)"
    }
    #expect(byID.count == deliveries.count && Set(keys).count == keys.count, "one message for each round and channel")
    var taken: Set<String> = []
    for request in requests {
      let id = request["id"].string ?? ""
      let recorded = byID[id] ?? .null
      #expect(
        recorded["occurrence"] == request["occurrence"] && recorded["round"] == request["round"],
        "sent and not recorded as such: \(request)")
      if (200..<300).contains(request["answered"].int ?? 0) { taken.insert(id) }
    }
    proveIntent(deliveries)
    let text = try String(contentsOfFile: home.path + "/runs", encoding: .utf8)
    let runs = text.split(separator: "\n").map(String.init)
    for run in runs { #expect(byID[run]?["channel"].string == "note", "run without a record: \(run)") }
    let ran = Set(runs)
    for delivery in deliveries where delivery["state"].string == "delivered" {
      let id = delivery["id"].string ?? ""
      switch delivery["channel"].string {
      case "note": #expect(ran.contains(id), "recorded as run, and not run: \(delivery)")
      case "desktop": break
      default: #expect(taken.contains(id), "recorded as delivered, and not taken: \(delivery)")
      }
    }
    let lost = deliveries.filter { !["delivered", "cancelled"].contains($0["state"].string ?? "") }
    #expect(lost.isEmpty, "neither delivered nor cancelled: \(lost.prefix(3))")
    return runs
  }

  /// Checks that each firing has a delivery for each of its channels.
  private func proveIntent(_ deliveries: [JSON]) {
    var channels: [String: Set<String>] = [:]
    for delivery in deliveries {
      channels[delivery["reminder"].string ?? "", default: []].insert(delivery["channel"].string ?? "")
    }
    for (id, wanted) in expectations.reminders where wanted.isSoon {
      #expect(channels[id] == Set(wanted.channels), "\(wanted.title) went to \(channels[id] ?? [])")
    }
  }

  private func all(_ method: String, _ name: String, _ filter: JSON = .null) async throws -> [JSON] {
    var found: [JSON] = []
    var cursor = JSON.null
    repeat {
      let page = try await home.answer(method, ["limit": 10_000, "cursor": cursor, "filter": filter])
      found += page[name].elements
      cursor = page["cursor"]
    } while cursor != .null
    return found
  }
}
