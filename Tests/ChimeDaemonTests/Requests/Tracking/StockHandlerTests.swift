import ChimeControl
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeDaemon

/// Stocks from clients, files and backups.
@Suite(.serialized) struct StockHandlerTests {
  typealias Wired = TrackersInterface

  private static func stocks(_ daemon: TestDaemon, _ tracker: String? = nil) throws -> [Wired.StockLevel] {
    try daemon.call(Wired.Stocks(tracker: tracker)).stocks
  }

  @Test(arguments: [false, true]) func entriesReduceTheStockAndRefillsRaiseIt(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      let tracker = try daemon.put(
        .init(
          id: "pills", title: ["en": "Pills"], kind: .amount, unit: "tablets", goal: .init(total: 2), usual: 2,
          stock: 20, warnDays: 9))
      #expect(tracker.stock?.quantity == 20 && tracker.stock?.warnDays == 9)
      let first = try daemon.log("pills")
      #expect(first.stock == nil && first.progress?.stock?.left == 18 && first.progress?.stock?.days == 9)
      let second = try daemon.log("pills", 1)
      #expect(second.stock == .low && second.progress?.stock?.left == 17)
      let list: OccurrencesInterface.List.Reply = try daemon.call(OccurrencesInterface.List())
      #expect(list.occurrences.map(\.title).contains("Pills: 17 tablets left"))
      let refill = Wired.Restock(tracker: "pills", add: 10, token: "refill-1")
      for _ in 1...2 {
        let reply: Wired.Restock.Reply = try daemon.call(refill)
        #expect(reply.stock.left == 27 && reply.stock.state == .enough)
      }
      let counted: Wired.Restock.Reply = try daemon.call(Wired.Restock(tracker: "pills", count: 4, warnDays: 1))
      #expect(counted.stock.left == 4 && counted.stock.warnDays == 1 && counted.stock.rate == 2)
      let short = try daemon.log("pills", 5)
      #expect(short.stock == .empty && short.progress?.stock?.shortfall == 1 && short.progress?.stock?.left == 0)
      let changes: Wired.Changes.Reply = try daemon.call(Wired.Changes())
      #expect(changes.changes.map(\.kind) == ["logged", "stocked", "stocked", "logged", "logged", "tracker"])
      for _ in 1...3 { let _: Wired.Undo.Reply = try daemon.call(Wired.Undo()) }
      #expect(try Self.stocks(daemon).map(\.left) == [17] && Self.stocks(daemon, "pills").map(\.state) == [.low])
      let _: Wired.Put.Reply = try daemon.call(Wired.Put(tracker: .init(id: "pills", reset: ["stock"])))
      #expect(try Self.stocks(daemon).isEmpty)
    }
  }

  @Test func invalidStocksAreRefused() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      try daemon.put(.init(id: "pills", kind: .check))
      try daemon.put(.init(id: "weight", kind: .measure, unit: "kg"))
      try daemon.put(.init(id: "water", kind: .amount, unit: "ml"))
      func refused(_ request: Wired.Restock, _ field: String, _ part: String) {
        let refusal = daemon.refusal(request)
        #expect(refusal?.text("field") == field && refusal?.text("message").contains(part) == true, "\(request)")
      }
      refused(.init(tracker: "pills"), "add", "give either")
      refused(.init(tracker: "pills", add: 1, count: 1), "add", "give either")
      refused(.init(tracker: "pills", add: 0), "add", "more than zero")
      refused(.init(tracker: "pills", add: 1.5), "add", "a whole number")
      refused(.init(tracker: "pills", count: 2, unit: "ml"), "count", "without a unit")
      refused(.init(tracker: "pills", count: -1), "count", "must be zero or more")
      refused(.init(tracker: "pills", count: 1e7), "count", "larger than Chime can record")
      refused(.init(tracker: "pills", count: 1e300), "count", "a whole number")
      refused(.init(tracker: "pills", count: 1, warnDays: 400), "warnDays", "0 to 366")
      refused(.init(tracker: "weight", add: 1), "add", "has no stock")
      refused(.init(tracker: "water", add: 1, unit: "kg"), "unit", "ml")
      #expect(daemon.refusal(Wired.Restock(tracker: "pillz", add: 1))?.name == "NotFound")
      #expect(daemon.refusal(Wired.Put(tracker: .init(id: "pills", warnDays: 3)))?.text("field") == "warnDays")
      let _: Wired.Restock.Reply = try daemon.call(Wired.Restock(tracker: "pills", add: 1_000_000))
      refused(.init(tracker: "pills", add: 1), "add", "larger than Chime can record")
      let litres: Wired.Restock.Reply = try daemon.call(Wired.Restock(tracker: "water", add: 2, unit: "l"))
      #expect(litres.stock.left == 2_000)
    }
  }

  /// A file sets the initial amount; later use and refills are no difference.
  @Test func filesAndBackupsContainStocks() async throws {
    var backup: [UInt8] = []
    func text(_ warn: Int) -> String {
      """
      [[tracker]]
      id = "pills"
      kind = "check"
      stock = 30
      warnDays = \(warn)

      [[tracker]]
      id = "coffee"
      kind = "amount"
      unit = "g"
      stock = "1 kg"
      """
    }
    try await TestDaemon.run { daemon in
      func apply(_ text: String) throws -> RemindersInterface.Apply.Reply {
        try daemon.call(
          RemindersInterface.Apply(
            files: [.init(name: "a.toml", text: text)], defaultSet: "home", secrets: [], packs: []))
      }
      #expect(try apply(text(5)).changes.count == 2)
      #expect(try Self.stocks(daemon).map(\.left) == [30, 1_000])
      try daemon.log("pills")
      let _: Wired.Restock.Reply = try daemon.call(Wired.Restock(tracker: "coffee", add: 250))
      #expect(try apply(text(5)).changes.isEmpty)
      #expect(try apply(text(6)).changes.map(\.id) == ["pills"])
      #expect(try Self.stocks(daemon).map(\.left) == [29, 1_250] && Self.stocks(daemon).map(\.warnDays) == [6, 7])
      let exported: RemindersInterface.Export.Reply = try daemon.call(RemindersInterface.Export(format: "toml"))
      #expect(exported.text.contains("stock = 30\n") && exported.text.contains("stock = \"1250 g\""))
      backup = try daemon.backup()
    }
    try await TestDaemon.run { [backup] daemon in
      _ = try BackupTests.restore(daemon, backup)
      #expect(try Self.stocks(daemon).map(\.left) == [29, 1_250])
    }
  }
}
