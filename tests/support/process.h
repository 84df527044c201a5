// Child processes for tests: berth, kubectl, a real API server. Every wait has a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace berth::testing_support {

// Long enough for a loaded machine under a sanitizer; what takes this long has failed.
inline constexpr std::chrono::seconds kDeadline{120};

struct Finished {
  int exit_code = -1;  // 128 + signal when killed; -1 when it had to be killed at the deadline
  std::string out, err;
};

class Process {
 public:
  Process(const std::vector<std::string>& command,
          const std::vector<std::pair<std::string, std::string>>& environment);
  ~Process();  // kills what still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Until standard output holds `text`; false when the process ended or the deadline passed before.
  bool wait_for_output(const std::string& text);
  bool wait_for_errors(const std::string& text);  // the same of standard error
  bool has_said(const std::string& text);         // standard output holds it already
  void signal(int number);
  Finished wait();
  pid_t pid() const { return pid_; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  bool wait_for(const std::string& stream, const std::string& text);
  bool read_some(std::chrono::steady_clock::time_point until);  // false: both streams ended, or time is up

  pid_t pid_ = -1;
  int out_fd_ = -1, err_fd_ = -1;
  std::string out_, err_;
};

// A process that serves until it is killed: with this object, or with the thread that made it, whatever
// becomes of the test. What it says goes to a file.
class Daemon {
 public:
  Daemon(std::vector<std::string> command, std::string log_file);
  ~Daemon();  // kills it and waits for its end
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  bool ended();
  // Until it said so; false when it ended or the deadline passed before.
  bool wait_for_output(const std::string& text);
  std::string last_lines() const;  // of what it said
  void signal(int number);
  // After signal(): waits for the end; the exit code as Finished has it.
  int wait();

 private:
  std::string log_file_;
  pid_t pid_ = -1;
};

std::string content_of(const std::string& path);  // empty when there is no such file

Finished run(const std::vector<std::string>& command,
             const std::vector<std::pair<std::string, std::string>>& environment,
             const std::string& input = "");

// Tries again until it holds; false at the deadline.
bool eventually(const std::function<bool()>& condition);

}  // namespace berth::testing_support
