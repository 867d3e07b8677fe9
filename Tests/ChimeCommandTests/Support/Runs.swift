import ChimeSchedule
import Foundation

@testable import ChimeCommand

/// The outcome of a run of the command.
struct Outcome {
  var status: ExitCode
  var output: String
  var errors: String

  var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

/// Runs the command in this process, at `Samples.now` in Prague.
func chime(
  _ arguments: [String], daemon: FakeDaemon? = nil, width: Int? = nil, height: Int? = nil, isTerminal: Bool = false,
  input: String = "",
  isInputTerminal: Bool = false, environment: [String: String] = [:], elapsed: (() -> Duration)? = nil
) -> Outcome {
  let output = TextSink(isTerminal: isTerminal, width: width, height: height)
  let errors = TextSink(isTerminal: isInputTerminal, width: width)
  let socket = daemon?.path ?? "/nonexistent/io.chime"
  let usual = ["TZ": "Europe/Prague", "LANG": "C.UTF-8", "CHIME_SOCKET": socket]
  var process = CommandProcess(
    environment: usual.merging(environment) { $1 }, userID: getuid(),
    now: { Samples.now }, input: TextSource(text: input, isTerminal: isInputTerminal), output: output, errors: errors)
  if let elapsed { process.elapsed = elapsed }
  let status = CommandMain.run(arguments, in: process)
  return Outcome(status: status, output: output.text, errors: errors.text)
}

/// Splits a line as a shell would, with double quotes only.
func words(_ line: String) -> [String] {
  var words: [String] = []
  var word: String?
  var isQuoted = false
  for character in line {
    if character == "\"" {
      isQuoted.toggle()
      word = word ?? ""
    } else if character == " ", !isQuoted {
      if let done = word { words.append(done) }
      word = nil
    } else {
      word = (word ?? "") + String(character)
    }
  }
  return words + (word.map { [$0] } ?? [])
}

/// Returns the built command beside the test bundle.
func builtCommand() throws -> URL {
  let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
  let places = [bundle, Bundle.main.bundleURL].compactMap { $0 } + [URL(filePath: CommandLine.arguments[0])]
  for place in places {
    for directory in [place, place.deletingLastPathComponent()] {
      let candidate = directory.appending(path: "chime")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
    }
  }
  throw CocoaError(.fileNoSuchFile)
}

/// Runs the built command as a process.
func run(
  _ arguments: [String], input: String = "", environment: [String: String] = [:]
) throws -> (status: Int32, output: String, errors: String) {
  let result = try ChildProcess.run(
    builtCommand().path, arguments,
    environment: ["TZ": "Europe/Prague", "CHIME_SOCKET": "/nonexistent/io.chime"].merging(environment) { $1 },
    input: .bytes(Data(input.utf8)))
  return (result.status, result.text, result.complaint)
}
