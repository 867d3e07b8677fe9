import ChimeControl
import ChimeWords

/// `--field NAME`: an additional measure of a tracker's entries, such as body fat.
enum FieldOption {
  static let option = Verb.Option.value(
    "field", nil, "NAME", "A further measure instead of the value itself, such as body-fat")

  /// Returns the field; nil without the option. A unique part of a name suffices: `fat`.
  static func chosen(_ context: Context, of tracker: TrackersInterface.Tracker) throws -> String? {
    try context.line.value("field").map { try known($0, of: tracker) }
  }

  static func known(_ name: String, of tracker: TrackersInterface.Tracker) throws -> String {
    let names = tracker.fields.keys.sorted()
    let wanted = trimmed(name).lowercased()
    if let exact = names.first(where: { $0 == name || $0.lowercased() == wanted }) { return exact }
    let fitting = names.filter { !wanted.isEmpty && $0.lowercased().contains(wanted) }
    if fitting.count == 1 { return fitting[0] }
    try need(!names.isEmpty, localized("this tracker has no further measures, and so no \"%1\"", name))
    throw Failure.usage(
      localized("this tracker has no measure \"%1\"", name),
      hint: localized("there are: %1", names.joined(separator: ", ")))
  }
}
