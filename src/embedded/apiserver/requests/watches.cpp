#include "embedded/apiserver/requests/watches.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "api/status.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/core.h"
#include "embedded/apiserver/requests/handlers.h"
#include "embedded/apiserver/requests/selection.h"

namespace berth::apiserver {
namespace {

constexpr Duration kBookmarkEvery = std::chrono::minutes(1);
constexpr std::int64_t kShortestLife = 30 * 60;  // seconds, for a watch without timeoutSeconds; at most twice that
constexpr std::int64_t kLongestLife = 365 * 24 * 3600;  // seconds: more cannot be added to the clock
constexpr std::size_t kEventsPerTurn = 256;             // after that many, yield to other tasks of the executor

using Type = api::WatchEvent::Type;

}  // namespace

// One watch. Watches holds it while it waits for changes; it lives as long as its handle or a posted turn holds it.
class Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(Core& core, ResourcePtr resource, Selection selection, Watches::OnEvent on_event, Watches::OnEnd on_end)
      : core_(core),
        executor_(core.executor),
        resource_(std::move(resource)),
        selection_(std::move(selection)),
        on_event_(std::move(on_event)),
        on_end_(std::move(on_end)),
        bucket_(bucket_of(*resource_)),
        prefix_(selection_.prefix()) {}

  void listen() { left_ = false; }  // called when it is added to Watches
  void begin(const api::RestRequest& request);
  void see(const Change& change);
  void refuse(api::RestResponse response);  // sends an error event, then ends
  void finish();                            // sends the queued events, then ends
  void cancel();                            // ends without sending anything
  void hold(bool on);
  const ResourceInfo& resource() const { return *resource_; }
  const std::string& bucket() const { return bucket_; }

 private:
  void start_from(const api::RestRequest& request);
  void send_initial();
  void replay(Revision from);
  void push(Type type, JsonPtr object);
  void bookmark(bool initial_end);
  void arm_timers(const api::RestRequest& request);
  void schedule();
  void turn();
  void leave();  // removes it from Watches

  Core& core_;  // not used after leave(): the server may be destroyed
  Executor& executor_;
  ResourcePtr resource_;
  Selection selection_;
  Watches::OnEvent on_event_;
  Watches::OnEnd on_end_;
  const std::string bucket_, prefix_;
  std::deque<api::WatchEvent> queue_;
  std::size_t unbounded_ = 0;  // initial events in `queue_`; they do not count against the buffer limit
  Revision seen_ =
      std::numeric_limits<Revision>::max();  // changes up to this revision are skipped; before the start: all
  bool bookmarks_ = false;
  bool posted_ = false;
  bool held_ = false;
  bool ending_ = false;
  bool closed_ = false;
  bool left_ = true;
  std::uint64_t waiting_ = 0;
  TimerId timeout_ = 0, next_bookmark_ = 0;
};

void Watch::begin(const api::RestRequest& request) {
  bookmarks_ = request.allow_bookmarks;
  const Revision from = request.resource_version.empty() ? 0 : *parse_revision(request.resource_version);
  if (request.send_initial_events.value_or(false) && from > core_.store.durable()) {
    waiting_ = core_.freshness.wait(from, [self = shared_from_this(), request, from](bool reached) {
      self->waiting_ = 0;
      if (self->closed_) return;
      if (reached) {
        self->start_from(request);
      } else {
        self->refuse(version_too_large(from, self->core_.store.durable()));
      }
    });
    return;
  }
  start_from(request);
}

void Watch::start_from(const api::RestRequest& request) {
  const bool any = request.resource_version.empty() || request.resource_version == "0";
  const Revision from = any ? 0 : *parse_revision(request.resource_version);
  const bool initial = request.send_initial_events.value_or(any);
  if (initial) {
    send_initial();
  } else if (any) {
    seen_ = core_.store.durable();
  } else if (from < core_.store.floor()) {
    return refuse(expired(
        "too old resource version: " + std::to_string(from) + " (" + std::to_string(core_.store.floor()) + ")", ""));
  } else {
    replay(from);
  }
  arm_timers(request);
  schedule();
}

