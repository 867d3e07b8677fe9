import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Testing

@testable import ChimeDelivery

@Suite struct TemplateTests {
  /// Returns a sample message rendered with a template.
  func render(
    _ template: String, _ title: String = "Stand up", body: String? = nil, late: LateCause? = nil,
    change: (inout Reminder) -> Void = { _ in }
  ) throws -> String {
    let message = try message(
      title, body: body, channel: "team", late: late, lateBy: late == nil ? .zero : .hours(2), change: change)
    return String(decoding: try Template(template).message.body(values(message)).bytes, as: UTF8.self)
  }

  func values(_ message: OutboundMessage) -> TemplateValues {
    TemplateValues(message) { String(Zone.utc.civil(at: $0).time.description.prefix(5)) }
  }

  @Test(arguments: [
    (#"{"body": "{{title}}"}"#, #""Stand up""#),
    (
      #"{"body": {"z": 1, "a": [true, null, 1.5, -7], "text": "plain"}}"#,
      #"{"a":[true,null,1.5,-7],"text":"plain","z":1}"#
    ),
    (#"{"body": {"t": "<{{title}}> at {{scheduledTime}}"}}"#, #"{"t":"<Stand up> at 00:30"}"#),
    (#"{"body": {"t": "{{ title }}"}}"#, #"{"t":"Stand up"}"#),
    (#"{"body": {"tags": "{{tags}}", "round": "{{round}}"}}"#, #"{"round":1,"tags":["a","b"]}"#),
    (##"{"body": {"tags": "{{tags}} ", "round": "#{{round}}"}}"##, ##"{"round":"#1","tags":"a, b "}"##),
    (#"{"body": {"url": "{{url}}", "late": "{{late}}", "list": ["{{url}}", "{{title}}"]}}"#, #"{"list":["Stand up"]}"#),
    (#"{"body": {"url": "({{url}})"}}"#, #"{"url":"()"}"#),
    (#"{"body": {"p": {"{{urgency}}": {"low": 2, "normal": {"x": "{{title}}"}}}}}"#, #"{"p":{"x":"Stand up"}}"#),
    (#"{"body": {"p": {"{{urgency}}": {"low": 2, "*": 4}}}}"#, #"{"p":4}"#),
    (#"{"body": {"p": {"{{urgency}}": {"low": 2}}}}"#, "{}"),
    (#"{"body": {"p": {"{{url}}": {"": "none", "*": "{{url}}"}}}}"#, #"{"p":"none"}"#),
    (#"{"body": {"p": {"{{url}}": {"*": 1}}, "q": {"{{title}}": {"*": null}}}}"#, "{}"),
    (#"{"body": {"a": {"b": {}}, "c": []}}"#, #"{"a":{"b":{}},"c":[]}"#),
    (#"{"text": "{{title}}, {{scheduledAt}}"}"#, "Stand up, 2026-03-29T00:30:00Z"),
    (#"{"text": {"{{url}}": {"": "no address", "*": "{{url}}"}}}"#, "no address"),
    (#"{"text": "{{url|default:none}}|{{body|prefix: - }}|{{title|prefix:<|suffix:>}}"}"#, "none||<Stand up>"),
    (#"{"text": "{{title|max:5}} {{title|bytes:6}} {{title|max:8}}"}"#, "Stan… Sta… Stand up"),
    (#"{"text": "{{title|percent}}"}"#, "Stand%20up"),
    (#"{"method": "GET"}"#, ""), ("{}", ""),
  ])
  func placeholdersAreRendered(_ template: String, _ expected: String) throws {
    #expect(try render(template) { $0.tags = ["a", "b"] } == expected)
  }

  @Test func latenessIsRendered() throws {
    let template = #"{"text": "{{title}}{{lateNote|prefix: (|suffix:)}} {{late}} {{latenessMs}}"}"#
    #expect(try render(template, late: .downtime) == "Stand up (was due at 00:30, 2 h late) downtime 7200000")
    #expect(try render(template) == "Stand up  0")
  }

  @Test(arguments: [
    ("slack", "a & b <!channel> *c*", "a &amp; b &lt;!channel&gt; *c*"),
    ("html", "<b>\"x\" & 'y'\nz", "&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;<br>z"),
    ("markdown", "*a* _b_ <@1> `c` \\", "\\*a\\* \\_b\\_ \\<\\@1\\> \\`c\\` \\\\"),
    ("line", "a\r\nb\tc\u{7}d", "a b cd"), ("percent", "é/?", "%C3%A9%2F%3F"),
    // A combining mark does not hide a character.
    ("markdown", "*\u{301}a", "\\*\u{301}a"),
    ("slack", "<\u{338}a", "&lt;\u{338}a"), ("html", "&\u{301}", "&amp;\u{301}"),
    // Entities and grapheme clusters are not split, and an emoji counts as two.
    ("slack|max:8", "ab&&&", "ab&amp;…"), ("max:4", "👩‍👩‍👧 and", "…"), ("max:3", "👍👍", "👍…"), ("max:4", "👍👍", "👍👍"),
    ("bytes:4", "ééé", "…"), ("bytes:5", "ééé", "é…"), ("bytes:2", "ééé", ""), ("max:1", "abc", "…"),
  ])
  func filtersAreApplied(_ filter: String, _ title: String, _ expected: String) throws {
    #expect(try render(#"{"text": "{{title|\#(filter)}}"}"#, title) == expected)
  }

  @Test(arguments: [
    ("", "not JSON"), ("[]", "must be a JSON object"), (#"{"body": 1"#, "not JSON"),
    (#"{"bodi": 1}"#, "no key \"bodi\""),
    (#"{"body": 1, "text": "x"}"#, "either a body"), (#"{"text": 1}"#, "must be a string"),
    (#"{"text": {"{{late}}": {"*": 1}}}"#, "must be a string"), (#"{"method": "DELETE"}"#, "POST, PUT or GET"),
    (#"{"method": "GET", "body": 1}"#, "a GET has no body"), (#"{"method": 1}"#, "method must be a string"),
    (#"{"body": "{{titel}}"}"#, "{{titel}} is not a placeholder; there are: title, body, tags"),
    (#"{"body": "{{}}"}"#, "is not a placeholder"), (#"{"body": "{{title"}"#, "lacks its }}"),
    (#"{"body": "{{title|upper}}"}"#, "\"upper\" is not a filter; there are: line, slack"),
    (#"{"body": "{{title|max}}"}"#, "needs a number"), (#"{"body": "{{title|max:0}}"}"#, "needs a number"),
    (#"{"body": "{{title|prefix}}"}"#, "needs a text"), (#"{"body": "{{title|line:1}}"}"#, "is not a filter"),
    (#"{"body": {"a": 1, "{{title}}": 2}}"#, "a key can be a placeholder only if"),
    (#"{"body": {"{{urgency}}": 3}}"#, "{{urgency}} as a key is a choice"),
    (#"{"body": {"{{urgency}}": {}}}"#, "{{urgency}} as a key is a choice"),
    (#"{"body": "{{token}}"}"#, "only in headers, not in the body"),
    (#"{"text": "x{{token}}"}"#, "only in headers, not in the text"),
    (#"{"path": "/{{token}}"}"#, "only in headers, not in the path"),
    (#"{"body": {"{{late}}": {"*": "{{token}}"}}}"#, "only in headers"),
    (#"{"withdraw": []}"#, "withdraw must be an object"),
    (#"{"body": {"a": 1, "b": [{"a": 2}], "\u0061": "{{title}}"}}"#, "the key \"a\" occurs twice in one object"),
    (#"{"text": "a", "text": "b"}"#, "the key \"text\" occurs twice"),
    (#"{"withdraw": {"url": "/"}}"#, "withdraw has no key \"url\""),
    (#"{"withdraw": {"method": "PATCH"}}"#, "must be POST, PUT, GET or DELETE, not"),
    (#"{"method": "DELETE"}"#, "must be POST, PUT or GET, not"),
    (#"{"withdraw": {"path": "/{{token}}"}}"#, "only in headers"),
    (#"{"receipt": "id"}"#, "write it into the path or the body"), (#"{"receipt": 1}"#, "receipt must be a string"),
    (#"{"withdraw": {"path": "/{{receipt}}"}}"#, "name the member of the answer with receipt"),
    (#"{"path": "/{{receipt}}"}"#, "may stand only in withdraw"),
    (#"{"headers": {"X-A": "{{token.withdraw}}"}}"#, "only in the headers of withdraw"),
    (#"{"withdraw": {"text": "{{token.withdraw}}"}}"#, "only in headers"),
    (#"{"path": "a"}"#, "must begin with /"), (#"{"path": "/a b"}"#, "must begin with /"),
    (#"{"path": "/a#b"}"#, "must begin with /"),
    (#"{"headers": {"Content-Length": "1"}}"#, "Chime itself sets the header"),
    (#"{"headers": {"a b": "1"}}"#, "not the name of a header"),
    (#"{"headers": {"X-A": "1\r\nX-B: 2"}}"#, "control character"), (#"{"headers": {"X-A": 1}}"#, "must be a string"),
    (#"{"headers": {"X-A": {"{{late}}": {"*": "a\nb"}}}}"#, "control character"), (#"{"headers": []}"#, "an object"),
    (#"{"contentType": "a\nb"}"#, "control character"),
    (#"{"body": \#(String(repeating: "[", count: 64))\#(String(repeating: "]", count: 64))}"#, "nests deeper"),
    (#"{"description": "\#(String(repeating: "a", count: 65_536))"}"#, "at most 65536"),
  ])
  func invalidTemplatesAreRefused(_ template: String, _ reason: String) {
    let error = #expect(throws: DeliveryError.self) { try Template(template) }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
  }

  /// A receiver's ID for a message is a member of its answer, a text or an integer.
  @Test(arguments: [
    (#"{"id": 25, "appid": 5}"#, "25"), (#"{"id": "a/b"}"#, "a/b"), (#"{"ID": 1}"#, nil), (#"{"id": 1.5}"#, nil),
    (#"{"id": {}}"#, nil), (#"[25]"#, nil), ("", nil), ("nonsense", nil), (#"{"id": ""}"#, nil),
    (#"{"id": "\#(String(repeating: "a", count: 257))"}"#, nil),
  ])
  func receiptReadsTheReceiversID(_ answer: String, _ receipt: String?) throws {
    let template = try Template(#"{"receipt": "id", "withdraw": {"path": "/{{receipt}}"}}"#)
    #expect(template.receipt(in: Array(answer.utf8)) == receipt)
    #expect(try Template("{}").receipt(in: Array(answer.utf8)) == nil)
  }

  @Test(arguments: [
    ("https://a.example/x", "/send/{{delivery}}", "https://a.example/x/send/msg_r7k2_1"),
    ("https://a.example/x/", "/y", "https://a.example/x/y"), ("https://a.example", "/y", "https://a.example/y"),
    ("https://a.example/x?v=1#f", "/y", "https://a.example/x/y?v=1"),
    ("https://a.example/x?v=1", "/y?t={{title}}", "https://a.example/x/y?v=1&t=a%20%26%20%2F..%2Fb%3F%23%7B"),
    ("https://a.example/x", "?t={{title}}", "https://a.example/x?t=a%20%26%20%2F..%2Fb%3F%23%7B"),
    ("https://a.example/x?v=1", "?r={{round}}", "https://a.example/x?v=1&r=1"),
  ])
  func pathIsAppendedToTheURL(_ base: String, _ path: String, _ expected: String) throws {
    let message = try message("a & /../b?#{", channel: "team")
    #expect(try Template(#"{"path": "\#(path)"}"#).message.url(base, values(message)) == expected)
  }

  /// A withdrawal names the message by the ID under which it was sent, with its own headers.
  @Test func withdrawalNamesTheMessage() throws {
    let access = EndpointAccess(
      endpoint: Endpoint(
        queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team")), url: "https://a.example/x",
        settings: EndpointSettings(
          template: #"{"headers": {"X-A": "1"}, "text": "{{title}}", "withdraw": {"method": "DELETE", "#
            + #""path": "/{{message}}", "headers": {"X-B": "{{event}}"}}}"#), createdAt: scheduled),
      secrets: [SigningSecret(try Secret(SecretTests.text))])
    #expect(access.listener.canWithdraw)
    var message = try message("Tea", channel: "team")
    message.delivery = Delivery(
      id: DeliveryID(rawValue: "msg_w"), occurrence: message.occurrence.id, queue: message.delivery.queue, round: 1,
      createdAt: scheduled, event: DeliveryEvent(.withdrawal, message: DeliveryID(rawValue: "msg_m")))
    let values = values(message)
    var signed = SignedRequest(access: access, id: "msg_w", version: "1", values: { values }, usual: { [] })
    signed.withdraws = true
    let request = try signed.make(at: scheduled, token: nil)
    #expect(request.method == "DELETE" && request.url == "https://a.example/x/msg_m" && request.body.isEmpty)
    #expect(request.headers.contains("X-B: withdrawal") && !request.headers.contains("X-A: 1"))
    #expect(request.headers.contains("webhook-id: msg_w"))
  }

  @Test func hostileTitleDoesNotLeaveItsPath() throws {
    for title in [".", ".."] {
      let template = try Template(#"{"path": "/a/{{title}}/b"}"#)
      #expect(template.message.url("https://a.example", values(try message(title))) == "https://a.example/a/_/b")
    }
  }

  @Test(arguments: [
    ("plain words", "plain words"), ("a\r\nX-Evil: 1", "a X-Evil: 1"), ("  a  b ", "a b"), ("\u{1}\n", nil), ("", nil),
    ("Žluťoučký", "=?UTF-8?B?xb1sdcWlb3XEjWvDvQ==?="),
    (
      String(repeating: "é", count: 30),
      "=?UTF-8?B?" + Base64.encode(Array(String(repeating: "é", count: 22).utf8)[...])
        + "?= =?UTF-8?B?" + Base64.encode(Array(String(repeating: "é", count: 8).utf8)[...]) + "?="
    ),
  ])
  func headersAreRendered(_ title: String, _ expected: String?) throws {
    let header = try TemplateHeader(name: "X-Title", value: .string("{{title}}"))
    #expect(header.render(values(try message(title))) == expected)
  }

  /// A truncated token would be useless.
  @Test func tokensAndFixedTextAreNeverTruncated() throws {
    let token = String(repeating: "t", count: Token.limit)
    var values = values(try message())
    values[.token] = .text(token)
    let header = try TemplateHeader(name: "Authorization", value: .string("Bearer {{token}}"))
    #expect(header.render(values) == "Bearer " + token)
    let literal = String(repeating: "x", count: HeaderRules.limit)
    #expect(try TemplateHeader(name: "X-Own", value: .string(literal)).render(values) == literal)
  }

  @Test func renderedHeadersAreBounded() throws {
    let header = try TemplateHeader(name: "X-Title", value: .string("{{title}}"))
    let rendered = try #require(header.render(values(try message(String(repeating: "語", count: 9_000)))))
    #expect(rendered.utf8.count < 4_096 && rendered.split(separator: " ").allSatisfy { $0.count <= 75 })
  }

  /// Whatever the texts contain, the JSON keeps its structure, contains exactly the texts, and is reproducible.
  @Test func hostileTextKeepsTheJSONStructure() throws {
    let template = try Template(
      #"""
      {"body": {"{{title}}": {"*": {"a": "{{title}}", "b": ["x{{body}}y", {"c": "{{tags}}"}], "d": 1, "e": null}}}}
      """#)
    var random = SeededGenerator(seed: 20_260_329)
    let alphabet = Array("\"\\{}[]:,|\n\r\t\u{0}\u{1F}\u{7F}{{}}title body/é語👩‍👩‍👧\u{301}\u{202E}&<>'`\u{2028}\u{FFFD}")
    func text(_ random: inout SeededGenerator) -> String {
      let parts = (0..<Int.random(in: 1...30, using: &random)).map { _ -> String in
        switch Int.random(in: 0..<12, using: &random) {
        case 0: "{{title}}"
        case 1: "\",\"evil\":\"1"
        case 2: "{{token}}"
        default: String(alphabet.randomElement(using: &random) ?? "x")
        }
      }
      return parts.joined()
    }
    for _ in 0..<2_000 {
      let (title, body, tag) = (text(&random), text(&random), text(&random))
      let sample = values(try message(title, body: body) { $0.tags = [tag] })
      let bytes = template.message.body(sample).bytes
      let parsed = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
      try #require(parsed.keys.sorted() == ["a", "b", "d", "e"])
      let list = try #require(parsed["b"] as? [Any])
      try #require(list.count == 2)
      // Compare scalars: canonically equivalent texts may differ.
      func same(_ value: Any?, _ expected: String) -> Bool {
        (value as? String)?.unicodeScalars.elementsEqual(expected.unicodeScalars) == true
      }
      #expect(same(parsed["a"], title) && same(list[0], "x\(body)y"), "\(title.debugDescription)")
      #expect(same(((list[1] as? [String: Any])?["c"] as? [Any])?.first, tag))
      #expect(template.message.body(sample).bytes == bytes)
    }
  }

  @Test(arguments: ShippedTemplates.names)
  func shippedTemplatesAreValid(_ name: String) throws {
    let template = try Template(setting: name)
    #expect(!template.summary.isEmpty)
    try EndpointRules.check(url: try #require(template.example))
    let text = try #require(ShippedTemplates.text(name))
    #expect(try Template(setting: "\n " + text) == template)
  }

  @Test func everyTemplateFileIsShipped() throws {
    let folder = URL(filePath: Package.folder).appending(path: "Config/endpoints")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(files == ShippedTemplates.names.map { "\($0).json" })
    for name in ShippedTemplates.names {
      let file = try Data(contentsOf: folder.appendingPathComponent("\(name).json"))
      #expect(ShippedTemplates.text(name).map { Array($0.utf8) } == Array(file))
    }
    let error = #expect(throws: DeliveryError.self) { try Template(setting: "teams") }
    #expect(error?.description.contains("no template \"teams\"; there are: discord, email, gotify") == true)
  }

  @Test(arguments: [
    (["X-A": "1", "x-a": "2"], "occurs twice"), (["Authorization": "Bearer abc"], "holds a secret"),
    (["Cookie": "a=b"], "holds a secret"), (["Host": "x"], "Chime itself sets the header"),
    (["webhook-id": "x"], "Chime itself sets"),
    (["X-A": "{{nope}}"], "is not a placeholder"), (["": "x"], "not the name of a header"),
    (["X:": "x"], "not the name of a header"),
  ])
  func invalidHeadersAreRefused(_ headers: [String: String], _ reason: String) {
    let error = #expect(throws: DeliveryError.self) {
      try HeaderRules.check(headers.map { EndpointSettings.Header(name: $0.key, value: $0.value) })
    }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
  }

  @Test func validHeadersAreAccepted() throws {
    try HeaderRules.check([
      .init(name: "Authorization", value: "Token {{token}}"), .init(name: "X-Title", value: "{{title}}"),
    ])
  }
}
