import ChimeSchedule
import FoundationEssentials

/// Responses of the Client-Server API (spec.matrix.org, v1.1 and later), as far as Chime uses them. Values that violate
/// the specification are ignored or refused.
enum MatrixReply {
  /// The response of `POST …/send` and `…/redact`.
  struct Sent: Decodable {
    var event_id: String

    /// Returns the event id; nil if there is none.
    static func id(in text: some Collection<UInt8>) -> String? {
      guard let sent = try? JSONDecoder().decode(Sent.self, from: Data(text)), Matrix.isEventID(sent.event_id) else {
        return nil
      }
      return sent.event_id
    }
  }

  struct Whoami: Decodable { var user_id: String }

  /// The body of any response other than 2xx.
  struct Fault: Decodable {
    var errcode: String
    var retry_after_ms: Double?

    init?(_ bytes: [UInt8]) {
      guard let found = try? JSONDecoder().decode(Self.self, from: Data(bytes)), found.errcode.utf8.count <= 100,
        found.errcode.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else { return nil }
      self = found
    }

    /// How long the server asks not to be called.
    var wait: Milliseconds? {
      retry_after_ms.flatMap { $0 > 0 && $0 < 86_400_000 ? .milliseconds(Int64($0.rounded(.up))) : nil }
    }
  }

  struct Sync: Decodable {
    var next_batch: String
    var rooms: Rooms?

    struct Rooms: Decodable {
      var join: [String: Room]?
      var leave: [String: Left]?
    }
    struct Left: Decodable {}
    struct Room: Decodable { var timeline: Timeline? }
    struct Timeline: Decodable {
      var events: [MatrixEvent]?
      var limited: Bool?
      var prev_batch: String?
    }
  }

  /// The response of `GET …/messages`, newest event first.
  struct Messages: Decodable {
    var chunk: [MatrixEvent]?
    var end: String?
  }

  /// Returns whether a pagination token is safe to store and send.
  static func isPlace(_ token: String) -> Bool {
    (1...1_024).contains(token.utf8.count) && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

/// A room event, with the fields of answers and of Chime's messages. A field of the wrong type is treated as missing.
struct MatrixEvent: Decodable {
  var id: String?
  var type: String?
  var sender: String?
  /// Time by the clock of the sender's server.
  var at: Instant?
  var body: String?
  /// The value of Chime's own key.
  var delivery: String?
  private var relation: Relation?

  private struct Relation: Decodable {
    var rel_type: String?
    var event_id: String?
    var key: String?
    var is_falling_back: Bool?
    var replied: Target?

    enum CodingKeys: String, CodingKey {
      case rel_type, event_id, key, is_falling_back
      case replied = "m.in_reply_to"
    }
    struct Target: Decodable { var event_id: String? }
  }

  private enum Keys: String, CodingKey { case event_id, type, sender, origin_server_ts, content }
  private enum ContentKeys: String, CodingKey {
    case body
    case relation = "m.relates_to"
    case delivery = "io.chime.delivery"
  }

  init(from decoder: any Decoder) throws {
    guard let event = try? decoder.container(keyedBy: Keys.self) else { return }
    id = (try? event.decode(String.self, forKey: .event_id)).flatMap { Matrix.isEventID($0) ? $0 : nil }
    type = try? event.decode(String.self, forKey: .type)
    sender = try? event.decode(String.self, forKey: .sender)
    at = (try? event.decode(Int64.self, forKey: .origin_server_ts)).map(Instant.init(milliseconds:))
    guard let content = try? event.nestedContainer(keyedBy: ContentKeys.self, forKey: .content) else { return }
    body = try? content.decode(String.self, forKey: .body)
    delivery = try? content.decode(String.self, forKey: .delivery)
    relation = try? content.decode(Relation.self, forKey: .relation)
  }

  /// The answered event and the answer; nil if the event is no answer.
  var answer: (to: String, what: ChatAnswer.What)? {
    // Events with Chime's own key are never answers, whichever account sent them.
    guard delivery == nil, let relation else { return nil }
    switch type {
    case "m.reaction":
      guard relation.rel_type == "m.annotation", let target = relation.event_id, Matrix.isEventID(target),
        let key = relation.key, key.utf8.count <= 64, let what = ChatAnswer.What(reaction: key)
      else { return nil }
      return (target, what)
    case "m.room.message":
      // A message in a thread that replies to nothing answers the thread's root.
      let isOfThread = relation.rel_type == "m.thread" && relation.is_falling_back == true
      guard relation.rel_type == nil || relation.rel_type == "m.thread",
        let target = isOfThread ? relation.event_id : relation.replied?.event_id, Matrix.isEventID(target), let body
      else { return nil }
      return (target, ChatAnswer.What(reply: body))
    default: return nil
    }
  }

  var isEncrypted: Bool { type == "m.room.encrypted" }
}

/// A sync filter for the messages of named people in one room.
enum MatrixFilter {
  static let most = 50

  static func text(room: String, senders: [String]) -> String {
    var json = JSONText()
    func nothing(_ json: inout JSONText) { json.member("not_types", ["*"]) }
    json.object { json in
      json.object("account_data", nothing)
      json.object("presence", nothing)
      json.object("room") { json in
        json.object("account_data", nothing)
        json.object("ephemeral", nothing)
        json.member("rooms", [room])
        json.object("state", nothing)
        json.object("timeline") { events(&$0, senders) }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  /// Returns the filter for `GET …/messages`.
  static func text(senders: [String]) -> String {
    var json = JSONText()
    json.object { events(&$0, senders) }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private static func events(_ json: inout JSONText, _ senders: [String]) {
    json.member("limit", Int64(most))
    json.member("senders", senders)
    json.member("types", ["m.reaction", "m.room.message", "m.room.encrypted"])
  }
}
