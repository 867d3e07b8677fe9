import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Glibc

/// A validated piece of a backup.
enum BackupPiece: Sendable {
  /// A photo, as the location of its parts in the file.
  struct Photo: Sendable {
    var name: String
    var bytes: Int
    /// The byte ranges of the lines with its parts.
    var lines: [Range<Int>] = []
  }

  case record(BackupRecord)
  case configuration(BackupFormat.ConfigurationText)
  /// The sealed secrets of endpoints, with the number of their line.
  case secrets(SealedText, line: Int)
  case photo(Photo)
}

/// A BackupReader reads a backup piece by piece and validates everything: the checksum, the version and each line. The
/// first fault ends it, with the line's number. Only after the end is the file known to be sound.
///
/// A file from an untrusted source costs no more than its size: no memory is reserved for claimed counts, the length and
/// nesting of lines are limited, and only names are kept.
struct BackupReader: ~Copyable {
  /// The time of the backup; known after the first piece.
  private(set) var madeAt: Instant?
  /// The counts so far.
  private(set) var counts = BackupFormat.Counts()
  /// The number of bytes read.
  private(set) var position = 0
  /// The byte range of the last line read.
  private(set) var place = 0..<0
  private var judge: BackupJudge
  private var lines: FileLines?
  private var line = 0
  private var header: BackupFormat.Header?
  private var found: BackupFormat.Sum?
  private var open: (photo: BackupPiece.Photo, have: Int, digest: PhotoDigest)?
  private let sum = PhotoDigest()
  private let decoder = JSONDecoder()

  /// Opens a backup.
  ///
  /// - Parameter judgeReminder: throws a `ControlFailure` for a reminder that no client could request.
  init(_ path: String, judgeReminder: @escaping (Reminder) throws -> Reminder) throws {
    judge = BackupJudge(judgeReminder: judgeReminder)
    lines = try FileLines(path, longest: BackupFormat.maxLine)
  }

  private init(judge: BackupJudge) { self.judge = judge }

