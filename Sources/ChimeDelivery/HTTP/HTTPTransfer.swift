import CCurl
import ChimeCore
import ChimeSchedule
import Glibc

/// An easy handle of libcurl with all that must live as long as it: one request after another, each under way for a
/// while. Used by the HTTP thread only.
///
/// What is the same for every request is set once; `begin` sets all that is not, so nothing of one request is left for
/// the next.
final class HTTPTransfer {
  let handle: UnsafeMutableRawPointer
  private let limits: HTTPLimits
  private let route: HTTPRoute
  private let sockets: DialledSockets
  private let complaint: UnsafeMutablePointer<CChar>
  private var isUsable = true

  // Of the request under way.
  private(set) var job: HTTPJob?
  /// Names the request in what was noted of a certificate.
  private var number: UInt = 0
  private var started = SuspendingClock.now
  /// When something of the answer came last.
  private var heard = SuspendingClock.now
  private var headers: UnsafeMutablePointer<curl_slist>?
  private var body = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var certificates: String?
  private var redaction = Redaction()
  private var answer: [UInt8] = []
  private var received = 0
  private var headerBytes = 0
  private var answerHeaders: [String] = []
  private var refusal: AddressRefusal?
  private var dialled = 0
  /// Where the answer comes from, and what had come from there before the request: a connection may have had others.
  private var connection: (socket: Int32, before: Int64)?
  /// Whether more came than any answer takes, whatever its body has.
  private var isFlooded = false
  /// Why there was no socket to dial with, when this machine had none left.
  private var shortage: SystemError?

  // Of an email.
  private var envelope: MailEnvelope?
  private var recipients: UnsafeMutablePointer<curl_slist>?
  /// How much of the message the server has been given.
  private var sent = 0
  /// The code of the server's last whole reply.
  private var reply: Int?
  private var isReplyOver = true
  /// Whether the session has come to the message.
  private var hasBegun = false
  /// Whether no more of its replies are of interest: the next is the one to QUIT.
  private var isHeard = false

  /// Nil when libcurl has no memory for it.
  init?(limits: HTTPLimits, route: HTTPRoute, sockets: DialledSockets) {
    guard let handle = chime_curl_easy_init() else { return nil }
    self.handle = handle
    self.sockets = sockets
    self.limits = limits
    self.route = route
    complaint = .allocate(capacity: Int(CURL_ERROR_SIZE))
    complaint.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    configure()
    configureProxy()
    configureTrust()
    configureCalls()
  }

  deinit {
    chime_curl_easy_cleanup(handle)
    chime_curl_slist_free_all(headers)
    chime_curl_slist_free_all(recipients)
    complaint.deallocate()
    body.deallocate()
  }

  /// Whether another request may use it: one whose certificates were its own may not, as libcurl keeps no way back to
  /// its default; nor one of an email, so that nothing of either is left for the other.
  var isReusable: Bool { isUsable && certificates == nil && envelope == nil }

  /// An option without which nothing is sent: an older libcurl that does not know it would do less than is promised.
  private func need(_ code: CURLcode) { if code != CURLE_OK { isUsable = false } }

