import Foundation

/// Paths and capabilities of this machine.
enum Machine {
  static let package = Package.folder + "/"

  /// The folder of the test bundle, with the programs of the same build.
  static let build =
    ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/")
    .replacing(/\/[^\/]*$/, with: "")

  /// The folder of the tested programs: the release build as shipped, because optimization affects behavior (lifetimes
  /// of values, for example). A sanitizer's programs are beside the tests instead.
  static let programs =
    ProcessInfo.processInfo.environment["CHIME_PROGRAMS"]
    ?? (FileManager.default.isExecutableFile(atPath: build + "/chimed") ? build : package + "/.build/release")
  static let chimed = programs + "/chimed"
  static let chime = programs + "/chime"

  /// The Python with independent clients (`Tests/requirements.txt`).
  static let clients = package + "/.venv/bin/python"
  /// Debian's Python, which has D-Bus.
  static let debianPython = "/usr/bin/python3"

  static func support(_ name: String) -> String { package + "/Tests/ChimeSystemTests/Support/" + name }

  static func packaging(_ name: String) -> String { package + "/Packaging/" + name }

  static let searchPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

  static func has(_ program: String) -> Bool {
    searchPath.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  static let isRoot = geteuid() == 0
  static let hasClients = FileManager.default.isExecutableFile(atPath: clients)
  static let hasMockBus = has("dbus-daemon") && has("busctl") && has("notify-send")
  static let canMakeLocales = has("localedef") && has("msgfmt")
  static let hasScreen = hasMockBus && has("Xvfb") && has("dunst") && has("import")
  /// Whether namespaces and a control group can be created, which needs root and a root file system that is a mount.
  static let canManage =
    isRoot && has("unshare") && FileManager.default.fileExists(atPath: "/lib/systemd/systemd")
    && probe("user-manager")
  /// Whether systemd can run as init of a container.
  static let canBoot = isRoot && has("unshare") && has("nsenter") && probe("booted")

  private static func probe(_ script: String) -> Bool {
    (try? ChildProcess.run(support(script), ["--probe"], environment: ["PATH": searchPath]).status) == 0
  }
}
