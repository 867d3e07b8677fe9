import Foundation

/// A control group with a limit on memory or processes, in version 1 or 2 (cgroups(7)). Needs root.
struct ControlGroup: Sendable {
  enum Controller: String, Sendable { case memory, pids }

  private static let root = "/sys/fs/cgroup"
  private static var isUnified: Bool { FileManager.default.fileExists(atPath: root + "/cgroup.controllers") }

  let controller: Controller
  private let folder: String

  /// Returns whether a group can be created.
  static func isAvailable(_ controller: Controller) -> Bool {
    guard let group = try? ControlGroup(controller) else { return false }
    group.remove()
    return true
  }

  init(_ controller: Controller) throws {
    self.controller = controller
    // The name by which the end of the test run removes it.
    let name = "chime-group-\(getpid())-\(UUID().uuidString.prefix(8))"
    folder = Self.isUnified ? "\(Self.root)/\(name)" : "\(Self.root)/\(controller.rawValue)/\(name)"
    if Self.isUnified { try? Self.write("+\(controller.rawValue)", to: Self.root + "/cgroup.subtree_control") }
    guard mkdir(folder, 0o755) == 0 else { throw HarnessFailure("mkdir \(folder): \(errno)") }
    guard FileManager.default.fileExists(atPath: "\(folder)/\(limitFile)") else {
      remove()
      throw HarnessFailure("there is no control of \(controller.rawValue) here")
    }
  }

  private var limitFile: String {
    switch controller {
    case .pids: "pids.max"
    case .memory: Self.isUnified ? "memory.max" : "memory.limit_in_bytes"
    }
  }

  /// In bytes, or as a number of processes and threads.
  func limit(to number: Int) throws {
    try Self.write(String(number), to: "\(folder)/\(limitFile)")
    // Forbid swapping.
    if Self.isUnified, controller == .memory { try? Self.write("0", to: "\(folder)/memory.swap.max") }
  }

  func lift() throws {
    try Self.write(Self.isUnified || controller == .pids ? "max" : "-1", to: "\(folder)/\(limitFile)")
  }

  /// The peak memory use, in bytes.
  var peak: Int { number(Self.isUnified ? "memory.peak" : "memory.max_usage_in_bytes") }
  /// The number of processes and threads.
  var count: Int { number("pids.current") }

  /// Returns a command that joins the group and runs the program.
  func entering(_ program: String, _ arguments: [String] = []) -> (program: String, arguments: [String]) {
    ("/bin/sh", ["-c", #"echo $$ > "$0" && exec "$@""#, folder + "/cgroup.procs", program] + arguments)
  }

  /// Removes the group once it is empty.
  func remove() {
    for _ in 0..<2_000 where rmdir(folder) != 0 && errno == EBUSY { usleep(1_000) }
  }

  private func number(_ file: String) -> Int {
    let text = try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
    return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0
  }

  private static func write(_ text: String, to file: String) throws {
    let descriptor = open(file, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw HarnessFailure("open \(file): \(errno)") }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count else {
      throw HarnessFailure("write \(text) to \(file): \(errno)")
    }
  }
}

extension Machine {
  /// A sanitizer alone exceeds the limits.
  static let canLimitMemory = isRoot && !Sanitizer.isThere && ControlGroup.isAvailable(.memory)
  static let canLimitProcesses = isRoot && ControlGroup.isAvailable(.pids)
}
