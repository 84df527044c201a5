#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace berth::testing_support {
namespace {

std::vector<std::string> merged(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> all;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string entry = *e;
    all[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
  }
  for (const auto& [name, value] : added) all[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : all) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

void take(int& fd, std::string& into) {
  char piece[4096];
  const ssize_t n = ::read(fd, piece, sizeof piece);
  if (n > 0) {
    into.append(piece, static_cast<std::size_t>(n));
  } else if (n == 0 || errno != EINTR) {
    ::close(fd);
    fd = -1;
  }
}

}  // namespace

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Process::Process(const std::vector<std::string>& command,
                 const std::vector<std::pair<std::string, std::string>>& environment) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  std::vector<std::string> arguments = command, variables = merged(environment);
  const int failed = ::posix_spawnp(&pid_, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                    pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
  if (failed != 0) throw std::runtime_error(command[0] + ": " + std::strerror(failed));
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (out_fd_ >= 0) ::close(out_fd_);
  if (err_fd_ >= 0) ::close(err_fd_);
}

bool Process::read_some(std::chrono::steady_clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  if (left.count() <= 0 || (out_fd_ < 0 && err_fd_ < 0)) return false;
  pollfd fds[2] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
  if (::poll(fds, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
  if (out_fd_ >= 0 && fds[0].revents != 0) take(out_fd_, out_);
  if (err_fd_ >= 0 && fds[1].revents != 0) take(err_fd_, err_);
  return true;
}

bool Process::wait_for(const std::string& stream, const std::string& text) {
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (stream.find(text) == std::string::npos) {
    if (!read_some(until)) return false;
  }
  return true;
}

bool Process::wait_for_output(const std::string& text) { return wait_for(out_, text); }
bool Process::wait_for_errors(const std::string& text) { return wait_for(err_, text); }

bool Process::has_said(const std::string& text) {
  pollfd waiting{out_fd_, POLLIN, 0};
  while (out_fd_ >= 0 && ::poll(&waiting, 1, 0) > 0) {
    take(out_fd_, out_);
    waiting.fd = out_fd_;
  }
  return out_.find(text) != std::string::npos;
}

void Process::signal(int number) { ::kill(pid_, number); }

Finished Process::wait() {
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (read_some(until)) continue;
  Finished finished;
  const bool late = out_fd_ >= 0 || err_fd_ >= 0;
  if (late) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (!late) finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = out_;
  finished.err = err_;
  return finished;
}

Daemon::Daemon(std::vector<std::string> command, std::string log_file) : log_file_(std::move(log_file)) {
  command.insert(command.begin(), {"setpriv", "--pdeathsig", "KILL", "--"});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log_file_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int failed = ::posix_spawnp(&pid_, command[0].c_str(), &actions, nullptr, pointers(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error(command[0] + ": " + std::strerror(failed));
}

Daemon::~Daemon() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Daemon::ended() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

bool Daemon::wait_for_output(const std::string& text) {
  const auto said = [&] { return content_of(log_file_).find(text) != std::string::npos; };
  return eventually([&] { return said() || ended(); }) && said();
}

std::string Daemon::last_lines() const {
  constexpr std::size_t kShown = 4000;
  const std::string all = content_of(log_file_);
  return all.size() <= kShown ? all : all.substr(all.size() - kShown);
}

void Daemon::signal(int number) { ::kill(pid_, number); }

int Daemon::wait() {
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // polling interval
  if (ended != pid_) return -1;                                 // the destructor kills the process
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Finished run(const std::vector<std::string>& command,
             const std::vector<std::pair<std::string, std::string>>& environment, const std::string& input) {
  if (input.empty()) return Process(command, environment).wait();
  // The input comes from a file: writing to a pipe could block when the child does not read.
  char name[] = "/tmp/berth_e2e_input_XXXXXX";
  const int file = ::mkstemp(name);
  if (file < 0) throw std::runtime_error("mkstemp failed");
  ::close(file);
  std::ofstream(name) << input;
  std::string quoted;
  for (const std::string& a : command) {
    quoted += "'";
    for (const char c : a) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted += "' ";
  }
  Finished finished = Process({"/bin/sh", "-c", "exec " + quoted + "< " + name}, environment).wait();
  ::unlink(name);
  return finished;
}

bool eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (std::chrono::steady_clock::now() < until) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // polling interval
  }
  return false;
}

}  // namespace berth::testing_support
