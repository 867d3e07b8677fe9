import Foundation
import Testing

/// The checks of a storm from outside: in the database's tables, and at the receiver.
extension Storm {
  func prove() async throws {
    // Each number in a title has one record, with the requested time.
    let record = try await sql(
      """
      SELECT count(*), count(DISTINCT reminder), sum(rounds), count(*) FILTER (WHERE fired_at IS NULL),
        count(*) FILTER (WHERE fired_at < scheduled_at),
        count(*) FILTER (WHERE scheduled_at <> (\(dueInSQL)) * 1000::bigint),
        count(DISTINCT split_part(title, ' ', 2)::int)
      FROM chime.occurrence
      """)
    #expect(record == "\(size)|\(size)|\(size)|0|0|0|\(size)", "each fired once, at its time")
    let pending = try await sql(
      """
      SELECT (SELECT count(*) FROM chime.due WHERE next_at < \(begin + span) * 1000::bigint),
        (SELECT count(*) FROM chime.delivery WHERE state <= 1)
      """)
    #expect(pending == "0|0", "nothing is due or pending any more")
    let deliveries = try await sql(
      """
      SELECT count(*), count(DISTINCT (scheduled_at, reminder)), count(*) FILTER (WHERE state = 2)
      FROM chime.delivery
      """)
    #expect(deliveries == "\(size)|\(size)|\(size)", "each has one message, which was delivered")
    let successes = try await sql(
      """
      SELECT count(*), count(DISTINCT delivery) FROM (
        SELECT delivery FROM chime.attempt WHERE outcome = 0
        UNION ALL SELECT key FROM chime.delivery WHERE outcome = 0) tried
      """)
    #expect(successes == "\(size)|\(size)", "each is recorded as delivered once")

    let (arrived, copies) = try arrivals()
    let wanted = Set(reminders.indices.map { "\(reminders[$0])@\(due($0))" })
    #expect(Set(arrived.keys).subtracting(wanted) == [], "nothing else arrived")
    #expect(wanted.subtracting(arrived.keys) == [], "each arrived")
    let ids = arrived.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    #expect(arrived.values.allSatisfy { $0.count == 1 } && ids.count == size, "under one id for each, of its own")
    let known = Set(
      try await sql("SELECT encode(id, 'hex') FROM chime.delivery").split(separator: "\n").map(String.init))
    #expect(Set(ids.map(Self.knownText)) == known, "which is the one on record")

    let figures = try await sql(
      """
      SELECT max(fired_at - scheduled_at), percentile_disc(0.5) WITHIN GROUP (ORDER BY fired_at - scheduled_at),
        count(*) FILTER (WHERE late IS NOT NULL), (SELECT sum(attempts) FROM chime.delivery)
      FROM chime.occurrence
      """
    ).split(separator: "|")
    log(
      "\(size) fired once each: \(figures[1]) ms late at the median, \(figures[0]) at most; \(figures[2]) marked late")
    log(
      "\(wanted.count) messages arrived, \(copies) of them again under the same id; \(figures[3]) attempts on record")
  }

  /// Returns an id as stored: the bits of its characters as 16 bytes.
  private static func knownText(_ id: String) -> String {
    let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
    let number = id.dropFirst("msg_".count).reduce(UInt128(0)) { number, sign in
      number << 5 | UInt128(alphabet.firstIndex(of: sign) ?? 0)
    }
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  /// Prints the cost of each fault: the 99th percentiles of the firing and delivery delays of what was due within ten
  /// seconds after it; the longest silence of a queue with pending messages; and the time after its end until firings
  /// were no longer late by more than a second.
  ///
  /// - Parameter isBounded: whether to check the promised limits.
  func tellCosts(isBounded: Bool) async throws {
    for (place, one) in incidents.enumerated() {
      let next = place + 1 < incidents.count ? incidents[place + 1].begin : .max
      let wakeups = min(one.end + 25_000, next)
      // If no daemon could work, only the time after the fault counts.
      let from = one.hitsAll ? one.end : one.begin
      let row = try await sql(
        """
        SELECT
          (SELECT count(*) FROM chime.occurrence
            WHERE scheduled_at >= \(one.end) AND scheduled_at < \(one.end + 10_000)),
          (SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY fired_at - scheduled_at) FROM chime.occurrence
            WHERE scheduled_at >= \(one.end) AND scheduled_at < \(one.end + 10_000)),
          (SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY state_at - scheduled_at) FROM chime.delivery
            WHERE scheduled_at >= \(one.end) AND scheduled_at < \(one.end + 10_000)),
          (SELECT max(state_at - greatest(before, oldest, \(from))) FROM (
            SELECT state_at, lag(state_at) OVER queue AS before, min(scheduled_at) OVER (
              PARTITION BY queue ORDER BY state_at ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS oldest
            FROM chime.delivery WINDOW queue AS (PARTITION BY queue ORDER BY state_at)) d
            WHERE state_at > \(from) AND coalesce(before, 0) < \(wakeups)),
          (SELECT coalesce(max(fired_at) - \(one.end), 0) FROM chime.occurrence
            WHERE fired_at > \(one.end) AND scheduled_at < \(wakeups) AND fired_at - scheduled_at > 1000)
        """
      ).split(separator: "|", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      log(
        "\(one.what) (\(one.end - one.begin) ms): of \(row[0]) due in the 10 s after it 99 of 100 were fired within "
          + "\(row[1]) ms and delivered within \(row[2]); longest silence of a queue \(row[3]) ms; "
          + "the last was fired late \(row[4]) ms after it")
      guard isBounded else { continue }
      #expect(row[0] > 0, "\(one.what): something fell due afterwards")
      #expect(row[4] <= 25_000, "\(one.what): as before")
      guard one.isSingle else { continue }
      #expect(row[1] <= 5_000, "\(one.what): fired late")
      // A killed daemon's messages are sent after its lease expires.
      #expect(row[2] <= 6_000, "\(one.what): delivered late")
      // A lease, plus the time to take over and send.
      #expect(row[3] <= 6_500, "\(one.what): a queue was silent")
    }
  }

  /// Returns the ids under which each occurrence arrived, and the number of duplicate requests.
  private func arrivals() throws -> (ids: [String: Set<String>], copies: Int) {
    var arrived: [String: Set<String>] = [:]
    var count = 0
    for line in try String(contentsOfFile: received, encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 2 else { throw HarnessFailure("the receiver wrote \"\(line)\"") }
      arrived[words[1], default: []].insert(words[0])
      count += 1
    }
    return (arrived, count - arrived.values.reduce(0) { $0 + $1.count })
  }
}
