import ChimeControl
import ChimeWords
import Varlink

/// A line of JSON that says what a reminder is to be: the fields of a Draft (io.chime.Reminders), and no other.
struct DraftLine {
  let defaults: RemindersInterface.Draft

  /// Why a line is none, as a sentence for a person.
  struct Refusal: Error, Equatable {
    var message: String
    init(_ message: String) { self.message = message }
  }

  private typealias Interface = RemindersInterface
  /// The fields, and those of what stands in some of them. What a field goes back to is for `edit`.
  static let fields = Interface.Draft.fieldNames.filter { $0 != "reset" }
  static let inner = [
    "catchUp": Interface.CatchUp.fieldNames, "nag": Interface.Nag.fieldNames, "quiet": Interface.Quiet.fieldNames,
    "tracker": Interface.TrackerLink.fieldNames,
  ]

  /// A field that is misspelt would be lost in silence.
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

  /// A line as a reminder; what it leaves open has the values of `defaults`.
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
    // Half a place is a fault and not made whole by another.
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
