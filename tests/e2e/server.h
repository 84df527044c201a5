// A running `berth up` in a directory of its own, and kubectl pointed at it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "e2e/process.h"

namespace berth::e2e {

class Server {
 public:
  // Waits until it says "ready"; throws std::runtime_error with its output otherwise.
  explicit Server(std::vector<std::string> arguments = {"--nodes", "1x1x2"});
  ~Server();

  void start();
  Finished stop();  // SIGTERM
  void kill();      // SIGKILL

  Finished kubectl(const std::vector<std::string>& arguments, const std::string& input = "") const;
  // Standard output of a kubectl that must succeed; fails the test with its errors otherwise.
  std::string must(const std::vector<std::string>& arguments, const std::string& input = "") const;

  const std::string& dir() const { return dir_; }
  std::string kubeconfig() const { return dir_ + "/data/kubeconfig"; }
  std::string write_file(const std::string& name, const std::string& content) const;
  std::vector<std::pair<std::string, std::string>> environment() const;
  std::string url() const;

 private:
  std::string dir_;
  std::vector<std::string> arguments_;
  std::unique_ptr<Process> process_;
};

}  // namespace berth::e2e
