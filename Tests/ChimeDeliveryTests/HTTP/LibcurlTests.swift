import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

/// A machine without libcurl.
@Suite struct LibcurlTests {
  static let absent = "libcurl-that-nobody-has.so.4"

  @Test func libraryCanBeLoadedAgain() throws {
    for _ in 0..<3 { try Libcurl.load() }
  }

  @Test(arguments: [(absent, "\(absent): cannot open"), ("libm.so.6", "undefined symbol: curl_")])
  func missingLibraryNamesThePackage(_ name: String, _ reason: String) throws {
    let error = #expect(throws: DeliveryError.self) { try Libcurl.load(name) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("install it (Debian: libcurl4)") == true)
    // A libcurl already loaded or present is not affected.
    try EndpointURL.validate("https://example.org/hook")
  }

  @Test func withoutTheLibraryNoURLIsAccepted() {
    let error = #expect(throws: DeliveryError.self) {
      try EndpointURL.validate("https://example.org/hook", library: Self.absent)
    }
    #expect(error?.description.contains("libcurl4") == true)
  }

  @Test func messagesWaitUntilTheLibraryIsInstalled() async throws {
    let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1.2.3"), library: Self.absent) {
      queue in
      EndpointAccess(
        endpoint: Endpoint(queue: queue, url: "http://127.0.0.1:9/", createdAt: scheduled),
        secrets: (try? Secret(SecretTests.text)).map { [SigningSecret($0)] } ?? [])
    }
    // Twice: each message tries to load it again.
    for _ in 0..<2 {
      let report = try await channel.deliver(message(channel: "hook"))
      #expect(report.next == .blocked(.minutes(5)))
      #expect(report.attempt?.outcome == .refused)
      #expect(report.attempt?.error?.contains("install it (Debian: libcurl4)") == true)
    }
    await channel.stop()
  }
}
