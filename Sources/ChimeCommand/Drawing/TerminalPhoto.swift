import ChimeWords
import FoundationEssentials
import Glibc

/// A photo in a terminal that can show one: by kitty's graphics protocol, or as sixel.
///
/// Whether it can, it is asked: nothing of this is ever written into a pipe or to a terminal that does not answer. kitty's
/// protocol takes PNG as it is; the rest is converted by img2sixel or chafa, where one of these is there.
///
/// Sources: kitty, "Terminal graphics protocol"; DEC STD 070 (sixel); xterm's "Control Sequences" (DA1).
struct TerminalPhoto {
  enum Ability: Equatable { case kitty, sixel, none }

  private let context: Context

  init(_ context: Context) { self.context = context }

  /// The question for a picture of one pixel, which is not shown, and the terminal's attributes behind it, as every terminal
  /// knows these: whoever says nothing of the picture cannot show it.
  static let question = "\u{1B}_Gi=4711,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

  /// What the answer says: `ESC _ G i=4711;OK ESC \`, and 4 among the attributes of `ESC [ ? … c`.
  static func ability(_ answer: [UInt8]) -> Ability {
    let text = String(decoding: answer, as: UTF8.self)
    if text.utf8.contains(0x1B), text.contains("_Gi=4711;OK") { return .kitty }
    guard let start = text.firstRange(of: "\u{1B}[?"), text.hasSuffix("c") else { return .none }
    let attributes = text[start.upperBound...].dropLast().split(separator: ";")
    return attributes.contains("4") ? .sixel : .none
  }

  /// Draws it, or says in a line why not.
  func show(_ name: String) {
    let process = context.process
    // The console of Linux would show the question.
    let isAsked = process.hasScreen && !(process.environment["TERM"] ?? "linux").hasPrefix("linux")
    let ability = isAsked ? Self.ability(answer()) : .none
    guard ability != .none else {
      return context.note(localized("It has a photo; --save FILE writes the photo to a file."), .faint)
    }
    guard let daemon = try? context.daemon(),
      let bytes = try? ReportPhotos.bytes(name, limit: Uploading.longestPhoto, daemon),
      let clean = PhotoFile.clean(bytes)
    else { return context.note(localized("The photo cannot be read."), .caution) }
    if ability == .kitty, clean.kind == .png {
      process.output.write(Self.kitty(clean.bytes, columns: columns))
      return
    }
    guard let drawn = converted(clean.bytes, ability) else {
      return context.note(
        localized("To see the photo here, install chafa or img2sixel; --save FILE writes it to a file."), .faint)
    }
    process.output.write(bytes: drawn)
    process.output.line()
  }

  private func answer() -> [UInt8] {
    context.process.output.flush()
    return context.process.askTerminal(Self.question, UInt8(ascii: "c"))
  }

  private var columns: Int { max(8, min(context.width - 2, 36)) }

  /// A PNG in parts of 4,096 signs of base64, so many columns wide, with the cursor behind it.
  static func kitty(_ png: [UInt8], columns: Int) -> String {
    let data = Array(Data(png).base64EncodedString().utf8)
    var text = ""
    var begin = 0
    while begin < data.count {
      let end = min(begin + 4_096, data.count)
      let keys = begin == 0 ? "a=T,f=100,q=2,c=\(columns)," : ""
      let part = String(decoding: data[begin..<end], as: UTF8.self)
      text += "\u{1B}_G\(keys)m=\(end < data.count ? 1 : 0);\(part)\u{1B}\\"
      begin = end
    }
    return text + "\n"
  }

  /// What a program makes of it. Of what that prints only a picture is taken: it may not write anything else.
  private func converted(_ bytes: [UInt8], _ ability: Ability) -> [UInt8]? {
    let folder = context.process.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(folder)/chime-photo.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    let isWritten = Files.write(bytes, to: descriptor)
    close(descriptor)
    guard isWritten else { return nil }
    let size = "\(columns)x\(columns / 2)"
    let programs: [[String]] =
      ability == .kitty
      ? [["chafa", "--format", "kitty", "--size", size, path]]
      : [["img2sixel", "-w", String(columns * 9), path], ["chafa", "--format", "sixels", "--size", size, path]]
    return programs.lazy.compactMap { context.process.runProgram($0) }.first { Self.isPicture($0, ability) }
  }

  /// Whether it holds a picture and no other words.
  static func isPicture(_ bytes: [UInt8], _ ability: Ability) -> Bool {
    let begin: [UInt8] = ability == .kitty ? [0x1B, 0x5F, 0x47] : [0x1B, 0x50]
    return bytes.indices.contains { bytes[$0...].starts(with: begin) }
  }
}
