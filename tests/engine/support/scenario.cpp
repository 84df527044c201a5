#include "engine/support/scenario.h"

#include <gtest/gtest.h>

#include <utility>

#include "engine/lifecycle/state.h"

namespace berth::engine::test {

namespace {

// Limit of passes until nothing follows; more mean that the engine loops.
constexpr int kMaxPasses = 60;

std::string key_of(const std::string& name) { return "ns/" + name; }

}  // namespace

Scenario::Scenario(Options options) : options_(options), engine_(std::make_unique<Engine>(options)) {
  give_namespace("ns", {});
  sync();
}

void Scenario::sync() { feed(Synced{}); }

void Scenario::restart() {
  engine_ = std::make_unique<Engine>(options_);
  original_.reset();
  wake_.reset();
  answers_.clear();
  for (const auto& event : everything_) engine_->handle(now_, event);
  for (const auto& [key, w] : api_) engine_->handle(now_, WorkloadSeen{w});
  if (!engine_->schedule(now_).empty()) ADD_FAILURE() << "an engine that only learns acts";
  check();
  sync();
}

void Scenario::renumber() {
  engine_->renumber();
  if (original_) original_->renumber();
}

void Scenario::copy() {
  auto copy = std::make_unique<Engine>(engine_->copy());
  original_ = std::exchange(engine_, std::move(copy));
}

void Scenario::expect_same(const Effects& ours, const Effects& of_original) {
  ASSERT_EQ(ours.size(), of_original.size()) << "a copy acts differently";
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_TRUE(ours[i] == of_original[i]) << "effect " << i;
}

void Scenario::restart_after(int seconds) {
  now_ += std::chrono::seconds(seconds);
  restart();
}

void Scenario::make_anew() {
  EXPECT_TRUE(engine_->settled());
  const auto inputs = engine_->inputs();
  engine_ = std::make_unique<Engine>(options_);
  for (const auto& event : inputs) perform(engine_->handle(now_, event));
}

void Scenario::feed(const Event& event) {
  const Effects effects = engine_->handle(now_, event);
  if (original_) expect_same(effects, original_->handle(now_, event));
  perform(effects);
  const bool config = !std::holds_alternative<WorkloadSeen>(event) && !std::holds_alternative<WorkloadGone>(event) &&
                      !std::holds_alternative<JobReported>(event) && !std::holds_alternative<CheckReported>(event) &&
                      !std::holds_alternative<WriteSettled>(event) && !std::holds_alternative<TimePassed>(event) &&
                      !std::holds_alternative<Synced>(event);
  if (config) everything_.push_back(event);
}

void Scenario::give(const api::kueue::ClusterQueue& q) {
  feed(ClusterQueueSeen{std::make_shared<const api::kueue::ClusterQueue>(q)});
}
void Scenario::give(const api::kueue::Cohort& c) { feed(CohortSeen{std::make_shared<const api::kueue::Cohort>(c)}); }
void Scenario::give(const api::kueue::LocalQueue& q) {
  feed(LocalQueueSeen{std::make_shared<const api::kueue::LocalQueue>(q)});
}
void Scenario::give(const api::kueue::ResourceFlavor& f) {
  feed(ResourceFlavorSeen{std::make_shared<const api::kueue::ResourceFlavor>(f)});
}
void Scenario::give(const api::kueue::AdmissionCheck& c) {
  feed(AdmissionCheckSeen{std::make_shared<const api::kueue::AdmissionCheck>(c)});
}
void Scenario::give(const api::kueue::Topology& t) {
  feed(TopologySeen{std::make_shared<const api::kueue::Topology>(t)});
}
void Scenario::give(const api::Node& n) { feed(NodeSeen{std::make_shared<const api::Node>(n)}); }
void Scenario::give(const api::kueue::PodPlacement& p) {
  feed(PodSeen{std::make_shared<const api::kueue::PodPlacement>(p)});
}
void Scenario::give_namespace(std::string name, api::StringMap labels) {
  feed(NamespaceSeen{std::move(name), std::move(labels)});
}

void Scenario::give(const Workload& w) { store(api::object_key(w.meta), w, false); }

void Scenario::store(const std::string& key, Workload w, bool spec_changed) {
  w.meta.resource_version = std::to_string(++version_);
  if (spec_changed) ++w.meta.generation;
  api_[key] = std::make_shared<const Workload>(std::move(w));
  feed(WorkloadSeen{api_[key]});
}

void Scenario::change(const std::string& name, const std::function<void(Workload&)>& edit, bool spec) {
  Workload w = workload(name);
  edit(w);
  store(key_of(name), std::move(w), spec);
}

void Scenario::remove(const std::string& name) {
  const std::string uid = workload(name).meta.uid;
  api_.erase(key_of(name));
  feed(WorkloadGone{"ns", name, uid});
}

bool Scenario::run_once() {
  const int before = writes_;
  const Effects effects = engine_->schedule(now_);
  if (original_) expect_same(effects, original_->schedule(now_));
  perform(effects);
  if (jobs_stop_at_once) stop_jobs();
  check();
  const bool again = wake_ && *wake_ <= now_;  // it asked for another pass immediately
  const bool quiet = answers_.empty() && writes_ == before && !again;
  if (again) {
    wake_.reset();
    answers_.push_back(TimePassed{});
  }
  deliver();
  return quiet;
}

void Scenario::run() {
  for (int i = 0; i < kMaxPasses; ++i) {
    if (run_once()) return;
  }
  ADD_FAILURE() << "the engine does not come to rest";
}

void Scenario::deliver() {
  const std::size_t n = answers_that_arrive ? answers_that_arrive(answers_.size()) : answers_.size();
  std::vector<Event> now(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(n));
  answers_.erase(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(n));
  for (const auto& answer : now) feed(answer);
}

std::vector<std::string> Scenario::names() const {
  std::vector<std::string> out;
  for (const auto& [key, w] : api_) out.push_back(w->meta.name);
  return out;
}

void Scenario::pass(int seconds) {
  run();
  const Time end = now_ + std::chrono::seconds(seconds);
  while (wake_ && *wake_ <= end) {
    now_ = std::max(now_, *wake_);
    wake_.reset();
    feed(TimePassed{});
    run();
  }
  now_ = end;
  run();
}

void Scenario::perform(const Effects& effects) {
  for (const auto& effect : effects) {
    if (const auto* w = std::get_if<WriteWorkloadStatus>(&effect)) perform(*w);
    if (const auto* d = std::get_if<DeactivateWorkload>(&effect)) perform(*d);
    if (const auto* e = std::get_if<RecordEvent>(&effect))
      events_.push_back(e->kind + "/" + e->name + (e->warning ? " Warning " : " Normal ") + e->reason + ": " + e->note);
    if (const auto* w = std::get_if<WakeAt>(&effect)) wake_ = w->when;
    if (const auto* x = std::get_if<ExpireWorkload>(&effect)) {
      expired_.push_back((x->with_job ? "the job of " : "") + x->workload->meta.name);
      const auto& meta = x->workload->meta;
      if (deletions_happen && api_.contains(api::object_key(meta))) {
        remove(meta.name);
      } else if (deletions_happen) {
        feed(WorkloadGone{meta.ns, meta.name, meta.uid});  // the event is late: the workload is already gone
      }
    }
    if (const auto* f = std::get_if<SetFinalizer>(&effect))
      finalizers_.push_back((f->present ? "+" : "-") + f->kind + "/" + f->name);
    if (const auto* q = std::get_if<ClusterQueueStatusChanged>(&effect)) touched_queues_.insert(q->name);
    if (const auto* c = std::get_if<CohortStatusChanged>(&effect)) touched_cohorts_.insert(c->name);
    if (const auto* q = std::get_if<LocalQueueStatusChanged>(&effect)) touched_queues_.insert(q->ns + "/" + q->name);
  }
}

void Scenario::perform(const WriteWorkloadStatus& e) {
  ++writes_;
  const std::string key = api::object_key(e.base->meta);
  const auto it = api_.find(key);
  if (it == api_.end() || it->second->meta.uid != e.base->meta.uid) return settle(e.write, Outcome::kGone, "");
  EXPECT_FALSE(e.status == it->second->status) << key << ": a write that changes nothing";
  if (it->second->meta.resource_version != e.base->meta.resource_version)
    return settle(e.write, Outcome::kConflict, "");
  const Outcome outcome = outcome_of_write ? outcome_of_write(e.base->meta.name) : Outcome::kDone;
  const bool happens = outcome == Outcome::kDone || (outcome == Outcome::kFailed && failed_writes_happen);
  std::string version;
  if (happens) {
    Workload w = *it->second;
    w.status = e.status;
    version = std::to_string(++version_);
    w.meta.resource_version = version;
    api_[key] = std::make_shared<const Workload>(std::move(w));
    if (!watch_lags) answers_.push_back(WorkloadSeen{api_[key]});
  }
  settle(e.write, outcome, version);
}

void Scenario::perform(const DeactivateWorkload& e) {
  ++writes_;
  const std::string key = api::object_key(e.base->meta);
  const auto it = api_.find(key);
  if (it == api_.end()) return settle(e.write, Outcome::kGone, "");
  if (it->second->meta.resource_version != e.base->meta.resource_version)
    return settle(e.write, Outcome::kConflict, "");
  Workload w = *it->second;
  w.active = false;
  ++w.meta.generation;
  w.meta.resource_version = std::to_string(++version_);
  api_[key] = std::make_shared<const Workload>(std::move(w));
  settle(e.write, Outcome::kDone, std::to_string(version_));
  answers_.push_back(WorkloadSeen{api_[key]});
}

void Scenario::settle(std::uint64_t write, Outcome outcome, const std::string& version) {
  answers_.push_back(WriteSettled{write, outcome, version, ""});
}

void Scenario::stop_jobs() {
  for (const auto& [key, w] : api_) {
    if (lifecycle::state_of(*w) == lifecycle::State::kEvicting) report_stopped(w->meta.name);
  }
}

void Scenario::report_stopped(const std::string& name) {
  api::kueue::JobReport r;
  r.stopped = true;
  report(name, std::move(r));
}

void Scenario::report(const std::string& name, api::kueue::JobReport r) {
  r.workload_version = workload(name).meta.resource_version;
  feed(JobReported{"ns", name, std::move(r)});
}

void Scenario::finish(const std::string& name, const std::string& reason) {
  api::kueue::JobReport r;
  r.finished = api::kueue::JobReport::Outcome{reason, "done"};
  report(name, std::move(r));
}

void Scenario::report_check(const std::string& name, api::kueue::AdmissionCheckState state) {
  feed(CheckReported{"ns", name, std::move(state)});
}

void Scenario::report_dispatch(DispatchReported report) {
  report.ns = "ns";
  feed(report);
}

void Scenario::check() {
  for (const auto& broken : engine_->check_invariants()) ADD_FAILURE() << broken;
}

const Workload& Scenario::workload(const std::string& name) const {
  static const Workload kNone;
  const auto it = api_.find(key_of(name));
  if (it == api_.end()) ADD_FAILURE() << "no workload " << name;
  return it == api_.end() ? kNone : *it->second;
}

std::string Scenario::state(const std::string& name) const {
  return std::string(lifecycle::name(lifecycle::state_of(workload(name))));
}

std::string Scenario::condition(const std::string& name, std::string_view type) const {
  return test::condition(workload(name).status, type);
}

std::string Scenario::flavor_of(const std::string& name) const {
  const auto& admission = workload(name).status.admission;
  if (!admission || admission->pod_set_assignments.empty()) return "";
  const auto& flavors = admission->pod_set_assignments[0].flavors;
  const auto it = flavors.find("cpu");
  return it == flavors.end() ? "" : it->second;
}

std::string Scenario::places_of(const std::string& name) const {
  const auto& admission = workload(name).status.admission;
  if (!admission || admission->pod_set_assignments.empty() || !admission->pod_set_assignments[0].topology_assignment)
    return "";
  std::string out;
  for (const auto& domain : admission->pod_set_assignments[0].topology_assignment->domains)
    out.append(out.empty() ? "" : " ").append(domain.values.back()).append(":").append(std::to_string(domain.count));
  return out;
}

ClusterQueueStatus Scenario::cluster_queue(std::string_view name) const {
  return engine_->cluster_queue_status(name).value_or(ClusterQueueStatus{});
}

LocalQueueStatus Scenario::local_queue(std::string_view name) const {
  return engine_->local_queue_status("ns", name).value_or(LocalQueueStatus{});
}

std::vector<std::string> Scenario::take_events() { return std::exchange(events_, {}); }

}  // namespace berth::engine::test
