import CCurl
import ChimeCore
import ChimeSchedule

/// One request.
struct HTTPRequest: Sendable {
  /// `POST`, `PUT` or `GET`; a GET has no body.
  var method = "POST"
  var url: String
  /// `name: value` lines.
  var headers: [String]
  var body: [UInt8]
  /// The certificates, in PEM, that the receiver's has to go back to; nil for those that the system trusts.
  var certificates: String?
}

/// What a request came to.
struct HTTPResult: Sendable {
  /// Nil when no answer came.
  var status: Int?
  /// The first `Attempt.answerLimit` bytes of the answer's body.
  var answer: [UInt8] = []
  /// Retry-After in either form, counted from now; nil when it was not there or lies in the past.
  var retryAfter: Milliseconds?
  /// Why the exchange did not end as it should; nil when an answer was read, in full or up to the limit.
  var failure: String?
  /// Whether nothing could be sent to anybody, for the time being.
  var isImpossible = false
  var took = Milliseconds.zero
}

/// The bounds of an exchange.
struct HTTPLimits: Sendable {
  var connect: Milliseconds
  var total: Milliseconds
  /// Bytes of an answer's body that are read at most.
  var answer: Int
}

/// A request under way: one easy handle of libcurl with all that must live as long as it. Used by the HTTP thread only.
final class HTTPTransfer {
  let handle: UnsafeMutableRawPointer
  let job: HTTPJob
  private let limits: HTTPLimits
  private let started = SuspendingClock.now
  private var headers: UnsafeMutablePointer<curl_slist>?
  private let complaint: UnsafeMutablePointer<CChar>
  private var answer: [UInt8] = []
  private var received = 0
  private var isCut = false

  /// Nil when libcurl has no memory for it.
  init?(_ request: HTTPRequest, job: HTTPJob, limits: HTTPLimits) {
    guard let handle = chime_curl_easy_init() else { return nil }
    self.handle = handle
    self.job = job
    self.limits = limits
    complaint = .allocate(capacity: Int(CURL_ERROR_SIZE))
    complaint.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    for line in request.headers { headers = chime_curl_slist_append(headers, line) ?? headers }
    configure(request)
  }

  deinit {
    chime_curl_easy_cleanup(handle)
    chime_curl_slist_free_all(headers)
    complaint.deallocate()
  }

  private func configure(_ request: HTTPRequest) {
    chime_curl_set_string(handle, CURLOPT_URL, request.url)
    // HTTP and nothing else, straight to the address that was given: no proxy of the environment, no redirect. What
    // libcurl verifies of TLS by default is said again, so that no later default weakens it.
    chime_curl_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    chime_curl_set_string(handle, CURLOPT_PROXY, "")
    chime_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
    chime_curl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1)
    chime_curl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2)
    chime_curl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    chime_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    chime_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
    chime_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connect.rawValue))
    chime_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Int(limits.total.rawValue))
    chime_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
    setBody(request)
    if let certificates = request.certificates { trust(certificates) }
    chime_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, complaint)
    // Unretained: libcurl calls back only while the HTTP thread drives the handle, and the handle dies with this object.
    chime_curl_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
    chime_curl_set_write(handle) { bytes, size, count, context in
      guard let bytes, let context else { return 0 }
      let length = size * count
      let part = UnsafeRawBufferPointer(start: bytes, count: length)
      return Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue().take(part) ? length : 0
    }
  }

  private func setBody(_ request: HTTPRequest) {
    guard request.method != "GET" else {
      chime_curl_set_long(handle, CURLOPT_HTTPGET, 1)
      return
    }
    chime_curl_set_long(handle, CURLOPT_POST, 1)
    chime_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, request.body.count)
    // Copies the bytes, by the size set before it.
    _ = request.body.withUnsafeBytes {
      chime_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
    }
    if request.method != "POST" { chime_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, request.method) }
  }

  /// Trusts these certificates and no others, neither the system's file nor its folder of them.
  private func trust(_ certificates: String) {
    chime_curl_set_string(handle, CURLOPT_CAPATH, nil)
    var text = certificates
    text.withUTF8 { bytes in
      var blob = curl_blob(
        data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count, flags: UInt32(CURL_BLOB_COPY))
      withUnsafeMutablePointer(to: &blob) { _ = chime_curl_set_pointer(handle, CURLOPT_CAINFO_BLOB, $0) }
    }
  }

  /// Whether more is wanted.
  private func take(_ part: UnsafeRawBufferPointer) -> Bool {
    answer.append(contentsOf: part.prefix(max(0, Attempt.answerLimit - answer.count)))
    received += part.count
    isCut = received > limits.answer
    return !isCut
  }

  /// What it came to, once libcurl says that it is over.
  func result(_ code: CURLcode) -> HTTPResult {
    var result = HTTPResult(answer: answer, took: Milliseconds(started.duration(to: .now)))
    var status = 0
    if chime_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK, status > 0 { result.status = status }
    var wait: curl_off_t = 0
    if chime_curl_get_offset(handle, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK, wait > 0 {
      result.retryAfter = .seconds(Int64(wait))
    }
    if code != CURLE_OK, !(code == CURLE_WRITE_ERROR && isCut) { result.failure = sentence(for: code) }
    return result
  }

  /// What it came to when the channel stops.
  func abandoned() -> HTTPResult {
    HTTPResult(failure: "given up because the daemon stops", took: Milliseconds(started.duration(to: .now)))
  }

  private func sentence(for code: CURLcode) -> String {
    let detail = String(cString: complaint)
    return PlainText.sentence(detail.isEmpty ? String(cString: chime_curl_easy_strerror(code)) : detail)
  }
}
