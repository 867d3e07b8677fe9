import Foundation
import Synchronization

/// A network namespace for one program, with two veth(4) links to this machine that can be cut. `remove` deletes it.
struct Network: Sendable {
  static let isPossible = Machine.isRoot && Machine.has("ip") && Machine.has("unshare")

  enum Cable: Int, CaseIterable, Sendable {
    case database = 0
    case web = 1
  }

  let name: String
  private let home: Home
  private let count: Int
  private static let made = Atomic(0)
  /// Distinguishes the addresses of several networks on one machine.
  private let number: Int

  static func make(in home: Home) async throws -> Network {
    // Two tests of one run may each have a network.
    let count = made.wrappingAdd(1, ordering: .relaxed).oldValue
    let network = Network(
      name: "chime\(getpid())n\(count)", home: home, count: count, number: (Int(getpid()) + count) % 60)
    try await network.ip("netns", "add", network.name)
    for cable in Cable.allCases {
      let (outer, inner) = (network.device(cable), network.device(cable) + "i")
      try await network.ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", network.name)
      try await network.ip("address", "add", network.address(of: cable) + "/30", "dev", outer)
      try await network.ip("link", "set", outer, "up")
      try await network.ip("-n", network.name, "address", "add", network.inside(cable) + "/30", "dev", inner)
      try await network.ip("-n", network.name, "link", "set", inner, "up")
    }
    try await network.ip("-n", network.name, "link", "set", "lo", "up")
    return network
  }

  /// The command prefix that runs a program inside.
  var prefix: [String] { ["ip", "netns", "exec", name] }

  /// Returns the address of this machine's end.
  func address(of cable: Cable) -> String { "10.213.\(number * 4 + cable.rawValue).1" }

  private func inside(_ cable: Cable) -> String { "10.213.\(number * 4 + cable.rawValue).2" }

  /// At most 15 characters (IFNAMSIZ).
  private func device(_ cable: Cable) -> String { "ch\(getpid())\(cable == .web ? "w" : "d")\(count % 10)" }

  /// Cuts a link: packets are lost, not refused.
  func pull(_ cable: Cable) async throws { try await ip("-n", name, "link", "set", device(cable) + "i", "down") }

  func plugIn(_ cable: Cable) async throws { try await ip("-n", name, "link", "set", device(cable) + "i", "up") }

  func remove() async {
    for cable in Cable.allCases { try? await ip("link", "delete", device(cable)) }
    try? await ip("netns", "delete", name)
  }

  private func ip(_ words: String...) async throws {
    let output = try await home.run("ip", words)
    guard output.status == 0 else { throw HarnessFailure("ip \(words.joined(separator: " ")): \(output.text)") }
  }
}