  private func configure() {
    // HTTP and nothing else, and to the address that was given: no redirect. What libcurl verifies of TLS by default
    // is said again, so that no later default weakens it.
    need(chime_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"))
    need(chime_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0))
    need(chime_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1))
    need(chime_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2))
    need(chime_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)))
    need(chime_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0))
    chime_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    need(chime_curl_set_long(handle, CURLOPT_NOSIGNAL, 1))
    // A name server that does not answer holds a thread of its own until it gives up, and not this one.
    chime_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    // A name that has moved is followed after ten minutes, however busy its connection is.
    chime_curl_set_long(handle, CURLOPT_MAXLIFETIME_CONN, 600)
    need(chime_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connect.rawValue)))
    chime_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, complaint)
  }

  private func configureProxy() {
    // Empty rather than unset: what is unset libcurl looks for in the environment.
    need(chime_curl_set_string(handle, CURLOPT_PROXY, route.proxy?.url ?? ""))
    need(chime_curl_set_string(handle, CURLOPT_NOPROXY, route.proxy?.exceptions.joined(separator: ",") ?? ""))
    // The signature and the endpoint's own headers are for the receiver alone, and so is what a proxy answers.
    need(chime_curl_set_long(handle, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)))
    need(chime_curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1))
    need(chime_curl_set_long(handle, CURLOPT_PROXY_SSL_VERIFYPEER, 1))
    need(chime_curl_set_long(handle, CURLOPT_PROXY_SSL_VERIFYHOST, 2))
    need(chime_curl_set_long(handle, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)))
  }

  private func configureTrust() {
    // Where libcurl uses another library for TLS than OpenSSL, this costs the date in a sentence, and leaves endless handshakes
    // to the time limit.
    chime_curl_watch_tls(handle)
    guard let file = route.certificateFile else { return shareAuthorities() }
    // The file takes the place of libcurl's own file; the folder beside it has the system's certificates one by one.
    for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { need(chime_curl_set_string(handle, option, file)) }
    for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] {
      need(chime_curl_set_string(handle, option, Self.systemCertificates))
    }
  }

  /// Has the connections share the system's authorities, read anew every ten minutes. Each would read all of them for itself
  /// otherwise: a megabyte and 20 ms for each handshake that is under way. libcurl shares what is in a file, and nothing when
  /// there is a folder beside it, which is another form of the same.
  private func shareAuthorities() {
    guard chime_curl_has_certificate_file() != 0 else { return }
    for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { need(chime_curl_set_string(handle, option, nil)) }
    chime_curl_set_long(handle, CURLOPT_CA_CACHE_TIMEOUT, 600)
  }

  private static let systemCertificates = "/etc/ssl/certs"

  private func configureCalls() {
    // Unretained: libcurl calls back only while the HTTP thread drives the handle, and the handle dies with this object.
    let this = Unmanaged.passUnretained(self).toOpaque()
    let data = [
      CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA, CURLOPT_XFERINFODATA,
      CURLOPT_READDATA,
    ]
    for option in data {
      need(chime_curl_set_pointer(handle, option, this))
    }
    need(
      chime_curl_set_write(handle) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().take(part) ? part.count : 0
      })
    need(
      chime_curl_set_read(handle) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let room = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().give(room)
      })
    need(
      chime_curl_set_header(handle) { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().take(header: line) ? line.count : 0
      })
    need(
      chime_curl_set_open_socket(handle) { context, _, address in
        guard let address, let context else { return -1 }
        return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().open(address)
      })
    need(
      chime_curl_set_before_request(handle) { context, peer, _, port, own in
        guard let peer, let context else { return CURL_PREREQFUNC_OK }
        Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().begins(from: own, to: peer, port)
        return CURL_PREREQFUNC_OK
      })
    need(
      chime_curl_set_progress(handle) { context, _, _, _, _ in
        guard let context else { return 0 }
        return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().isWithinBounds() ? 0 : 1
      })
    need(chime_curl_set_long(handle, CURLOPT_NOPROGRESS, 0))
  }

  /// Makes the handle ready for one request. Returns whether it is; `unbegun` says why not.
  ///
  /// - Parameter number: tells the requests of one thread apart; not 0.
  func begin(_ request: HTTPRequest, job: HTTPJob, number: UInt) -> Bool {
    self.job = job
    self.number = number
    started = .now
    heard = started
    complaint.pointee = 0
    need(chime_curl_set_string(handle, CURLOPT_URL, request.url))
    need(
      chime_curl_set_long(
        handle, CURLOPT_TIMEOUT_MS, Int((job.limit ?? (job.stream == nil ? limits.total : .zero)).rawValue)))
    envelope = request.envelope
    if let envelope {
      guard set(envelope, request) else { return false }
    } else {
      guard Self.fill(&headers, with: request.headers) else { return false }
      need(chime_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers))
      setBody(request)
    }
    certificates = request.certificates
    redaction = request.redaction
    if let certificates { trust(certificates) }
    chime_curl_set_pointer(handle, CURLOPT_SSL_CTX_DATA, UnsafeMutableRawPointer(bitPattern: number))
    return isUsable
  }

  /// Makes a list of libcurl's anew. Returns whether there was memory for it.
  private static func fill(_ list: inout UnsafeMutablePointer<curl_slist>?, with lines: [String]) -> Bool {
    chime_curl_slist_free_all(list)
    list = nil
    for line in lines {
      guard let longer = chime_curl_slist_append(list, line) else { return false }
      list = longer
    }
    return true
  }

  /// Makes it an email. TLS comes first or nothing is sent: a server that offers no STARTTLS, or from whose offer somebody on
  /// the way has taken it, is given neither password nor message.
  private func set(_ envelope: MailEnvelope, _ request: HTTPRequest) -> Bool {
    need(chime_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps"))
    // What a proxy calls localhost is not this machine.
    let isPlain = envelope.isLocal && route.proxy == nil
    need(chime_curl_set_long(handle, CURLOPT_USE_SSL, Int((isPlain ? CURLUSESSL_NONE : CURLUSESSL_ALL).rawValue)))
    need(chime_curl_set_string(handle, CURLOPT_MAIL_FROM, envelope.from))
    guard Self.fill(&recipients, with: envelope.recipients) else { return false }
    need(chime_curl_set_pointer(handle, CURLOPT_MAIL_RCPT, recipients))
    need(chime_curl_set_string(handle, CURLOPT_USERNAME, envelope.user))
    need(chime_curl_set_string(handle, CURLOPT_PASSWORD, envelope.password))
    // A connection for each: servers end those that rest, and a log-in is for one endpoint alone.
    need(chime_curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1))
    need(chime_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1))
    need(chime_curl_set_long(handle, CURLOPT_UPLOAD, 1))
    // QUIT as well is waited for no longer than a whole attempt, should the socket not be known (`read(reply:)`).
    need(chime_curl_set_long(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, Int(limits.total.rawValue / 1_000))))
    let letter = request.letter
    body.deallocate()
    body = .allocate(byteCount: letter.count, alignment: 1)
    body.copyBytes(from: letter)
    need(chime_curl_set_long(handle, CURLOPT_INFILESIZE, letter.count))
    return true
  }

  /// Gives the next part of an email. Returns how many bytes; 0 at its end.
  private func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
    let part = UnsafeRawBufferPointer(rebasing: body[sent...].prefix(room.count))
    room.copyMemory(from: part)
    sent += part.count
    return part.count
  }

  /// Reads a line of a reply (RFC 5321, section 4.2): `250-first`, `250 last`.
  private func read(reply line: UnsafeRawBufferPointer) {
    guard !isHeard else { return }
    if isReplyOver { answer = [] }
    answer.append(contentsOf: line.prefix(max(0, HTTPLimits.kept - answer.count)))
    guard line.count >= 3, line.prefix(3).allSatisfy({ (0x30...0x39).contains($0) }) else { return }
    isReplyOver = line.count < 4 || line[3] != UInt8(ascii: "-")
    guard isReplyOver else { return }
    reply = line.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    // libcurl says QUIT next and waits for what the server makes of it, and the whole thread with it: nothing more is heard
    // of this server, so that it delays no other.
    if let connection, let reply, reply >= 400 || sent == body.count {
      isHeard = true
      shutdown(connection.socket, Int32(SHUT_RD))
    }
  }

  /// Lets go of what belongs to the request that is over.
  func end() {
    job = nil
    (answer, received, headerBytes, answerHeaders, refusal, dialled, shortage) = ([], 0, 0, [], nil, 0, nil)
    (connection, isFlooded) = (nil, false)
  }

  /// The request is about to be sent.
  private func begins(from own: Int32, to peer: UnsafePointer<CChar>, _ port: Int32) {
    hasBegun = true
    connection = sockets.socket(from: own, to: peer, port).map { ($0, chime_socket_received($0)) }
  }

  /// Whether no more has come over the connection than an answer takes: what frames it, such as the extensions of chunks, is
  /// shown to nobody, and may be endless.
  private func isWithinBounds() -> Bool {
    guard let connection, connection.before >= 0 else { return true }
    var most = HTTPLimits.wire
    if job?.stream != nil { most += HTTPStream.wirePerSecond * started.duration(to: .now).components.seconds }
    isFlooded = chime_socket_received(connection.socket) - connection.before > most
    return !isFlooded
  }

  private func setBody(_ request: HTTPRequest) {
    guard request.method != "GET" else {
      need(chime_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, nil))
      need(chime_curl_set_long(handle, CURLOPT_HTTPGET, 1))
      return
    }
    need(chime_curl_set_long(handle, CURLOPT_POST, 1))
    need(chime_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method == "POST" ? nil : request.method))
    // Libcurl reads it from here until the request is over, so it has to stay in one place.
    if body.count < request.body.count {
      body.deallocate()
      body = .allocate(byteCount: request.body.count, alignment: 1)
    }
    body.copyBytes(from: request.body)
    need(chime_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, request.body.count))
    // Without bytes it is not to be null, which would ask for a callback to read them.
    if request.body.isEmpty {
      need(chime_curl_set_pointer(handle, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(complaint)))
    } else {
      need(chime_curl_set_pointer(handle, CURLOPT_POSTFIELDS, body.baseAddress))
    }
  }

  /// Trusts these certificates and no others, neither the system's file nor its folder of them.
  private func trust(_ certificates: String) {
    need(chime_curl_set_string(handle, CURLOPT_CAPATH, nil))
    var text = certificates
    text.withUTF8 { bytes in
      var blob = curl_blob(
        data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
      withUnsafeMutablePointer(to: &blob) { need(chime_curl_set_pointer(handle, CURLOPT_CAINFO_BLOB, $0)) }
    }
  }

  /// A socket for the address that libcurl is about to connect to; -1 when it may not be dialled.
  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    // The declared `addr` is as long as the shortest address; `addrlen` says how much of it there is.
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return -1 }
    let bytes = UnsafeRawBufferPointer(
      start: UnsafeRawPointer(address) + offset, count: Int(address.pointee.addrlen))
    guard let network = NetworkAddress(bytes) else { return -1 }
    if let refused = route.network.refusal(of: network, isOwn: \.isOfThisMachine) {
      refusal = refusal ?? refused
      return -1
    }
    dialled += 1
    let socket = chime_curl_socket(address)
    if socket >= 0 { sockets.add(socket) }
    if socket < 0 { shortage = [EMFILE, ENFILE].contains(errno) ? SystemError("socket", errno) : nil }
    return socket
  }

  /// Whether more is wanted.
  private func take(_ part: UnsafeRawBufferPointer) -> Bool {
    heard = .now
    if let stream = job?.stream, let status = long(CURLINFO_RESPONSE_CODE), (200...299).contains(status) {
      return stream.take(part)
    }
    let room = HTTPLimits.kept - answer.count
    if room > 0 { answer.append(contentsOf: part.prefix(room)) }
    received += part.count
    return received <= limits.answer
  }

  /// Whether more is wanted.
  private func take(header line: UnsafeRawBufferPointer) -> Bool {
    heard = .now
    headerBytes += line.count
    guard headerBytes <= HTTPLimits.headers else { return false }
    if envelope != nil { read(reply: line) }
    if job?.isInspected == true, envelope == nil { note(line) }
    // A stream is open once its headers are over, also when nothing follows for long.
    if let stream = job?.stream, line.count <= 2, let status = long(CURLINFO_RESPONSE_CODE),
      (200...299).contains(status)
    {
      return stream.take(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return true
  }

  private func note(_ line: UnsafeRawBufferPointer) {
    let shown = redaction.clean(Array(line.prefix(512)), isWhole: line.count <= 512)
    let text = PlainText.clipped(
      PlainText.withoutControls(String(decoding: shown, as: UTF8.self), lines: false), bytes: 256)
    if text.hasPrefix("HTTP/") { answerHeaders = [] }
    guard answerHeaders.count < 16, let colon = text.firstIndex(of: ":"),
      Self.telling.contains(text[..<colon].lowercased())
    else { return }
    answerHeaders.append(text.split(separator: " ").joined(separator: " "))
  }

  /// The headers of an answer that say who answered and why so; none that may hold a secret, such as a cookie.
  private static let telling: Set<String> = [
    "content-type", "content-length", "date", "location", "retry-after", "server", "via", "www-authenticate",
    "x-request-id", "allow", "deprecation", "sunset", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset",
  ]

  /// What it came to, once libcurl says that it is over.
  func result(_ code: CURLcode) -> HTTPResult {
    var result = HTTPResult(answer: answer, took: Milliseconds(started.duration(to: .now)))
    result.isWhole = received == answer.count && !isFlooded
    result.redaction = redaction
    if envelope != nil {
      (result.status, result.isWhole) = (replied(code), true)
      result.stage = hasBegun ? .message : .session
      // Why STARTTLS is refused, the server says in words.
      if result.status == nil, code != CURLE_USE_SSL_FAILED { result.answer = [] }
    } else if let status = long(CURLINFO_RESPONSE_CODE), status > 0 {
      result.status = status
    }
    if !answer.isEmpty { result.contentType = string(CURLINFO_CONTENT_TYPE) }
    if let wait = offset(CURLINFO_RETRY_AFTER), wait > 0 { result.retryAfter = .seconds(wait) }
    // The receiver has said what it makes of the message, however much it has to say beside that.
    let isLong = received > limits.answer && headerBytes <= HTTPLimits.headers && code == CURLE_WRITE_ERROR
    let isPadded = isFlooded && result.status != nil && code == CURLE_ABORTED_BY_CALLBACK
    if code != CURLE_OK, !isLong, !isPadded {
      let fault = fault(code)
      result.failure = PlainText.sentence(redaction.clean(fault.sentence))
      result.isImpossible = fault.isOurs
      if let shortage, code == CURLE_COULDNT_CONNECT {
        (result.failure, result.isStarved) = ("no file descriptor is free for a connection (\(shortage))", true)
      }
    }
    if job?.isInspected == true { result.details = details() }
    return result
  }

  /// The reply that an email's session ended with; nil when it ended for another reason.
  private func replied(_ code: CURLcode) -> Int? {
    switch code {
    case CURLE_OK: reply
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_LOGIN_DENIED, CURLE_REMOTE_ACCESS_DENIED,
      CURLE_UPLOAD_FAILED:
      reply.flatMap { $0 >= 400 ? $0 : nil }
    default: nil
    }
  }

  /// After how long it is to be given up, being a stream, unless something comes; nil for what is none.
  var quietRest: Milliseconds? {
    guard let stream = job?.stream else { return nil }
    return stream.quiet - Milliseconds(heard.duration(to: .now))
  }

  /// What a stream came to of which nothing more was heard.
  func quiet() -> HTTPResult {
    let span = DurationText.format(job?.stream?.quiet ?? .zero)
    var result = HTTPResult(failure: "no data arrived for \(span), not even a keep-alive")
    if let status = long(CURLINFO_RESPONSE_CODE), status > 0 { result.status = status }
    return result
  }

  /// What it came to when the channel stops.
  func abandoned() -> HTTPResult {
    HTTPResult(failure: HTTPLoop.stopping, isCutShort: true, took: Milliseconds(started.duration(to: .now)))
  }

  /// What it came to when it could not be begun.
  func unbegun() -> HTTPResult {
    isUsable
      ? HTTPResult(failure: "there is not enough memory to send")
      : HTTPResult(
        failure: "webhooks and emails need libcurl 7.87 or later with TLS, but this libcurl is older or has no TLS",
        isImpossible: true)
  }

  private func fault(_ code: CURLcode) -> HTTPFault {
    let detail = String(cString: complaint)
    var fault = HTTPFault(
      code: code, detail: detail.isEmpty ? String(cString: chime_curl_easy_strerror(code)) : detail)
    fault.refusal = refusal
    fault.hasDialled = dialled > 0
    fault.hasProxy = route.proxy != nil
    fault.headerBytes = headerBytes
    fault.isFlooded = isFlooded
    fault.certificateFile = certificates == nil ? route.certificateFile : nil
    fault.verification = long(CURLINFO_SSL_VERIFYRESULT) ?? 0
    var note = chime_tls_note()
    if chime_curl_tls_note(number, &note) != 0 { fault.note = note }
    return fault
  }

  private func details() -> HTTPDetails {
    var details = HTTPDetails()
    if let address = string(CURLINFO_PRIMARY_IP), !address.isEmpty { details.address = address }
    switch long(CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_0): details.version = "HTTP/1.0"
    case Int(CURL_HTTP_VERSION_1_1): details.version = "HTTP/1.1"
    case Int(CURL_HTTP_VERSION_2_0): details.version = "HTTP/2"
    case Int(CURL_HTTP_VERSION_3): details.version = "HTTP/3"
    default: break
    }
    details.headers = answerHeaders
    details.isReused = details.address != nil && (long(CURLINFO_NUM_CONNECTS) ?? 0) == 0
    details.timing.nameLookup = offset(CURLINFO_NAMELOOKUP_TIME_T) ?? 0
    details.timing.connect = offset(CURLINFO_CONNECT_TIME_T) ?? 0
    details.timing.tls = offset(CURLINFO_APPCONNECT_TIME_T) ?? 0
    details.timing.firstByte = offset(CURLINFO_STARTTRANSFER_TIME_T) ?? 0
    details.timing.total = offset(CURLINFO_TOTAL_TIME_T) ?? 0
    return details
  }

  private func long(_ info: CURLINFO) -> Int? {
    var value = 0
    return chime_curl_get_long(handle, info, &value) == CURLE_OK ? value : nil
  }

  private func offset(_ info: CURLINFO) -> Int64? {
    var value: curl_off_t = 0
    return chime_curl_get_offset(handle, info, &value) == CURLE_OK ? Int64(value) : nil
  }

  private func string(_ info: CURLINFO) -> String? {
    var value: UnsafePointer<CChar>?
    guard chime_curl_get_string(handle, info, &value) == CURLE_OK, let value else { return nil }
    return String(cString: value)
  }
}
