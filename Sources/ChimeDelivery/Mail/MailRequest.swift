import ChimeCore
import ChimeSchedule
import ChimeWords

/// The SMTP envelope of an email: sender, recipients and login.
struct MailEnvelope: Hashable, Sendable {
  var from: String
  var recipients: [String]
  /// Login name and password; nil for no login.
  var user: String?
  var password: String?
  /// Whether the server runs on this machine, so that TLS is not required.
  var isLocal: Bool
}

/// A MailRequest builds the email of one attempt from an endpoint and a message. Every attempt has the same bytes.
///
/// No title can alter the structure: each header is one line, in encoded words if it is not ASCII, and texts are
/// quoted-printable, which cannot contain a boundary.
struct MailRequest {
  var access: EndpointAccess
  /// The delivery's id, equal for every attempt.
  var id: String
  /// The occurrence; all its emails form one thread.
  var occurrence: OccurrenceID
  /// Whether this is a later round, after a snooze or without an answer.
  var isRepeat = false
  var date: Instant
  var isUrgent = false
  var values: @Sendable () -> TemplateValues

  /// Maximum length of the subject in bytes.
  private static let subjectLimit = 256

  /// Returns the email's headers, and the rest of it as the body.
  ///
  /// - Throws: `DeliveryError` if the message could exceed `Template.textLimit` or the endpoint
  ///   lacks a setting that emails need.
  func make(password: String?) throws -> HTTPRequest {
    let settings = access.endpoint.settings
    let recipients = try MailAddress.recipients(of: access.endpoint.url)
    let (server, from) = (try MailServer(settings.via ?? ""), try MailAddress(settings.from ?? ""))
    let template = try access.template ?? Template(setting: "email")
    guard case .mail(let texts) = template.message.content else {
      throw DeliveryError("its template is not for emails")
    }
    let values = values()
    try need(
      template.message.bound(values) <= Template.textLimit,
      "its template could make this message longer than \(Template.textLimit) bytes: use long texts less often, "
        + "or cut them with |max:N before other filters")
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

  /// Returns a non-empty subject. It uses encoded words if the text is not ASCII, contains `=?`, or is too long for one
  /// line.
  private static func subject(_ text: String) -> String {
    let words = PlainText.withoutControls(text, lines: false).split(separator: " ", omittingEmptySubsequences: true)
    let line = PlainText.clipped(words.joined(separator: " "), bytes: subjectLimit)
    guard !line.isEmpty else { return subject(localized("Reminder")) }
    let isPlain = line.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    if isPlain, line.utf8.count <= 67, line.firstRange(of: "=?") == nil { return line }
    // With the header's name, a line has at most 76 characters (RFC 2047, section 2).
    return EncodedWords.text(line, bytes: 39, separator: "\r\n ")
  }

  /// Returns a date such as `Mon, 30 Mar 2026 08:30:00 +0000` (RFC 5322, section 3.3).
  private static func date(_ instant: Instant) -> String {
    let civil = Zone.utc.civil(at: instant)
    let (date, weekday) = (civil.date, civil.date.weekday.abbreviation)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let day = weekday.prefix(1).uppercased() + weekday.dropFirst()
    let time = [civil.time.hour, civil.time.minute, civil.time.second].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "\(day), \(date.day) \(months[date.month - 1]) \(date.year) \(time.joined(separator: ":")) +0000"
  }
}

/// Encodes text in lines of at most 76 ASCII characters, which every mail server passes on (RFC 2045, section 6.7).
enum QuotedPrintable {
  /// - Parameter text: Lines separated by `\n`. The result ends with a line end.
  static func encode(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { encode(line: $0) + "\r\n" }.joined()
  }

  private static func encode(line: Substring) -> String {
    let digits = Array("0123456789ABCDEF")
    let bytes = Array(line.utf8)
    var (result, width) = ("", 0)
    for (index, byte) in bytes.enumerated() {
      let isLast = index == bytes.count - 1
      // Some servers strip trailing white space, and some change lines that begin with `From ` or a dot.
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
