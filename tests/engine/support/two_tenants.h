// Admission fair sharing (KEP-4136) between two local queues of one cluster queue.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "engine/support/one_queue.h"

namespace berth::engine::test {

inline Options by_usage(Duration half_life = std::chrono::hours(168), Duration interval = std::chrono::minutes(5)) {
  Options options;
  options.wait_for_pods_ready.enabled = false;
  options.admission_fair_sharing = {true, half_life, interval, {}};
  return options;
}

// The local queues a and b of the cluster queue "cq" with 4 cpu.
struct TwoTenants : Scenario {
  explicit TwoTenants(const Options& options = by_usage(), bool on = true) : Scenario(options) {
    give(test::flavor("f"));
    give(queue().by_usage(on));
    tenant("a");
    tenant("b");
  }
  static ClusterQueueBuilder queue() { return ClusterQueueBuilder("cq").cpu({{"f", "4"}}); }
  void tenant(const std::string& name, std::string_view weight = "1") {
    auto queue = test::local_queue(name, "cq");
    queue.meta.creation = now();
    queue.fair_weight = test::quantity(weight);
    give(queue);
  }
  void job(const std::string& name, std::string_view cpu = "1", int priority = 0) {
    give(WorkloadBuilder(name, name.substr(0, 1)).pods(1, cpu).priority(priority).created(at(++created_)));
  }
  // The statuses as the API would hold them, for a restart.
  void write_statuses() {
    for (const std::string name : {"a", "b"}) {
      const auto status = local_queue(name).past_usage;
      auto queue = test::local_queue(name, "cq");
      queue.past_usage = {status->consumed, status->last_update};
      give(queue);
    }
  }
  std::string consumed(const std::string& name) const {
    const auto all = local_queue(name).past_usage->consumed;
    return all.empty() ? "" : all.at("cpu").to_string();
  }
  // In billionths, as of now.
  long double usage(const std::string& name, Duration half_life, long double running) const {
    const auto status = *local_queue(name).past_usage;
    const auto past = static_cast<long double>(status.consumed.at("cpu").nano_value());
    const auto time = static_cast<long double>((now() - status.last_update).count());
    return running + (past - running) * std::exp2(-time / static_cast<long double>(half_life.count()));
  }
  std::string admitted() const {
    std::string out;
    for (const auto& name : names()) {
      if (state(name) == "Admitted") out += (out.empty() ? "" : " ") + name;
    }
    return out;
  }

 private:
  int created_ = 0;
};

}  // namespace berth::engine::test
