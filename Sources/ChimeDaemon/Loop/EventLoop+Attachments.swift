import ChimeCore
import ChimeSchedule
import Dispatch

// What lies beside the store for trackers: uploads, which are gone after ten minutes, and photos that nothing refers to.

/// What is planned of it.
struct AttachmentState {
  var sweepIsPlanned = false
  var photosCleanedAt: Instant?
}

extension EventLoop {
  /// A while after the last part of an upload, what nobody has used goes.
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

  /// Once a day, removes the photos that nothing has referred to for a month.
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
