#include "kube/informer.h"

#include <algorithm>
#include <optional>
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

constexpr std::uint64_t kShortestWatch = 5 * 60;  // shortest timeout of a watch in seconds; the longest is twice that

// How long a streamed list may be silent before the informer gives it up. A server sends the bookmark that ends the
// list some seconds after the last object at the latest; a server that does not know such streams sends none.
constexpr Duration kLongestSilence = std::chrono::seconds(10);

bool ends_initial_events(const Json& bookmark) {
  return string_at(bookmark, {"metadata", "annotations", api::kInitialEventsEnd}) == "true";
}

}  // namespace

// List -> watch -> (ended, failed) -> watch or list again. At most one request, watch or retry timer is active.
//
// Where the server offers it, a list is a watch that begins with all objects. When such a watch does not reach the
// end of the list, for any reason, the informer lists in pages at once and reports only how these end. So it makes
// progress however the server handles such a watch.
struct Informer::Impl : std::enable_shared_from_this<Informer::Impl> {
  Impl(api::RestClient& c, Executor& e, api::GroupVersionResource r, InformerOptions o)
      : client(c),
        executor(e),
        resource(std::move(r)),
        options(std::move(o)),
        objects(options.keep_objects),
        random(options.seed),
        backoff(options.first_backoff) {}

  api::RestClient& client;
  Executor& executor;
  api::GroupVersionResource resource;
  InformerOptions options;
  std::vector<std::function<void()>> synced_handlers;
  std::function<void(const RestResponse&)> list_handler;

  ObjectCopy objects;
  std::string version;  // of the newest list or event in the cache
  bool is_synced = false;
  std::uint64_t random;
  Duration backoff;
  TimerId timer = 0;
  std::unique_ptr<api::WatchHandle> handle;
  std::uint64_t epoch = 0;  // number of the watch: callbacks of an earlier one are ignored
  Time watch_began{};
  bool watch_brought_news = false;
  bool must_list = false;
  bool refused = false;           // this watch failed with 403
  bool reported_refusal = false;  // the refusal is logged once, until a watch works again
  std::uint64_t lists = 0;        // number of the list: pages of an earlier one are ignored
  std::vector<std::function<void()>> read_handlers;
  std::optional<Time> missing_since;  // since when lists answer 404

  bool streaming = false;      // the watch is inside a streamed list
  std::uint64_t streamed = 0;  // events of the streamed list so far
  TimerId silence = 0;
  bool pages_next = false;  // the next list must come in pages

  RestRequest request(api::Verb verb) const {
    RestRequest r;
    r.verb = verb;
    r.resource = resource;
    r.ns = options.ns;
    r.label_selector = options.label_selector;
    r.field_selector = options.field_selector;
    return r;
  }

  void retry(bool list_again) {
    // Half fixed, half random, so that many clients do not retry at once.
    const auto half = backoff.count() / 2;
    const Duration wait(half + static_cast<Duration::rep>(next_random(random) % static_cast<std::uint64_t>(half + 1)));
    backoff = std::min(backoff * 2, options.max_backoff);
    timer = executor.after(wait, [self = weak_from_this(), list_again] {
      const auto impl = self.lock();
      if (!impl) return;
      impl->timer = 0;
      if (list_again) {
        impl->list();
      } else {
        impl->watch();
      }
    });
  }

  void list() {
    ++lists;
    objects.begin_list(is_synced);
    if (std::exchange(pages_next, false) || !client.offers_streamed_lists()) {
      list_page({});
    } else {
      list_stream();
    }
  }

