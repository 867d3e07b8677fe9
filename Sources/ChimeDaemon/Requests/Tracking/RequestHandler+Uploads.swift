import ChimeControl
import ChimeCore
import ChimeSchedule
import FoundationEssentials
import Glibc

// Files that are sent in parts, and photos that are read in parts.
extension RequestHandler {
  func handle(_ request: Tracking.Upload) async throws -> Tracking.Upload.Reply {
    guard request.offset >= 0 else {
      throw ControlFailure.invalidValue(field: "offset", "give the number of bytes sent before")
    }
    guard let data = Data(base64Encoded: request.data) else {
      throw ControlFailure.invalidValue(field: "data", "it is not base64 (RFC 4648, section 4)")
    }
    let received = try loop.uploads.append(Array(data), to: request.upload, of: caller.owner, at: request.offset)
    await loop.sweepUploadsLater()
    return Tracking.Upload.Reply(received: received)
  }

  func handle(_ request: Tracking.Photo) throws -> Tracking.Photo.Reply {
    let (bytes, total) = try loop.photos.part(
      request.name, of: caller.owner, from: request.offset ?? 0, atMost: partBytes)
    return Tracking.Photo.Reply(data: Data(bytes).base64EncodedString(), total: total)
  }

  /// Bytes in a part that is sent: half a message, so that base64 and what is around it have room.
  var partBytes: Int { min(Uploads.maxPart, configuration.maxMessageBytes / 2 / 3 * 3) }

  /// What a request wants of a photo: nil where nothing is said of it, none where it is to go, else the name of the one that
  /// an upload has become. It is there for good before anything refers to it.
  func photo(_ upload: String?) throws -> String?? {
    guard let upload else { return nil }
    guard !upload.isEmpty else { return .some(nil) }
    let path = try loop.uploads.path(of: upload, of: caller.owner)
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles.read(path, atMost: Photos.maxBytes)
    } catch {
      throw error.code == EFBIG
        ? ControlFailure.limitExceeded("a photo has at most \(Photos.maxBytes >> 20) MiB")
        : ControlFailure.storeUnavailable("the upload cannot be read: \(error.reason)")
    }
    return try loop.photos.keep(bytes, of: caller.owner)
  }
}
