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

  /// The fields, and those of what stands in some of them.
  static let fields = [
    "title", "when", "body", "timezone", "gap", "fold", "latitude", "longitude", "channels", "tags", "urgency", "icon",
    "sound", "url", "category", "catchUp", "grace", "jitter", "nag", "quiet", "wake", "stay", "snooze", "tracker",
  ]
  static let inner = [
    "catchUp": ["suspend", "downtime"], "nag": ["every", "max", "escalation"], "quiet": ["rule", "hours"],
    "tracker": ["tracker", "logs", "amount", "unit", "quietWhenDone", "followsEntries", "pace"],
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
        return try decoder.decode(DraftLine.self, from: Data(line)).draft.filled(from: defaults)
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

extension RemindersInterface.Draft {
  /// The same, with the fields of another where it has none.
  func filled(from other: RemindersInterface.Draft) -> RemindersInterface.Draft {
    var draft = self
    draft.body = body ?? other.body
    draft.timezone = timezone ?? other.timezone
    draft.gap = gap ?? other.gap
    draft.fold = fold ?? other.fold
    if latitude == nil, longitude == nil { (draft.latitude, draft.longitude) = (other.latitude, other.longitude) }
    draft.channels = channels ?? other.channels
    draft.tags = tags ?? other.tags
    draft.urgency = urgency ?? other.urgency
    draft.icon = icon ?? other.icon
    draft.sound = sound ?? other.sound
    draft.url = url ?? other.url
    draft.category = category ?? other.category
    draft.catchUp = catchUp ?? other.catchUp
    draft.grace = grace ?? other.grace
    draft.jitter = jitter ?? other.jitter
    draft.nag = nag ?? other.nag
    draft.quiet = quiet ?? other.quiet
    draft.wake = wake ?? other.wake
    draft.stay = stay ?? other.stay
    draft.snooze = snooze ?? other.snooze
    draft.tracker = tracker ?? other.tracker
    return draft
  }
}
