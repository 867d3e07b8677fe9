import ChimeControl
import ChimeWords
import Varlink

/// Parses a line of JSON into a reminder draft: the fields of Draft (io.chime.Reminders), and no others.
struct DraftLine {
  let defaults: RemindersInterface.Draft

  /// The reason why a line is rejected, as a sentence.
  struct Refusal: Error, Equatable {
    var message: String
    init(_ message: String) { self.message = message }
  }

  private typealias Interface = RemindersInterface
  /// The accepted fields, and those of nested objects. `reset` is only for `edit`.
  static let fields = Interface.Draft.fieldNames.filter { $0 != "reset" }
  static let inner = [
    "catchUp": Interface.CatchUp.fieldNames, "nag": Interface.Nag.fieldNames, "quiet": Interface.Quiet.fieldNames,
    "tracker": Interface.TrackerLink.fieldNames,
  ]

  /// Rejects unknown names, since a misspelled field would be lost silently.
  private static func checkNames(_ members: [String: JSON]) throws(Refusal) {
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      guard fields.contains(name) else { throw unknown(name, among: fields) }
      guard let inner = inner[name], case .object(let members) = value else { continue }
      for name in members.keys.sorted() where !inner.contains(name) { throw unknown(name, among: inner) }
    }
  }

  private static func unknown(_ name: String, among known: [String]) -> Refusal {
    let near = SpellingSuggestions.question(name, among: known).map { "; \($0)" } ?? ""
    return Refusal(localized("there is no field \"%1\"", name) + near)
  }

  /// Parses a line; missing fields take the values of `defaults`.
  func read(_ line: [UInt8]) throws(Refusal) -> RemindersInterface.Draft {
    let own: RemindersInterface.Draft
    do {
      guard case .object(let members) = try JSONReader.read(JSON.self, from: line) else { throw Self.noObject }
      try Self.checkNames(members)
      own = try JSONReader.read(from: line)
    } catch let refusal as Refusal {
      throw refusal
    } catch let fault as JSONFault {
      guard let name = fault.field else { throw Self.noObject }
      guard fault.reason != .missing else { throw Refusal(localized("\"%1\" is missing", name)) }
      throw Refusal(localized("\"%1\" is invalid: it has the wrong type or a value that is not allowed", name))
    } catch {
      throw Self.noObject
    }
    var draft = own.filled(from: defaults)
    // Do not complete half a location from the defaults; the daemon rejects it.
    if own.latitude != nil || own.longitude != nil {
      (draft.latitude, draft.longitude) = (own.latitude, own.longitude)
    }
    for (name, value) in [("title", own.title), ("when", own.when)] where value == nil {
      throw Refusal(localized("\"%1\" is missing", name))
    }
    return draft
  }

  private static let noObject = Refusal(
    localized("it is not a JSON object, such as %1", #"{"title": "Drink water", "when": "every 90m"}"#))
}
