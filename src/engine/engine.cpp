#include "engine/engine.h"

#include <utility>

#include "engine/engine_impl.h"

namespace berth::engine {

Engine::Engine(Options options) : impl_(std::make_unique<Impl>(options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine::Engine(const Engine& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Engine Engine::copy() const { return Engine(*this); }
Engine& Engine::operator=(Engine&&) noexcept = default;

Effects Engine::handle(Time now, const Event& event) {
  Effects out;
  impl_->scheduler.set_time(now);
  std::visit([&](const auto& e) { impl_->on(now, e, out); }, event);
  return out;
}

Effects Engine::schedule(Time now) { return impl_->schedule(now); }
void Engine::renumber() { impl_->renumber(); }
std::vector<std::string> Engine::check_invariants() const { return impl_->check_invariants(); }

SchedulerOptions scheduler_options(const Options& o) {
  SchedulerOptions out;
  out.partial_admission = o.partial_admission;
  out.flavor_fungibility = o.flavor_fungibility;
  out.priority_sorting_within_cohort = o.priority_sorting_within_cohort;
  out.equivalence_hashing = o.scheduling_equivalence_hashing;
  out.block_admission = o.wait_for_pods_ready.enabled && o.wait_for_pods_ready.block_admission;
  out.ignore_undeclared = o.resources.ignore_undeclared;
  out.prioritize_preemptors = o.prioritize_preemptors;
  out.recompute_on_overlap = o.recompute_on_overlap;
  out.topology = o.topology;
  out.fair_sharing = {o.fair_sharing.enabled, o.fair_sharing.final_share, o.fair_sharing.initial_share,
                      o.fair_preempt_within_nominal, o.fair_prioritize_non_borrowing};
  out.usage = o.admission_fair_sharing;
  out.usage.enabled = out.usage.enabled && o.admission_by_usage;
  return out;
}

Engine::Impl::Impl(const Options& o)
    : EngineValues(o),
      scheduler(scheduler_options(o)),
      slices(facts, workloads),
      views(facts, slices),
      census(facts, scheduler, workloads),
      reports(facts, scheduler, workloads),
      writes(workloads, census, messages),
      second_passes(views),
      failed_nodes(facts, views, nodes),
      transitions(facts, scheduler, census, writes),
      decisions(facts, scheduler, workloads, views, messages, transitions),
      feed(facts, scheduler, workloads, slices, views, reports, second_passes, messages),
      configuration(facts, scheduler, workloads, reports, finalizers),
      workload_events(facts, scheduler, workloads, slices, writes, reports, second_passes, nodes, scheduled_pods,
                      retention) {}

Engine::Impl::Impl(const Impl& other)
    : EngineValues(other),
      scheduler(other.scheduler.copy()),
      slices(other.slices, facts, workloads),
      views(other.views, facts, slices),
      census(facts, scheduler, workloads),
      reports(other.reports, facts, scheduler, workloads),
      messages(other.messages, workloads),
      writes(other.writes, workloads, census, messages),
      second_passes(other.second_passes, views, workloads),
      failed_nodes(facts, views, nodes),
      transitions(facts, scheduler, census, writes),
      decisions(facts, scheduler, workloads, views, messages, transitions),
      feed(facts, scheduler, workloads, slices, views, reports, second_passes, messages),
      configuration(other.configuration, facts, scheduler, workloads, reports, finalizers),
      workload_events(other.workload_events, facts, scheduler, workloads, slices, writes, reports, second_passes, nodes,
                      scheduled_pods, retention) {}

// Look at everything that was only learned so far.
void Engine::Impl::on(Time now, const Synced&, Effects&) {
  if (!facts.synced) {
    facts.synced_at = now;
    pass_facts.recalls_protected = true;
  }
  facts.synced = true;
  configuration.reconsider_all();
}

// The requested wake-up is used up, even if it came early.
void Engine::Impl::on(Time, const TimePassed&, Effects&) { wake_ups.used_up(); }

void Engine::Impl::on(Time, const NodeDevicesSeen& e, Effects&) {
  devices.see(e);
  scheduler.set_node_devices(e.node, e.devices);
}

void Engine::Impl::on(Time, const DevicesTaken& e, Effects&) {
  devices.see(e);
  scheduler.set_taken_devices(placement_of(e));
}

void Engine::Impl::on(Time, const UsageRecalled& e, Effects&) {
  scheduler.recall_usage(e.record);
  pass_facts.usage_recalled = true;
}

}  // namespace berth::engine
