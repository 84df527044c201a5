// Watches nodes and ProvisioningRequests and describes their changes in words.
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

class CapacityWatch {
 public:
  // Both must outlive this.
  CapacityWatch(api::RestClient& client, Executor& executor);
  ~CapacityWatch();

  void on_moment(std::function<void(const Moment&)> handler) { handler_ = std::move(handler); }
  void start();

  // The rack of a hostname, by the topologies that exist (see rack_label_of). Empty when it is not known.
  std::string rack_of(std::string_view hostname) const;

 private:
  void node_changed(const JsonPtr& old, const JsonPtr& now);
  void request_changed(const JsonPtr& old, const JsonPtr& now);
  void report(std::string who, std::string what);
  void report_joined();
  std::string rack_label() const;

  Executor& executor_;
  kube::Informer nodes_, topologies_, requests_;
  std::function<void(const Moment&)> handler_;
  std::map<std::string, std::int64_t> joined_;  // new nodes not reported yet, by rack
  TimerId joined_timer_ = 0;
  std::map<std::string, std::string> racks_;  // by hostname; deleted nodes stay
};

}  // namespace berth::simulate
