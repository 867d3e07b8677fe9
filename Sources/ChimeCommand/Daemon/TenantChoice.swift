import ChimeControl
import Varlink

/// For whom the command acts.
enum TenantChoice {
  /// `--tenant`, else `CHIME_TENANT`; nil: for the user.
  static func chosen(by line: ParsedLine, environment: [String: String]) -> String? {
    let name = line.value("tenant") ?? environment["CHIME_TENANT"] ?? ""
    return name.isEmpty ? nil : name
  }
}

/// The parameters of a call with the tenant for whom it is made.
struct ForTenant<Parameters: JSONWritable>: JSONWritable {
  let parameters: Parameters
  /// Nil: for the user.
  let tenant: String?

  func write(to writer: inout JSONWriter) {
    parameters.write(to: &writer)
    writer.reopenObject()
    writer.field("tenant", tenant)
    writer.endObject()
  }
}
