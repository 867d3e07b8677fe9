import Glibc

do {
  exit(try Simulate(Array(CommandLine.arguments.dropFirst())).run() ? 0 : 1)
} catch {
  Simulate.say("chime-simulate: \(error)", to: 2)
  exit(64)
}
