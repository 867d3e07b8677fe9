import ChimeSchedule
import FoundationEssentials

/// One line of ntfy's JSON stream of a topic (docs.ntfy.sh/subscribe/api).
enum ReplyLine: Hashable, Sendable {
  /// The stream is open.
  case opened
  case message(id: String, text: String)
  /// A keepalive or an irrelevant event.
  case other
  /// An invalid line.
  case nonsense

  init(_ line: [UInt8]) {
    guard !line.isEmpty else {
      self = .other
      return
    }
    guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(line)) else {
      self = .nonsense
      return
    }
    switch fields.event {
    case "open": self = .opened
    case "message":
      self = Self.isID(fields.id ?? "") ? .message(id: fields.id ?? "", text: fields.message ?? "") : .nonsense
    default: self = .other
    }
  }

  /// Returns whether a text is a valid message id that is safe in a URL.
  static func isID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private struct Fields: Decodable {
    var id: String?
    var event: String
    var message: String?
  }
}

/// The answers of a polled address: `{"answers": [{"id": "7", "token": "chact_…"}]}`, or an empty body.
struct PolledAnswers: Hashable, Sendable {
  struct Answer: Hashable, Sendable, Decodable {
    var id: String
    var token: String
  }

  /// Maximum length of the body in bytes.
  static let longest = 65_536

  /// The answers in order.
  var answers: [Answer]

  /// - Throws: `DeliveryError` if the body has another form.
  init(_ body: [UInt8]) throws(DeliveryError) {
    guard !body.isEmpty else {
      answers = []
      return
    }
    guard let said = try? JSONDecoder().decode(Said.self, from: Data(body)) else {
      throw DeliveryError(
        "its answer is invalid: answers are {\"answers\": [{\"id\": \"7\", \"token\": \"\(ActionToken.prefix)…\"}]}"
      )
    }
    try need(
      said.answers.allSatisfy({ ReplyLine.isID($0.id) }),
      "an id of its answers is invalid: use 1 to 64 letters, digits, - or _")
    answers = said.answers
  }

  private struct Said: Decodable { var answers: [Answer] }

  /// Returns the URL that asks for answers after `last`. It also tells the server that it may drop answers up to
  /// `last`.
  static func url(_ address: String, after last: String?) -> String {
    guard let last else { return address }
    return address + (address.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + "after=\(last)"
  }
}

/// Splits a stream into lines. It gives up on a server that sends overlong lines or too much.
struct ReplyLines {
  /// Maximum length of a line in bytes. ntfy allows messages of 4 KiB, which grow by escapes and further members.
  static let longest = 32_768
  /// Limits of received data in bytes: at once, for a server's backlog, and per second on average.
  static let most = 1 << 20
  static let perSecond = 1_024

  private var rest: [UInt8] = []
  private var count = 0

  init() {}

  /// - Parameter elapsed: Time since the stream was requested.
  /// - Returns: The lines completed by this part.
  /// - Throws: `DeliveryError` if the stream must be given up.
  mutating func take(_ part: some Collection<UInt8>, elapsed: Milliseconds) throws(DeliveryError) -> [[UInt8]] {
    count += part.count
    try need(
      count <= Self.most + Self.perSecond * Int(elapsed.rawValue / 1_000),
      "the broker sends too much: more than \(Self.most >> 10) KiB, or \(Self.perSecond) bytes in a second")
    rest += part
    var lines: [[UInt8]] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      guard end <= Self.longest else { throw Self.tooLong }
      var line = rest[..<end]
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      lines.append(Array(line))
      rest.removeFirst(end + 1)
    }
    guard rest.count <= Self.longest else { throw Self.tooLong }
    return lines
  }

  private static var tooLong: DeliveryError { DeliveryError("it sends a line of more than \(longest >> 10) KiB") }
}
