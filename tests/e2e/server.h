// API servers with Berth at work, and kubectl pointed at them.
#pragma once

#include <gtest/gtest.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/process.h"

namespace berth::e2e {

using testing_support::eventually;
using testing_support::Finished;
using testing_support::kDeadline;
using testing_support::Process;
using testing_support::run;

// The minor version of the kubectl at hand: 32; Debian 12 brings 20, which cannot do everything that is tested here.
int kubectl_minor();

// What is the same wherever it runs.
class Cluster {
 public:
  virtual ~Cluster();

  Finished kubectl(const std::vector<std::string>& arguments, const std::string& input = "") const;
  // Standard output of a kubectl that must succeed; fails the test with its errors otherwise.
  std::string must(const std::vector<std::string>& arguments, const std::string& input = "") const;

  const std::string& dir() const { return dir_; }
  virtual std::string kubeconfig() const = 0;
  std::string write_file(const std::string& name, const std::string& content) const;
  std::vector<std::pair<std::string, std::string>> environment() const;
  std::string url() const;

 protected:
  Cluster();

 private:
  std::string dir_;
};

enum class On { kBerthUp, kRealApiServer };

// Nodes in a shape as berth up takes it; empty: those that it makes by itself. Throws std::runtime_error when it does not
// get ready.
std::unique_ptr<Cluster> make_cluster(On on, const std::string& nodes);

// For INSTANTIATE_TEST_SUITE_P: the same test on both.
class OnBoth : public testing::TestWithParam<On> {
 protected:
  void SetUp() override;  // skips what cannot be run
  // Somebody must delete what a deleted owner leaves behind: skips where nobody does.
  void need_garbage_collector();
};
inline auto both() { return testing::Values(On::kBerthUp, On::kRealApiServer); }
void PrintTo(On on, std::ostream* out);
std::string name_of(const testing::TestParamInfo<On>& on);

// A running `berth up` in a directory of its own.
class Server final : public Cluster {
 public:
  // Waits until it says "ready"; throws std::runtime_error with its output otherwise.
  explicit Server(std::vector<std::string> arguments = {"--nodes", "1x1x2"});

  void start();
  Finished stop();  // SIGTERM
  void kill();      // SIGKILL
  void signal(int number) { process_->signal(number); }
  const std::string& output() const { return process_->out(); }  // what it has said until "ready"
  std::string kubeconfig() const override { return dir() + "/data/kubeconfig"; }

 private:
  std::vector<std::string> arguments_;
  std::unique_ptr<Process> process_;
};

}  // namespace berth::e2e
