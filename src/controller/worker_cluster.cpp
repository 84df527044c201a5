#include "controller/worker_cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/text.h"
#include "controller/worker_rights.h"
#include "multikueue/names.h"

namespace berth::controller {
namespace {

using multikueue::kOriginLabel;

// How often a connected cluster is asked for a sign of life.
constexpr Duration kPing = std::chrono::seconds(10);
// After a failure the next attempt comes after 5, 10, 20, ... 320 seconds, as in Kueue.
constexpr Duration kFirstAttempt = std::chrono::seconds(5);
constexpr int kMostDoublings = 6;
constexpr std::string_view kMissingPermissions = "MissingPermissions";
constexpr Duration kBelieveForeign = std::chrono::minutes(1);
// A connection that is not complete after this counts as failed.
constexpr Duration kCompleteWithin = std::chrono::minutes(1);
// A connection that held so long counts: what is lost later is lost anew.
constexpr Duration kHeld = std::chrono::seconds(30);

kube::InformerOptions only_of(const std::string& origin, kube::InformerOptions options) {
  options.label_selector = std::string(kOriginLabel) + "=" + origin;
  return options;
}

}  // namespace

WorkerCluster::Link::Link(Shell& shell, std::unique_ptr<api::RestClient> made, const std::string& origin,
                          WorkQueue::Work work)
    : client(std::move(made)),
      writes(*client, shell.executor),
      copies(*client, shell.executor, api::kWorkloads, only_of(origin, shell.informer_options(false)),
             multikueue::seen_copy),
      queue(shell.executor, std::move(work), Duration(0), nullptr, kLooksInFlight) {
  writes.allow_until(shell.writes.limit());
}

WorkerCluster::WorkerCluster(Shell& shell, std::string name, SenderOf sender, Handlers handlers)
    : shell_(shell),
      name_(std::move(name)),
      origin_(shell.options.multikueue.origin),
      sender_(std::move(sender)),
      handlers_(std::move(handlers)),
      lost_since_(shell.executor.now()) {}

WorkerCluster::~WorkerCluster() {
  if (timer_ != 0) shell_.executor.cancel(timer_);
}

void WorkerCluster::at(Duration wait, void (WorkerCluster::*what)()) {
  if (closed_) return;
  if (timer_ != 0) shell_.executor.cancel(timer_);
  timer_ = shell_.executor.after(wait, lifetime_.guard([this, what] {
    timer_ = 0;
    (this->*what)();
  }));
}

void WorkerCluster::say(bool is_connected, Unusable what) {
  if (is_connected == connected_ && what == says_) return;
  const Time now = shell_.executor.now();
  if (!connected_ && is_connected) connected_since_ = now;
  if (connected_ && !is_connected) {
    if (now - connected_since_ >= kHeld) lost_since_ = now;
    for (Kind& kind : needed_) kind.unknown_since = std::min(kind.unknown_since.value_or(lost_since_), lost_since_);
  }
  connected_ = is_connected;
  says_ = std::move(what);
  handlers_.reported();
}

void WorkerCluster::close(std::shared_ptr<void> token) {
  closed_ = true;
  if (timer_ != 0) shell_.executor.cancel(std::exchange(timer_, 0));
  if (link_) link_->writes.close([token = std::move(token)] {});
}

void WorkerCluster::use(const std::string& text) {
  if (closed_) return;
  if (text == text_ && !text_.empty()) return;
  auto access = worker_access(text, "the kubeconfig of MultiKueueCluster \"" + name_ + "\"");
  if (auto* why = std::get_if<Unusable>(&access)) return leave(std::move(*why));
  access_ = std::get<kube::Access>(std::move(access));
  text_ = text;
  attempts_ = 0;
  missing_ = {};
  for (Kind& kind : needed_) kind.missing = {};
  // The new caches are empty at first, which must not look as if the copies were gone.
  link_.reset();
  if (connected_) say(false, {std::string(kConnectionFailed), "connecting with another kubeconfig"});
  connect();
}

void WorkerCluster::leave(Unusable why) {
  text_.clear();
  access_ = {};
  link_.reset();
  if (timer_ != 0) shell_.executor.cancel(std::exchange(timer_, 0));
  say(false, std::move(why));
}

void WorkerCluster::connect() {
  link_.reset();
  auto client = shell_.options.multikueue.connect(shell_.executor, access_);
  if (!client) return leave({"BadRestConfig", "load client config failed: " + client.error().message});
  link_ = std::make_unique<Link>(shell_, std::move(*client), origin_, handlers_.work);
  link_->copies.on_change(
      [this](const std::string& key, const auto& old, const auto& now) { copy_changed(key, old, now); });
  kube::Informer& copies = link_->copies.informer();
  // The client makes no callback inside of a call, so this runs after all have started.
  copies.on_synced(link_->lifetime.guard([this] { look_whether_complete(); }));
  copies.on_list(link_->lifetime.guard([this](const api::RestResponse& response) { listed(response); }));
  at(kCompleteWithin, &WorkerCluster::ping);
  ask_about_copies();
}

// What runs there goes on without these rights, as far as it can be seen.
void WorkerCluster::ask_about_copies() {
  std::vector<WantedRights> wanted = rights_for_copies();
  std::ranges::move(rights_for(*needed_.front().rules), std::back_inserter(wanted));
  ask_for_rights(*link_->client, std::move(wanted), link_->lifetime.guard([this](const MissingRights& missing) {
    const bool is_new = std::exchange(missing_, missing) != missing;
    if (missing.needed)
      shell_.executor.after(kAskForRightsAgain, link_->lifetime.guard([this] { ask_about_copies(); }));
    if (link_->jobs.empty()) return begin();
    if (is_new) report_kinds();
  }));
}

std::string WorkerCluster::missing_text() const {
  return "the account of the kubeconfig may not do there: " + missing_.text +
         "; docs/multikueue.md lists all that it must be allowed to do";
}

void WorkerCluster::begin() {
  link_->copies.informer().start();
  for (Kind& kind : needed_) watch_jobs(kind);
}

template <typename Ptr>
void WorkerCluster::count(const Ptr& old, const Ptr& now) {
  const MultiKueueOptions& options = shell_.options.multikueue;
  const bool was_fine = link_->objects <= options.most_objects && link_->bytes <= options.most_bytes;
  if (old) {
    --link_->objects;
    link_->bytes -= bytes_of(*old);
  }
  if (now) {
    ++link_->objects;
    link_->bytes += bytes_of(*now);
  }
  if (!was_fine || (link_->objects <= options.most_objects && link_->bytes <= options.most_bytes)) return;
  // Not here: the informer that calls goes away with the link.
  shell_.executor.post(link_->lifetime.guard([this] {
    const MultiKueueOptions& most = shell_.options.multikueue;
    failed("TooManyObjects", "it shows more than " + std::to_string(most.most_objects) + " objects or " +
                                 std::to_string(most.most_bytes >> 20) + " MiB with the label " +
                                 std::string(kOriginLabel) + "=" + origin_ + ": delete there what is not needed");
  }));
}

template void WorkerCluster::count(const JobPtr& old, const JobPtr& now);

void WorkerCluster::copy_changed(const std::string& key, const CopyPtr& old, const CopyPtr& now) {
  count(old, now);
  if (!is_of_another(now) && !is_of_another(old)) {
    if (connected_) handlers_.changed(key);
    return;
  }
  if (is_of_another(now))
    link_->of_others.insert(key);
  else
    link_->of_others.erase(key);
  if (connected_) say(true, active());
  if (connected_) handlers_.changed(key);
}

Unusable WorkerCluster::active() const {
  if (missing_.needed) return {std::string(kMissingPermissions), missing_text()};
  std::string message = "Connected" + about_kinds();
  // Which copy it names does not change while that one is there.
  const auto named = std::ranges::find_if(link_->of_others, [this](const std::string& key) {
    return says_.message.find("Workload " + key + " ") != std::string::npos;
  });
  if (!link_->of_others.empty())
    message +=
        ", but another manager has the same origin: Workload " +
        (named == link_->of_others.end() ? *link_->of_others.begin() : *named) +
        " is not of this one. Give each manager a multiKueue.origin of its own; until then none deletes what the "
        "other made";
  return {"Active", std::move(message)};
}

void WorkerCluster::listed(const api::RestResponse& response) {
  if (response.ok()) return;
  // Not here: the informer that calls goes away with the link.
  shell_.executor.post(link_->lifetime.guard([this, response] { failed(response); }));
}

void WorkerCluster::look_whether_complete() {
  if (connected_ || !link_->copies.informer().synced() || link_->jobs.front()->state != Jobs::State::kThere) return;
  at(kPing, &WorkerCluster::ping);
  say(true, active());
}

// Asks for what the caches need anyway: so lost rights are seen, too.
void WorkerCluster::ping() {
  if (!link_) return connect();
  if (!connected_) return failed({0, api::make_status(0, "", "it did not list its workloads and jobs in time"), {}});
  api::RestRequest request;
  request.verb = api::Verb::kList;
  request.resource = api::kWorkloads;
  request.label_selector = std::string(kOriginLabel) + "=" + origin_;
  request.limit = 1;
  request.wants_metadata_only = true;
  // A request that gets no answer for so long is one that failed; then the link goes away with it.
  const auto answered = std::make_shared<bool>(false);
  at(kPing, &WorkerCluster::ping);
  shell_.executor.after(kPing - std::chrono::milliseconds(1), link_->lifetime.guard([this, answered] {
    if (!std::exchange(*answered, true)) failed({0, api::make_status(0, "", "it does not answer"), {}});
  }));
  link_->client->call(std::move(request), link_->lifetime.guard([this, answered](const api::RestResponse& response) {
    if (!std::exchange(*answered, true)) pinged(response);
  }));
}

void WorkerCluster::pinged(const api::RestResponse& response) {
  if (!response.ok()) shell_.executor.post(link_->lifetime.guard([this, response] { failed(response); }));
}

void WorkerCluster::failed(const api::RestResponse& response) {
  if (response.code == 403 && missing_.needed) return failed(kMissingPermissions, missing_text());
  failed(kConnectionFailed, api::failure_text(response));
}

void WorkerCluster::failed(std::string_view reason, std::string_view text) {
  link_.reset();
  if (connected_ && shell_.executor.now() - connected_since_ >= kHeld) attempts_ = 0;
  Duration wait = kFirstAttempt * (1 << std::min(attempts_, kMostDoublings));
  if (reason == kMissingPermissions) wait = std::min(wait, kAskForRightsAgain);
  ++attempts_;
  at(wait, &WorkerCluster::connect);
  const Time next = shell_.executor.now() + wait;
  // The worker chose the text.
  const std::string why(cut_text(text, kMostOfWorkersText));
  if (attempts_ == 1) log::warn("a worker cluster cannot be reached; trying again", {{"cluster", name_}, {"why", why}});
  say(false, {std::string(reason), why + "; connection attempts: " + std::to_string(attempts_) +
                                       ", next connection attempt: " + format_time(next)});
}

void WorkerCluster::look_soon(const std::string& key) {
  if (connected_) link_->queue.add(key);
}

WorkerCluster::CopyPtr WorkerCluster::copy(const std::string& key) const {
  CopyPtr known = link_ ? link_->copies.get(key) : nullptr;
  return is_of_another(known) ? nullptr : known;
}

std::vector<WorkerCluster::JobPtr> WorkerCluster::jobs(const std::string& key) const {
  std::vector<JobPtr> out;
  if (!link_) return out;
  const auto found = link_->jobs_of.find(key);
  if (found == link_->jobs_of.end()) return out;
  for (const JobRef& job : found->second) {
    auto known = link_->jobs[job.kind]->cache.get(job.key);
    if (known && !sender_().is_other(known->manager)) out.push_back(std::move(known));
  }
  return out;
}

std::set<std::string> WorkerCluster::keys() const {
  std::set<std::string> out;
  if (!link_) return out;
  for (const auto& [key, copy] : link_->copies.all()) {
    if (!is_of_another(copy)) out.insert(key);
  }
  for (const auto& [key, refs] : link_->jobs_of) {
    if (!jobs(key).empty()) out.insert(key);
  }
  return out;
}

bool WorkerCluster::foreign_copy(const std::string& key) const {
  if (link_ && link_->of_others.contains(key)) return true;
  const auto it = foreign_.find({key, false});
  return it != foreign_.end() && shell_.executor.now() < it->second;
}
bool WorkerCluster::foreign_job(const std::string& key) const {
  const auto it = foreign_.find({key, true});
  return it != foreign_.end() && shell_.executor.now() < it->second;
}

void WorkerCluster::found_foreign(const std::string& key, bool job) {
  const Time now = shell_.executor.now();
  std::erase_if(foreign_, [now](const auto& one) { return one.second <= now; });
  foreign_[{key, job}] = now + kBelieveForeign;
  shell_.executor.after(kBelieveForeign, lifetime_.guard([this, key] { handlers_.changed(key); }));
  handlers_.changed(key);
}

}  // namespace berth::controller
