// swift-tools-version: 6.2
// The rooms of the house and who may know whom; `Packaging/check-imports` holds the code to this list.
import PackageDescription

/// What every Swift target is built with: the Swift 6 language mode, warnings as errors, imports that do not leak into a
/// target's own interface unless it says `public import`, and async functions that stay on their caller's executor.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// What is not asked a thousand times a second is compiled for size: that takes the compiler a fifth less of its time. Swift 6.3
/// crashes when it does so with ChimeExchange.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A library target of the house.
func room(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], more: [SwiftSetting] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict + more)
}

/// The tests of one room.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

/// The modules that the two programs are made of.
let modules: [Target] = [
  // System libraries, each imported by one adapter only.
  .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
  .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
  .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
  .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
  // Compiled against the header of libcurl4-openssl-dev; the library itself is loaded when it is first needed.
  .target(name: "CCurl"),
  // As CCurl, against the header of libmosquitto-dev.
  .target(name: "CMosquitto"),
  // As CCurl, against the header of libpq-dev.
  .target(name: "CPostgres"),
  .target(name: "CIntl"),
  .target(name: "CLinux"),
  .target(name: "CTOML"),

  // Values.
  room("ChimeSchedule"),
  room("ChimeTracking", ["ChimeSchedule"], more: small),
  room("ChimeCore", ["ChimeSchedule", "ChimeTracking"]),
  room("ChimeExchange", ["ChimeCore", "ChimeSchedule", "ChimeTracking", "CZlib"]),
  room("ChimeWords", ["ChimeSchedule", "CIntl"]),

  // The wire. The tests of every module speak it, and nearly a fifth of their time went into its scanner: it is optimized for
  // them, too.
  .target(
    name: "Varlink",
    swiftSettings: strict + (Context.environment["CHIME_BUILD"] == "tests" ? [.unsafeFlags(["-O"])] : [])),
  room(
    "ChimeControl", ["Varlink"], exclude: ["Interfaces"]),

  // Adapters.
  room("ChimeRecords", ["ChimeCore", "ChimeSchedule", "ChimeTracking"]),
  room("ChimeStoreSQLite", ["ChimeRecords", "ChimeCore", "ChimeSchedule", "ChimeTracking", "CSQLite"]),
  room("ChimeStorePostgres", ["ChimeRecords", "ChimeCore", "ChimeSchedule", "ChimeTracking", "CPostgres"]),
  room(
    "ChimeDelivery", ["ChimeCore", "ChimeSchedule", "ChimeWords", "CCurl", "CMosquitto", "CCrypto", "CLinux"]),

  // What each program does.
  room(
    "ChimeDaemon",
    [
      "ChimeSchedule", "ChimeTracking", "ChimeCore", "ChimeExchange", "ChimeWords", "Varlink", "ChimeControl",
      "ChimeRecords", "ChimeStoreSQLite", "ChimeStorePostgres", "ChimeDelivery", "CSystemd", "CLinux", "CTOML",
    ]),
  room(
    "ChimeCommand", ["ChimeControl", "Varlink", "ChimeSchedule", "ChimeWords"], exclude: ["Output/Output.varlink"],
    more: small),
]

/// The two programs.
let programs: [Target] = [
  .executableTarget(name: "chimed", dependencies: ["ChimeDaemon"], swiftSettings: strict),
  .executableTarget(name: "chime", dependencies: ["ChimeCommand"], swiftSettings: strict),
]

