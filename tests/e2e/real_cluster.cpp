#include "e2e/real_cluster.h"

#include <stdexcept>
#include <utility>

#include "support/real_api_server.h"

namespace berth::e2e {
namespace {

using testing_support::Daemon;
using testing_support::RealApiServer;

testing_support::RealApiServerOptions with_garbage_collector() {
  testing_support::RealApiServerOptions options;
  options.garbage_collector = true;
  return options;
}

class RealCluster final : public Cluster {
 public:
  explicit RealCluster(const std::string& nodes) : server_(with_garbage_collector()) {
    install();
    controller_ = berth("controller", {"--namespace", "kueue-system"}, "leading\n");
    cluster_ = berth("cluster", nodes.empty() ? std::vector<std::string>{} : std::vector<std::string>{"--nodes", nodes},
                     "ready\n");
  }

  std::string kubeconfig() const override { return server_.kubeconfig(); }

 private:
  void install() {
    do_or_throw({"apply", "--server-side", "--validate=strict", "-f", BERTH_SOURCE_DIR "/config/crd"});
    do_or_throw({"wait", "--for=condition=established", "--timeout=100s", "crd", "--all"});
    do_or_throw({"create", "namespace", "kueue-system"});
  }

  void do_or_throw(const std::vector<std::string>& arguments) {
    const Finished finished = kubectl(arguments);
    if (finished.exit_code != 0) throw std::runtime_error("kubectl " + arguments[0] + ": " + finished.out + finished.err);
  }

  std::unique_ptr<Daemon> berth(const std::string& command, std::vector<std::string> arguments,
                                const std::string& when_ready) {
    std::vector<std::string> all = {BERTH_PROGRAM, command, "--kubeconfig", kubeconfig()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto daemon = std::make_unique<Daemon>(std::move(all), dir() + "/" + command + ".log");
    if (!daemon->wait_for_output(when_ready))
      throw std::runtime_error("berth " + command + " is not ready:\n" + daemon->last_lines());
    return daemon;
  }

  RealApiServer server_;
  std::unique_ptr<Daemon> controller_, cluster_;
};

}  // namespace

std::unique_ptr<Cluster> make_real_cluster(const std::string& nodes) { return std::make_unique<RealCluster>(nodes); }

}  // namespace berth::e2e
