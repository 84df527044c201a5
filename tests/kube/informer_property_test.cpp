// The informer against a server that loses connections, compacts its history and repeats events. Some of these
// servers stream lists, some refuse to, some do not know streamed lists and send the objects without an end mark.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "api/status.h"
#include "kube/informer.h"

namespace berth::kube::informer_property_test {
namespace {

using api::WatchEvent;

// Keeps objects and the log of their changes. Posts every answer to the executor.
class FaultyServer final : public api::RestClient {
 public:
  FaultyServer(VirtualExecutor& executor, std::uint32_t seed)
      : executor_(executor), lists_(Lists(seed % 3)), random_(seed) {}

  std::map<std::string, Json, std::less<>> objects;
  bool healthy = false;  // no more faults

  bool chance(std::uint32_t one_in) {
    random_ = random_ * 1664525u + 1013904223u;
    return !healthy && (random_ >> 16) % one_in == 0;
  }

  void change(int name, bool remove) {
    ++version_;
    const std::string key(1, static_cast<char>('a' + name));
    const auto known = objects.find(key);
    if (remove && known == objects.end()) return;
    const bool is_new = known == objects.end();
    if (is_new) uids_[key] = "uid-" + std::to_string(version_);
    const Json object = JsonObject{
        {"metadata", JsonObject{{"name", key}, {"uid", uids_[key]}, {"resourceVersion", std::to_string(version_)}}}};
    if (remove) {
      objects.erase(known);
    } else {
      objects.insert_or_assign(key, object);
    }
    log_.push_back({version_,
                    {remove   ? WatchEvent::Type::kDeleted
                     : is_new ? WatchEvent::Type::kAdded
                              : WatchEvent::Type::kModified,
                     std::make_shared<const Json>(object)}});
    deliver();
  }
  void compact() { oldest_ = version_ + 1; }
  void break_watch() {
    if (auto w = watch_.lock()) finish(w);
  }

  void call(api::RestRequest request, std::function<void(api::RestResponse)> done) override {
    api::RestResponse response;
    if (chance(3)) {
      response = chance(2) ? api::RestResponse{0, nullptr, {}} : api::internal_error("fault");
    } else if (!request.continue_token.empty() && chance(3)) {
      response = {410, api::make_status(410, "Expired", "expired"), {}};
    } else {
      response = page(request);
    }
    executor_.after(std::chrono::milliseconds(1),
                    [done = std::move(done), response = std::move(response)] { done(response); });
  }

  std::unique_ptr<api::WatchHandle> watch(api::RestRequest request, std::function<void(const WatchEvent&)> on_event,
                                          std::function<void()> on_end) override {
    auto w = std::make_shared<Watch>(Watch{version_, std::move(on_event), std::move(on_end)});
    if (!request.send_initial_events) w->version = std::stoull(request.resource_version);
    watch_ = w;
    if (request.send_initial_events) {
      bring_list(w);
    } else if (w->version + 1 < oldest_) {
      emit(w, {WatchEvent::Type::kError, std::make_shared<const Json>(api::make_status(410, "Expired", "too old"))});
      finish(w);
    } else {
      deliver();
      if (chance(2)) finish(w);
    }
    return std::make_unique<Handle>(Handle(w));
  }

 private:
  struct Watch {
    std::uint64_t version;
    std::function<void(const WatchEvent&)> on_event;
    std::function<void()> on_end;
    bool ending = false;
  };
  struct Handle final : api::WatchHandle {
    explicit Handle(std::shared_ptr<Watch> w) : watch(std::move(w)) {}
    std::shared_ptr<Watch> watch;
  };

  // All pages of a list are from one moment: rest_ holds the objects that are left.
  api::RestResponse page(const api::RestRequest& request) {
    if (request.continue_token.empty()) {
      rest_ = {version_, objects};
    }
    JsonArray items;
    while (!rest_.second.empty() && items.size() < static_cast<std::size_t>(request.limit)) {
      items.push_back(rest_.second.begin()->second);
      rest_.second.erase(rest_.second.begin());
    }
    JsonObject metadata{{"resourceVersion", std::to_string(rest_.first)}};
    if (!rest_.second.empty()) metadata["continue"] = "next";
    return {200, JsonObject{{"metadata", std::move(metadata)}, {"items", std::move(items)}}, {}};
  }

