import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeDaemon
@testable import ChimeDelivery

/// The handling of received action tokens.
@Suite(.serialized) struct ReplyTransactionTests {
  private static let address = "https://ntfy.example.org/answers"
  private static let queue = DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone"))
  private static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// Adds a reminder that has fired and is open.
  private func fired(_ title: String, _ daemon: TestDaemon) async throws -> OccurrenceID {
    let reminder = try daemon.call(
      RemindersInterface.Add(reminder: .init(title: title, when: "daily at 18:30", channels: ["phone"]))
    ).reminder
    let id = try daemon.call(OccurrencesInterface.Fire(id: reminder.id)).occurrence.id
    return try #require(OccurrenceID(id))
  }

  private func occurrence(_ id: OccurrenceID, _ daemon: TestDaemon) async throws -> Occurrence? {
    try await daemon.store.read { try $0.occurrence(id) }
  }

  /// Tokens that are forged, truncated, late, used, of another round, endpoint or owner, or about nothing: none is
  /// accepted, and the valid one still works.
  @Test func invalidTokensAreRefusedAndTheValidOneStillWorks() async throws {
    let amount = ProofTier.amount(quick: 4_000, proof: 1_000_000)
    try await TestDaemon.run { daemon in
      _ = try daemon.call(
        EndpointsInterface.Put(
          name: "phone", url: "https://ntfy.example.org/alerts",
          settings: .init(template: "ntfy", replies: Self.address)))
      let (open, used) = (try await fired("Open", daemon), try await fired("Used", daemon))
      let now = SystemClock.now
      let later = now + ActionToken.life
      let key = try Secret(Self.text).tokenKey(of: Self.queue)
      let others = try [
        Secret(Self.text).tokenKey(of: DeliveryQueue(owner: getuid(), channel: ChannelName(rawValue: "phone2"))),
        Secret(Self.text).tokenKey(of: DeliveryQueue(owner: getuid() + 1, channel: ChannelName(rawValue: "phone"))),
        Secret(Secret.make(.hmac)).tokenKey(of: Self.queue),
      ]
      func token(
        _ occurrence: OccurrenceID, _ action: ActionToken.Action = .done, round: Int = 1, until: Instant? = nil,
        by signer: TokenKey? = nil
      ) throws -> String {
        let subject = ActionToken.Subject.answer(action, occurrence, round: round, expiry: until ?? later)
        return try #require(ActionToken(subject).text(signer ?? key))
      }
      var mark: String?
      /// Processes tokens in one transaction, in order.
      func give(_ texts: [String]) async throws -> [TokenFault?] {
        let (context, uptime) = (ReminderContext(zones: ZoneCatalog()), Uptime(runningSince: now))
        let last = mark
        mark = "m1"
        return try await daemon.store.write { transaction in
          var last = last
          return try texts.map { text -> TokenFault? in
            let token: ActionToken
            do throws(TokenFault) { token = try ActionToken(text, keys: [key], at: now) } catch { return error }
            defer { last = "m1" }
            return try ReplyTransaction.run(
              .token(token), message: "m1", of: Self.queue, at: Self.address, after: last, in: transaction, context,
              uptime, now: now
            ).0
          }
        }
      }
      let replayed = try token(used)
      #expect(try await give([replayed]) == [nil])
      _ = try daemon.call(TrackersInterface.Undo())
      #expect(try await occurrence(used, daemon)?.isOpen == true)

      var random = SeededGenerator(seed: 27)
      let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
      let actions: [ActionToken.Action] = [
        .done, .dismiss, .snooze(.minutes(10)), .item("speedmaster"), .log(grains: 5),
      ]
      let good = try actions.map { try token(open, $0) }
      let nobody = OccurrenceID(reminder: ReminderID(rawValue: "zzzz"), scheduledAt: now)
      var counts: [TokenFault: Int] = [:]
      var given = 0
      while given < amount {
        var expected: [Set<TokenFault>] = []
        let texts = try (0..<500).map { _ in
          let action = actions.randomElement(using: &random)!
          switch Int.random(in: 0..<7, using: &random) {
          case 0:
            // Change one character. Skip the last one of each part: some of its bits have no meaning.
            var text = Array(good.randomElement(using: &random)!)
            let places = (ActionToken.prefix.count..<text.count - 1).filter { text[$0] != "." && text[$0 + 1] != "." }
            let place = places.randomElement(using: &random)!
            text[place] = letters.filter { $0 != text[place] }.randomElement(using: &random)!
            expected.append([.forged])
            return String(text)
          case 1:
            let text = good.randomElement(using: &random)!
            expected.append([.malformed, .forged])
            return String(text.prefix(Int.random(in: 0..<text.count - 1, using: &random)))
          case 2:
            expected.append([.forged])
            return try token(open, action, by: others.randomElement(using: &random)!)
          case 3:
            expected.append([.expired])
            let past = Milliseconds.seconds(.random(in: 0...864_000, using: &random))
            return try token(open, action, until: now - past)
          case 4:
            expected.append([.replayed])
            return replayed
          case 5:
            expected.append([.over])
            return try token(open, action, round: .random(in: 2...9, using: &random))
          default:
            expected.append([.foreign])
            return try token(nobody, action)
          }
        }
        for ((fault, expected), text) in zip(zip(try await give(texts), expected), texts) {
          guard let fault, expected.contains(fault) else {
            Issue.record("\(text) came to \(fault.map(\.rawValue) ?? "an answer"), not \(expected)")
            return
          }
          counts[fault, default: 0] += 1
        }
        given += texts.count
      }
      #expect(counts.count == 6, "\(counts)")
      print(
        "ReplyTransactionTests: none of \(given) tokens was accepted:", counts.map { "\($0.value) \($0.key)" }.sorted())
      #expect(try await occurrence(open, daemon)?.isOpen == true)
      #expect(try await occurrence(used, daemon)?.isOpen == true)
      #expect(try await give([good[0]]) == [nil])
      #expect(try await occurrence(open, daemon)?.state == .done)
    }
  }
}
