import ChimeCore
import ChimeSchedule
import FoundationEssentials

/// What the body of a successful answer says should become of the occurrence.
///
///     {"action":"done"}   {"action":"dismiss"}   {"action":"snooze","for":"10m"}   {"action":"snooze","for":"PT10M"}
///
/// Most receivers answer something of their own, which says nothing here: only an object with the key `action` is
/// looked at, and that one strictly.
enum WebhookAnswer: Hashable, Sendable {
  case nothing
  case answer(Occurrence.Answer)
  /// It was meant to say something; with what is wrong about it.
  case misunderstood(String)

  /// - Parameters:
  ///   - body: all of the answer's body. One longer than `HTTPLimits.kept` says nothing.
  ///   - contentType: the header; only `application/json` and none at all are looked at.
  ///   - redaction: for what is quoted of it.
  init(_ body: [UInt8], contentType: String?, redaction: Redaction = Redaction()) {
    self = .nothing
    guard Self.isJSON(contentType), body.count <= HTTPLimits.kept, !body.isEmpty,
      let fields = try? JSONDecoder().decode([String: Field].self, from: Data(body)), let action = fields["action"]
    else { return }
    let quoted = { (text: String) in
      "\"\(PlainText.clipped(PlainText.withoutControls(redaction.clean(text), lines: false), bytes: 40))\""
    }
    guard case .text(let name) = action else {
      self = .misunderstood("its action is no text")
      return
    }
    let others = fields.keys.filter { $0 != "action" && !($0 == "for" && name == "snooze") }.sorted()
    if let other = others.first {
      self = .misunderstood("\(quoted(other)) does not belong beside the action \(quoted(name))")
      return
    }
    switch name {
    case "done": self = .answer(.done)
    case "dismiss": self = .answer(.dismiss)
    case "snooze": self = Self.snooze(fields["for"])
    default: self = .misunderstood("\(quoted(name)) is no action; write done, dismiss or snooze")
    }
  }

  private static func snooze(_ field: Field?) -> WebhookAnswer {
    guard case .text(let text) = field, text.utf8.count <= 64,
      let length = (try? DurationText.parse(text)) ?? (try? DurationText.parseISO8601(text))
    else { return .misunderstood("a snooze needs its length, as in {\"action\":\"snooze\",\"for\":\"10m\"}") }
    guard length >= .seconds(1), length <= .days(366) else { return .misunderstood("a snooze is of 1 s to 366 days") }
    return .answer(.snooze(for: length))
  }

  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
    return type.isEmpty || type.lowercased() == "application/json"
  }

  /// A value of which only text matters.
  private enum Field: Decodable {
    case text(String)
    case other

    init(from decoder: any Decoder) throws {
      self = (try? decoder.singleValueContainer().decode(String.self)).map(Field.text) ?? .other
    }
  }
}