  void bring_list(const std::shared_ptr<Watch>& w) {
    if (lists_ == Lists::kRefused || chance(4)) {
      const int code = lists_ == Lists::kRefused ? 422 : 500;
      emit(w, {WatchEvent::Type::kError, std::make_shared<const Json>(api::make_status(code, "", "no"))});
      return finish(w);
    }
    for (const auto& [name, object] : objects) {
      emit(w, {WatchEvent::Type::kAdded, std::make_shared<const Json>(object)});
      if (chance(6)) return finish(w);
    }
    if (lists_ == Lists::kUnknown) return;
    // Changes may come before the end of the list; the bookmark at the end has the version of the list.
    executor_.after(std::chrono::milliseconds(chance(3) ? 200 : 0), [this, weak = std::weak_ptr(w)] {
      const auto alive = weak.lock();
      if (!alive || alive->ending) return;
      JsonObject metadata{{"resourceVersion", std::to_string(alive->version)},
                          {"annotations", JsonObject{{api::kInitialEventsEnd, "true"}}}};
      emit(alive,
           {WatchEvent::Type::kBookmark, std::make_shared<const Json>(JsonObject{{"metadata", std::move(metadata)}})});
    });
  }

  void emit(const std::shared_ptr<Watch>& w, WatchEvent event) {
    executor_.post([weak = std::weak_ptr(w), event = std::move(event)] {
      if (const auto alive = weak.lock()) alive->on_event(event);
    });
  }
  void deliver() {
    const auto w = watch_.lock();
    if (!w || w->ending) return;
    for (const auto& [version, event] : log_) {
      if (version <= w->version) continue;
      w->version = version;
      emit(w, event);
      if (chance(4)) emit(w, event);  // repeated
    }
    if (chance(4))
      emit(w, {WatchEvent::Type::kBookmark,
               std::make_shared<const Json>(
                   JsonObject{{"metadata", JsonObject{{"resourceVersion", std::to_string(w->version)}}}})});
  }
  void finish(const std::shared_ptr<Watch>& w) {
    if (std::exchange(w->ending, true)) return;
    executor_.post([weak = std::weak_ptr(w)] {
      if (const auto alive = weak.lock()) alive->on_end();
    });
  }

  enum class Lists { kOffered, kRefused, kUnknown };

  VirtualExecutor& executor_;
  Lists lists_;
  std::uint32_t random_;
  std::uint64_t version_ = 1;
  std::uint64_t oldest_ = 0;  // the first version still in the log
  std::vector<std::pair<std::uint64_t, WatchEvent>> log_;
  std::map<std::string, std::string> uids_;
  std::pair<std::uint64_t, std::map<std::string, Json, std::less<>>> rest_;
  std::weak_ptr<Watch> watch_;
};

struct Step {
  int kind, name, milliseconds;
};

RC_GTEST_PROP(InformerProperty, EndsUpWithTheServersObjectsAndTellsEveryChangeOnce, (std::uint32_t seed)) {
  VirtualExecutor executor{Time{} + std::chrono::seconds(1'000'000)};
  FaultyServer server(executor, seed);
  InformerOptions options;
  options.page_size = 2;
  options.seed = seed;
  Informer informer(server, executor, {"", "v1", "things"}, options);
  std::map<std::string, JsonPtr, std::less<>> reported;
  informer.on_change([&](const JsonPtr& old, const JsonPtr& now) {
    const std::string name(string_at(now ? *now : *old, {"metadata", "name"}));
    if (old && now) {
      RC_ASSERT(reported.at(name) == old);
      RC_ASSERT(string_at(*old, {"metadata", "uid"}) == string_at(*now, {"metadata", "uid"}));
      RC_ASSERT(std::stoull(std::string(string_at(*old, {"metadata", "resourceVersion"}))) <
                std::stoull(std::string(string_at(*now, {"metadata", "resourceVersion"}))));
    }
    RC_ASSERT(reported.count(name) == (old ? 1u : 0u));
    if (now) {
      reported[name] = now;
    } else {
      reported.erase(name);
    }
  });
  informer.start();
  const auto steps = *rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::inRange(0, 8), rc::gen::inRange(0, 6), rc::gen::inRange(0, 300)));
  for (const Step& step : steps) {
    if (step.kind < 4) server.change(step.name, false);
    if (step.kind == 4 || step.kind == 5) server.change(step.name, true);
    if (step.kind == 6) server.compact();
    if (step.kind == 7) server.break_watch();
    executor.run_until(executor.now() + std::chrono::milliseconds(step.milliseconds));
  }
  server.healthy = true;
  executor.run_until(executor.now() + std::chrono::minutes(2));
  RC_ASSERT(informer.synced());
  RC_ASSERT(informer.list().size() == server.objects.size());
  RC_ASSERT(reported.size() == server.objects.size());
  for (const auto& [name, object] : server.objects) {
    RC_ASSERT(json_equal(*informer.get(name), object));
    RC_ASSERT(json_equal(*reported.at(name), object));
  }
}

}  // namespace
}  // namespace berth::kube::informer_property_test
