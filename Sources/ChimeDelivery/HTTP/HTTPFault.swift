import CCurl
import ChimeSchedule

/// Why an exchange failed, put so that a person knows what to do: pure, from what libcurl and the connection say.
struct HTTPFault {
  let code: CURLcode
  /// libcurl's own words.
  let detail: String
  /// The first address that was not to be dialled.
  var refusal: AddressRefusal?
  /// Whether another address of the name was.
  var hasDialled = false
  var hasProxy = false
  var headerBytes = 0
  /// Whether more came than any answer takes.
  var isFlooded = false
  /// `caFile` of the configuration, unless the endpoint has certificates of its own.
  var certificateFile: String?
  /// An X509_V_ERR of OpenSSL (openssl-verification-options(1)), as libcurl has it.
  var verification = 0
  /// What was noted of the certificate that was refused, or of the handshake.
  var note: chime_tls_note?

  init(code: CURLcode, detail: String) { (self.code, self.detail) = (code, detail) }

  /// Whether the fault is this machine's: nothing can be sent to anybody until it is mended.
  var isOurs: Bool { code == CURLE_SSL_CACERT_BADFILE && certificateFile != nil }

  var sentence: String {
    switch code {
    case _ where note?.is_endless == 1:
      "the receiver's TLS handshake does not end: it sent more than \(CHIME_TLS_MOST >> 10) KiB or "
        + "\(CHIME_TLS_MOST >> 10) messages"
    case CURLE_OPERATION_TIMEDOUT where detail.contains("SSL connection timeout"):
      "the TLS handshake timed out: the receiver did not finish it"
    case CURLE_COULDNT_CONNECT: dialling
    case CURLE_PEER_FAILED_VERIFICATION: verifying
    case CURLE_SSL_CACERT_BADFILE:
      certificateFile.map {
        "the certificates of caFile in [webhook] cannot be read: \($0) must be a readable PEM file"
      } ?? "the endpoint's own certificates cannot be read: they must be in PEM"
    case CURLE_SSL_CONNECT_ERROR where saysVersion: "the receiver does not support TLS 1.2 or later: \(detail)"
    case CURLE_WRITE_ERROR where headerBytes > HTTPLimits.headers:
      "the answer's headers are longer than \(HTTPLimits.headers / 1_024) KiB"
    case CURLE_ABORTED_BY_CALLBACK where isFlooded:
      "more than \(HTTPLimits.wire / 1_024) KiB arrived without an answer"
    // libcurl's word for a header line of more than 100 KB, too.
    case CURLE_OUT_OF_MEMORY: "there is not enough memory, or the answer has a header line of more than 100 KB"
    case CURLE_USE_SSL_FAILED where detail.contains("denied"):
      "the server offers STARTTLS but refuses to begin it, so nothing was sent; if it supports TLS from the start, "
        + "write its address as smtps://"
    case CURLE_USE_SSL_FAILED:
      "the server offers no STARTTLS, or an attacker has removed the offer, so nothing was sent; if it supports TLS "
        + "from the start, write its address as smtps://"
    default: detail
    }
  }

  private var saysVersion: Bool {
    ["protocol version", "unsupported protocol", "wrong version number"].contains { detail.contains($0) }
  }

  private var dialling: String {
    let detail = Self.withoutTime(self.detail)
    guard let refusal else { return detail }
    return (hasDialled ? "\(detail); and " : "") + refusal.description
      + (hasProxy ? " (Chime connects to the proxy's address)" : "")
  }

  /// libcurl says how long it took to fail, which is another number each time and told beside it anyway:
  /// `Failed to connect to ::1 port 9 after 3 ms: Couldn't connect to server`.
  private static func withoutTime(_ detail: String) -> String {
    guard let begin = detail.firstRange(of: " after "),
      let end = detail[begin.upperBound...].firstRange(of: " ms"),
      detail[begin.upperBound..<end.lowerBound].allSatisfy(\.isWholeNumber)
    else { return detail }
    return String(detail[..<begin.lowerBound] + detail[end.upperBound...])
  }

  private var verifying: String {
    let date = { (seconds: Int64?) -> String? in
      guard let seconds, (0...253_402_300_799).contains(seconds) else { return nil }
      return String(Timestamp.rfc3339(Instant(seconds: seconds)).prefix(10))
    }
    let remedy = "name the authority's certificate in caFile of [webhook], or give it to the endpoint"
    // Compared by libcurl once the certificate itself was found in order.
    if detail.contains("target host name") { return "the receiver's certificate is for another name: \(detail)" }
    // The numbers are those of OpenSSL's x509_vfy.h.
    switch note.map({ Int($0.error) }) ?? verification {
    case 9:
      return "the receiver's certificate is not valid before \(date(note?.not_before) ?? "a later day"): either the "
        + "certificate or this machine's clock is wrong"
    case 10:
      return "the receiver's certificate has expired" + (date(note?.not_after).map { " on \($0)" } ?? "")
        + ": renew it there"
    case 18: return "the receiver's certificate is self-signed: to trust it, \(remedy)"
    case 2, 19, 20, 21: return "no trusted authority signed the receiver's certificate: \(remedy)"
    default: return "the receiver's certificate was rejected: \(detail)"
    }
  }
}
