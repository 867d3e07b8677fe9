import CCurl
import ChimeSchedule
import Glibc

/// An HTTPTransfer is a libcurl easy handle with its memory. It runs one request at a time on the HTTP thread.
///
/// Constant options are set once. `begin` sets all others, so that no option carries over from one request to the next.
final class HTTPTransfer {
  let handle: UnsafeMutableRawPointer
  private let limits: HTTPLimits
  private let route: HTTPRoute
  private let sockets: DialledSockets
  private let complaint: UnsafeMutablePointer<CChar>
  private var isUsable = true

  // State of the current request.
  private(set) var job: HTTPJob?
  /// Identifies the request in the TLS notes.
  private var number: UInt = 0
  private var started = SuspendingClock.now
  /// When data of the response last arrived.
  private var lastDataAt = SuspendingClock.now
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
  /// The socket, and its received bytes before this request. A reused connection has earlier ones.
  private var connection: (socket: Int32, before: Int64)?
  /// Whether more data arrived than `HTTPLimits.wire` allows.
  private var isFlooded = false
  /// The number of times that libcurl asked whether to continue.
  private var checks = 0
  /// The error of a socket call that failed for lack of descriptors.
  private var shortage: SystemError?

  // State of an email.
  private var envelope: MailEnvelope?
  private var recipients: UnsafeMutablePointer<curl_slist>?
  /// Number of message bytes given to the server.
  private var sent = 0
  /// Code of the server's last complete reply.
  private var reply: Int?
  private var isReplyOver = true
  /// Whether the session has reached the message.
  private var hasBegun = false
  /// Whether further replies are ignored. The next one would answer QUIT.
  private var ignoresReplies = false

  /// Nil if libcurl is out of memory.
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

  /// Whether another request may use the handle. One with its own certificates may not, since libcurl cannot restore
  /// the default; one for an email may not, so that no option carries over.
  var isReusable: Bool { isUsable && certificates == nil && envelope == nil }

  /// Checks a required option. An older libcurl without it would do less than promised, so nothing is sent.
  private func need(_ code: CURLcode) { if code != CURLE_OK { isUsable = false } }

