import CPowerVFS
import ChimeCore
import Synchronization

@testable import ChimeStoreSQLite

/// A file layer for SQLite that logs all file changes, and can reproduce what a power cut leaves of the files.
///
/// `@unchecked Sendable`: the C side serializes all calls.
final class PowerDisk: @unchecked Sendable {
  /// The name under which SQLite knows it.
  let name: String
  private let disk: OpaquePointer

  private static let serial = Atomic<Int>(0)

  init() throws {
    let name = "power-\(Self.serial.wrappingAdd(1, ordering: .relaxed).newValue)"
    guard let disk = power_disk_make(name) else { throw Unexpected(nil) }
    (self.name, self.disk) = (name, disk)
  }

  deinit { power_disk_free(disk) }

  /// Starts a log in which the folder's current content is safe.
  func begin(_ folder: Folder) throws { if !power_disk_begin(disk, folder.path) { throw Unexpected(nil) } }

  /// The number of changes in the log.
  var changes: Int { power_disk_changes(disk) }

  func describe(_ change: Int) -> String {
    var text = [CChar](repeating: 0, count: 200)
    power_disk_describe(disk, change, &text, Int32(text.count))
    return text.words
  }

  /// Fills the folder with what is left after a power cut; returns a hash of the content.
  func leave(_ cut: PowerCut, in folder: Folder) throws -> UInt64 {
    let hash = power_disk_survivors(disk, cut.change, cut.fate, cut.seed, folder.path)
    if hash == 0 { throw Unexpected(nil) }
    return hash
  }

  func fail(_ fault: power_fault, after accesses: Int, count: Int = 1) { power_disk_fail(disk, fault, accesses, count) }
  func work() { power_disk_fail(disk, power_fault_none, 0, 0) }
  var failed: Int { power_disk_failed(disk) }
}

/// A power cut: the number of changes before it, and the fate of those not yet synchronized.
struct PowerCut: Sendable {
  var change: Int
  var fate: power_fate
  var seed: UInt64
}

extension PowerCut: CustomStringConvertible {
  var description: String {
    let fates = [
      power_nothing: "nothing", power_all: "all", power_some: "some of it", power_garbled: "some of it, garbled",
    ]
    return "after change \(change), when of what was not synchronised \(fates[fate] ?? "?") is kept (seed \(seed))"
  }
}

extension power_fate: @retroactive Hashable {}

/// A summary of a database's rows.
struct Contents: Hashable {
  var fingerprint: UInt64
  /// "ok", or a description of the damage.
  var verdict: String

  init(fingerprint: UInt64, verdict: String) { (self.fingerprint, self.verdict) = (fingerprint, verdict) }

  /// - Parameter disk: the file layer; nil for the system's files.
  init(of path: String, through disk: PowerDisk?) {
    var verdict = [CChar](repeating: 0, count: 400)
    fingerprint = power_examine(path, disk?.name, &verdict, Int32(verdict.count))
    self.verdict = verdict.words
  }
}

extension [CChar] {
  fileprivate var words: String { String(decoding: prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
}
