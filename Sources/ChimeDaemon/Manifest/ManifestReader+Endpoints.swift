import ChimeControl
import ChimeCore
import ChimeSchedule

// `[[endpoint]]`
extension ManifestReader {
  static let endpointKeys = ["name", "url", "secretFile", "tokenFile"] + EndpointSetting.all.map(\.name)
  private static let secretKeys = ["secret": "secretFile", "token": "tokenFile"]

  mutating func endpoint(_ table: Table) -> Manifest.Webhook? {
    for (key, instead) in Self.secretKeys.sorted(by: { $0.key < $1.key }) {
      guard let node = table[key] else { continue }
      faults.fault(
        node, table.key(key),
        "does not belong into this file: write it to a file of mode 0600, and its path here as \(instead)",
        atKey: true)
    }
    faults.allow(Self.endpointKeys + Self.secretKeys.keys.sorted(), in: table, called: "an endpoint")
    let name = required("name", in: table, "the name for channels")
    let url = required("url", in: table, "the address to call")
    var settings = EndpointSettings()
    if let name, let node = table["name"] {
      if !ChannelName(rawValue: name).isValidForEndpoint {
        faults.expected("1 to 64 letters, digits, . _ or -, and not desktop", at: node, table.key("name"))
      }
    }
    if let url, table["url"] != nil { judge("url", in: table) { try EndpointFields.check(url: url) } }
    for setting in EndpointSetting.all {
      guard let wire = setting.read(&self, table) else { continue }
      judge(setting.name, in: table) { try setting.take(wire, &settings) }
    }
    let (secret, token) = (string("secretFile", in: table), string("tokenFile", in: table))
    guard let name, let url else { return nil }
    return Manifest.Webhook(
      place: .init(file: file, table: table), name: name, url: url, settings: settings, secretFile: secret,
      tokenFile: token)
  }

  mutating func judge(_ key: String, in table: Table, _ body: () throws -> Void) {
    faults.judge(key, in: table, body)
  }

  mutating func events(_ table: Table) -> [EndpointsInterface.Settings.Events]? {
    guard let node = table["events"], let names = strings(node, table.key("events"), "[\"fired\", \"done\"]") else {
      return nil
    }
    let events = names.compactMap(EndpointsInterface.Settings.Events.init)
    guard events.count == names.count else {
      let known = EndpointsInterface.Settings.Events.allCases.map(\.rawValue).joined(separator: ", ")
      faults.expected("names of events, of which there are \(known)", at: node, table.key("events"))
      return nil
    }
    return events
  }

  mutating func senders(_ table: Table) -> [String]? {
    table["senders"].flatMap { strings($0, table.key("senders"), "[\"@ann:example.org\"]") }
  }

  mutating func headers(_ table: Table) -> [EndpointsInterface.Header]? {
    guard let node = table["headers"], let lines = strings(node, table.key("headers"), "[\"X-Priority: 5\"]") else {
      return nil
    }
    var headers: [EndpointsInterface.Header] = []
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { String($0).trimmed }
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
        faults.expected("names and values, such as [\"X-Priority: 5\"]", at: node, table.key("headers"))
        return nil
      }
      headers.append(.init(name: parts[0], value: parts[1]))
    }
    return headers
  }

  mutating func rate(_ table: Table) -> EndpointsInterface.Rate? {
    faults.parsed("rate", in: table, as: "a number and a span, such as \"30/1m\"") { text in
      let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2, let count = Int(parts[0]), let span = try? DurationText.parse(parts[1]) else {
        return nil
      }
      return .init(count: count, span: DurationText.formatISO8601(span))
    }
  }
}