void Watch::send_initial() {
  seen_ = core_.store.durable();
  core_.store.scan(bucket_, prefix_, "", seen_, [&](std::string_view, const JsonPtr& stored) {
    const JsonPtr object = in_version(core_, *resource_, stored);
    if (selection_.matches(*object)) queue_.push_back({Type::kAdded, object});
    return true;
  });
  if (bookmarks_) bookmark(true);
  unbounded_ = queue_.size();
}

void Watch::replay(Revision from) {
  seen_ = from;
  if (from < core_.store.durable()) {
    core_.store.replay(bucket_, from, [&](const Change& change) { see(change); });
  }
  seen_ = std::max(from, core_.store.durable());
  unbounded_ = queue_.size();
}

void Watch::see(const Change& change) {
  if (closed_ || ending_ || change.revision <= seen_) return;
  const std::string_view item = std::string_view(change.key).substr(bucket_.size());
  if (!item.starts_with(prefix_)) return;
  const bool gone = change.type == Change::Type::kDeleted;
  const JsonPtr before = change.previous == nullptr ? nullptr : in_version(core_, *resource_, change.previous);
  const bool matched = before != nullptr && selection_.matches(*before);
  if (gone) {
    if (matched) push(Type::kDeleted, in_version(core_, *resource_, change.object));
    return;
  }
  JsonPtr object = in_version(core_, *resource_, change.object);
  const bool matches = selection_.matches(*object);
  if (matches) {
    push(matched ? Type::kModified : Type::kAdded, std::move(object));
  } else if (matched) {
    Json last = *before;
    ensure_path(last, {"metadata", "resourceVersion"}) = std::to_string(change.revision);
    push(Type::kDeleted, std::make_shared<const Json>(std::move(last)));
  }
}

void Watch::push(Type type, JsonPtr object) {
  if (queue_.size() >= unbounded_ + core_.options.watch_buffer) return finish();
  queue_.push_back({type, std::move(object)});
  schedule();
}

void Watch::bookmark(bool initial_end) {
  JsonObject metadata{{"resourceVersion", std::to_string(std::max(seen_, core_.store.durable()))}};
  if (initial_end) metadata["annotations"] = JsonObject{{api::kInitialEventsEnd, "true"}};
  queue_.push_back({Type::kBookmark, std::make_shared<const Json>(JsonObject{{"kind", resource_->kind},
                                                                             {"apiVersion", api_version_of(*resource_)},
                                                                             {"metadata", std::move(metadata)}})});
}

void Watch::arm_timers(const api::RestRequest& request) {
  // 0 means no timeout, as in kube-apiserver, where a negative one ends the watch at once.
  const std::int64_t asked = request.timeout_seconds.value_or(0);
  const std::int64_t life = asked != 0 ? std::clamp<std::int64_t>(asked, 0, kLongestLife)
                                       : kShortestLife + static_cast<std::int64_t>(core_.names.below(kShortestLife));
  timeout_ = executor_.after(std::chrono::seconds(life), [self = shared_from_this()] {
    self->timeout_ = 0;
    if (self->bookmarks_ && !self->ending_) self->bookmark(false);
    self->finish();
  });
  if (!bookmarks_) return;
  struct Again {
    std::shared_ptr<Watch> self;
    void operator()() const {
      if (self->closed_ || self->ending_) return;
      self->bookmark(false);
      self->next_bookmark_ = self->executor_.after(kBookmarkEvery, *this);
      self->schedule();
    }
  };
  next_bookmark_ = executor_.after(kBookmarkEvery, Again{shared_from_this()});
}

void Watch::refuse(api::RestResponse response) {
  queue_.push_back({Type::kError, std::make_shared<const Json>(std::move(response.body))});
  finish();
}

void Watch::finish() {
  if (ending_ || closed_) return;
  ending_ = true;
  leave();
  schedule();
}

