// Watches Volcano's Queues and PodGroups and describes their changes in words.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "embedded/simulate/observer.h"
#include "kube/informer.h"

namespace berth::simulate {

class QueueWatch {
 public:
  // Both must outlive this.
  QueueWatch(api::RestClient& client, Executor& executor);

  void on_moment(std::function<void(const Moment&)> handler) { handler_ = std::move(handler); }
  void start();

 private:
  void queue_changed(const JsonPtr& old, const JsonPtr& now);
  void group_changed(const JsonPtr& old, const JsonPtr& now);
  void report(std::string who, std::string what);

  Executor& executor_;
  kube::Informer queues_, groups_;
  std::map<std::string, std::string> names_;  // name of the PodGroup, or of its vcjob, by the PodGroup's UID
  std::function<void(const Moment&)> handler_;
};

}  // namespace berth::simulate
