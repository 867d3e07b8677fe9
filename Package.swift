// swift-tools-version: 6.2
// The modules and their allowed dependencies. `Packaging/check-imports` checks the imports against this list.
import PackageDescription

/// Settings of every Swift target: Swift 6 language mode, warnings as errors, imports that stay internal unless
/// declared `public import`, and async functions that stay on their caller's executor.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Optimizes for size, for modules without hot paths. It saves a fifth of the compile time. Swift 6.3 crashes when
/// compiling ChimeExchange this way.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// Links the Swift library into a shipped program. The linker must be given the parts of the static FoundationEssentials by
/// name, because the modules are compiled against the dynamic library, as the tests need it.
let linked: [LinkerSetting] = [
  .unsafeFlags(
    ["-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections"], .when(configuration: .release))
]

/// Compiles tests without optimization, also where they test optimized modules. That takes a third of the time.
let plain: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// For what only tests use in their build, and a tool that runs for hours in its own.
let plainInTests = Context.environment["CHIME_BUILD"] == "tests" ? plain : []

/// Compiles with two threads. It is for the biggest module, which is compiled last, when a processor would be idle.
let parallel: [SwiftSetting] = [.unsafeFlags(["-num-threads", "2"], .when(configuration: .release))]

/// Declares a library module.
func room(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], more: [SwiftSetting] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict + more)
}

/// Declares the tests of one module.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict + plain)
}

/// The modules of the two programs.
let modules: [Target] = [
  // System libraries. Only one adapter imports each.
  .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
  .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
  .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
  .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
  // Compiled against the header of libcurl4-openssl-dev. The library is loaded at first use.
  .target(name: "CCurl"),
  // Like CCurl, with the header of libmosquitto-dev.
  .target(name: "CMosquitto"),
  // Like CCurl, with the header of libpq-dev.
  .target(name: "CPostgres"),
  .target(name: "CIntl"),
  .target(name: "CLinux"),
  .target(name: "CTOML"),

  // Pure values.
  room("ChimeSchedule"),
  room("ChimeTracking", ["ChimeSchedule"], more: small),
  room("ChimeCore", ["ChimeSchedule", "ChimeTracking"]),
  room("ChimeExchange", ["ChimeCore", "ChimeSchedule", "ChimeTracking", "CZlib"]),
  room("ChimeWords", ["ChimeSchedule", "CIntl"]),

  // The wire protocol. The tests of every module use it, and nearly a fifth of their time went into its scanner, so it
  // is optimized in test builds too.
  .target(
    name: "Varlink",
    swiftSettings: strict
      + (Context.environment["CHIME_BUILD"] == "tests" ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : [])),
  room(
    "ChimeControl", ["Varlink"], exclude: ["Interfaces"]),

  // Adapters.
  room("ChimeRecords", ["ChimeCore", "ChimeSchedule", "ChimeTracking"]),
  room("ChimeStoreSQLite", ["ChimeRecords", "ChimeCore", "ChimeSchedule", "ChimeTracking", "CSQLite"]),
  room("ChimeStorePostgres", ["ChimeRecords", "ChimeCore", "ChimeSchedule", "ChimeTracking", "CPostgres"]),
  room(
    "ChimeDelivery", ["ChimeCore", "ChimeSchedule", "ChimeWords", "CCurl", "CMosquitto", "CCrypto", "CLinux"]),

  // The programs' own modules.
  room(
    "ChimeDaemon",
    [
      "ChimeSchedule", "ChimeTracking", "ChimeCore", "ChimeExchange", "ChimeWords", "Varlink", "ChimeControl",
      "ChimeRecords", "ChimeStoreSQLite", "ChimeStorePostgres", "ChimeDelivery", "CSystemd", "CLinux", "CTOML",
    ], more: parallel),
  room(
    "ChimeCommand", ["ChimeControl", "Varlink", "ChimeSchedule", "ChimeWords"], exclude: ["Output/Output.varlink"],
    more: small),
]

/// The two programs.
let programs: [Target] = [
  .executableTarget(name: "chimed", dependencies: ["ChimeDaemon"], swiftSettings: strict, linkerSettings: linked),
  .executableTarget(name: "chime", dependencies: ["ChimeCommand"], swiftSettings: strict, linkerSettings: linked),
]

/// Tests and test support. The simulator's tool has the test kit optimized, because it runs for hours.
let proof: [Target] = [
  .target(
    name: "ChimeTestKit", dependencies: ["ChimeCore", "ChimeSchedule", "ChimeTracking"], path: "Tests/ChimeTestKit",
    swiftSettings: strict + plainInTests),
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
  // They wait for ChimeDaemon, which they do not use, so that a release build compiles it earlier and these tests beside
  // its own at the end, when a processor would be idle.
  tests(
    "ChimeDeliveryTests", ["ChimeDelivery", "ChimeCore", "ChimeSchedule", "ChimeTestKit", "CLinux", "ChimeDaemon"],
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
    path: "Fuzz/Targets", swiftSettings: strict + plainInTests),
  .testTarget(
    name: "FuzzCorpusTests", dependencies: ["FuzzTargets"], path: "Tests/FuzzCorpusTests",
    swiftSettings: strict + plain),
  tests("ChimeSystemTests", ["ChimeControl", "Varlink"], exclude: ["Support"]),
  .executableTarget(
    name: "varlink-certification", dependencies: ["Varlink"], path: "Tests/Certification", swiftSettings: strict),
  // The client of docs/integrate.md, which the tests run.
  .executableTarget(
    name: "remind-example", dependencies: ["Varlink"], path: "docs/examples/swift", swiftSettings: strict),
]

/// Tools that are built on demand: the simulator and the benchmarks.
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

/// The targets of one `swift build`, which builds one product or all: the two programs (CHIME_BUILD=programs), the
/// tests (CHIME_BUILD=tests), or everything.
let targets: [Target] =
  switch Context.environment["CHIME_BUILD"] {
  case "programs": modules + programs
  // The tests of the command and a first trial run the programs without a release build.
  case "tests": modules + programs + proof
  default: modules + programs + proof + tools
  }

/// The products whose targets are built.
let products: [Product] = [
  .executable(name: "chimed", targets: ["chimed"]),
  .executable(name: "chime", targets: ["chime"]),
  .library(name: "Varlink", targets: ["Varlink"]),
  // For the separate fuzzing package in Fuzz/.
  .library(name: "FuzzTargets", targets: ["FuzzTargets"]),
].filter { product in targets.contains { $0.name == product.name } }

let package = Package(name: "chime", products: products, targets: targets, cxxLanguageStandard: .cxx17)
