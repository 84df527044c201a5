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

std::string_view uid_of(const Json& object) { return string_at(object, {"metadata", "uid"}); }

// An object of the copy, or who it is.
struct Known {
  JsonPtr object;            // null when objects are not kept
  std::string uid, version;  // empty when they are
  std::uint64_t seen = 0;    // in which list, last

  std::string_view uid_now() const { return object ? uid_of(*object) : std::string_view(uid); }
  std::string_view version_now() const { return object ? version_of(*object) : std::string_view(version); }
};

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

  std::map<std::string, Known, std::less<>> objects;
  std::string version;  // of the newest event or list that was taken in
  bool is_synced = false;
  std::uint64_t random;
  Duration backoff;
  TimerId timer = 0;
  std::unique_ptr<api::WatchHandle> handle;
  std::uint64_t epoch = 0;  // counts watches: callbacks of an ended one are ignored
  bool watch_brought_news = false;
  bool must_list = false;
  bool refused = false;          // this watch, for want of permission
  bool told_refusal = false;     // until a watch works again
  std::uint64_t lists = 0;       // begun so far: pages of an abandoned one are ignored
  std::vector<JsonPtr> changed;  // what a list after the first says anew, taken in when it is complete
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

  // What handlers get as the object that was.
  static JsonPtr old_of(const std::string& key, const Known& known) {
    if (known.object) return known.object;
    const auto slash = key.find('/');
    JsonObject metadata{{"name", key.substr(slash == std::string::npos ? 0 : slash + 1)},
                        {"uid", known.uid},
                        {"resourceVersion", known.version}};
    if (slash != std::string::npos) metadata["namespace"] = key.substr(0, slash);
    return std::make_shared<const Json>(JsonObject{{"metadata", std::move(metadata)}});
  }

  void keep(Known& known, const JsonPtr& object) const {
    known.seen = lists;
    if (options.keep_objects) {
      known.object = object;
    } else {
      known.uid = uid_of(*object);
      known.version = version_of(*object);
    }
  }

  // Takes an object in and tells of it. The same name with another uid is another object: the first one's deletion was missed.
  void take_object(const std::string& key, const JsonPtr& now) {
    const auto [it, is_new] = objects.try_emplace(key);
    JsonPtr old = is_new ? nullptr : old_of(key, it->second);
    if (old && it->second.uid_now() != uid_of(*now)) {
      objects.erase(it);
      notify(old, nullptr);
      keep(objects[key], now);
      return notify(nullptr, now);
    }
    keep(it->second, now);
    notify(old, now);
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
    ++lists;
    changed.clear();
    list_page({});
  }

  void read_anew(std::function<void()> done) {
    read_handlers.push_back(std::move(done));
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
    // An answer from the past is not taken in. All pages of a list are of one version.
    if (version_number(version_of(response.body)) < version_number(version)) return retry(true);
    if (auto* object = response.body.if_object()) {
      if (auto* items = object->if_contains("items"); items != nullptr && items->is_array()) {
        for (auto& item : items->as_array()) take_item(std::make_shared<const Json>(std::move(item)));
      }
    }
    const std::string next(string_at(response.body, {"metadata", "continue"}));
    if (!next.empty()) {
      list_page(next);
      return;
    }
    end_list(std::string(version_of(response.body)));
    if (list_handler) list_handler(response);
  }

  // The first list is told as it comes: nobody decides before it is complete. What a later one says is told at once at its end, so
  // that handlers go from one state of the server to another.
  void take_item(JsonPtr item) {
    const std::string key = key_of(*item);
    const auto it = objects.find(key);
    // What did not change stays the document that others hold.
    if (it != objects.end() && it->second.uid_now() == uid_of(*item) && it->second.version_now() == version_of(*item)) {
      it->second.seen = lists;
    } else if (is_synced) {
      if (it != objects.end() && it->second.uid_now() == uid_of(*item)) it->second.seen = lists;
      changed.push_back(std::move(item));
    } else {
      take_object(key, item);
    }
  }

  void end_list(std::string list_version) {
    version = std::move(list_version);
    backoff = options.first_backoff;
    // Handlers may look at the cache, never change it.
    for (auto it = objects.begin(); it != objects.end();) {
      if (it->second.seen == lists) {
        ++it;
        continue;
      }
      const JsonPtr old = old_of(it->first, it->second);
      it = objects.erase(it);
      notify(old, nullptr);
    }
    for (const JsonPtr& now : std::exchange(changed, {})) take_object(key_of(*now), now);
    if (!std::exchange(is_synced, true)) {
      for (const auto& handler : synced_handlers) handler();
    }
    watch();
    for (const auto& handler : std::exchange(read_handlers, {})) handler();
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
    if (event.type == WatchEvent::Type::kDeleted) {
      if (objects.erase(key) != 0) notify(event.object, nullptr);
      return;
    }
    take_object(key, event.object);
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
  return it == impl_->objects.end() ? nullptr : it->second.object;
}

std::vector<JsonPtr> Informer::list(std::string_view ns) const {
  std::vector<JsonPtr> found;
  const std::string prefix = ns.empty() ? std::string() : std::string(ns) + "/";
  for (auto it = impl_->objects.lower_bound(prefix); it != impl_->objects.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    if (it->second.object) found.push_back(it->second.object);
  }
  return found;
}

const std::string& Informer::resource_version() const { return impl_->version; }
const api::GroupVersionResource& Informer::resource() const { return impl_->resource; }

}  // namespace berth::kube