/// The tests and what they are made of.
let proof: [Target] = [
  .target(
    name: "ChimeTestKit", dependencies: ["ChimeCore", "ChimeSchedule", "ChimeTracking"], path: "Tests/ChimeTestKit",
    swiftSettings: strict),
  tests("ChimeScheduleTests", ["ChimeSchedule"]),
  tests("ChimeTrackingTests", ["ChimeTracking", "ChimeSchedule", "ChimeTestKit"]),
  tests("ChimeCoreTests", ["ChimeCore", "ChimeSchedule", "ChimeTracking", "ChimeTestKit"]),
  tests(
    "ChimeExchangeTests", ["ChimeExchange", "ChimeCore", "ChimeSchedule", "ChimeTracking"], exclude: ["Corpus"]),
  tests("ChimeWordsTests", ["ChimeWords", "ChimeSchedule"]),
  tests("VarlinkTests", ["Varlink"]),
  .target(name: "CPowerVFS", dependencies: ["CSQLite"], path: "Tests/CPowerVFS"),
  tests(
    "ChimeStoreSQLiteTests",
    ["ChimeStoreSQLite", "ChimeRecords", "ChimeCore", "ChimeSchedule", "ChimeTracking", "ChimeTestKit", "CPowerVFS"]),
  tests(
    "ChimeStorePostgresTests",
    [
      "ChimeStorePostgres", "ChimeStoreSQLite", "ChimeRecords", "ChimeCore", "ChimeSchedule", "ChimeTracking",
      "ChimeTestKit",
    ]),
  tests(
    "ChimeDeliveryTests", ["ChimeDelivery", "ChimeCore", "ChimeSchedule", "ChimeTestKit", "CLinux"],
    exclude: ["Support"]),
  tests(
    "ChimeDaemonTests",
    [
      "ChimeDaemon", "ChimeControl", "ChimeCore", "ChimeDelivery", "ChimeSchedule", "ChimeStoreSQLite",
      "ChimeTracking", "ChimeTestKit", "Varlink", "CLinux",
    ]),
  tests("ChimeCommandTests", ["ChimeCommand", "ChimeControl", "ChimeSchedule", "ChimeWords", "Varlink"]),
  .target(
    name: "FuzzTargets",
    dependencies: [
      "ChimeCore", "ChimeDaemon", "ChimeDelivery", "ChimeExchange", "ChimeSchedule", "ChimeTestKit", "ChimeTracking",
      "Varlink",
    ],
    path: "Fuzz/Targets", swiftSettings: strict),
  .testTarget(
    name: "FuzzCorpusTests", dependencies: ["FuzzTargets"], path: "Tests/FuzzCorpusTests", swiftSettings: strict),
  tests("ChimeSystemTests", ["ChimeControl", "Varlink"], exclude: ["Support"]),
  .executableTarget(
    name: "varlink-certification", dependencies: ["Varlink"], path: "Tests/Certification", swiftSettings: strict),
  // The client that docs/integrate.md shows, which the tests run.
  .executableTarget(
    name: "remind-example", dependencies: ["Varlink"], path: "docs/examples/swift", swiftSettings: strict),
]

/// Programs that are built where they are used: the simulator and the benchmarks.
let tools: [Target] = [
  .executableTarget(
    name: "chime-simulate", dependencies: ["ChimeTestKit", "ChimeCore", "ChimeSchedule"], path: "Tests/Simulation",
    exclude: ["bugs", "plans", "find-bugs"], swiftSettings: strict),
  .executableTarget(
    name: "chime-bench",
    dependencies: [
      "ChimeControl", "Varlink", "ChimeSchedule", "ChimeTracking", "ChimeCore", "ChimeDelivery", "ChimeStoreSQLite",
      "ChimeStorePostgres", "FuzzTargets",
    ],
    path: "Benchmarks",
    exclude: ["peers"], swiftSettings: strict),
]

/// What one `swift build` makes, since it takes one product or all: the two programs (CHIME_BUILD=programs), the tests
/// (CHIME_BUILD=tests), or everything.
let targets: [Target] =
  switch Context.environment["CHIME_BUILD"] {
  case "programs": modules + programs
  // With the programs, which the tests of the command and a first try run without a release build.
  case "tests": modules + programs + proof
  default: modules + programs + proof + tools
  }

/// Those of the products whose targets are built.
let products: [Product] = [
  .executable(name: "chimed", targets: ["chimed"]),
  .executable(name: "chime", targets: ["chime"]),
  .library(name: "Varlink", targets: ["Varlink"]),
  // For the fuzzer's own package in Fuzz/.
  .library(name: "FuzzTargets", targets: ["FuzzTargets"]),
].filter { product in targets.contains { $0.name == product.name } }

let package = Package(name: "chime", products: products, targets: targets, cxxLanguageStandard: .cxx17)
