import ChimeControl

/// For whom the command acts.
enum TenantChoice {
  /// `--tenant`, else `CHIME_TENANT`; nil: for the user.
  static func chosen(by line: ParsedLine, environment: [String: String]) -> String? {
    let name = line.value("tenant") ?? environment["CHIME_TENANT"] ?? ""
    return name.isEmpty ? nil : name
  }
}

/// The parameters of a call with the tenant for whom it is made.
struct ForTenant<Parameters: Encodable>: Encodable {
  let parameters: Parameters
  /// Nil: for the user.
  let tenant: String?

  private enum Key: String, CodingKey { case tenant }

  func encode(to encoder: any Encoder) throws {
    try parameters.encode(to: encoder)
    guard let tenant else { return }
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(tenant, forKey: .tenant)
  }
}
