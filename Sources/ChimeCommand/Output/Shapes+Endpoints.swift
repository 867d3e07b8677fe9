import ChimeControl

extension Shapes {
  static let endpoint = Shape<EndpointsInterface.Endpoint>(
    list: "endpoints", item: "endpoint",
    fields: [
      .init("name", "its name, for `--to`") { .string($0.name) },
      .init("url", "its address") { .string($0.url) },
      .init("createdAt", "when it was added") { .time($0.createdAt) },
      .init("disabled", "why it is not called any more; null while it is") { .optional($0.disabled) },
      .init("owed", "messages that are still owed to it") { .int($0.owed) },
      .init("disabledAt", "since when it is not called") { .time($0.disabledAt) },
      .init("failingSince", "when the first failure came since it last took a message") { .time($0.failingSince) },
      .init("dead", "messages that were given up") { .optional($0.dead) },
      .init(
        "settings",
        "`headers`, `template` (a name or a text), `certificates` (PEM), `concurrency`, `rate`, `inOrder`; null is the "
          + "usual way"
      ) { $0.settings.map(settings) ?? .null },
      .init("signing", "`hmac`, `ed25519`") { .strings(($0.signing ?? []).map(\.rawValue)) },
      .init("publicKeys", "what the receiver verifies Ed25519 with") { .strings($0.publicKeys ?? []) },
      .init("secretFrom", "`file` or `credential`") { .optional($0.secretFrom?.rawValue) },
      .init("rotationEnds", "until when replaced secrets sign too") { .time($0.rotationEnds) },
      .init("hasToken", "whether it has a token") { .bool($0.hasToken ?? false) },
      .init("fault", "why nothing can be sent to it") { .optional($0.fault) },
      .init("restingUntil", "until when nothing is tried after failures in a row; null while it does not rest") {
        .time($0.restingUntil)
      },
      .init("set", "the set of files that declares it (`chime apply`); null for one that was added by hand") {
        .optional($0.set)
      },
    ])

  private static func settings(_ settings: EndpointsInterface.Settings) -> JSONText {
    .members([
      "headers": .list(
        (settings.headers ?? []).map { .members(["name": .string($0.name), "value": .string($0.value)]) }),
      "template": .optional(settings.template), "certificates": .optional(settings.certificates),
      "concurrency": .optional(settings.concurrency),
      "rate": settings.rate.map { .members(["count": .int($0.count), "span": .string($0.span)]) } ?? .null,
      "inOrder": .bool(settings.inOrder ?? false),
    ])
  }

  static let rotation = Shape<EndpointSecret.Rotation>(
    list: "rotations", item: "rotation",
    fields: [
      .init("endpoint", "the endpoint's name") { .string($0.endpoint.name) },
      .init("secret", "the new secret; null unless --show asked for it") { .optional($0.secret) },
      .init("publicKeys", "what the receiver verifies Ed25519 with") { .strings($0.endpoint.publicKeys ?? []) },
      .init("rotationEnds", "until when the replaced secret signs too") { .time($0.endpoint.rotationEnds) },
    ])

  static let template = Shape<EndpointsInterface.Template>(
    list: "templates", item: "template",
    fields: [
      .init("name", "its name, for `--template`") { .string($0.name) },
      .init("summary", "what it is for") { .string($0.summary) },
      .init("example", "an address of that kind") { .optional($0.example) },
      .init("needsToken", "whether it needs a token") { .bool($0.needsToken) },
      .init("text", "the template") { .string($0.text) },
    ])

  static let test = Shape<EndpointsInterface.TestResult>(
    list: "results", item: "result",
    fields: [
      .init("ok", "whether it was taken (2xx)") { .bool($0.ok) },
      .init("method", "the request's method") { .string($0.method ?? "POST") },
      .init("url", "where it was sent") { .string($0.url) },
      .init("requestHeaders", "the headers that were sent; for a token stands `<redacted>`") {
        .strings($0.requestHeaders)
      },
      .init("requestBody", "the body that was sent") { .string($0.requestBody) },
      .init("status", "the HTTP status") { .optional($0.status) },
      .init("answer", "the first 1 KiB of what came back") { .optional($0.answer) },
      .init("error", "what went wrong") { .optional($0.error) },
      .init("tookMs", "how long it took, in milliseconds") { .int($0.tookMs) },
      .init("responseHeaders", "headers of the answer that tell something") { .strings($0.responseHeaders ?? []) },
      .init("address", "the address that was dialled") { .optional($0.address) },
      .init("httpVersion", "`HTTP/1.1`, `HTTP/2` …") { .optional($0.httpVersion) },
      .init("timing", "each part, in microseconds from the beginning") { result in
        guard let timing = result.timing else { return .null }
        return .members([
          "nameLookup": .int(timing.nameLookup), "connect": .int(timing.connect), "tls": .int(timing.tls),
          "firstByte": .int(timing.firstByte), "total": .int(timing.total),
        ])
      },
    ])
}
