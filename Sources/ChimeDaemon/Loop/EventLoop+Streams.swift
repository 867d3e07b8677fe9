import ChimeControl
import ChimeCore
import Dispatch
import Varlink

// Streamed replies: a part is sent when the client has taken the previous one, so that a slow reader blocks only itself.

/// The waits for clients to take the part that was sent.
struct StreamReaders {
  private var waiting: [Poller.Token: (number: Int, done: CheckedContinuation<Bool, Never>)] = [:]
  private var count = 0

  /// Adds a wait and returns its number.
  mutating func add(_ token: Poller.Token, _ done: CheckedContinuation<Bool, Never>) -> Int {
    count += 1
    waiting[token] = (count, done)
    return count
  }

  /// Ends the wait for a client, if there is one.
  mutating func end(_ token: Poller.Token, _ isTaken: Bool) {
    waiting.removeValue(forKey: token)?.done.resume(returning: isTaken)
  }

  func isWaiting(_ number: Int, _ token: Poller.Token) -> Bool { waiting[token]?.number == number }
}

extension EventLoop {
  /// The time that a reader may take for one part.
  private static let patience = DispatchTimeInterval.seconds(60)

  /// The number of streamed replies that an owner may have in flight. Each holds a file, and a reader that takes a
  /// minute for each part holds it for days.
  static let mostStreams = 2

  /// Answers a call in parts until the last part is sent or the reader is gone.
  nonisolated func stream(_ handler: RequestHandler, _ request: QueuedRequest, _ number: Int) async {
    let (call, token) = (request.call, request.token)
    guard await beginStream(handler.caller.owner) else {
      await finished(number)
      let refusal = ControlFailure.limitExceeded(
        "\(Self.mostStreams) backups, restores and exports are running; end one of them, or wait until one has ended")
      await replied(refusal.reply(interface: TrackersInterface.name), to: call, token)
      return
    }
    await streamParts(handler, call, token, number)
    await endStream(handler.caller.owner)
  }

  private func beginStream(_ owner: UInt32) -> Bool {
    guard streams[owner, default: 0] < Self.mostStreams else { return false }
    streams[owner, default: 0] += 1
    return true
  }

  private func endStream(_ owner: UInt32) {
    streams[owner] = streams[owner].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  private nonisolated func streamParts(
    _ handler: RequestHandler, _ call: VarlinkCall, _ token: Poller.Token, _ number: Int
  ) async {
    do {
      let made: (any ReplyParts)?
      do {
        made = try handler.life.isOver ? nil : await handler.parts(of: call)
      } catch {
        await finished(number)
        throw error
      }
      // The remaining work depends on the reader and blocks nobody.
      if made?.keepsTurn != true { await finished(number) }
      guard let parts = made else { return }
      var fault: (any Error)?
      do {
        try await send(parts, to: call, token)
      } catch {
        fault = error
      }
      await parts.end()
      if parts.keepsTurn { await finished(number) }
      if let fault { throw fault }
    } catch {
      await replied(ControlFailure(error).reply(interface: TrackersInterface.name), to: call, token)
    }
  }

  private nonisolated func send(_ parts: any ReplyParts, to call: VarlinkCall, _ token: Poller.Token) async throws {
    while true {
      let reply = try await parts.next()
      guard await sendPart(reply, to: call, token), reply.continues else { return }
    }
  }

  /// Sends a part and waits until the client has taken it. Returns false after the last part or if the reader is gone.
  private func sendPart(_ reply: VarlinkReply, to call: VarlinkCall, _ token: Poller.Token) async -> Bool {
    replied(reply, to: call, token)
    guard reply.continues, let client = clients[token], client.connection.activeCall == call.id else { return false }
    guard client.connection.wantsWrite else { return true }
    return await withCheckedContinuation { continuation in
      let number = streamReaders.add(token, continuation)
      executor.queue.asyncAfter(deadline: .now() + Self.patience) { [unowned self] in
        assumeIsolated { $0.giveUp(number, token) }
      }
    }
  }

  private func giveUp(_ number: Int, _ token: Poller.Token) {
    // After a standstill of the daemon the client may have read meanwhile.
    pump(token)
    guard streamReaders.isWaiting(number, token), let client = clients[token] else { return }
    complain(.clientDropped, client.caller.uid, "a reader that did not keep up was disconnected", .notice)
    drop(token)
  }
}
