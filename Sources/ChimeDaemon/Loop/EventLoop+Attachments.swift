import ChimeCore
import ChimeSchedule
import Dispatch

// What lies beside the store for trackers: uploads, which are gone after ten minutes, and photos that nothing refers to.

/// What is planned of it.
struct AttachmentState {
  var sweepIsPlanned = false
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
}
