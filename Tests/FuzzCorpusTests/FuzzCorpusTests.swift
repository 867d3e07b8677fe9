import Foundation
import FuzzTargets
import Testing

/// Runs the fuzzer's seeds and findings through the same entry points, without the fuzzer.
@Suite struct FuzzCorpusTests {
  static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fuzz/Corpus")

  static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let file = try String(contentsOf: corpus.appending(path: "\(target.rawValue).txt"), encoding: .utf8)
    let folder = corpus.appending(path: target.rawValue)
    let finds = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return seeds(in: file).enumerated().map { ("seed \($0.offset + 1)", $0.element) }
      + (try finds.sorted { $0.path < $1.path }.map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) })
  }

  @Test(arguments: FuzzTarget.allCases) func everyInputKeepsTheInvariants(_ target: FuzzTarget) throws {
    let inputs = try Self.inputs(target)
    #expect(inputs.count >= 3)
    for (name, bytes) in inputs {
      #expect(throws: Never.self, "\(target) \(name)") { try target.run(bytes) }
    }
  }

  @Test func corpusIsSmall() throws {
    let files = FileManager.default.enumerator(at: Self.corpus, includingPropertiesForKeys: [.fileSizeKey])
    let sizes = try files?.compactMap { try ($0 as? URL)?.resourceValues(forKeys: [.fileSizeKey]).fileSize } ?? []
    #expect(sizes.count <= 200)
    #expect(sizes.reduce(0, +) < 300_000)
  }

  @Test func seedFilesUndoTheEscapesOfPrintf() {
    let seeds = seeds(in: "# about\nplain\na\\nb\\tc\\r\\\\\\x00\\xFF\n")
    #expect(seeds == [Array("plain".utf8), Array("a\nb\tc\r\\".utf8) + [0, 0xFF]])
  }
}
