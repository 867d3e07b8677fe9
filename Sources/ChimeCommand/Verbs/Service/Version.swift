import ChimeControl

/// `chime version`
enum Version {
  static let verb = Verb(
    name: "version", group: .about, summary: "Print the version of this command",
    examples: ["chime version"], json: "`version`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    switch context.format {
    case .json: context.print(json: ["version": Product.version])
    case .plain: context.out("version\n\(Product.version)")
    case .human: context.out("chime \(Product.version)")
    }
    return .success
  }
}