  /// Validates lines without a header and a checksum.
  static func judge(
    _ lines: [UInt8], judgeReminder: @escaping (Reminder) throws -> Reminder
  ) throws -> [BackupPiece] {
    var reader = BackupReader(judge: BackupJudge(judgeReminder: judgeReminder))
    reader.header = BackupFormat.Header(
      format: BackupFormat.format, version: BackupFormat.version, by: "", madeAt: "", counts: BackupFormat.Counts())
    var pieces: [BackupPiece] = []
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      reader.line += 1
      if let piece = try reader.take(Array(line)) { pieces.append(piece) }
      guard reader.found == nil else { throw reader.fault("a checksum stands among the lines") }
    }
    return pieces
  }

  /// Returns the next piece; nil at the end, when the whole file is sound.
  mutating func next() throws -> BackupPiece? {
    while let bytes = try nextLine() {
      line += 1
      guard found == nil else { throw fault("data follows the checksum, which must be the last line of a backup") }
      guard bytes.last == UInt8(ascii: "\n") else {
        throw fault("the line is cut off: the file is incomplete")
      }
      let piece = try take(bytes)
      place = position..<position + bytes.count
      position += bytes.count
      if let found {
        guard found.sha256 == sum.finish() else {
          throw fault("the checksum does not match: the file is damaged or was changed")
        }
      } else {
        sum.add(bytes)
      }
      if let piece { return piece }
    }
    guard found != nil else {
      line += 1
      throw fault(line == 1 ? "the file is empty" : "the checksum is missing: the file is incomplete")
    }
    guard counts == header?.counts else {
      line = 1
      throw fault("the counts in the header do not match the file")
    }
    return nil
  }

  private mutating func nextLine() throws -> [UInt8]? {
    do {
      return try lines?.next()
    } catch FileLines.Fault.tooLong {
      line += 1
      throw fault("the line is longer than a line of a backup may be")
    }
  }

  private func fault(_ message: String) -> ControlFailure {
    // The message may quote untrusted text.
    .invalidFile(line: line, TrackerFields.shown(message, longest: 2_000))
  }

  /// Reads a line. Returns nil if it is no piece or the photo is not complete.
  private mutating func take(_ bytes: [UInt8]) throws -> BackupPiece? {
    guard Nesting.isWithin(BackupFormat.maxNesting, bytes) else {
      throw fault("the line nests deeper than a line of a backup may")
    }
    let value: BackupFormat.Line
    do {
      value = try decoder.decode(BackupFormat.Line.self, from: Data(bytes))
    } catch {
      throw fault(header == nil ? "it is not a backup of Chime" : Self.sentence(error))
    }
    do {
      return try take(value, lineBytes: bytes.count)
    } catch let error as BackupJudge.Refused {
      throw fault(error.message)
    } catch ControlFailure.invalidValue(let field, let message) {
      throw fault("\(field): \(message)")
    }
  }

  private mutating func take(_ line: BackupFormat.Line, lineBytes: Int) throws -> BackupPiece? {
    guard header != nil else {
      guard let header = line.header, header.format == BackupFormat.format else {
        throw BackupJudge.Refused("it is not a backup of Chime")
      }
      guard header.version == BackupFormat.version else {
        throw BackupJudge.Refused(
          header.version > BackupFormat.version
            ? "a later version of Chime made it (format \(header.version)): update Chime first"
            : "its format (\(header.version)) is unknown")
      }
      madeAt = try? RFC3339.parse(header.madeAt)
      self.header = header
      return nil
    }
    if open != nil, line.part == nil { throw BackupJudge.Refused("a photo is incomplete") }
    if let tracker = line.tracker {
      counts.trackers += 1
      return .record(.tracker(try judge.tracker(tracker)))
    } else if let item = line.item {
      counts.items += 1
      return .record(.item(try judge.item(item)))
    } else if let milestone = line.milestone {
      counts.milestones += 1
      return .record(.milestone(try judge.milestone(milestone)))
    } else if let entry = line.entry {
      guard counts.entries < BackupFormat.maxEntries else {
        throw BackupJudge.Refused("there are more than \(BackupFormat.maxEntries) entries")
      }
      counts.entries += 1
      return .record(.entry(try judge.entry(entry)))
    } else if let judged = line.judged {
      try judge.judged(judged)
      return .record(.judged(judged.tracker, on: judged.day, by: judged.goal))
    } else if let pack = line.pack {
      counts.packs += 1
      return .record(.pack(try judge.pack(pack)))
    } else if let progress = line.progress {
      if progress.unlockedAt != nil { counts.unlocks += 1 }
      return .record(.progress(try judge.progress(progress)))
    } else if let experience = line.experience {
      try judge.experience(experience)
      return .record(.experience(experience.pack, points: experience.points))
    } else if let reminder = line.reminder {
      counts.reminders += 1
      return .record(.reminder(try judge.reminder(reminder)))
    } else if let endpoint = line.endpoint {
      counts.endpoints += 1
      return .record(.endpoint(try judge.endpoint(endpoint)))
    } else if let occurrence = line.occurrence {
      counts.occurrences += 1
      return .record(.occurrence(try judge.occurrence(occurrence)))
    } else if let ping = line.ping {
      counts.pings += 1
      try judge.ping(ping)
      return .record(.ping(ping.ping, of: ping.reminder))
    } else if let text = line.configuration {
      counts.configuration += 1
      return .configuration(try judge.configuration(text))
    } else if let sealed = line.secrets {
      try judge.once("the secrets")
      counts.secrets = header?.counts.secrets ?? 0
      return .secrets(sealed, line: self.line)
    } else if let photo = line.photo {
      try begin(photo)
    } else if let part = line.part {
      return try take(part, lineBytes)
    } else if let sum = line.sum {
      found = sum
    } else {
      throw BackupJudge.Refused("this kind of line is unknown")
    }
    return nil
  }

  private mutating func begin(_ photo: BackupFormat.PhotoHead) throws {
    guard Photos.isName(photo.name) else { throw BackupJudge.Refused("the name of a photo is invalid") }
    guard (1...Photos.maxBytes).contains(photo.bytes) else {
      throw BackupJudge.Refused("a photo has at most \(Photos.maxBytes >> 20) MiB")
    }
    try judge.once("photo \(photo.name)")
    open = (BackupPiece.Photo(name: photo.name, bytes: photo.bytes), 0, PhotoDigest())
  }

  private mutating func take(_ part: BackupFormat.PhotoPart, _ lineBytes: Int) throws -> BackupPiece? {
    guard var open, part.name == open.photo.name, part.offset == open.have,
      let data = Data(base64Encoded: part.data), !data.isEmpty, open.have + data.count <= open.photo.bytes
    else { throw BackupJudge.Refused("this part of a photo does not follow the part before") }
    if open.have == 0 {
      guard let kind = Photos.Kind(data), open.photo.name.hasSuffix(".\(kind.rawValue)") else {
        throw BackupJudge.Refused("the photo is not a JPEG, PNG or WebP file, or not the one that its name says")
      }
    }
    open.digest.add(Array(data))
    open.have += data.count
    open.photo.lines.append(position..<position + lineBytes)
    guard open.have == open.photo.bytes else {
      self.open = open
      return nil
    }
    guard open.photo.name.hasPrefix(open.digest.finish()) else {
      throw BackupJudge.Refused("the photo is not the one that its name says")
    }
    counts.photos += 1
    self.open = nil
    return .photo(open.photo)
  }

  /// Returns the bytes of a photo's part from its line.
  static func photoPart(_ bytes: [UInt8]) throws -> [UInt8] {
    let line = try JSONDecoder().decode(BackupFormat.Line.self, from: Data(bytes))
    return Array(line.part.flatMap { Data(base64Encoded: $0.data) } ?? Data())
  }

  private static func sentence(_ error: any Error) -> String {
    func path(_ context: DecodingError.Context) -> String {
      context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
    switch error as? DecodingError {
    case .keyNotFound(let key, let context):
      return "\(path(context)): \(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context): return "\(path(context)) has the wrong type"
    case .dataCorrupted(let context):
      return context.codingPath.isEmpty ? "it is not a JSON object" : "\(path(context)) is invalid"
    default: return "it is not a JSON object"
    }
  }
}