  private func configure() {
    // Only HTTP, and no redirects. libcurl's TLS defaults are set explicitly, so that no later default weakens them.
    need(chime_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"))
    need(chime_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0))
    need(chime_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1))
    need(chime_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2))
    need(chime_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)))
    need(chime_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0))
    chime_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    need(chime_curl_set_long(handle, CURLOPT_NOSIGNAL, 1))
    // An unresponsive name server blocks only libcurl's resolver thread, not this one.
    chime_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
    // Connections end after ten minutes, so that a moved name is followed even under load.
    chime_curl_set_long(handle, CURLOPT_MAXLIFETIME_CONN, 600)
    need(chime_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connect.rawValue)))
    chime_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, complaint)
  }

  private func configureProxy() {
    // An empty value, since for an unset one libcurl reads the environment.
    need(chime_curl_set_string(handle, CURLOPT_PROXY, route.proxy?.url ?? ""))
    need(chime_curl_set_string(handle, CURLOPT_NOPROXY, route.proxy?.exceptions.joined(separator: ",") ?? ""))
    // The signature and the endpoint's headers are for the receiver only, and a proxy's response headers are hidden.
    need(chime_curl_set_long(handle, CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE)))
    need(chime_curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1))
    need(chime_curl_set_long(handle, CURLOPT_PROXY_SSL_VERIFYPEER, 1))
    need(chime_curl_set_long(handle, CURLOPT_PROXY_SSL_VERIFYHOST, 2))
    need(chime_curl_set_long(handle, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)))
  }

  private func configureTrust() {
    // If libcurl's TLS library is not OpenSSL, sentences lack the certificate's date, and only the time limit ends an
    // endless handshake.
    chime_curl_watch_tls(handle)
    guard let file = route.certificateFile else { return shareAuthorities() }
    // The file replaces libcurl's own. The directory contains the system's certificates individually.
    for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { need(chime_curl_set_string(handle, option, file)) }
    for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] {
      need(chime_curl_set_string(handle, option, Self.systemCertificates))
    }
  }

  /// Shares the system's authorities among connections and reloads them every ten minutes. Otherwise each handshake
  /// would load all of them, a megabyte and 20 ms. libcurl caches only a file, and only if no directory is set, so the
  /// directory with the same certificates is unset.
  private func shareAuthorities() {
    guard chime_curl_has_certificate_file() != 0 else { return }
    for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { need(chime_curl_set_string(handle, option, nil)) }
    chime_curl_set_long(handle, CURLOPT_CA_CACHE_TIMEOUT, 600)
  }

  private static let systemCertificates = "/etc/ssl/certs"

  private func configureCalls() {
    // Unretained: libcurl calls back only while the HTTP thread drives the handle, which is freed with this object.
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

  /// Prepares the handle for a request. Returns false on failure; `unbegun` gives the reason.
  ///
  /// - Parameter number: Identifies the request within its thread; not 0.
  func begin(_ request: HTTPRequest, job: HTTPJob, number: UInt) -> Bool {
    self.job = job
    self.number = number
    started = .now
    lastDataAt = started
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

  /// Rebuilds a libcurl list. Returns false if memory runs out.
  private static func fill(_ list: inout UnsafeMutablePointer<curl_slist>?, with lines: [String]) -> Bool {
    chime_curl_slist_free_all(list)
    list = nil
    for line in lines {
      guard let longer = chime_curl_slist_append(list, line) else { return false }
      list = longer
    }
    return true
  }

  /// Sets the options of an email. TLS is required: a server that does not offer STARTTLS, or whose offer was stripped
  /// on the way, gets neither password nor message.
  private func set(_ envelope: MailEnvelope, _ request: HTTPRequest) -> Bool {
    need(chime_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps"))
    // A proxy resolves localhost to itself, not to this machine.
    let isPlain = envelope.isLocal && route.proxy == nil
    need(chime_curl_set_long(handle, CURLOPT_USE_SSL, Int((isPlain ? CURLUSESSL_NONE : CURLUSESSL_ALL).rawValue)))
    need(chime_curl_set_string(handle, CURLOPT_MAIL_FROM, envelope.from))
    guard Self.fill(&recipients, with: envelope.recipients) else { return false }
    need(chime_curl_set_pointer(handle, CURLOPT_MAIL_RCPT, recipients))
    need(chime_curl_set_string(handle, CURLOPT_USERNAME, envelope.user))
    need(chime_curl_set_string(handle, CURLOPT_PASSWORD, envelope.password))
    // Each email uses a new connection: servers close idle ones, and a login belongs to one endpoint.
    need(chime_curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1))
    need(chime_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1))
    need(chime_curl_set_long(handle, CURLOPT_UPLOAD, 1))
    // Limits the wait for replies, also to QUIT if the socket is unknown (see `read(reply:)`).
    need(chime_curl_set_long(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, Int(limits.total.rawValue / 1_000))))
    let letter = request.letter
    body.deallocate()
    body = .allocate(byteCount: letter.count, alignment: 1)
    body.copyBytes(from: letter)
    need(chime_curl_set_long(handle, CURLOPT_INFILESIZE, letter.count))
    return true
  }

  /// Copies the next part of an email and returns its length; 0 at the end.
  private func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
    let part = UnsafeRawBufferPointer(rebasing: body[sent...].prefix(room.count))
    room.copyMemory(from: part)
    sent += part.count
    return part.count
  }

  /// Parses a line of a reply (RFC 5321, section 4.2): `250-first`, `250 last`.
  private func read(reply line: UnsafeRawBufferPointer) {
    guard !ignoresReplies else { return }
    if isReplyOver { answer = [] }
    answer.append(contentsOf: line.prefix(max(0, HTTPLimits.maxBodyBytes - answer.count)))
    guard line.count >= 3, line.prefix(3).allSatisfy({ (0x30...0x39).contains($0) }) else { return }
    isReplyOver = line.count < 4 || line[3] != UInt8(ascii: "-")
    guard isReplyOver else { return }
    reply = line.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    // libcurl sends QUIT next and blocks the whole thread until the server replies. Shutting down the reading side ends
    // that wait, so that this server delays no other.
    if let connection, let reply, reply >= 400 || sent == body.count {
      ignoresReplies = true
      shutdown(connection.socket, Int32(SHUT_RD))
    }
  }

  /// Resets the state of the finished request.
  func end() {
    job = nil
    (answer, received, headerBytes, answerHeaders, refusal, dialled, shortage) = ([], 0, 0, [], nil, 0, nil)
    (connection, isFlooded, checks) = (nil, false, 0)
  }

  /// Called by libcurl just before it sends the request.
  private func begins(from own: Int32, to peer: UnsafePointer<CChar>, _ port: Int32) {
    hasBegun = true
    connection = sockets.socket(from: own, to: peer, port).map { ($0, chime_socket_received($0)) }
  }

  /// Returns whether the received data is within `HTTPLimits.wire`. Framing, such as chunk extensions, is invisible in
  /// the body and could be endless.
  ///
  /// libcurl asks at each step, and reads at most its buffer of 16 KiB in one. Every 64th step asks the kernel, so that
  /// a short answer needs no such call.
  private func isWithinBounds() -> Bool {
    checks += 1
    guard checks.isMultiple(of: 64), let connection, connection.before >= 0 else { return true }
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
    // libcurl reads the body from here until the request ends, so it must stay in place.
    if body.count < request.body.count {
      body.deallocate()
      body = .allocate(byteCount: request.body.count, alignment: 1)
    }
    body.copyBytes(from: request.body)
    need(chime_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, request.body.count))
    // A null pointer would make libcurl call the read callback.
    if request.body.isEmpty {
      need(chime_curl_set_pointer(handle, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(complaint)))
    } else {
      need(chime_curl_set_pointer(handle, CURLOPT_POSTFIELDS, body.baseAddress))
    }
  }

  /// Trusts only these certificates, not the system's file or directory.
  private func trust(_ certificates: String) {
    need(chime_curl_set_string(handle, CURLOPT_CAPATH, nil))
    var text = certificates
    text.withUTF8 { bytes in
      var blob = curl_blob(
        data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
      withUnsafeMutablePointer(to: &blob) { need(chime_curl_set_pointer(handle, CURLOPT_CAINFO_BLOB, $0)) }
    }
  }

  /// Opens a socket for the address that libcurl is about to connect to; -1 if it may not be dialed.
  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    // The declared `addr` is as short as the shortest address. `addrlen` is the real length.
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

  /// Consumes a part of the body. Returns whether to continue.
  private func take(_ part: UnsafeRawBufferPointer) -> Bool {
    lastDataAt = .now
    if let stream = job?.stream, let status = long(CURLINFO_RESPONSE_CODE), (200...299).contains(status) {
      return stream.take(part)
    }
    let room = HTTPLimits.maxBodyBytes - answer.count
    if room > 0 { answer.append(contentsOf: part.prefix(room)) }
    received += part.count
    return received <= limits.answer
  }

  /// Consumes a header line. Returns whether to continue.
  private func take(header line: UnsafeRawBufferPointer) -> Bool {
    lastDataAt = .now
    headerBytes += line.count
    guard headerBytes <= HTTPLimits.headers else { return false }
    if envelope != nil { read(reply: line) }
    if job?.isInspected == true, envelope == nil { note(line) }
    // A stream is open once its headers end, even if no data follows for long.
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

  /// Response headers that identify the server or explain its answer. None may contain a secret, such as a cookie.
  private static let telling: Set<String> = [
    "content-type", "content-length", "date", "location", "retry-after", "server", "via", "www-authenticate",
    "x-request-id", "allow", "deprecation", "sunset", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset",
  ]

  /// Returns the result of the finished request.
  func result(_ code: CURLcode) -> HTTPResult {
    var result = HTTPResult(answer: answer, took: Milliseconds(started.duration(to: .now)))
    result.isWhole = received == answer.count && !isFlooded
    result.redaction = redaction
    if envelope != nil {
      (result.status, result.isWhole) = (replied(code), true)
      result.stage = hasBegun ? .message : .session
      // If STARTTLS is refused, the reply's text explains why, so it is kept.
      if result.status == nil, code != CURLE_USE_SSL_FAILED { result.answer = [] }
    } else if let status = long(CURLINFO_RESPONSE_CODE), status > 0 {
      result.status = status
    }
    if !answer.isEmpty { result.contentType = string(CURLINFO_CONTENT_TYPE) }
    if let wait = offset(CURLINFO_RETRY_AFTER), wait > 0 { result.retryAfter = .seconds(wait) }
    // A status counts even if the body exceeds the limits.
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

  /// Returns the reply that ended an email's session; nil if it ended for another reason.
  private func replied(_ code: CURLcode) -> Int? {
    switch code {
    case CURLE_OK: reply
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_LOGIN_DENIED, CURLE_REMOTE_ACCESS_DENIED,
      CURLE_UPLOAD_FAILED:
      reply.flatMap { $0 >= 400 ? $0 : nil }
    default: nil
    }
  }

  /// Time until the stream is given up for silence; nil if this is no stream.
  var quietRest: Milliseconds? {
    guard let stream = job?.stream else { return nil }
    return stream.quiet - Milliseconds(lastDataAt.duration(to: .now))
  }

  /// Returns the result of a stream given up for silence.
  func quiet() -> HTTPResult {
    let span = DurationText.format(job?.stream?.quiet ?? .zero)
    var result = HTTPResult(failure: "no data arrived for \(span), not even a keep-alive")
    if let status = long(CURLINFO_RESPONSE_CODE), status > 0 { result.status = status }
    return result
  }

  /// Returns the result when the channel stops.
  func abandoned() -> HTTPResult {
    HTTPResult(failure: HTTPLoop.stopping, isCutShort: true, took: Milliseconds(started.duration(to: .now)))
  }

  /// Returns the result when the request could not start.
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
