import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// A WebhookAnswer is the action that the body of a successful response requests for the occurrence.
///
///     {"action":"done"}   {"action":"done","item":"speedmaster"}   {"action":"dismiss"}   {"action":"snooze","for":"10m"}   {"action":"snooze","for":"PT10M"}
///
/// Most receivers answer with content of their own. Only a JSON object with the key `action` is parsed, and that
/// strictly.
enum WebhookAnswer: Hashable, Sendable {
  case nothing
  case answer(Occurrence.Answer)
  /// The body has an `action` but is invalid; the text says why.
  case misunderstood(String)

  /// Allowed snooze lengths. A program could otherwise snooze by seconds and cause a request every second.
  static let lengths: ClosedRange<Milliseconds> = .minutes(1)...(.days(366))
  /// Last round of an occurrence that a response may snooze. People may snooze any round.
  static let lastRound = 30

  /// Parses a response.
  ///
  /// - Parameters:
  ///   - body: The complete body. A body longer than `HTTPLimits.maxBodyBytes` is ignored.
  ///   - contentType: The header. Only `application/json` and a missing header are accepted.
  ///   - round: The round of the occurrence that was sent.
  ///   - redaction: Applied to quoted parts of the body.
  init(_ body: [UInt8], contentType: String?, round: Int = 1, redaction: Redaction = Redaction()) {
    self = .nothing
    guard Self.isJSON(contentType), body.count <= HTTPLimits.maxBodyBytes, !body.isEmpty,
      let fields = try? JSONDecoder().decode([String: Field].self, from: Data(body)), let action = fields["action"]
    else { return }
    // JSON leaves open which of two members with one name counts, so such an object is rejected.
    guard JSONMembers.twin(in: body) == nil else {
      self = .misunderstood("one of its members occurs twice")
      return
    }
    let quoted = { (text: String) in
      "\"\(PlainText.clipped(PlainText.withoutControls(redaction.clean(text), lines: false), bytes: 40))\""
    }
    guard case .text(let name) = action else {
      self = .misunderstood("its action is not a text")
      return
    }
    let others = fields.keys.filter {
      $0 != "action" && !($0 == "for" && name == "snooze") && !($0 == "item" && name == "done")
    }.sorted()
    if let other = others.first {
      self = .misunderstood("\(quoted(other)) cannot be used with the action \(quoted(name))")
      return
    }
    switch name {
    case "done":
      switch fields["item"] {
      case nil: self = .answer(.done)
      case .text(let text)?:
        self =
          Occurrence.Answer(item: text).map { .answer($0) }
          ?? .misunderstood(
            "\(quoted(text)) is not the id of an item")
      case .some: self = .misunderstood("its item is not a text")
      }
    case "dismiss": self = .answer(.dismiss)
    case "snooze": self = Self.snooze(fields["for"], round)
    default: self = .misunderstood("\(quoted(name)) is not an action; write done, dismiss or snooze")
    }
  }

  private static func snooze(_ field: Field?, _ round: Int) -> WebhookAnswer {
    guard case .text(let text) = field, text.utf8.count <= 64,
      let length = (try? DurationText.parse(text)) ?? (try? DurationText.parseISO8601(text))
    else { return .misunderstood("a snooze needs its length, as in {\"action\":\"snooze\",\"for\":\"10m\"}") }
    guard lengths.contains(length) else {
      return .misunderstood("a snooze in an answer lasts from 1 min to 366 days")
    }
    guard round <= lastRound else {
      return .misunderstood("this is round \(round), and answers can snooze only the first \(lastRound)")
    }
    return .answer(.snooze(for: length))
  }

  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
    return type.isEmpty || type.lowercased() == "application/json"
  }

  /// A JSON value, of which only strings matter.
  private enum Field: Decodable {
    case text(String)
    case other

    init(from decoder: any Decoder) throws {
      self = (try? decoder.singleValueContainer().decode(String.self)).map(Field.text) ?? .other
    }
  }
}

/// Finds members of a JSON object that have one name. JSON leaves open which of them counts (RFC 8259, section 4).
enum JSONMembers {
  /// Returns a name that two members of one object have; nil if there is none.
  ///
  /// - Parameter json: Bytes that a JSON decoder has accepted.
  static func twin(in json: [UInt8]) -> String? {
    // The names of each open object; nil for a list.
    var open: [Set<String>?] = []
    var place = 0
    var isName = false
    while place < json.count {
      switch json[place] {
      case UInt8(ascii: "\""):
        let start = place
        place += 1
        while place < json.count, json[place] != UInt8(ascii: "\"") {
          place += json[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        if isName {
          let text = json[start..<min(place + 1, json.count)]
          // Escapes allow several spellings of one name.
          guard let name = try? JSONDecoder().decode(String.self, from: Data(text)) else {
            return String(decoding: text, as: UTF8.self)
          }
          if open.last??.contains(name) == true { return name }
          open[open.count - 1]?.insert(name)
        }
        isName = false
      case UInt8(ascii: "{"):
        open.append([])
        isName = true
      case UInt8(ascii: "["): open.append(nil)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
      case UInt8(ascii: ","): isName = open.last.map { $0 != nil } ?? false
      default: break
      }
      place += 1
    }
    return nil
  }
}
