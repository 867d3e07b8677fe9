/// The templates that come with Chime; `Config/endpoints` has their files, and a link in this folder leads there.
public enum ShippedTemplates {
  /// In the order of their names.
  public static let names = ["discord", "gotify", "healthchecks", "homeassistant", "matrix", "ntfy", "slack"]

  /// The text of one; nil when there is none of that name.
  public static func text(_ name: String) -> String? {
    let bytes: [UInt8]? =
      switch name {
      case "discord": PackageResources.discord_json
      case "gotify": PackageResources.gotify_json
      case "healthchecks": PackageResources.healthchecks_json
      case "homeassistant": PackageResources.homeassistant_json
      case "matrix": PackageResources.matrix_json
      case "ntfy": PackageResources.ntfy_json
      case "slack": PackageResources.slack_json
      default: nil
      }
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Template {
  /// The template that an endpoint's settings mean: one of those that come with Chime, by its name, or a text, which
  /// begins with `{`.
  public init(setting: String) throws(TemplateError) {
    if setting.first(where: { !$0.isWhitespace }) == "{" {
      try self.init(setting)
      return
    }
    guard let text = ShippedTemplates.text(setting) else {
      throw TemplateError(
        "there is no template \"\(PlainText.sentence(setting))\"; there are: "
          + ShippedTemplates.names.joined(separator: ", "))
    }
    try self.init(text)
  }
}
