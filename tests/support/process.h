// Child processes for tests: berth, kubectl, a real API server. Each wait has a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace berth::testing_support {

// Long enough for a loaded machine under a sanitizer: an operation that takes longer has failed.
inline constexpr std::chrono::seconds kDeadline{120};

struct Finished {
  int exit_code = -1;  // 128 + signal when killed; -1 when it had to be killed at the deadline
  std::string out, err;
};

class Process {
 public:
  Process(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment);
  ~Process();  // kills the process if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Waits until standard output contains `text`. False when the process ended or the deadline passed before.
  bool wait_for_output(const std::string& text);
  bool wait_for_errors(const std::string& text);  // the same for standard error
  bool has_said(const std::string& text);         // whether standard output contains it already
  void signal(int number);
  Finished wait();
  pid_t pid() const { return pid_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  bool wait_for(const std::string& stream, const std::string& text);
  bool read_some(std::chrono::steady_clock::time_point until);  // false: both streams ended, or the time has passed

  pid_t pid_ = -1;
  int out_fd_ = -1, err_fd_ = -1;
  std::string out_, err_;
};

// A process that serves until it is killed: by the destructor, or when the thread that created it ends, even if the
// test crashes. Its output goes to a file.
class Daemon {
 public:
  Daemon(std::vector<std::string> command, std::string log_file);
  ~Daemon();  // kills the process and waits for its end
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  bool ended();
  // Waits until the output contains `text`. False when the process ended or the deadline passed before.
  bool wait_for_output(const std::string& text);
  std::string last_lines() const;  // of its output
  void signal(int number);
  // Call it after signal(): waits for the end and returns the exit code as in Finished.
  int wait();

 private:
  std::string log_file_;
  pid_t pid_ = -1;
};

std::string content_of(const std::string& path);  // empty when the file does not exist

Finished run(const std::vector<std::string>& command,
             const std::vector<std::pair<std::string, std::string>>& environment, const std::string& input = "");

// Checks the condition repeatedly until it holds. False at the deadline.
bool eventually(const std::function<bool()>& condition);

}  // namespace berth::testing_support
