/// `chime version`
enum Version {
  /// The version of this command.
  static let current = "0.1.0"

  static let verb = Verb(
    name: "version", group: .about, arguments: [""], summary: "Print the version of this command",
    examples: [.init(command: "chime version")], json: "`version`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    switch context.format {
    case .json: context.print(json: .members(["version": .string(current)]))
    case .plain: context.out("version\n\(current)")
    case .human: context.out("chime \(current)")
    }
    return .success
  }
}
