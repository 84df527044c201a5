#include "kube/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/base64.h"

extern char** environ;

namespace berth::kube {
namespace {

constexpr std::chrono::milliseconds kLookForEnd{5};  // between two looks at a plugin that closed its output

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void set(int fd) { fd_ = fd; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// The value of KUBERNETES_EXEC_INFO for the plugin.
std::string exec_info(const ExecPlugin& plugin, const Access& access) {
  JsonObject spec{{"interactive", false}};
  if (plugin.provide_cluster_info) {
    JsonObject cluster{{"server", access.server}};
    if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
    if (access.insecure) cluster["insecure-skip-tls-verify"] = true;
    if (!access.authority.inline_pem.empty())
      cluster["certificate-authority-data"] = base64_encode(access.authority.inline_pem);
    if (!plugin.cluster_config.is_null()) cluster["config"] = plugin.cluster_config;
    spec["cluster"] = std::move(cluster);
  }
  return to_string(
      JsonObject{{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

std::vector<std::string> environment(const ExecPlugin& plugin, const Access& access) {
  std::vector<std::string> out;
  const auto given = [&](std::string_view name) {
    for (const auto& [key, value] : plugin.env) {
      if (key == name) return true;
    }
    return name == "KUBERNETES_EXEC_INFO";
  };
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry(*e);
    if (!given(entry.substr(0, entry.find('=')))) out.emplace_back(entry);
  }
  for (const auto& [key, value] : plugin.env) out.push_back(key + "=" + value);
  out.push_back("KUBERNETES_EXEC_INFO=" + exec_info(plugin, access));
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Starts the program with its standard output on `out`.
Result<pid_t> start(const ExecPlugin& plugin, const Access& access, Descriptor& out) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return fail(std::string("cannot make a pipe: ") + std::strerror(errno));
  out.set(pipe_ends[0]);
  Descriptor theirs(pipe_ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  std::vector<std::string> args{plugin.command};
  args.insert(args.end(), plugin.args.begin(), plugin.args.end());
  auto env = environment(plugin, access);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, plugin.command.c_str(), &actions, nullptr, pointers(args).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  std::string text = "the credential plugin " + plugin.command + " cannot be started: " + std::strerror(error);
  if (!plugin.install_hint.empty()) text += "\n" + plugin.install_hint;
  return fail(std::move(text));
}

// Reads until the program closes its output; an error when it takes too long or prints too much.
Result<std::string> read_output(int fd, Clock::time_point deadline) {
  std::string output;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return fail("did not finish in time");
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return fail(std::string("poll: ") + std::strerror(errno));
    if (ready <= 0) continue;
    char piece[4096];
    const ssize_t n = ::read(fd, piece, sizeof piece);
    if (n == 0) return output;
    if (n < 0) return fail(std::string("read: ") + std::strerror(errno));
    output.append(piece, static_cast<std::size_t>(n));
    if (output.size() > kMaxPluginOutput)
      return fail("printed more than " + std::to_string(kMaxPluginOutput) + " bytes");
  }
}

// Whether the process terminates until then. It can still be waited for afterwards.
bool ends_by(pid_t pid, Clock::time_point deadline) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
      return true;  // nothing to wait for
    if (info.si_pid == pid) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kLookForEnd);
  }
}

}  // namespace

Result<ExecCredential> parse_exec_credential(std::string_view output, std::string_view api_version) {
  const auto json = parse_json(output);
  if (!json) return fail("printed no JSON: " + json.error().message);
  if (string_at(*json, {"kind"}) != "ExecCredential" || string_at(*json, {"apiVersion"}) != api_version)
    return fail("printed no ExecCredential of " + std::string(api_version));
  ExecCredential out;
  out.token = string_at(*json, {"status", "token"});
  out.certificate_pem = string_at(*json, {"status", "clientCertificateData"});
  out.key_pem = string_at(*json, {"status", "clientKeyData"});
  if (out.certificate_pem.empty() != out.key_pem.empty())
    return fail("printed only one of clientCertificateData and clientKeyData");
  if (out.token.empty() && out.certificate_pem.empty()) return fail("printed neither a token nor a certificate");
  if (const auto expires = string_at(*json, {"status", "expirationTimestamp"}); !expires.empty()) {
    const auto time = parse_time(expires);
    if (!time) return fail("printed status.expirationTimestamp " + std::string(expires) + ": " + time.error().message);
    out.expires = *time;
  }
  return out;
}

Result<ExecCredential> run_exec_plugin(const ExecPlugin& plugin, const Access& access,
                                       std::chrono::milliseconds timeout) {
  Descriptor out;
  const auto pid = start(plugin, access, out);
  if (!pid) return tl::unexpected(pid.error());
  const auto deadline = Clock::now() + timeout;
  auto output = read_output(out.get(), deadline);
  out.reset();
  if (output && !ends_by(*pid, deadline)) output = fail("did not finish in time");
  if (!output) ::kill(*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string who = "the credential plugin " + plugin.command + " ";
  if (!output) return fail(who + output.error().message);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(who + (WIFEXITED(status) ? "failed with exit code " + std::to_string(WEXITSTATUS(status))
                                         : "was killed by signal " + std::to_string(WTERMSIG(status))));
  auto credential = parse_exec_credential(*output, plugin.api_version);
  if (!credential) return fail(who + credential.error().message);
  return credential;
}

}  // namespace berth::kube
