// Both sides of Varlink's certification, on top of the library:
//
//     varlink-certification --varlink=unix:/path            serves org.varlink.certification until stopped
//     varlink-certification --client --varlink=unix:/path   drives a server through it; status 0 if it passes
import Glibc
import Varlink

/// Prints a line immediately, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

let arguments = CommandLine.arguments.dropFirst()
let isClient = arguments.contains("--client")
let addresses = arguments.compactMap { $0.hasPrefix("--varlink=") ? VarlinkAddress(String($0.dropFirst(10))) : nil }
guard let address = addresses.first, arguments.count == (isClient ? 2 : 1) else {
  print("Usage: varlink-certification [--client] --varlink=unix:/path")
  exit(64)
}
do {
  if isClient {
    try CertificationClient(VarlinkClient(address, timeout: .seconds(10))).run()
    say("Certification passed")
  } else {
    var server = try SocketServer(address, service: CertificationServer.service())
    say("Listening on \(address)")
    var certification = CertificationServer()
    try server.run { call, connection in try certification.answer(call, on: &connection) }
  }
} catch {
  say("Certification failed: \(error)")
  exit(1)
}