void Watch::cancel() {
  closed_ = true;
  queue_.clear();
  leave();
}

void Watch::hold(bool on) {
  held_ = on;
  schedule();
}

void Watch::leave() {
  if (left_) return;
  left_ = true;
  if (timeout_ != 0) executor_.cancel(timeout_);
  if (next_bookmark_ != 0) executor_.cancel(next_bookmark_);
  if (waiting_ != 0) core_.freshness.cancel(waiting_);
  timeout_ = next_bookmark_ = 0;
  waiting_ = 0;
  core_.watches->remove(this);
}

void Watch::schedule() {
  if (posted_ || held_ || closed_ || (queue_.empty() && !ending_)) return;
  posted_ = true;
  executor_.post([self = shared_from_this()] { self->turn(); });
}

void Watch::turn() {
  posted_ = false;
  for (std::size_t n = 0; n < kEventsPerTurn && !queue_.empty() && !closed_ && !held_; ++n) {
    const api::WatchEvent event = std::move(queue_.front());
    queue_.pop_front();
    if (unbounded_ > 0) --unbounded_;
    on_event_(event);
  }
  if (closed_ || held_) return;
  if (!queue_.empty()) return schedule();
  if (!ending_) return;
  closed_ = true;
  if (on_end_) on_end_();
}

namespace {

class Handle final : public api::WatchHandle {
 public:
  explicit Handle(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~Handle() override { watch_->cancel(); }
  void hold(bool on) override { watch_->hold(on); }

 private:
  std::shared_ptr<Watch> watch_;
};

}  // namespace

Watches::~Watches() {
  auto all = std::move(by_bucket_);
  by_bucket_.clear();
  for (auto& [bucket, watches] : all) {
    for (const auto& watch : watches) watch->cancel();
  }
}

std::unique_ptr<api::WatchHandle> Watches::start(ResourcePtr resource, const api::RestRequest& request,
                                                 OnEvent on_event, OnEnd on_end) {
  static const ResourcePtr kNone = std::make_shared<const ResourceInfo>();
  const bool served = resource != nullptr;
  auto selection = served ? Selection::parse(*resource, request) : Result<Selection>(Selection{});
  auto watch = std::make_shared<Watch>(core_, served ? std::move(resource) : kNone,
                                       selection ? *selection : Selection{}, std::move(on_event), std::move(on_end));
  if (!served) {
    watch->refuse(not_served());
  } else if (auto refusal = check_list_options(request)) {
    watch->refuse(std::move(*refusal));
  } else if (!selection) {
    watch->refuse(api::bad_request(selection.error().message));
  } else {
    by_bucket_[watch->bucket()].push_back(watch);
    watch->listen();
    watch->begin(request);
  }
  return std::make_unique<Handle>(std::move(watch));
}

void Watches::on_change(const Change& change) {
  const auto key = parse_key(change.key);
  const auto it = by_bucket_.find(key->bucket);
  if (it == by_bucket_.end()) return;
  // Iterate over a copy: a watch that falls behind removes itself from the list.
  const auto watches = it->second;
  for (const auto& watch : watches) watch->see(change);
}

void Watches::end_all(const api::GroupVersionResource& gvr) {
  std::vector<std::shared_ptr<Watch>> ending;
  for (const auto& [bucket, watches] : by_bucket_) {
    for (const auto& watch : watches) {
      if (watch->resource().gvr == gvr) ending.push_back(watch);
    }
  }
  for (const auto& watch : ending) watch->finish();
}

std::size_t Watches::size() const {
  std::size_t n = 0;
  for (const auto& [bucket, watches] : by_bucket_) n += watches.size();
  return n;
}

void Watches::remove(const Watch* watch) {
  const auto it = by_bucket_.find(watch->bucket());
  if (it == by_bucket_.end()) return;
  std::erase_if(it->second, [&](const auto& entry) { return entry.get() == watch; });
  if (it->second.empty()) by_bucket_.erase(it);
}

}  // namespace berth::apiserver
