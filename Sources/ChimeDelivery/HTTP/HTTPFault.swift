import CCurl
import ChimeSchedule

/// An HTTPFault explains a failed exchange to the user. It is pure and uses only what libcurl and the connection
/// report.
struct HTTPFault {
  let code: CURLcode
  /// libcurl's error text.
  let detail: String
  /// The first address that the network policy refused.
  var refusal: AddressRefusal?
  /// Whether another address of the name was dialed.
  var hasDialled = false
  var hasProxy = false
  var headerBytes = 0
  /// Whether more data arrived than `HTTPLimits.wire` allows.
  var isFlooded = false
  /// `caFile` of the configuration, unless the endpoint has its own certificates.
  var certificateFile: String?
  /// OpenSSL's X509_V_ERR code (openssl-verification-options(1)), as libcurl reports it.
  var verification = 0
  /// Notes on the refused certificate or on the handshake.
  var note: chime_tls_note?

  init(code: CURLcode, detail: String) { (self.code, self.detail) = (code, detail) }

  /// Whether the fault is local and blocks every receiver until it is repaired.
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
    // libcurl also reports this for a header line of more than 100 KB.
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

  /// Removes the duration from libcurl's text. It varies between attempts and is recorded separately: `Failed to
  /// connect to ::1 port 9 after 3 ms: Couldn't connect to server`.
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
    // libcurl compares the name after OpenSSL has accepted the certificate.
    if detail.contains("target host name") { return "the receiver's certificate is for another name: \(detail)" }
    // Codes of OpenSSL's x509_vfy.h.
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