/// Computes a SHA-256 inside a value that is copied.
final class PhotoDigest {
  private var digest: SHA256? = SHA256()

  func add(_ bytes: [UInt8]) { digest?.add(bytes) }
  func finish() -> String { digest.take()?.finish() ?? "" }
}

/// Checks the nesting of JSON by its brackets alone.
enum Nesting {
  static func isWithin(_ limit: Int, _ bytes: [UInt8]) -> Bool {
    var depth = 0
    var isInText = false
    var isEscaped = false
    for byte in bytes {
      if isEscaped {
        isEscaped = false
      } else if isInText {
        if byte == UInt8(ascii: "\\") { isEscaped = true }
        if byte == UInt8(ascii: "\"") { isInText = false }
      } else {
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
          depth += 1
          if depth > limit { return false }
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
      }
    }
    return true
  }
}

/// Reads the lines of a file with their line feeds; the last line may have none.
struct FileLines: ~Copyable {
  enum Fault: Error { case tooLong }

  private let descriptor: Int32
  private let longest: Int
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(_ path: String, longest: Int) throws {
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      throw ControlFailure.storeUnavailable("the upload cannot be read: \(SystemError("open").reason)")
    }
    self.longest = longest
  }

  deinit { close(descriptor) }

  mutating func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        guard end - start < longest else { throw Fault.tooLong }
        defer { start = end + 1 }
        return Array(buffer[start...end])
      }
      searched = buffer.count
      guard buffer.count - start <= longest else { throw Fault.tooLong }
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return Array(buffer[start...])
      }
      buffer.removeFirst(start)
      searched -= start
      start = 0
      var chunk = [UInt8](repeating: 0, count: 1 << 17)
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ControlFailure.storeUnavailable("the upload cannot be read: \(SystemError("read").reason)")
      }
      if count == 0 { isAtEnd = true }
      buffer += chunk[..<count]
    }
  }
}
