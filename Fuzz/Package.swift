// swift-tools-version: 6.2
// The fuzzer's program, apart from the main package because libFuzzer brings its own `main`. `make fuzz` builds it with
// `--sanitize fuzzer`; without that it does not link.
import PackageDescription

let package = Package(
  name: "chime-fuzz",
  dependencies: [.package(name: "chime", path: "..")],
  targets: [
    .target(
      name: "FuzzEntry", dependencies: [.product(name: "FuzzTargets", package: "chime")], path: "Entry",
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    // In C, because SwiftPM renames the main function of programs in Swift.
    .executableTarget(name: "chime-fuzz", dependencies: ["FuzzEntry"], path: "Driver"),
  ]
)
