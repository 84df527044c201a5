#include "embedded/commands/worker_processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/base64.h"
#include "base/read_file.h"
#include "cli/output.h"

namespace berth::cli {
namespace {

constexpr std::string_view kReady = "\nready\n";  // the end of what berth up prints when it serves

UpOptions options_of_worker(const UpOptions& manager, const std::string& name) {
  UpOptions out = manager;
  out.listen = "127.0.0.1:0";
  out.metrics_listen.clear();
  out.console = "off";
  out.kubeconfig = (std::filesystem::path(manager.kubeconfig).parent_path() / (name + ".kubeconfig")).string();
  if (!manager.data_dir.empty()) out.data_dir = manager.data_dir + "/" + name;
  out.load.clear();
  out.workers.clear();
  out.config.clear();
  out.feature_gates.clear();
  out.journal.directory.clear();
  return out;
}

// In the new process.
[[noreturn]] void be_worker(const UpOptions& options, pid_t parent, int output) {
  ::dup2(output, STDOUT_FILENO);
  ::close(output);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::_Exit(1);  // it ended before the line above
  const auto done = run_up(options);
  const int code = done ? 0 : failure(done.error().message);
  std::fflush(nullptr);
  std::_Exit(code);
}

Json object(const char* api_version, const char* kind, const std::string& name) {
  return JsonObject{{"apiVersion", api_version}, {"kind", kind}, {"metadata", JsonObject{{"name", name}}}};
}

}  // namespace

WorkerProcesses::~WorkerProcesses() {
  for (const Worker& worker : workers_) {
    ::kill(worker.pid, SIGTERM);
    ::kill(worker.pid, SIGCONT);  // one that was stopped ends, too
  }
  for (const Worker& worker : workers_) {
    while (::waitpid(worker.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(worker.output);
  }
}

Result<void> WorkerProcesses::start(int count, const UpOptions& manager) {
  const pid_t parent = ::getpid();
  for (int i = 1; i <= count; ++i) {
    Worker worker;
    worker.name = "worker" + std::to_string(i);
    const UpOptions options = options_of_worker(manager, worker.name);
    worker.path = options.kubeconfig;
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(worker.name + ": " + std::strerror(errno));
    worker.pid = ::fork();
    if (worker.pid < 0) return fail(worker.name + ": " + std::strerror(errno));
    if (worker.pid == 0) {
      ::close(ends[0]);
      be_worker(options, parent, ends[1]);
    }
    ::close(ends[1]);
    worker.output = ends[0];
    workers_.push_back(std::move(worker));
  }
  for (Worker& worker : workers_) {
    if (auto serves = wait_for(worker); !serves) return serves;
  }
  return {};
}

Result<void> WorkerProcesses::wait_for(Worker& worker) {
  std::string said = "\n";
  while (!said.ends_with(kReady)) {
    char some[256];
    const ssize_t got = ::read(worker.output, some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(worker.name + " did not start; it says why above");
    said.append(some, static_cast<std::size_t>(got));
  }
  auto text = read_file(worker.path);
  if (!text) return fail(worker.name + ": " + text.error().message);
  worker.kubeconfig = std::move(*text);
  return {};
}

std::vector<UpWorker> WorkerProcesses::workers() const {
  std::vector<UpWorker> out;
  for (const Worker& worker : workers_) out.push_back({worker.name, worker.kubeconfig});
  return out;
}

std::string WorkerProcesses::text() const {
  std::string out;
  for (const Worker& worker : workers_)
    out += worker.name + ": kubeconfig " + worker.path + ", process " + std::to_string(worker.pid) + "\n";
  return out;
}

void add_objects_for(const std::vector<UpWorker>& workers, const std::string& ns, std::vector<ObjectToApply>& out) {
  if (workers.empty()) return;
  constexpr const char* kKueue = "kueue.x-k8s.io/v1beta2";
  const std::string all = "workers";
  const auto add = [&out](Json made) { out.push_back({std::move(made), "--workers"}); };
  add(object("v1", "Namespace", ns));
  JsonArray names;
  for (const UpWorker& worker : workers) {
    Json secret = object("v1", "Secret", worker.name);
    ensure_path(secret, {"metadata", "namespace"}) = ns;
    ensure_path(secret, {"data", "kubeconfig"}) = base64_encode(worker.kubeconfig);
    add(std::move(secret));
    Json cluster = object(kKueue, "MultiKueueCluster", worker.name);
    ensure_path(cluster, {"spec", "clusterSource", "kubeConfig"}) =
        JsonObject{{"locationType", "Secret"}, {"location", worker.name}};
    add(std::move(cluster));
    names.emplace_back(worker.name);
  }
  Json config = object(kKueue, "MultiKueueConfig", all);
  ensure_path(config, {"spec", "clusters"}) = std::move(names);
  add(std::move(config));
  Json check = object(kKueue, "AdmissionCheck", all);
  ensure_path(check, {"spec"}) = JsonObject{
      {"controllerName", "kueue.x-k8s.io/multikueue"},
      {"parameters", JsonObject{{"apiGroup", "kueue.x-k8s.io"}, {"kind", "MultiKueueConfig"}, {"name", all}}}};
  add(std::move(check));
}

}  // namespace berth::cli
