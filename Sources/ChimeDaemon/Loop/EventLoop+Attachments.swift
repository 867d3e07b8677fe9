import ChimeCore
import ChimeSchedule
import Dispatch

// Tracker files beside the store: uploads, which expire after ten minutes, and photos without a reference.

/// The state of the cleanup.
struct AttachmentState {
  var sweepIsPlanned = false
  var photosCleanedAt: Instant?
}

extension EventLoop {
  /// Schedules the removal of unused uploads, some time after the last part arrived.
  func sweepUploadsLater() {
    guard !attachments.sweepIsPlanned else { return }
    attachments.sweepIsPlanned = true
    executor.queue.asyncAfter(deadline: .now() + .seconds(605)) { [unowned self] in
      assumeIsolated { $0.sweepUploads() }
    }
  }

  private func sweepUploads() {
    attachments.sweepIsPlanned = false
    if uploads.sweep() > 0 { sweepUploadsLater() }
  }

  /// Removes photos that nothing has referred to for a month, at most once a day.
  func cleanPhotos(now: Instant) async throws {
    if let last = attachments.photosCleanedAt, last <= now, now - last < .days(1) { return }
    attachments.photosCleanedAt = now
    for owner in photos.owners where !isStopping {
      let used = try await store.read { try BackupRecords.photos(of: owner, $0) }
      let count = photos.clean(owner, keeping: used, now: now)
      if count > 0 { log(.info, "\(count) \(count == 1 ? "photo was" : "photos were") removed that nothing refers to") }
    }
  }
}
