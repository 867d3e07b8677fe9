// The entry point of the tests. Without a file of this name, SwiftPM would search an index of all code for XCTest tests, of
// which there are none, and building that index takes a third of the build time.
import Testing

@main
enum TestRun {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
