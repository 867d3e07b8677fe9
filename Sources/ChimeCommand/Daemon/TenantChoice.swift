import Varlink

/// The tenant for which the command acts.
enum TenantChoice {
  /// Returns `--tenant`, else `CHIME_TENANT`; nil for the user's own reminders.
  static func chosen(by line: ParsedLine, environment: [String: String]) -> String? {
    let name = line.value("tenant") ?? environment["CHIME_TENANT"] ?? ""
    return name.isEmpty ? nil : name
  }
}

/// The parameters of a call with its tenant added.
struct ForTenant<Parameters: JSONWritable>: JSONWritable {
  let parameters: Parameters
  let tenant: String?

  func write(to writer: inout JSONWriter) {
    parameters.write(to: &writer)
    writer.reopenObject()
    writer.field("tenant", tenant)
    writer.endObject()
  }
}
