/// The templates that come with Chime; `Config/endpoints` has their files, and `Packaging/embed` puts them into the program.
public enum ShippedTemplates {
  /// In the order of their names.
  public static let names = ["discord", "email", "gotify", "healthchecks", "homeassistant", "ntfy", "slack"]

  /// The text of one; nil when there is none of that name.
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
