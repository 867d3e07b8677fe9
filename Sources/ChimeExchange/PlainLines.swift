/// PlainLines are the lines of a text without their line ends. A byte order mark at the start is skipped.
struct PlainLines: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  /// - Throws: ``ExchangeError`` if the text is longer than any import accepts.
  init(_ text: [UInt8]) throws(ExchangeError) {
    try need(
      text.count <= CrontabImport.maximumLength, line: nil,
      "the text is longer than \(CrontabImport.maximumLength >> 20) MiB")
    rest = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text[3...] : text[...]
  }

  mutating func next() -> String? {
    guard !rest.isEmpty else { return nil }
    let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
    var line = rest[..<end]
    if line.last == 0x0D { line.removeLast() }
    rest = rest[Swift.min(end + 1, rest.endIndex)...]
    return String(decoding: line, as: UTF8.self)
  }
}

/// EnglishNames are names of months and weekdays, which Unix programs abbreviate.
enum EnglishNames {
  static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]
  static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

  /// Returns the number of a name, from 1. Any prefix of three letters or more matches.
  static func number(of word: some StringProtocol, in names: [String]) -> Int? {
    let word = word.lowercased()
    guard word.utf8.count >= 3 else { return nil }
    return names.firstIndex { $0.hasPrefix(word) }.map { $0 + 1 }
  }
}

extension ImportPlan {
  /// Adds a reminder for a schedule, or a remark on why there is none.
  ///
  /// - Returns: Whether it was added.
  @discardableResult
  mutating func take(
    _ schedule: String, _ settings: ImportSettings, line: Int, title: String, body: String? = nil,
    _ finish: (inout ReminderDraft) -> Void = { _ in }
  ) throws(ExchangeError) -> Bool {
    do {
      var draft = ReminderDraft(
        line: line, title: title, body: body.flatMap(DraftText.body), schedule: try settings.schedule(schedule))
      finish(&draft)
      try add(draft)
      return true
    } catch let error as ExchangeError {
      throw error
    } catch NoSchedule.refused(let reason) {
      remark(line, title, .refused, reason)
    } catch {
      remark(line, title, .past, "it has no future time")
    }
    return false
  }
}
