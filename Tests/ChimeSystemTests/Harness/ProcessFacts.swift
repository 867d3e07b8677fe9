import Foundation

/// Facts about a process from /proc.
extension Child {
  /// The peak resident memory, in KiB (proc(5), `VmHWM`).
  var peakKiB: Int { status("VmHWM") }
  /// The resident memory, in KiB.
  var residentKiB: Int { status("VmRSS") }

  /// The processor time so far, in hundredths of a second.
  var ticks: Int {
    // The name in parentheses may contain anything; the fields follow it.
    let fields = proc("stat").split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 13 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
  }

  var descriptors: [String] {
    let folder = "/proc/\(pid)/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
  }

  /// The TCP ports on which it listens, in the kernel's notation (proc(5), `/proc/PID/net/tcp`).
  var listeningPorts: [String] {
    let own = Set(descriptors.filter { $0.hasPrefix("socket:[") }.map { String($0.dropFirst(8).dropLast()) })
    return ["net/tcp", "net/tcp6"].flatMap { proc($0).split(separator: "\n").dropFirst() }.compactMap { line in
      let fields = line.split(separator: " ")
      let isListening = fields.count > 9 && fields[3] == "0A" && own.contains(String(fields[9]))
      return isListening ? String(fields[1]) : nil
    }
  }

  /// The process state; `T` while it is stopped.
  var runState: String { proc("stat").split(separator: ")").last?.split(separator: " ").first.map(String.init) ?? "" }

  private func status(_ field: String) -> Int {
    let line = proc("status").split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  private func proc(_ file: String) -> String {
    (try? String(contentsOfFile: "/proc/\(pid)/\(file)", encoding: .utf8)) ?? ""
  }
}
