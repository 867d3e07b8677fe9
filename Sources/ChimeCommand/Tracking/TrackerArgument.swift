import ChimeControl
import ChimeWords

/// Finds the tracker that the user names.
enum TrackerArgument {
  typealias Tracker = TrackersInterface.Tracker

  static func trackers(_ context: Context) throws -> [Tracker] {
    try context.daemon().call(TrackersInterface.List()).trackers
  }

  /// Returns the tracker named by the first words, and the remaining words.
  ///
  /// A name is an id, a title in any language, or a unique prefix. A title of several words needs no quotes.
  static func split(_ text: [String], among trackers: [Tracker], _ context: Context) throws -> (Tracker, [String]) {
    guard let first = text.first, !trimmed(first).isEmpty else { throw missing(trackers, context) }
    for count in (1...text.count).reversed() {
      let name = trimmed(text[..<count].joined(separator: " ")).lowercased()
      if let tracker = trackers.first(where: { names(of: $0).contains(name) }) {
        return (tracker, Array(text[count...]))
      }
    }
    let start = trimmed(first).lowercased()
    let fitting = trackers.filter { names(of: $0).contains { $0.hasPrefix(start) } }
    if fitting.count == 1 { return (fitting[0], Array(text.dropFirst())) }
    if fitting.count > 1 {
      throw Failure(
        status: .failed, message: localized("\"%1\" matches more than one tracker", first),
        detail: fitting.map { "  \($0.id)  \(context.trackerWords.title($0))" },
        hints: [localized("choose one by its id")])
    }
    if trackers.isEmpty {
      throw Failure(status: .failed, message: localized("there is no tracker \"%1\" yet", first), hints: beginning)
    }
    let near = SpellingSuggestions.question(first, among: trackers.flatMap { names(of: $0) })
    throw Failure.failed(
      localized("there is no tracker \"%1\"", first), hint: near ?? localized("`chime tracker list` shows them"))
  }

  /// Returns the tracker that all words together name.
  static func one(_ text: [String], _ context: Context) throws -> Tracker {
    let (tracker, rest) = try split(text, among: trackers(context), context)
    if let word = rest.first {
      throw Failure.usage(localized("\"%2\" after the tracker \"%1\" is one word too many", tracker.id, word))
    }
    return tracker
  }

  private static func names(of tracker: Tracker) -> Set<String> {
    Set([tracker.id] + tracker.title.values.map { $0.lowercased() })
  }

  private static func missing(_ trackers: [Tracker], _ context: Context) -> Failure {
    if trackers.isEmpty {
      return Failure(status: .failed, message: localized("there is no tracker yet"), hints: beginning)
    }
    return .usage(
      localized("which tracker?"),
      hint: localized("there are: %1", trackers.map(\.id).joined(separator: ", ")))
  }

  /// Hints for a user without trackers.
  static var beginning: [String] {
    [
      localized("`chime init` sets some up in four short steps"),
      localized("`chime tracker add reading` creates one of your own"),
    ]
  }

  /// Returns the item with this id or title, else the one whose title begins with or contains the text; nil for none.
  static func item(_ text: String, among items: [TrackersInterface.Item]) throws -> TrackersInterface.Item? {
    let wanted = trimmed(text).lowercased()
    if let exact = items.first(where: { $0.id == wanted || $0.title.lowercased() == wanted }) { return exact }
    var fitting = items.filter { $0.title.lowercased().hasPrefix(wanted) || $0.id.hasPrefix(wanted) }
    if fitting.isEmpty { fitting = items.filter { $0.title.lowercased().contains(wanted) } }
    guard fitting.count > 1 else { return fitting.first }
    throw Failure(
      status: .failed, message: localized("\"%1\" matches more than one item", text),
      detail: fitting.map { "  \(TerminalSanitizer.line($0.id))  \(TerminalSanitizer.line($0.title))" },
      hints: [localized("choose one by its id")])
  }
}
