// An engine with Volcano's queues, driven as the controller drives it: PodGroups are created, their phases follow the
// engine's decisions, and their pods run as soon as the group is admitted and stop as soon as they must.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "volcano/group_workloads.h"
#include "volcano/quota_tree.h"
#include "volcano/support.h"

namespace berth::volcano::testing {

struct World {
  World() { start({}); }

  void start(TreeOptions options) {
    engine = engine::Engine(engine::Options());
    tree.emplace(options);
    feed(tree->start());
    handle(engine::Synced{});
  }
  void feed(const QuotaTree::Events& events) {
    for (const auto& event : events) handle(event);
  }
  void handle(const engine::Event& event) { heard(engine.handle(now, event)); }

  void have(const api::volcano::Queue& q) { feed(tree->set(pointer(q))); }
  void have(std::string_view name, const QueueText& text = {}) { have(queue(name, text)); }

  void group(std::string_view name, std::string_view in, std::string_view min_resources, int priority = 0) {
    api::volcano::PodGroup g;
    g.meta.name = name;
    g.meta.ns = "ns";
    g.meta.uid = std::string(name) + "-uid";
    g.meta.creation = now += std::chrono::seconds(1);
    g.queue = in;
    g.min_member = 1;
    g.min_resources = resources(min_resources);
    groups[std::string(name)] = {g, {.priority = priority, .running = {}}};
    see(std::string(name));
  }
  void grow(const std::string& name, std::string_view running) {
    groups.at(name).second.running = resources(running);
    see(name);
  }
  void end(const std::string& name) {
    handle(engine::WorkloadGone{std::string(kGroupNamespace), "ns/" + name, ""});
    handle(engine::WorkloadGone{std::string(kGroupNamespace), "ns/" + name + "/surplus", ""});
    groups.erase(name);
  }

  void see(const std::string& name) {
    auto& [group, context] = groups.at(name);
    const auto known = stored.find(workload_name(group.meta, Part::kMinimum));
    context.minimum_held = known != stored.end() && known->second.status.admission.has_value();
    context.now = now;
    auto parts = workloads_of(group, context);
    for (auto* part : {&parts.minimum, &parts.surplus}) {
      if (!*part) continue;
      api::kueue::Workload& workload = **part;
      // Keep the engine's status; take the rest from the group.
      if (const auto it = stored.find(workload.meta.name); it != stored.end() && part == &parts.minimum)
        workload.status = it->second.status;
      workload.meta.resource_version = std::to_string(++version);
      stored[workload.meta.name] = workload;
      handle(engine::WorkloadSeen{std::make_shared<const api::kueue::Workload>(workload)});
    }
    if (!parts.surplus) {
      handle(engine::WorkloadGone{std::string(kGroupNamespace), workload_name(group.meta, Part::kSurplus), ""});
      stored.erase(workload_name(group.meta, Part::kSurplus));
    }
  }

  // Runs until nothing changes, now or after the engine's next wake-ups: a workload that is preempted repeatedly
  // waits for some time (docs/adr/0007). Returns what happened, in order: "in a", "out b", "surplus of c out".
  std::vector<std::string> run() {
    constexpr int kMaxRounds = 5000;
    std::vector<std::string> happened;
    for (int i = 0; i < kMaxRounds; ++i) {
      const auto effects = heard(engine.schedule(now += std::chrono::seconds(1)));
      EXPECT_THAT(engine.check_invariants(), ::testing::IsEmpty());
      bool moved = false;
      for (const auto& effect : effects) {
        const auto* write = std::get_if<engine::WriteWorkloadStatus>(&effect);
        if (write == nullptr) continue;
        moved = true;
        settle(*write, happened);
      }
      if (moved) continue;
      // Later wake-ups are about pods that do not become ready.
      if (!wake_ || *wake_ > now + std::chrono::minutes(10)) return happened;
      now = std::max(now, *std::exchange(wake_, std::nullopt));
      handle(engine::TimePassed{});
    }
    ADD_FAILURE() << "it does not end";
    return happened;
  }
  api::volcano::PodGroupPhase phase(const std::string& name) const { return groups.at(name).first.status.phase; }
  api::ResourceList allocated_list(std::string_view name) const {
    return tree->allocated(name, [this](std::string_view cluster_queue) {
      api::ResourceList out;
      const auto status = engine.cluster_queue_status(cluster_queue);
      if (!status) return out;
      for (const auto& flavor : status->reservation)
        for (const auto& resource : flavor.resources)
          if (resource.total > Amount()) out[resource.name] = to_quantity(resource.name, resource.total);
      return out;
    });
  }
  std::string allocated(std::string_view name) const {
    std::string out;
    for (const auto& [resource, amount] : allocated_list(name))
      out += (out.empty() ? "" : ",") + resource + "=" + amount.to_string();
    return out;
  }

  engine::Engine engine{engine::Options()};
  std::optional<QuotaTree> tree;
  std::map<std::string, std::pair<api::volcano::PodGroup, GroupContext>> groups;
  std::map<std::string, api::kueue::Workload> stored;  // by name, with the status that the engine wrote last
  std::int64_t version = 0;
  Time now = Time(std::chrono::seconds(1'800'000'000));

 private:
  engine::Effects heard(engine::Effects effects) {
    for (const auto& effect : effects)
      if (const auto* wake = std::get_if<engine::WakeAt>(&effect)) wake_ = wake->when;
    return effects;
  }
  void settle(const engine::WriteWorkloadStatus& write, std::vector<std::string>& happened) {
    // It was removed with its minimum in the same round.
    if (!stored.contains(write.base->meta.name)) {
      handle(engine::WriteSettled{write.write, engine::WriteSettled::Outcome::kGone, "", ""});
      return;
    }
    api::kueue::Workload& workload = stored.at(write.base->meta.name);
    workload.status = write.status;
    workload.meta.resource_version = std::to_string(++version);
    handle(engine::WriteSettled{write.write, engine::WriteSettled::Outcome::kDone, workload.meta.resource_version, ""});
    handle(engine::WorkloadSeen{std::make_shared<const api::kueue::Workload>(workload)});
    const auto ref = group_of_workload(workload.meta.name);
    auto& [group, context] = groups.at(ref->name);
    if (ref->part == Part::kSurplus) {
      if (duty_of(group, context, nullptr, &workload.status).stop_surplus) {
        happened.push_back("surplus of " + ref->name + " out");
        stored.erase(workload.meta.name);
        grow(ref->name, "pods=1");
      }
      return;
    }
    GroupDuty duty = duty_of(group, context, &workload.status, nullptr);
    if (duty.phase) group.status.phase = *duty.phase;
    if (duty.phase == api::volcano::PodGroupPhase::kInqueue) happened.push_back("in " + ref->name);
    const bool evicted = duty.stop_all || duty.stopped;
    if (!evicted) return;
    happened.push_back("out " + ref->name);
    context.running.clear();
    see(ref->name);  // nothing runs above the minimum, either
    duty = duty_of(group, context, &workload.status, nullptr);
    EXPECT_TRUE(duty.stopped);
    api::kueue::JobReport report;
    report.stopped = true;
    report.workload_version = workload.meta.resource_version;
    handle(engine::JobReported{std::string(kGroupNamespace), workload.meta.name, report});
  }

  std::optional<Time> wake_;  // when the engine wants to be called again
};

}  // namespace berth::volcano::testing
