// API servers with a running Berth, and kubectl configured for them.
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

// The minor version of the installed kubectl, for example 32. Debian 12 has 20, which does not support all commands
// of these tests.
int kubectl_minor();

// The common part of all test clusters.
class Cluster {
 public:
  virtual ~Cluster();

  Finished kubectl(const std::vector<std::string>& arguments, const std::string& input = "") const;
  // Returns the standard output of a kubectl command that must succeed; otherwise the test fails with its errors.
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

// `nodes`: a shape in the format of `berth up`; empty: berth's default. Throws std::runtime_error when the cluster
// does not become ready.
std::unique_ptr<Cluster> make_cluster(On on, const std::string& nodes);

// For INSTANTIATE_TEST_SUITE_P: runs the same test on both kinds of cluster.
class OnBoth : public testing::TestWithParam<On> {
 protected:
  void SetUp() override;  // skips what cannot run here
  // Skips the test where no garbage collector deletes the dependents of a deleted owner.
  void need_garbage_collector();
};
inline auto both() { return testing::Values(On::kBerthUp, On::kRealApiServer); }
void PrintTo(On on, std::ostream* out);
std::string name_of(const testing::TestParamInfo<On>& on);

// A running `berth up` with its own directory.
class Server final : public Cluster {
 public:
  // Waits until it prints "ready"; otherwise throws std::runtime_error with its output.
  explicit Server(std::vector<std::string> arguments = {"--nodes", "1x1x2"});

  void start();
  void start(std::vector<std::string> arguments);  // in place of those of before
  Finished stop();                                 // SIGTERM
  void kill();                                     // SIGKILL
  void signal(int number) { process_->signal(number); }
  pid_t pid() const { return process_->pid(); }
  const std::string& output() const { return process_->out(); }  // the output up to "ready"
  std::string kubeconfig() const override { return dir() + "/data/kubeconfig"; }

 private:
  std::vector<std::string> arguments_;
  std::unique_ptr<Process> process_;
};

}  // namespace berth::e2e