  void read_anew(std::function<void()> done) {
    read_handlers.push_back(std::move(done));
    drop_watch();
    if (timer != 0) executor.cancel(std::exchange(timer, 0));
    list();
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
      note_missing(response.code == 404);
      retry(true);
      if (list_handler) list_handler(response);
      return;
    }
    // Refuse a list that is older than the cache. All pages of a list have the same version.
    if (version_number(api::resource_version(response.body)) < version_number(version)) return retry(true);
    if (auto* object = response.body.if_object()) {
      if (auto* items = object->if_contains("items"); items != nullptr && items->is_array()) {
        for (auto& item : items->as_array()) objects.listed(std::make_shared<const Json>(std::move(item)));
      }
    }
    const std::string next(string_at(response.body, {"metadata", "continue"}));
    if (!next.empty()) {
      list_page(next);
      return;
    }
    end_list(std::string(api::resource_version(response.body)));
    watch();
    report_list(response);
  }

  void note_missing(bool missing) {
    if (!missing || options.gone_after == Duration::zero() || !is_synced) {
      missing_since.reset();
    } else if (!missing_since) {
      missing_since = executor.now();
    } else if (executor.now() - *missing_since >= options.gone_after &&
               (!options.may_be_gone || options.may_be_gone())) {
      objects.begin_list(true);
      objects.end_list();  // an empty list
    }
  }

  // https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/3157-watch-list
  void list_stream() {
    RestRequest r = request(api::Verb::kWatch);
    r.send_initial_events = true;
    r.resource_version_match = "NotOlderThan";  // without a version it means: not older than now
    streaming = true;
    streamed = 0;
    begin_watch(std::move(r));
    mind_silence();
  }

  void mind_silence() {
    silence = executor.after(kLongestSilence, [self = weak_from_this(), before = streamed] {
      const auto impl = self.lock();
      if (!impl) return;
      impl->silence = 0;
      if (impl->streamed != before) return impl->mind_silence();
      if (before > 0) impl->client.streamed_lists_not_offered();
      impl->give_up_stream("it fell silent before the end of the list");
    });
  }

  void take_initial(const WatchEvent& event) {
    ++streamed;
    if (event.type == WatchEvent::Type::kDeleted) return objects.unlisted(event.object);
    if (event.type != WatchEvent::Type::kBookmark) return objects.listed(event.object);
    if (!ends_initial_events(*event.object)) {
      client.streamed_lists_not_offered();
      return give_up_stream("it brought another bookmark first");
    }
    const std::string_view reached = api::resource_version(*event.object);
    if (version_number(reached) < version_number(version)) return give_up_stream("it is from the past");
    end_stream();
    reported_refusal = false;
    watch_began = executor.now();
    end_list(std::string(reached));
    report_list({});
  }

  // The list has ended. The watch goes on, unless the caller drops it.
  void end_stream() {
    streaming = false;
    if (silence != 0) executor.cancel(std::exchange(silence, 0));
  }

  void give_up_stream(std::string_view why) {
    log::debug("a streamed list ended early; listing in pages",
               {{"resource", resource.resource}, {"why", std::string(why)}});
    drop_watch();
    pages_next = true;
    list();
  }

  void end_list(std::string list_version) {
    version = std::move(list_version);
    backoff = options.first_backoff;
    missing_since.reset();
    objects.end_list();
    if (!std::exchange(is_synced, true)) {
      for (const auto& handler : synced_handlers) handler();
    }
  }

  void report_list(const RestResponse& response) {
    for (const auto& handler : std::exchange(read_handlers, {})) handler();
    if (list_handler) list_handler(response);
  }

  void watch() {
    RestRequest r = request(api::Verb::kWatch);
    r.resource_version = version;
    begin_watch(std::move(r));
  }

  void begin_watch(RestRequest r) {
    r.allow_bookmarks = true;
    // Random, so that many watches that began together do not end together.
    r.timeout_seconds = static_cast<std::int64_t>(kShortestWatch + next_random(random) % (kShortestWatch + 1));
    const std::uint64_t mine = ++epoch;
    watch_began = executor.now();
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

  void drop_watch() {
    end_stream();
    ++epoch;
    handle.reset();
  }

  void take(const WatchEvent& event) {
    if (event.type == WatchEvent::Type::kError) return take_error(*event.object);
    if (streaming) return take_initial(event);
    const std::string_view seen = api::resource_version(*event.object);
    const std::uint64_t number = version_number(seen);
    if (number != 0 && number <= version_number(version)) {  // repeated or late; or a bookmark without news
      return;
    }
    watch_brought_news = true;
    reported_refusal = false;
    backoff = options.first_backoff;
    version = seen;
    if (event.type == WatchEvent::Type::kBookmark) return;
    if (event.type == WatchEvent::Type::kDeleted) return objects.deleted(event.object);
    objects.changed(event.object);
  }

  void take_error(const Json& status) {
    const auto code = int_at(status, {"code"});
    if (streaming) {
      // The server knows streamed lists but does not offer them, or it rejects their parameters.
      if (code == 422 || code == 400) client.streamed_lists_not_offered();
      return give_up_stream(string_at(status, {"message"}));
    }
    // 404: a list tells whether the resource is served.
    must_list = must_list || code == 410 || code == 404;
    refused = code == 403;
    if (refused && !std::exchange(reported_refusal, true)) {
      log::warn("no permission to watch; listing it periodically instead",
                {{"resource", resource.resource}, {"why", string_at(status, {"message"})}});
    }
  }

  void ended() {
    if (streaming) return give_up_stream("it ended before the list did");
    ++epoch;
    // A long watch without events is no failure: restart without a longer backoff.
    const bool lasted = executor.now() - watch_began >= options.max_backoff;
    if (lasted) backoff = options.first_backoff;
    if (std::exchange(refused, false)) {
      pages_next = true;
      backoff = options.max_backoff;
      retry(true);
    } else if (must_list && watch_brought_news) {
      list();
    } else if (must_list) {
      retry(true);  // the list expired before the watch brought anything: do not spin
    } else if (watch_brought_news || lasted) {
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
  for (const TimerId timer : {impl_->timer, impl_->silence}) {
    if (timer != 0) impl_->executor.cancel(timer);
  }
}

void Informer::on_change(ObjectHandler handler) { impl_->objects.on_change(std::move(handler)); }
void Informer::on_synced(std::function<void()> handler) { impl_->synced_handlers.push_back(std::move(handler)); }
void Informer::on_list(std::function<void(const api::RestResponse&)> handler) {
  impl_->list_handler = std::move(handler);
}
void Informer::start() { impl_->list(); }
void Informer::read_anew(std::function<void()> done) { impl_->read_anew(std::move(done)); }
bool Informer::synced() const { return impl_->is_synced; }

JsonPtr Informer::get(std::string_view key) const { return impl_->objects.get(key); }
std::vector<JsonPtr> Informer::list(std::string_view ns) const { return impl_->objects.list(ns); }

const std::string& Informer::resource_version() const { return impl_->version; }
const api::GroupVersionResource& Informer::resource() const { return impl_->resource; }

}  // namespace berth::kube
