#include "kube/informer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/meta.h"
#include "api/resource_version.h"
#include "base/log.h"
#include "base/random.h"

namespace berth::kube {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::version_number;
using api::WatchEvent;

std::string key_of(const Json& object) {
  return api::object_key(string_at(object, {"metadata", "namespace"}),
                         string_at(object, {"metadata", "name"}));
}

std::string_view version_of(const Json& object) { return string_at(object, {"metadata", "resourceVersion"}); }

bool same_object(const Json& a, const Json& b) {
  return string_at(a, {"metadata", "uid"}) == string_at(b, {"metadata", "uid"});
}

}  // namespace

// Listing -> watching -> (ended, failed) -> watching or listing again. At most one request, watch or timer is
// under way.
struct Informer::Impl : std::enable_shared_from_this<Informer::Impl> {
  Impl(api::RestClient& c, Executor& e, api::GroupVersionResource r, InformerOptions o)
      : client(c),
        executor(e),
        resource(std::move(r)),
        options(std::move(o)),
        random(options.seed),
        backoff(options.first_backoff) {}

  api::RestClient& client;
  Executor& executor;
  api::GroupVersionResource resource;
  InformerOptions options;
  std::vector<ObjectHandler> handlers;
  std::vector<std::function<void()>> synced_handlers;
  std::function<void(const RestResponse&)> list_handler;

  std::map<std::string, JsonPtr, std::less<>> objects;
  std::string version;  // of the newest event or list that was taken in
  bool is_synced = false;
  std::uint64_t random;
  Duration backoff;
  TimerId timer = 0;
  std::unique_ptr<api::WatchHandle> handle;
  std::uint64_t epoch = 0;  // counts watches: callbacks of an ended one are ignored
  bool watch_brought_news = false;
  bool must_list = false;
  bool refused = false;       // this watch, for want of permission
  bool told_refusal = false;  // until a watch works again
  std::vector<JsonPtr> page_items;
  std::uint64_t lists = 0;  // counts lists that were begun anew: pages of an abandoned one are ignored
  std::vector<std::function<void()>> read_handlers;

  RestRequest request(api::Verb verb) const {
    RestRequest r;
    r.verb = verb;
    r.resource = resource;
    r.ns = options.ns;
    r.label_selector = options.label_selector;
    r.field_selector = options.field_selector;
    return r;
  }

  void notify(const JsonPtr& old, const JsonPtr& now) {
    for (const auto& handler : handlers) handler(old, now);
  }

  void retry(bool list_again) {
    // Half fixed, half random, so that many clients do not come back at once.
    const auto half = backoff.count() / 2;
    const Duration wait(
        half + static_cast<Duration::rep>(next_random(random) % static_cast<std::uint64_t>(half + 1)));
    backoff = std::min(backoff * 2, options.max_backoff);
    timer = executor.after(wait, [self = weak_from_this(), list_again] {
      const auto impl = self.lock();
      if (!impl) return;
      impl->timer = 0;
      if (list_again) {
        impl->list_from_start();
      } else {
        impl->watch();
      }
    });
  }

  void list_from_start() {
    page_items.clear();
    list_page({});
  }

  void read_anew(std::function<void()> done) {
    read_handlers.push_back(std::move(done));
    ++lists;
    ++epoch;
    handle.reset();
    if (timer != 0) executor.cancel(std::exchange(timer, 0));
    list_from_start();
  }

  void list_page(std::string continue_token) {
    RestRequest r = request(api::Verb::kList);
    r.limit = options.page_size;
    r.continue_token = std::move(continue_token);
    client.call(std::move(r), [self = weak_from_this(), mine = lists](RestResponse response) {
      const auto impl = self.lock();
      if (impl && impl->lists == mine) impl->take_page(std::move(response));
    });
  }

  void take_page(RestResponse response) {
    if (!response.ok()) {
      log::debug("list failed", {{"resource", resource.resource}, {"code", response.code}});
      retry(true);
      if (list_handler) list_handler(response);
      return;
    }
    if (auto* object = response.body.if_object()) {
      if (auto* items = object->if_contains("items"); items != nullptr && items->is_array()) {
        for (auto& item : items->as_array())
          page_items.push_back(std::make_shared<const Json>(std::move(item)));
      }
    }
    const std::string next(string_at(response.body, {"metadata", "continue"}));
    if (!next.empty()) {
      list_page(next);
      return;
    }
    if (take_list(std::string(version_of(response.body))) && list_handler) list_handler(response);
  }

