import Glibc

/// The options of the command line.
struct Options {
  /// Empty means all.
  var chosen: [String] = []
  var asJSON = false
  /// Shorter runs, for a look rather than for the record.
  var isQuick = false
  /// One reminder per second instead of four, and an hour of pings.
  var isThorough = false
  var wantsHelp = false
  /// The parent of the temporary folders, on a real disk, because commits are measured.
  var folder = "/var/tmp"

  static func help(_ benchmarks: [(name: String, about: String)]) -> String {
    let width = (benchmarks.map(\.name.count).max() ?? 0) + 3
    return """
      chime-bench - measures chimed and chime beside peers in the same run

      Usage: chime-bench [options]

        --only NAME    measure this one (may be said several times)
        --json         print JSON instead of a table
        --quick        shorter spans, for a look rather than for the record
        --thorough     lateness one reminder a second: 200 seconds instead of 50; an hour of pings instead of 5 minutes
        --dir DIR      make the temporary folders here instead of /var/tmp: a real disk, since commits are measured
        --help

      Benchmarks:

      """
        + benchmarks.map { "  " + padded($0.name, width) + $0.about + "\n" }.joined() + """

          Measures the chimed and chime beside itself, with the peers of Benchmarks/peers; `make bench` builds all of them.
          A ratio is the value over its peer or limit. Nothing is asserted.
          """
  }

  init(_ words: ArraySlice<String>, known: [String]) throws(BenchFailure) {
    var rest = words
    while let word = rest.popFirst() {
      switch word {
      case "--only":
        guard let name = rest.popFirst(), known.contains(name) else {
          throw BenchFailure("--only needs one of \(known.joined(separator: ", "))")
        }
        chosen.append(name)
      case "--dir":
        guard let path = rest.popFirst(), !path.isEmpty else { throw BenchFailure("--dir needs a folder") }
        folder = path
      case "--json": asJSON = true
      case "--quick": isQuick = true
      case "--thorough": isThorough = true
      case "--help", "-h": wantsHelp = true
      default: throw BenchFailure("there is no option \(word)")
      }
    }
  }
}

/// The reason why a measurement is impossible, as a sentence.
struct BenchFailure: Error, CustomStringConvertible {
  let message: String
  var description: String { message }

  init(_ message: String) { self.message = message }

  /// A failed system call.
  init(call: String) { self.init("\(call): \(String(cString: strerror(errno)))") }
}

/// Prints a message on standard error, apart from the results.
func complain(_ text: String) { write(line: "chime-bench: \(text)", to: STDERR_FILENO) }

/// Prints a line of the results unbuffered, so that a long run can be followed through a file or a pipe.
func say(_ text: String) { write(line: text, to: STDOUT_FILENO) }

private func write(line: String, to descriptor: Int32) {
  let bytes = Array((line + "\n").utf8)
  _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
}

func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
