#include "e2e/server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "e2e/real_cluster.h"
#include "support/real_api_server.h"
#include "support/scratch_dir.h"

namespace berth::e2e {

using testing_support::RealApiServer;

Cluster::Cluster() : dir_(testing_support::make_scratch_dir("berth_e2e")) {}

Cluster::~Cluster() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::unique_ptr<Cluster> make_cluster(On on, const std::string& nodes) {
  if (on == On::kRealApiServer) return make_real_cluster(nodes);
  auto arguments = nodes.empty() ? std::vector<std::string>{} : std::vector<std::string>{"--nodes", nodes};
  return std::make_unique<Server>(std::move(arguments));
}

void OnBoth::SetUp() {
  if (GetParam() == On::kRealApiServer && !RealApiServer::configured())
    GTEST_SKIP() << testing_support::kNoRealApiServer;
}

void OnBoth::need_garbage_collector() {
  if (GetParam() == On::kRealApiServer && !RealApiServer::has_garbage_collector())
    GTEST_SKIP() << "not run on a real API server: KUBEBUILDER_ASSETS has no kube-controller-manager";
}

void PrintTo(On on, std::ostream* out) { *out << (on == On::kBerthUp ? "berth_up" : "real_api_server"); }
std::string name_of(const testing::TestParamInfo<On>& on) { return testing::PrintToString(on.param); }

Server::Server(std::vector<std::string> arguments) : arguments_(std::move(arguments)) { start(); }

void Server::start() {
  std::vector<std::string> command = {BERTH_PROGRAM, "up", "--data-dir", dir() + "/data", "--listen", "127.0.0.1:0"};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  process_ = std::make_unique<Process>(command, environment());
  if (!process_->wait_for_output("ready\n")) {
    throw std::runtime_error("berth up is not ready: " + process_->out() + process_->err());
  }
}

void Server::start(std::vector<std::string> arguments) {
  arguments_ = std::move(arguments);
  start();
}

Finished Server::stop() {
  process_->signal(SIGTERM);
  Finished finished = process_->wait();
  process_.reset();
  return finished;
}

void Server::kill() {
  process_->signal(SIGKILL);
  process_->wait();
  process_.reset();
}

std::vector<std::pair<std::string, std::string>> Cluster::environment() const {
  // A separate HOME: kubectl caches discovery there.
  return {{"KUBECONFIG", kubeconfig()}, {"HOME", dir_}, {"NO_COLOR", "1"}};
}

Finished Cluster::kubectl(const std::vector<std::string>& arguments, const std::string& input) const {
  std::vector<std::string> command = {"kubectl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command, environment(), input);
}

int kubectl_minor() {
  static const int minor = [] {
    const std::string out = run({"kubectl", "version", "--client", "-o", "json"}, {}).out, before = "\"minor\": \"";
    const auto at = out.find(before);
    return at == std::string::npos ? 0 : std::atoi(out.c_str() + at + before.size());
  }();
  return minor;
}

std::string Cluster::must(const std::vector<std::string>& arguments, const std::string& input) const {
  const Finished finished = kubectl(arguments, input);
  std::string shown = "kubectl";
  for (const std::string& a : arguments) shown += " " + a;
  EXPECT_EQ(finished.exit_code, 0) << shown << "\n" << finished.out << finished.err;
  return finished.out;
}

std::string Cluster::write_file(const std::string& name, const std::string& content) const {
  const std::string path = dir_ + "/" + name;
  std::ofstream(path) << content;
  ::chmod(path.c_str(), 0700);
  return path;
}

std::string Cluster::url() const {
  std::ifstream in(kubeconfig());
  for (std::string line; std::getline(in, line);) {
    if (const auto at = line.find("server: "); at != std::string::npos) return line.substr(at + 8);
  }
  return "";
}

}  // namespace berth::e2e
