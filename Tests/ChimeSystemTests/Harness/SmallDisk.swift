import Foundation
import Glibc

/// A file system for one test, small enough to fill.
struct SmallDisk: Sendable {
  let path: String
  private var ballast: String { path + "/ballast" }

  /// Whether this machine permits mounting one.
  static let isPossible: Bool = {
    guard Machine.isRoot else { return false }
    guard let folder = try? RunFolder.makeFolder("mount") else { return false }
    defer { rmdir(folder) }
    guard mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount2(folder, 0) == 0
  }()

  /// Uses up all free space.
  func fill() throws {
    let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard file >= 0 else { throw HarnessFailure("cannot make \(ballast): \(errno)") }
    defer { close(file) }
    let block = [UInt8](repeating: 0x2E, count: 4_096)
    while write(file, block, block.count) > 0 {}
    guard errno == ENOSPC else { throw HarnessFailure("cannot fill \(path): \(errno)") }
  }

  func free() { unlink(ballast) }
}

extension Home {
  /// Puts the home's state on a small disk while `body` runs.
  func onSmallDisk<Value>(
    kilobytes: Int = 1_200, isolation: isolated (any Actor)? = #isolation, _ body: (SmallDisk) async throws -> Value
  ) async throws -> Value {
    let path = self.path + "/state"
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
      throw HarnessFailure("cannot mount \(path): \(errno)")
    }
    // Open files keep the file system alive, invisibly to others.
    defer { umount2(path, Int32(MNT_DETACH)) }
    return try await body(SmallDisk(path: path))
  }
}

/// A disk whose file system becomes read-only in use, as ext4 does after an error (`remount,abort`; ext4(5)).
struct ReadOnlyDisk: Sendable {
  let path: String
  private let image: String

  static let isPossible: Bool = {
    guard Machine.isRoot, Machine.has("mkfs.ext4"), Machine.has("losetup") else { return false }
    return FileManager.default.fileExists(atPath: "/dev/loop-control")
  }()

  /// Mounts it as the home's state folder.
  static func mount(in home: Home) async throws -> ReadOnlyDisk {
    let disk = ReadOnlyDisk(path: home.path + "/state", image: home.path + "/disk.img")
    try Data(count: 16 << 20).write(to: URL(fileURLWithPath: disk.image))
    try await disk.run(home, "mkfs.ext4", ["-q", disk.image])
    try await disk.run(home, "mount", ["-o", "loop", disk.image, disk.path])
    return disk
  }

  func becomeReadOnly(_ home: Home) async throws { try await run(home, "mount", ["-o", "remount,abort", path]) }

  /// Repairs and remounts it. No process may use it.
  func mend(_ home: Home) async throws {
    try await run(home, "umount", [path])
    // Use a copy: a mount namespace created meanwhile, perhaps by another test, keeps the aborted file system alive,
    // and mounting the same device would return that one.
    let mended = image + ".mended"
    try FileManager.default.copyItem(atPath: image, toPath: mended)
    // Exit status 1 means that errors were corrected.
    let checked = try await home.run("e2fsck", ["-p", "-f", mended])
    guard checked.status <= 1 else { throw HarnessFailure("e2fsck: \(checked.text)") }
    try await run(home, "mount", ["-o", "loop", mended, path])
  }

  func detach() { umount2(path, Int32(MNT_DETACH)) }

  private func run(_ home: Home, _ program: String, _ arguments: [String]) async throws {
    let output = try await home.run(program, arguments)
    guard output.status == 0 else { throw HarnessFailure("\(program): \(output.text)") }
  }
}
