/// `chime help [VERB]`
enum Help {
  static let verb = Verb(
    name: "help", group: .about, arguments: ["[VERB]"], summary: "Print help for the command or a verb",
    options: [
      .flag("markdown", nil, "Print the whole manual as Markdown"),
      .flag("scdoc", nil, "Print the manual page in the format of scdoc"),
    ],
    examples: ["chime help add", "chime help endpoint add"],
    alsoTried: ["man", "usage", "?"], run: run)

  static func run(_ context: Context) throws -> ExitCode {
    if context.line.has("markdown") {
      context.process.output.write(Manual.markdown(.standard))
      return .success
    }
    if context.line.has("scdoc") {
      context.process.output.write(ManualPage.scdoc(.standard))
      return .success
    }
    var path: [Verb] = []
    for word in context.line.words {
      let choices = path.last?.subverbs ?? CommandTable.standard.verbs
      guard let verb = choices.first(where: { $0.name == word }) else {
        throw CommandTable.standard.unknown(verb: word, within: path)
      }
      path.append(verb)
    }
    return try run(context, path: path)
  }

  static func run(_ context: Context, path: [Verb]) throws -> ExitCode {
    let width = min(context.process.output.width ?? 80, 100)
    let page = HelpPage(table: .standard, style: context.style, width: max(width, 40))
    for line in path.isEmpty ? page.overview() : page.verb(path) { context.out(line) }
    return .success
  }
}
