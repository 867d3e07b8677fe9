import ChimeControl
import ChimeWords

/// `chime stock [list|add|set|remove]`
enum StockVerbs {
  typealias Level = TrackersInterface.StockLevel

  static let verb = Verb(
    name: "stock", group: .keep,
    summary: "Stocks: supplies that entries use up, such as tablets",
    details: [
      "A tracker has a stock from its first `chime stock set` or `add`, or from `chime tracker add --stock 30`. "
        + "Each entry uses it up: an amount uses that amount, a check uses one. Undoing, editing or removing an "
        + "entry gives its use back. Chime warns once when the stock will last for fewer days than `--warn`, by "
        + "the use of the last 14 days or else by the goal; after a refill it can warn again."
    ],
    examples: ["chime stock set ibuprofen 30 --warn 7", "chime stock list", "chime stock add ibuprofen 30"],
    alsoTried: ["stocks", "inventory", "refill", "supply"], subverbs: [list, add, set, remove])

  private static let warn: Verb.Option = .value(
    "warn", nil, "DAYS", "Warn when it will last for fewer days than this; the default is the present setting")

  static let list = Verb(
    name: "list", group: .keep, arguments: ["[TRACKER]"],
    summary: "List the stock left, the daily use, and the day on which it runs out",
    examples: ["chime stock list"], alsoTried: ["ls", "show"],
    json: "`stocks`, and `more`, which is false", run: runList)

  static let add = Verb(
    name: "add", group: .keep, arguments: ["TRACKER AMOUNT"], summary: "Record a refill",
    options: [warn, DraftOptions.token],
    examples: ["chime stock add ibuprofen 30"], alsoTried: ["refill", "new"], json: "`stock`",
    run: { try restock($0, isCount: false) })

  static let set = Verb(
    name: "set", group: .keep, arguments: ["TRACKER AMOUNT"], summary: "Set the present stock, after counting it",
    options: [warn, DraftOptions.token],
    examples: ["chime stock set ibuprofen 12"], alsoTried: ["count", "correct", "edit"],
    json: "`stock`",
    run: { try restock($0, isCount: true) })

  static let remove = Verb(
    name: "remove", group: .keep, arguments: ["TRACKER"], summary: "Stop counting the stock; entries stay",
    examples: ["chime stock remove ibuprofen"], alsoTried: ["rm", "delete", "del"], json: "`tracker`",
    run: runRemove)

  private static func runList(_ context: Context) throws -> ExitCode {
    let tracker = context.line.words.isEmpty ? nil : try TrackerArgument.one(context.line.words, context)
    let stocks = try context.daemon().call(TrackersInterface.Stocks(tracker: tracker?.id)).stocks
    let empty = [
      localized("No tracker has a stock."),
      localized("Count one: %1", "chime stock set \(tracker?.id ?? "ibuprofen") 30"),
    ]
    context.print(stocks, named: "stocks", empty: empty) {
      let words = context.trackerWords
      var table = Table(columns: [
        .init(title: localized("TRACKER"), canShrink: true), .init(title: localized("LEFT"), alignRight: true),
        .init(title: localized("A DAY"), alignRight: true, dropOrder: 2), .init(title: localized("ENOUGH UNTIL")),
        .init(title: localized("TOLD BELOW"), dropOrder: 3),
      ])
      for stock in stocks {
        table.rows.append([
          .init(TerminalSanitizer.line(words.local(stock.title))), .init(amount(stock.left, stock), tone(stock)),
          .init(stock.rate.map { amount($0, stock) } ?? "", .faint), .init(until(stock, words), tone(stock)),
          .init(localized(count: stock.warnDays, "%n day", "%n days"), .faint),
        ])
      }
      context.print(table: table)
      for stock in stocks { for line in short(stock, words) { context.note(line) } }
    }
    return .success
  }

  private static func restock(_ context: Context, isCount: Bool) throws -> ExitCode {
    var (tracker, words) = try TrackerArgument.split(
      context.line.words, among: TrackerArgument.trackers(context), context)
    let verb = isCount ? "set" : "add"
    guard let amount = try Log.takeAmount(&words, tracker) else {
      throw Failure.usage(localized("how much?"), hint: "chime stock \(verb) \(tracker.id) 30")
    }
    if let word = words.first {
      throw Failure.usage(localized("\"%1\" after the amount is one word too many", word))
    }
    let stock = try context.daemon().call(
      TrackersInterface.Restock(
        tracker: tracker.id, add: isCount ? nil : amount.value, count: isCount ? amount.value : nil,
        unit: amount.unit, warnDays: context.line.count("warn", minimum: 0, maximum: 366),
        token: context.line.value("token"))
    ).stock
    context.print(stock, named: "stock") {
      let words = context.trackerWords
      let title = context.style(TerminalSanitizer.line(words.local(stock.title)), .strong)
      context.out("\(title): \(context.style(line(stock, words), tone(stock)))")
      for line in short(stock, words) { context.note(line) }
    }
    return .success
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    try need(tracker.stock != nil, failed: localized("%1 has no stock", tracker.id))
    return try TrackerVerbs.put(TrackersInterface.TrackerDraft(id: tracker.id, reset: ["stock"]), context)
  }

  // MARK: Words

  /// Returns `6 left, enough until Wed 2026-12-02`.
  static func line(_ stock: Level, _ words: TrackerWords) -> String {
    let left = localized("%1 left", amount(stock.left, stock))
    guard stock.state != .empty, stock.until != nil else { return left }
    return localized("%1, enough until %2", left, until(stock, words))
  }

  /// Reports that more was used than was in stock, and the remedy.
  static func short(_ stock: Level, _ words: TrackerWords) -> [String] {
    guard let short = stock.shortfall else { return [] }
    return [
      localized(
        "%1: entries used %2 more than the stock had; set the present stock: %3",
        TerminalSanitizer.line(words.local(stock.title)),
        amount(short, stock), "chime stock set \(stock.tracker) 30")
    ]
  }

  static func tone(_ stock: Level) -> Style.Tone {
    switch stock.state {
    case .enough: .plain
    case .low: .caution
    case .empty: .bad
    }
  }

  private static func until(_ stock: Level, _ words: TrackerWords) -> String {
    if stock.state == .empty { return localized("used up") }
    return stock.until.map { words.day($0) } ?? ""
  }

  private static func amount(_ value: Double, _ stock: Level) -> String {
    [TrackerWords.shortest(value), stock.unit.map { TerminalSanitizer.line($0) }].compactMap { $0 }.joined(
      separator: " ")
  }
}
