import CPowerVFS
import ChimeCore
import Synchronization

@testable import ChimeStoreSQLite

/// A file layer for SQLite that logs what it does to files, and can say what is left of it after a power cut.
///
/// `@unchecked Sendable`: the C side lets in one thread at a time.
final class PowerDisk: @unchecked Sendable {
  /// The name that SQLite knows it by.
  let name: String
  private let disk: OpaquePointer

  private static let serial = Atomic<Int>(0)

  init() throws {
    let name = "power-\(Self.serial.wrappingAdd(1, ordering: .relaxed).newValue)"
    guard let disk = power_disk_make(name) else { throw Unexpected(nil) }
    (self.name, self.disk) = (name, disk)
  }

  deinit { power_disk_free(disk) }

  /// Begins a log in which what the folder holds now is safe.
  func begin(_ folder: Folder) throws { if !power_disk_begin(disk, folder.path) { throw Unexpected(nil) } }

  /// How many changes the log has.
  var changes: Int { power_disk_changes(disk) }

  func describe(_ change: Int) -> String {
    var text = [CChar](repeating: 0, count: 200)
    power_disk_describe(disk, change, &text, Int32(text.count))
    return text.words
  }

  /// Fills the folder with what is left after a cut; gives a number that is the same for the same content.
  func leave(_ cut: PowerCut, in folder: Folder) throws -> UInt64 {
    let hash = power_disk_survivors(disk, cut.change, cut.fate, cut.seed, folder.path)
    if hash == 0 { throw Unexpected(nil) }
    return hash
  }

  func fail(_ fault: power_fault, after accesses: Int, count: Int = 1) { power_disk_fail(disk, fault, accesses, count) }
  func work() { power_disk_fail(disk, power_fault_none, 0, 0) }
  var failed: Int { power_disk_failed(disk) }
}

/// An instant at which the power fails: after so many changes, and what then becomes of those not synchronised.
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

/// What the rows of a database come to.
struct Contents: Hashable {
  var fingerprint: UInt64
  /// "ok", or what is wrong with the file.
  var verdict: String

  /// - Parameter disk: nil: the system's files.
  init(fingerprint: UInt64, verdict: String) { (self.fingerprint, self.verdict) = (fingerprint, verdict) }

  init(of path: String, through disk: PowerDisk?) {
    var verdict = [CChar](repeating: 0, count: 400)
    fingerprint = power_examine(path, disk?.name, &verdict, Int32(verdict.count))
    self.verdict = verdict.words
  }
}

extension [CChar] {
  fileprivate var words: String { String(decoding: prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
}
