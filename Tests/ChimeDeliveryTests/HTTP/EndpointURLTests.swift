import ChimeDelivery
import Testing

@Suite struct EndpointURLTests {
  @Test(arguments: [
    "https://example.org/hook", "http://127.0.0.1:8099/hook", "http://[2001:db8::1]:80/", "https://example.org",
    "https://example.org/a?token=b%20c#d", "HTTPS://EXAMPLE.ORG/",
    "http://[fe80::1%25eth0]:8080/hook", "https://example.org/a%5Cb",
    "https://example.org/" + String(repeating: "a", count: 2_028),
  ])
  func acceptsValidURLs(_ text: String) throws { try EndpointURL.validate(text) }

  @Test(arguments: [
    ("", "such as https://example.org/hook"), ("example.org/hook", "write https://example.org/hook"),
    ("ftp://example.org/", "must begin with https://"), ("file:///etc/passwd", "must begin with https://"),
    ("gopher://example.org", "must begin with https://"), ("javascript:alert(1)", "write it as https://"),
    ("https://", "names no host"), ("https:///", "host"), ("https://user@example.org/", "remove them"),
    ("https://user:Xq7@example.org/", "remove them"), ("https://example.org:99999/", "the port must be"),
    ("https://example.org:x/", "the port must be"), ("https://exa mple.org/", "write it as %20"),
    ("https://example.org/\n", "control character"), ("https://example.org/\u{0}", "control character"),
    ("https://example.org:0/", "the port must be"), ("https://example.org:000/", "the port must be"),
    ("https://example.org/\\@evil.example", "a backslash"), ("https://evil.example\\@example.org/", "a backslash"),
    ("https:\\\\example.org\\hook", "a backslash"), ("https://[2001:db8::1%25eth0]/", "names an interface"),
    ("https://[::1%25lo]/", "names an interface"),
    ("https://[2001:db8::g]/", "not a name or an address"), ("no url", "write it as %20"),
    ("https://example.org/" + String(repeating: "a", count: 2_029), "at most 2048"),
  ])
  func refusalSaysWhatToWrite(_ text: String, _ sentence: String) {
    let error = #expect(throws: DeliveryError.self) { try EndpointURL.validate(text) }
    #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("Xq7") != true)
  }
}
