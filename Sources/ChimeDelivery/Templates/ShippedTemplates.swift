/// The templates that ship with Chime. `Packaging/embed` embeds the files of `Config/endpoints`.
public enum ShippedTemplates {
  /// Names in alphabetical order.
  public static let names = ["discord", "email", "gotify", "healthchecks", "homeassistant", "ntfy", "slack"]

  /// Returns the text of a shipped template; nil for an unknown name.
  public static func text(_ name: String) -> String? {
    switch name {
    case "discord": EmbeddedFiles.discord
    case "email": EmbeddedFiles.email
    case "gotify": EmbeddedFiles.gotify
    case "healthchecks": EmbeddedFiles.healthchecks
    case "homeassistant": EmbeddedFiles.homeassistant
    case "ntfy": EmbeddedFiles.ntfy
    case "slack": EmbeddedFiles.slack
    default: nil
    }
  }
}

extension Template {
  /// Parses an endpoint's template setting: the name of a shipped template, or a template text, which begins with `{`.
  public init(setting: String) throws(DeliveryError) {
    if setting.first(where: { !$0.isWhitespace }) == "{" {
      try self.init(setting)
      return
    }
    guard let text = ShippedTemplates.text(setting) else {
      throw DeliveryError(
        "there is no template \"\(PlainText.sentence(setting))\"; there are: "
          + ShippedTemplates.names.joined(separator: ", "))
    }
    try self.init(text)
  }
}
