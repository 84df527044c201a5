// Pretends to run pods: they start at once, run as long as they are told to, and end as they are told to.
//
// Annotations of a pod: berth.dev/run-for (a duration such as 90s; default 10s) and berth.dev/exit-code
// (default 0).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "kube/informer.h"

namespace berth::cluster {

inline constexpr Duration kDefaultRunFor = std::chrono::seconds(10);

class Kubelet {
 public:
  Kubelet(api::RestClient& client, Executor& executor, const kube::Informer& pods);
  ~Kubelet();

  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  void start(const std::string& key, const JsonPtr& pod);
  void watch_end(const std::string& key, const JsonPtr& pod);
  void end(const std::string& key);
  void terminate(const std::string& key, const JsonPtr& pod);
  void patch_status(const JsonPtr& pod, Json status);
  void forget(const std::string& key);

  api::RestClient& client_;
  Executor& executor_;
  const kube::Informer& pods_;
  struct Running {
    std::string uid;
    TimerId timer = 0;
    bool terminating = false;
    // When its containers started, as this process did it: the API keeps whole seconds only.
    std::optional<Time> started;
  };
  std::map<std::string, Running> running_;  // by pod key
  int next_address_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::cluster
