import ChimeWords
import Glibc

/// The program crontab(1), which alone may read a user's crontab.
enum CrontabProgram {
  /// What `crontab -l` prints.
  static func list() throws -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure.system(Words.say("cannot make a pipe"), errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var vector = [strdup("crontab"), strdup("-l"), nil]
    defer { for argument in vector { free(argument) } }
    var child: pid_t = 0
    let code = posix_spawnp(&child, "crontab", &actions, nil, &vector, environ)
    close(ends[1])
    guard code == 0 else {
      close(ends[0])
      throw code == ENOENT
        ? Failure.failed(
          Words.say("there is no program crontab here"), hint: Words.say("chime import crontab FILE reads a file"))
        : Failure.system(Words.say("cannot run crontab -l"), errno: code)
    }
    let output = Files.read(ends[0], limit: 16 << 20)
    // Before the wait: what writes on without end is to see that nobody reads.
    close(ends[0])
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure.system(Words.say("cannot wait for crontab -l"), errno: errno) }
    }
    guard status == 0, let output else {
      throw Failure.failed(
        Words.say("crontab -l shows no crontab of this user"),
        hint: Words.say("chime import crontab FILE reads a file, such as /etc/crontab"))
    }
    return output
  }
}
