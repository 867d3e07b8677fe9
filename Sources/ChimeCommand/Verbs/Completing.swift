import ChimeWords

/// `chime completion bash|zsh|fish`
enum Completing {
  static let verb = Verb(
    name: "completion", group: .about, arguments: ["bash|zsh|fish"],
    summary: "Print a shell's completion script",
    details: [
      "An installed Chime needs no setup: the shells find the script. Otherwise: in bash `source <(chime completion "
        + "bash)`, in fish `chime completion fish | source`, and in zsh, in a folder of its fpath, `chime "
        + "completion zsh > _chime`.",
      "Verbs and options complete without a daemon. The daemon supplies reminders with their titles, trackers, "
        + "packs, items, endpoints, commands, tags and deliveries; if it does not answer within a tenth of a "
        + "second, they are left out. The words of a schedule complete as you type, in bash, zsh and fish.",
    ],
    examples: ["chime completion bash", "chime completion fish", "chime completion zsh"],
    alsoTried: ["completions", "complete", "autocomplete"], run: run)

  private static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    guard line.words.count == 1, let script = line.words.first.flatMap(CompletionScript.of(shell:)) else {
      throw Failure.usage(
        line.words.isEmpty
          ? localized("which shell? bash, zsh or fish is missing")
          : localized("there is no completion for \"%1\"", line.words.joined(separator: " ")),
        hint: localized("there are: %1", "bash, zsh, fish"))
    }
    context.process.output.write(script)
    return .success
  }
}
