import ChimeDelivery

// The heartbeat to an external monitor.
extension ConfigurationFiles {
  /// Validates the heartbeat's addresses by the rules for endpoints.
  static func checkHeartbeat(_ loaded: LoadedConfiguration) throws(ConfigurationError) {
    let heartbeat = loaded.configuration.heartbeat
    for (key, url) in [("heartbeat.url", heartbeat.url), ("heartbeat.failUrl", heartbeat.failURL)] where !url.isEmpty {
      do throws(EndpointURLError) { try EndpointURL.validate(url) } catch {
        throw ConfigurationError(
          file: loaded.origins[key] ?? "", line: nil, column: nil, message: "\(key): \(error)")
      }
    }
    guard heartbeat.url.isEmpty || heartbeat.command.isEmpty else {
      throw ConfigurationError(
        file: loaded.origins["heartbeat.command"] ?? "", line: nil, column: nil,
        message: "heartbeat.url and heartbeat.command cannot be used together")
    }
    guard heartbeat.url.isEmpty, !heartbeat.failURL.isEmpty else { return }
    throw ConfigurationError(
      file: loaded.origins["heartbeat.failUrl"] ?? "", line: nil, column: nil,
      message: "heartbeat.failUrl needs heartbeat.url")
  }
}
