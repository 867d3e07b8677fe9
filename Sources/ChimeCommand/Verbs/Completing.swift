import ChimeWords

/// `chime completion bash|zsh|fish`
enum Completing {
  static let verb = Verb(
    name: "completion", group: .about, arguments: ["bash|zsh|fish"],
    summary: "Print what makes a shell complete the words of this command",
    details: [
      "Where Chime was installed, the shells find it by themselves. Otherwise: in bash `source <(chime completion bash)`, in "
        + "fish `chime completion fish | source`, and in zsh, in a folder of its fpath, `chime completion zsh > _chime`.",
      "Verbs and options complete without a daemon. Reminders with their titles, trackers, packs, items, endpoints, commands, "
        + "tags and deliveries come from the daemon when it answers within a tenth of a second, and are left out when not. "
        + "In bash, zsh and fish alike, the words of a schedule complete as they are typed.",
    ],
    examples: [
      .init(command: "chime completion bash"), .init(command: "chime completion fish"),
      .init(command: "chime completion zsh"),
    ],
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