  // False for an answer from the past, which is not taken in.
  bool take_list(std::string list_version) {
    if (version_number(list_version) < version_number(version)) {
      retry(true);
      return false;
    }
    version = std::move(list_version);
    backoff = options.first_backoff;
    std::map<std::string, JsonPtr, std::less<>> before = std::exchange(objects, {});
    for (JsonPtr& item : page_items) {
      const std::string key = key_of(*item);
      // What did not change stays the document that others hold.
      const auto it = before.find(key);
      if (it != before.end() && same_object(*it->second, *item) &&
          version_of(*it->second) == version_of(*item))
        item = it->second;
      objects.insert_or_assign(key, std::move(item));
    }
    page_items.clear();
    for (const auto& [key, old] : before) {
      const auto it = objects.find(key);
      // The same name with another uid is another object: the first one's deletion was missed.
      if (it == objects.end() || !same_object(*it->second, *old)) notify(old, nullptr);
    }
    // Handlers may look at the cache, never change it: iterating is safe.
    for (const auto& [key, now] : objects) {
      const auto it = before.find(key);
      if (it == before.end() || !same_object(*it->second, *now)) {
        notify(nullptr, now);
      } else if (it->second != now) {
        notify(it->second, now);
      }
    }
    if (!std::exchange(is_synced, true)) {
      for (const auto& handler : synced_handlers) handler();
    }
    watch();
    for (const auto& handler : std::exchange(read_handlers, {})) handler();
    return true;
  }

  void watch() {
    RestRequest r = request(api::Verb::kWatch);
    r.resource_version = version;
    r.allow_bookmarks = true;
    const std::uint64_t mine = ++epoch;
    watch_brought_news = false;
    must_list = false;
    handle = client.watch(
        std::move(r),
        [self = weak_from_this(), mine](const WatchEvent& event) {
          const auto impl = self.lock();
          if (impl && impl->epoch == mine) impl->take(event);
        },
        [self = weak_from_this(), mine] {
          const auto impl = self.lock();
          if (impl && impl->epoch == mine) impl->ended();
        });
  }

  void take(const WatchEvent& event) {
    if (event.type == WatchEvent::Type::kError) {
      const auto code = int_at(*event.object, {"code"});
      must_list = must_list || code == 410;
      refused = code == 403;
      if (refused && !std::exchange(told_refusal, true)) {
        log::warn("may not be watched; listing it now and then instead",
                  {{"resource", resource.resource}, {"why", string_at(*event.object, {"message"})}});
      }
      return;
    }
    const std::string_view seen = version_of(*event.object);
    const std::uint64_t number = version_number(seen);
    if (number != 0 &&
        number <= version_number(version)) {  // repeated or late; a bookmark may say nothing new
      return;
    }
    watch_brought_news = true;
    told_refusal = false;
    backoff = options.first_backoff;
    version = seen;
    if (event.type == WatchEvent::Type::kBookmark) return;
    const std::string key = key_of(*event.object);
    const auto it = objects.find(key);
    if (event.type == WatchEvent::Type::kDeleted) {
      if (it == objects.end()) return;
      objects.erase(it);
      notify(event.object, nullptr);
      return;
    }
    const JsonPtr old = it == objects.end() ? nullptr : it->second;
    if (old && !same_object(*old, *event.object)) {
      objects.erase(it);
      notify(old, nullptr);
      objects.emplace(key, event.object);
      notify(nullptr, event.object);
      return;
    }
    objects.insert_or_assign(key, event.object);
    notify(old, event.object);
  }

  void ended() {
    ++epoch;
    if (std::exchange(refused, false)) {
      backoff = options.max_backoff;
      retry(true);
    } else if (must_list && watch_brought_news) {
      list_from_start();
    } else if (must_list) {
      retry(true);  // a list that expires before its watch begins: do not spin
    } else if (watch_brought_news) {
      executor.post([self = weak_from_this()] {
        if (const auto impl = self.lock()) impl->watch();
      });
    } else {
      retry(false);
    }
  }
};

Informer::Informer(api::RestClient& client, Executor& executor, api::GroupVersionResource resource,
                   InformerOptions options)
    : impl_(std::make_shared<Impl>(client, executor, std::move(resource), std::move(options))) {}

Informer::~Informer() {
  if (impl_->timer != 0) impl_->executor.cancel(impl_->timer);
}

void Informer::on_change(ObjectHandler handler) { impl_->handlers.push_back(std::move(handler)); }
void Informer::on_synced(std::function<void()> handler) {
  impl_->synced_handlers.push_back(std::move(handler));
}
void Informer::on_list(std::function<void(const api::RestResponse&)> handler) {
  impl_->list_handler = std::move(handler);
}
void Informer::start() { impl_->list_from_start(); }
void Informer::read_anew(std::function<void()> done) { impl_->read_anew(std::move(done)); }
bool Informer::synced() const { return impl_->is_synced; }

JsonPtr Informer::get(std::string_view key) const {
  const auto it = impl_->objects.find(key);
  return it == impl_->objects.end() ? nullptr : it->second;
}

std::vector<JsonPtr> Informer::list(std::string_view ns) const {
  std::vector<JsonPtr> found;
  const std::string prefix = ns.empty() ? std::string() : std::string(ns) + "/";
  for (auto it = impl_->objects.lower_bound(prefix); it != impl_->objects.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    found.push_back(it->second);
  }
  return found;
}

const std::string& Informer::resource_version() const { return impl_->version; }
const api::GroupVersionResource& Informer::resource() const { return impl_->resource; }

}  // namespace berth::kube
