// Where the tests begin. Without a file of this name SwiftPM looks for tests of XCTest, of which there are none, in an index of
// all code, and that index costs a third of the build.
import Testing

@main
enum TestRun {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
