package import ChimeTracking

/// The packs that come with Chime. Their files are in `Config/packs`, and `Packaging/embed` puts them into the program.
package enum ShippedPacks {
  /// The names in the order in which they are offered.
  package static let names = ["hydration", "weight", "adkhar", "watches", "goal"]

  /// Returns the text of a pack; nil for an unknown name.
  package static func text(_ name: String) -> String? {
    switch name {
    case "hydration": EmbeddedFiles.hydration
    case "weight": EmbeddedFiles.weight
    case "adkhar": EmbeddedFiles.adkhar
    case "goal": EmbeddedFiles.goal
    case "watches": EmbeddedFiles.watches
    default: nil
    }
  }

  /// Returns a pack; nil for an unknown name.
  package static func pack(_ name: String) throws(PackFaults) -> Pack? {
    guard let text = text(name) else { return nil }
    return try PackFile.read(Array(text.utf8), file: "\(name).toml")
  }
}
