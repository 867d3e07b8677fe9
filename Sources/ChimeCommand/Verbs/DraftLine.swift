import ChimeControl
import ChimeWords
import FoundationEssentials

/// A line of JSON that says what a reminder is to be: the fields of a Draft (io.chime.Reminders), and no other.
struct DraftLine: Decodable {
  let draft: RemindersInterface.Draft

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

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    // A field that is misspelt would be lost in silence.
    let container = try decoder.container(keyedBy: Key.self)
    for key in container.allKeys {
      guard Self.fields.contains(key.stringValue) else { throw Self.unknown(key.stringValue, among: Self.fields) }
      guard let inner = Self.inner[key.stringValue],
        let nested = try? container.nestedContainer(keyedBy: Key.self, forKey: key)
      else { continue }
      for key in nested.allKeys where !inner.contains(key.stringValue) {
        throw Self.unknown(key.stringValue, among: inner)
      }
    }
    draft = try RemindersInterface.Draft(from: decoder)
  }

  private static func unknown(_ name: String, among known: [String]) -> Refusal {
    let near = Nearest.question(name, among: known).map { "; \($0)" } ?? ""
    return Refusal(Words.say("there is no field \"%1\"", name) + near)
  }

  /// Reads lines; what they leave open has the values of the options.
  struct Reader {
    let defaults: RemindersInterface.Draft
    private let decoder = JSONDecoder()

    init(defaults: RemindersInterface.Draft) { self.defaults = defaults }

    func read(_ line: [UInt8]) throws(Refusal) -> RemindersInterface.Draft {
      do {
        let own = try decoder.decode(DraftLine.self, from: Data(line)).draft
        var draft = own.filled(from: defaults)
        // Half a place is a fault and not made whole by another.
        if own.latitude != nil || own.longitude != nil {
          (draft.latitude, draft.longitude) = (own.latitude, own.longitude)
        }
        for (name, value) in [("title", own.title), ("when", own.when)] where value == nil {
          throw Refusal(Words.say("\"%1\" is missing", name))
        }
        return draft
      } catch let refusal as Refusal {
        throw refusal
      } catch DecodingError.keyNotFound(let key, _) {
        throw Refusal(Words.say("\"%1\" is missing", key.stringValue))
      } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.dataCorrupted(let context)
      {
        guard let name = context.codingPath.first?.stringValue else { throw Self.noObject }
        throw Refusal(Words.say("\"%1\" cannot be taken: it is of another kind, or no value that it can have", name))
      } catch {
        throw Self.noObject
      }
    }

    private static let noObject = Refusal(
      Words.say("it is no JSON object, such as %1", #"{"title": "Drink water", "when": "every 90m"}"#))
  }
}
