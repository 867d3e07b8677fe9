package import ChimeTracking

/// The packs that come with Chime; `Config/packs` has their files, and a link in this room leads there.
package enum ShippedPacks {
  /// In the order in which they are offered.
  package static let names = ["hydration", "weight", "adkhar", "watches", "goal"]

  /// The text of one; nil when there is none of that name.
  package static func text(_ name: String) -> [UInt8]? {
    switch name {
    case "hydration": PackageResources.hydration_toml
    case "weight": PackageResources.weight_toml
    case "adkhar": PackageResources.adkhar_toml
    case "goal": PackageResources.goal_toml
    case "watches": PackageResources.watches_toml
    default: nil
    }
  }

  /// One as a value; nil when there is none of that name.
  package static func pack(_ name: String) throws(PackFaults) -> Pack? {
    guard let text = text(name) else { return nil }
    return try PackFile.read(text, file: "\(name).toml")
  }
}
