#include "embedded/simulate/seed_runs.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

namespace berth::simulation {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostText = 200'000;  // bytes of one report; the rest is dropped
constexpr int kPollMilliseconds = 200;
constexpr int kIdleFactor = 20;  // on a busy machine a run may get a twentieth of a processor

struct Child {
  pid_t pid = 0;
  int pipe = -1;
  std::uint64_t run = 0;
  Clock::time_point began;
  std::string text;
  bool killed = false;
};

// One line of numbers, then one line for each sentence. A line break within a sentence becomes '\x1f'.
std::string encode(const SeedReport& report) {
  std::ostringstream out;
  const auto& c = report.counts;
  out << c.events << ' ' << c.faults << ' ' << c.restarts << ' ' << c.actions << ' ' << c.writes << ' '
      << c.simulated_seconds << '\n';
  for (const auto& sentence : report.broken) {
    for (const char each : sentence) out << (each == '\n' ? '\x1f' : each);
    out << '\n';
  }
  return out.str();
}

SeedReport decode(const std::string& text) {
  SeedReport report;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  auto& c = report.counts;
  std::istringstream(line) >> c.events >> c.faults >> c.restarts >> c.actions >> c.writes >> c.simulated_seconds;
  while (std::getline(in, line)) {
    for (char& each : line) each = each == '\x1f' ? '\n' : each;
    report.broken.push_back(line);
  }
  return report;
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::write(file, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

// Ends this process with SIGXCPU when it has used so much CPU time.
void limit_cpu_time(std::chrono::seconds longest) {
  const rlimit limit{static_cast<rlim_t>(longest.count()), static_cast<rlim_t>(longest.count())};
  if (::setrlimit(RLIMIT_CPU, &limit) != 0) std::abort();
}

Child start(std::uint64_t run, std::chrono::seconds longest, const std::function<SeedReport(std::uint64_t)>& play) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    ::close(ends[0]);
    limit_cpu_time(longest);
    write_all(ends[1], encode(play(run)));
    ::close(ends[1]);
    std::fflush(nullptr);
    ::_exit(0);
  }
  ::close(ends[1]);
  return {pid, ends[0], run, Clock::now(), {}, false};
}

// Reads from the child. Returns true at the end of its output or on a read error.
bool listen(Child& child) {
  char buffer[4096];
  const auto n = ::read(child.pipe, buffer, sizeof buffer);
  if (n <= 0) return true;
  if (child.text.size() < kMostText) child.text.append(buffer, static_cast<std::size_t>(n));
  return false;
}

SeedReport finish(const Child& child) {
  ::close(child.pipe);
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  SeedReport report = decode(child.text);
  if (child.killed || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    report.broken.emplace_back("it hangs");
  } else if (WIFSIGNALED(status)) {
    report.broken.push_back(std::string("the program ends with signal ") + std::to_string(WTERMSIG(status)) + " (" +
                            strsignal(WTERMSIG(status)) + ")");
  } else if (WEXITSTATUS(status) != 0) {
    report.broken.push_back("the program ends with exit code " + std::to_string(WEXITSTATUS(status)));
  }
  return report;
}

}  // namespace

SeedCounts& SeedCounts::operator+=(const SeedCounts& other) {
  events += other.events;
  faults += other.faults;
  restarts += other.restarts;
  actions += other.actions;
  writes += other.writes;
  simulated_seconds += other.simulated_seconds;
  return *this;
}

void play_seeds(const SeedRunOptions& options, const std::function<std::uint64_t()>& next,
                const std::function<SeedReport(std::uint64_t)>& play,
                const std::function<bool(std::uint64_t run, const SeedReport& report)>& ended) {
  std::vector<Child> children;
  bool more = true;
  while (true) {
    while (more && children.size() < options.parallel) {
      const auto run = next();
      more = run != 0;
      if (more) children.push_back(start(run, options.longest, play));
    }
    if (children.empty()) return;
    std::vector<pollfd> files;
    for (const auto& child : children) files.push_back({child.pipe, POLLIN, 0});
    ::poll(files.data(), files.size(), kPollMilliseconds);
    for (std::size_t i = children.size(); i-- > 0;) {
      Child& child = children[i];
      if (!child.killed && Clock::now() - child.began > kIdleFactor * options.longest)
        child.killed = ::kill(child.pid, SIGKILL) == 0;
      if ((files[i].revents & (POLLIN | POLLHUP)) == 0 || !listen(child)) continue;
      const Child over = std::move(child);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      more = ended(over.run, finish(over)) && more;
    }
  }
}

}  // namespace berth::simulation
