// Pretends to run pods: they start at once, run for the time and end with the exit code that their annotations say.
//
// Annotations of a pod: berth.dev/run-for (a duration such as 90s; default 10s, or for ever with restartPolicy Always),
// berth.dev/exit-code (default 0) and berth.dev/stop-after (the time that it takes to stop after its deletion, at most
// its grace period; default 0s).
//
// Pods on a node that is not Ready or does not exist do not change. When the node becomes Ready again, changes that
// were due meanwhile happen.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/cluster/pods_by_node.h"
#include "embedded/cluster/shared/pod_writes.h"
#include "kube/informer.h"

namespace berth::cluster {

inline constexpr Duration kDefaultRunFor = std::chrono::seconds(10);

class Kubelet {
 public:
  // All must outlive this object.
  Kubelet(api::RestClient& client, Executor& executor, const kube::Informer& nodes, const kube::Informer& pods,
          const PodsByNode& index);
  ~Kubelet();

  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);

 private:
  bool up(std::string_view node) const;
  void start(const std::string& key, const JsonPtr& pod);
  void watch_end(const std::string& key, const JsonPtr& pod);
  void end(const std::string& key);
  void terminate(const std::string& key, const JsonPtr& pod);
  void stop(const std::string& key);
  void patch_status(const JsonPtr& pod, Json status);
  void look_again(const std::string& key);
  void forget(const std::string& key);

  Executor& executor_;
  const kube::Informer& nodes_;
  const kube::Informer& pods_;
  const PodsByNode& index_;
  struct Running {
    std::string uid;
    TimerId timer = 0;
    bool terminating = false;
    // The exact time at which this process started its containers: the API stores whole seconds only.
    std::optional<Time> started;
  };
  std::map<std::string, Running> running_;  // by pod key
  int next_address_ = 1;
  Writer writer_;
};

}  // namespace berth::cluster
