import Foundation

/// A real dunst on a virtual screen. Screenshots stay in .build/screenshots for inspection.
struct Screen {
  let home: Home
  let environment: [String: String]

  /// Starts a bus and a screen; `startDunst` starts the notification server.
  ///
  /// - Parameter choice: words of the action to choose: dunst asks a menu program for one of several.
  static func begin(in home: Home, choosing choice: String) async throws -> Screen {
    try await home.startBus()
    let screen = try await home.spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "900x420x24", "-nolisten", "tcp"])
    let number = try await eventually("the screen is there") { () -> String? in
      if let end = screen.end { throw HarnessFailure("Xvfb ended with \(end): \(screen.errors)") }
      return screen.lines.first
    }
    try home.write("#!/bin/sh\nexec grep -m1 -F '\(choice)'\n", to: home.path + "/menu", mode: 0o700)
    try home.write(
      """
      [global]
      font = DejaVu Sans 12
      width = 420
      origin = top-right
      show_indicators = yes
      markup = full
      dmenu = \(home.path)/menu

      """, to: home.path + "/dunstrc")
    return Screen(home: home, environment: ["DISPLAY": ":\(number)"])
  }

  func startDunst() async throws -> Child {
    let dunst = try await home.spawn("dunst", ["-conf", home.path + "/dunstrc"], environment: environment)
    try await eventually("dunst answers") { try await home.run("dunstctl", ["is-paused"]).status == 0 }
    return dunst
  }

  /// Returns the number of displayed popups.
  func displayed() async throws -> Int? {
    Int(try await home.run("dunstctl", ["count", "displayed"]).out.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  /// Invokes an action of the newest popup.
  func press() async throws {
    let pressed = try await home.run("dunstctl", ["action", "0"])
    guard pressed.status == 0 else { throw HarnessFailure("dunstctl: \(pressed.text)") }
  }

  func takePicture(_ name: String) async throws {
    let pictures = Machine.package + "/.build/screenshots"
    try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
    let picture = "\(pictures)/\(name).png"
    // dunst counts a popup slightly before it draws it; an empty screen has a single color.
    try await eventually("the picture shows something") {
      let taken = try await home.run("import", ["-window", "root", picture], environment: environment)
      guard taken.status == 0 else { throw HarnessFailure("import: \(taken.text)") }
      let colours = try await home.run("identify", ["-format", "%k", picture])
      return (Int(colours.out) ?? 0) > 8
    }
  }
}
