import Foundation

/// What the kernel says of a process.
extension Child {
  /// The most memory that was ever resident, in KiB (proc(5), `VmHWM`).
  var peakKiB: Int { status("VmHWM") }
  /// The memory that is resident, in KiB.
  var residentKiB: Int { status("VmRSS") }

  /// The processor time used so far, in ticks of a hundredth of a second.
  var ticks: Int {
    // The name in parentheses may hold anything; what counts follows it.
    let fields = proc("stat").split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 13 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
  }

  var descriptors: [String] {
    let folder = "/proc/\(pid)/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
  }

  /// `T` while it is stopped.
  var runState: String { proc("stat").split(separator: ")").last?.split(separator: " ").first.map(String.init) ?? "" }

  private func status(_ field: String) -> Int {
    let line = proc("status").split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  private func proc(_ file: String) -> String {
    (try? String(contentsOfFile: "/proc/\(pid)/\(file)", encoding: .utf8)) ?? ""
  }
}
