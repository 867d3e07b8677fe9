import ChimeCore
import ChimeSchedule
import ChimeWords

/// Who sends an email, who gets it, and how the server is spoken to.
struct MailEnvelope: Hashable, Sendable {
  var from: String
  var recipients: [String]
  /// The name and the password to log in with; nil: without.
  var user: String?
  var password: String?
  /// Whether the server is on this very machine, so that TLS may be done without.
  var isLocal: Bool
}

/// An email of one attempt: made from an endpoint and a message, the same bytes each time.
///
/// Whatever a title holds, it is no more than a part of a text: headers are one line each, in encoded words where a text is
/// not ASCII; the texts are quoted-printable, in which no boundary can stand.
struct MailRequest {
  var access: EndpointAccess
  /// The delivery's, the same for every attempt.
  var id: String
  /// The occurrence that all its messages are shown under.
  var occurrence: OccurrenceID
  /// Whether it comes again because nobody has answered, or after a snooze.
  var isRepeat = false
  var date: Instant
  var isUrgent = false
  var values: @Sendable () -> TemplateValues

  /// The longest subject, in bytes.
  private static let subjectLimit = 256

  /// Its headers, and as the body what follows them.
  ///
  /// - Throws: `TemplateError` when the template would make too much of the message; `EndpointURLError` for an endpoint that
  ///   lacks what an email needs.
  func make(password: String?) throws -> HTTPRequest {
    let settings = access.endpoint.settings
    let recipients = try MailAddress.recipients(of: access.endpoint.url)
    let (server, from) = (try MailServer(settings.via ?? ""), try MailAddress(settings.from ?? ""))
    let template = try access.template ?? Template(setting: "email")
    guard case .mail(let texts) = template.message.content else {
      throw TemplateError("its template is not for emails")
    }
    let values = values()
    guard template.message.bound(values) <= Template.textLimit else {
      throw TemplateError(
        "its template could make this message longer than \(Template.textLimit) bytes: use long texts less often, "
          + "or cut them with |max:N before other filters")
    }
    let thread = "<\(occurrence.reminder).\(occurrence.scheduledAt.seconds)@\(from.domain)>"
    var headers = [
      "Date: \(Self.date(date))",
      "From: Chime <\(from)>",
      "To: \(recipients.map(\.description).joined(separator: ",\r\n "))",
      "Subject: \(Self.subject(texts.subject.text(values)))",
      "Message-ID: <\(id)@\(from.domain)>",
    ]
    if isRepeat { headers.append("In-Reply-To: \(thread)") }
    headers += ["References: \(thread)", "Auto-Submitted: auto-generated", "MIME-Version: 1.0"]
    if isUrgent { headers.append("Importance: high") }
    if let address = settings.replyTo { headers.append("Reply-To: \(try MailAddress(address))") }
    let plain = part("plain", texts.text.text(values))
    let body: String
    if let html = texts.html {
      let boundary = "=_\(id)"
      headers.append("Content-Type: multipart/alternative; boundary=\"\(boundary)\"")
      let parts = [plain, part("html", html.text(values, first: .html))].map { part in
        "--\(boundary)\r\n" + part.headers.joined(separator: "\r\n") + "\r\n\r\n" + part.text
      }
      body = parts.joined() + "--\(boundary)--\r\n"
    } else {
      headers += plain.headers
      body = plain.text
    }
    return HTTPRequest(
      method: "SMTP", url: "\(server.url)/\(from.domain)", headers: headers, body: Array(body.utf8),
      certificates: settings.certificates, redaction: Redaction(token: password),
      envelope: MailEnvelope(
        from: from.description, recipients: recipients.map(\.description), user: settings.user,
        password: settings.user == nil ? nil : password, isLocal: server.isLocal))
  }

  private func part(_ kind: String, _ text: String) -> (headers: [String], text: String) {
    (
      ["Content-Type: text/\(kind); charset=utf-8", "Content-Transfer-Encoding: quoted-printable"],
      QuotedPrintable.encode(PlainText.withoutControls(text, lines: true))
    )
  }

  /// One line; never empty. In encoded words where it is not ASCII, looks like some, or is long for one line.
  private static func subject(_ text: String) -> String {
    let words = PlainText.withoutControls(text, lines: false).split(separator: " ", omittingEmptySubsequences: true)
    let line = PlainText.clipped(words.joined(separator: " "), bytes: subjectLimit)
    guard !line.isEmpty else { return subject(localized("Reminder")) }
    let isPlain = line.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    if isPlain, line.utf8.count <= 67, line.firstRange(of: "=?") == nil { return line }
    // With the header's name a line has 76 characters at most (RFC 2047, section 2).
    return EncodedWords.text(line, bytes: 39, separator: "\r\n ")
  }

  /// `Mon, 30 Mar 2026 08:30:00 +0000` (RFC 5322, section 3.3).
  private static func date(_ instant: Instant) -> String {
    let civil = Zone.utc.civil(at: instant)
    let (date, weekday) = (civil.date, civil.date.weekday.abbreviation)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let day = weekday.prefix(1).uppercased() + weekday.dropFirst()
    let time = [civil.time.hour, civil.time.minute, civil.time.second].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "\(day), \(date.day) \(months[date.month - 1]) \(date.year) \(time.joined(separator: ":")) +0000"
  }
}

/// Text as it passes through every mail server: lines of at most 76 ASCII characters (RFC 2045, section 6.7).
enum QuotedPrintable {
  /// - Parameter text: with `\n` between its lines. What is made ends with a line end.
  static func encode(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { encode(line: $0) + "\r\n" }.joined()
  }

  private static func encode(line: Substring) -> String {
    let digits = Array("0123456789ABCDEF")
    let bytes = Array(line.utf8)
    var (result, width) = ("", 0)
    for (index, byte) in bytes.enumerated() {
      let isLast = index == bytes.count - 1
      // White space at an end is taken away by some servers, and a line that begins as those of a mailbox's file do is changed.
      let isPlain =
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=") && !(width == 0 && "F.-".utf8.contains(byte))
        || byte == 0x20 && !isLast
      let atom =
        isPlain ? String(Unicode.Scalar(byte)) : "=\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      if width + atom.utf8.count > (isLast ? 76 : 75) {
        result += "=\r\n"
        width = 0
      }
      result += atom
      width += atom.utf8.count
    }
    return result
  }
}
