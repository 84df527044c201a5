#include "kube/event_recorder.h"

#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

#include "api/outcome.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/planted.h"
#include "base/random.h"
#include "base/text.h"
#include "kube/event_series.h"
#include "kube/rights.h"

namespace berth::kube {
namespace {

constexpr std::size_t kMaxNote = 1024;                     // of events.k8s.io/v1
constexpr std::size_t kMaxBaseName = 236;                  // leaves room for '.' and 16 digits within the 253 of a name
constexpr int kMaxTries = 6;                               // of one write; an event is not worth more
constexpr Duration kFirstRetry = std::chrono::seconds(1);  // doubles: the last try comes 31 s after the first

std::string hex(std::uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

}  // namespace

using SeriesPtr = EventSeriesPtr;

struct EventRecorder::Impl : std::enable_shared_from_this<EventRecorder::Impl> {
  Impl(api::RestClient& c, Executor& e, EventRecorderOptions o)
      : client(c),
        executor(e),
        options(std::move(o)),
        random(options.seed),
        rate(options.rate, e.now()),
        recent(options.queue_bound) {}

  api::RestClient& client;
  Executor& executor;
  EventRecorderOptions options;
  std::uint64_t random;
  std::uint64_t dropped = 0;
  bool reported_refusal = false;
  std::size_t in_flight = 0;
  std::function<void()> on_idle;
  std::size_t waiting = 0;  // series that wait for a retry or for their next count; bounded as the queue
  std::uint64_t superseded = 0;
  RateLimit rate;
  bool waits_for_rate = false;
  using Queue = std::list<SeriesPtr>;
  Queue queue;
  // By object: the newest event in the queue that was never sent.
  std::unordered_map<const ObjectRef*, Queue::iterator, ObjectHash, SameObject> new_about;
  RecentEvents recent;  // at most queue_bound

  std::string new_name(const ObjectRef& about) {
    const auto moment = static_cast<std::uint64_t>(executor.now().time_since_epoch().count());
    return std::string(cut_text(about.name, kMaxBaseName)) + "." + hex(next_random(random) ^ moment);
  }

  Json object_for(const EventSeries& series) const {
    const ObjectRef& about = series.regarding;
    const EventText& text = series.text;
    JsonObject regarding{
        {"apiVersion", about.api_version}, {"kind", about.kind}, {"name", about.name}, {"uid", about.uid}};
    if (!about.ns.empty()) regarding["namespace"] = about.ns;
    if (!about.resource_version.empty()) regarding["resourceVersion"] = about.resource_version;
    return JsonObject{{"apiVersion", "events.k8s.io/v1"},
                      {"kind", "Event"},
                      {"metadata", JsonObject{{"name", series.name}, {"namespace", series.ns()}}},
                      {"eventTime", format_micro_time(series.first)},
                      {"reportingController", text.controller.empty() ? options.controller : text.controller},
                      {"reportingInstance", options.instance},
                      {"action", text.action.empty() ? text.reason : text.action},
                      {"reason", text.reason},
                      {"regarding", std::move(regarding)},
                      {"note", text.note},
                      {"type", text.warning ? "Warning" : "Normal"}};
  }

  void record(const ObjectRef& about, EventText text) {
    text.note = cut_text(text.note, kMaxNote);
    const Time now = executor.now();
    if (const SeriesPtr known = recent.find(about, text)) {
      if (now - known->last <= options.series_window) return repeat(known, now);
      recent.forget(known);
    }
    auto series = std::make_shared<EventSeries>();
    series->regarding = about;
    series->text = std::move(text);
    series->name = new_name(about);
    series->first = series->last = now;
    recent.add(series);
    enqueue(series);
  }

  void repeat(const SeriesPtr& series, Time now) {
    ++series->count;
    series->last = now;
    if (!series->busy) write_again(series);
  }

  // Writes the second occurrence at once, further ones together at most once per window.
  void write_again(const SeriesPtr& series) {
    if (series->written <= 1) return enqueue(series);
    wait_until(series->last_write + options.series_window, series);
  }

  void enqueue(const SeriesPtr& series) {
    series->busy = true;
    const bool is_new = series->written == 0 && series->tries == 0;
    if (is_new && queue.size() >= options.crowd) replace_older(*series);
    queue.push_back(series);
    if (is_new) {
      new_about.erase(&series->regarding);  // its key points into an older event
      new_about.emplace(&series->regarding, std::prev(queue.end()));
    }
    if (queue.size() > options.queue_bound) give_up(take_first());
    // The client must not run inside the caller's call.
    executor.post([self = weak_from_this()] {
      if (const auto impl = self.lock()) impl->send();
    });
  }

  SeriesPtr take_first() {
    SeriesPtr first = queue.front();
    if (const auto it = new_about.find(&first->regarding); it != new_about.end() && it->second == queue.begin())
      new_about.erase(it);
    queue.pop_front();
    return first;
  }

  void replace_older(const EventSeries& newer) {
    const auto it = new_about.find(&newer.regarding);
    if (it == new_about.end()) return;
    const SeriesPtr older = *it->second;
    queue.erase(it->second);
    new_about.erase(it);
    ++superseded;
    older->busy = false;
    recent.forget(older);
  }

  void give_up(const SeriesPtr& series) {
    ++dropped;
    series->busy = false;
    recent.forget(series);
  }

  void report_when_idle() {
    if (in_flight == 0 && queue.empty() && on_idle) std::exchange(on_idle, {})();
  }

  // Calls send() again when the rate allows the next event.
  void wait_for_rate(Duration wait) {
    if (std::exchange(waits_for_rate, true)) return;
    executor.after(wait, [self = weak_from_this()] {
      const auto impl = self.lock();
      if (!impl) return;
      impl->waits_for_rate = false;
      impl->send();
    });
  }

  void send() {
    while (in_flight < options.in_flight && !queue.empty()) {
      // when_written() ignores the rate
      const Duration wait = on_idle ? Duration::zero() : rate.until_free(executor.now());
      if (wait > Duration::zero()) return wait_for_rate(wait);
      rate.reserve(executor.now());
      const SeriesPtr series = take_first();
      ++in_flight;
      const std::int64_t count = series->count;
      client.call(request_for(*series), [self = weak_from_this(), series, count](const api::RestResponse& response) {
        if (const auto impl = self.lock()) impl->sent(series, count, response);
      });
    }
  }

  api::RestRequest request_for(const EventSeries& series) const {
    api::RestRequest request;
    request.resource = api::kEvents;
    request.ns = series.ns();
    request.wants_metadata_only = true;
    JsonObject count{{"count", series.count}, {"lastObservedTime", format_micro_time(series.last)}};
    if (series.written == 0) {
      request.verb = api::Verb::kCreate;
      request.body = object_for(series);
      if (series.count > 1) ensure_path(request.body, {"series"}) = std::move(count);
    } else {
      request.verb = api::Verb::kPatch;
      request.name = series.name;
      request.patch_type = api::PatchType::kMerge;
      request.body = JsonObject{{"series", std::move(count)}};
    }
    return request;
  }

  void sent(const SeriesPtr& series, std::int64_t count, const api::RestResponse& response) {
    --in_flight;
    // A retry of a create whose outcome was unknown may find the event of the first try.
    const bool own_event = response.code == 409 && series->written == 0 && series->may_exist;
    if (response.ok() || own_event) {
      series->written = own_event ? 1 : count;
      series->last_write = executor.now();
      series->tries = 0;
      series->busy = false;
      if (planted(Planted::kEventStorm)) return enqueue(series);
      if (series->count > series->written) write_again(series);
    } else {
      if (response.code == 403) refused(response);
      failed(series, response.code);
    }
    send();
    report_when_idle();
  }

  // Logged once.
  void refused(const api::RestResponse& response) {
    if (api::refused_by_terminating_namespace(response) || std::exchange(reported_refusal, true)) return;
    log::error("the API server refuses events: " + std::string(kGrantRights),
               {{"why", std::string(api::status_message(response))}});
  }

  void failed(const SeriesPtr& series, int code) {
    ++series->tries;
    const bool passing = code == 0 || code == 429 || code >= 500;
    const bool expired = code == 404 && series->written > 0;
    const bool name_taken = code == 409 && series->written == 0;
    series->may_exist = series->may_exist || api::outcome_unknown(code);
    if (expired || name_taken) {
      series->may_exist = false;
      series->written = 0;
      series->name = new_name(series->regarding);
    }
    if ((!passing && !expired && !name_taken) || series->tries >= kMaxTries) {
      log::debug("event not written", {{"event", series->name}, {"code", code}});
      return give_up(series);
    }
    wait_until(executor.now() + kFirstRetry * (1 << (series->tries - 1)), series);
  }

  void wait_until(Time when, const SeriesPtr& series) {
    if (waiting == options.queue_bound) return give_up(series);
    ++waiting;
    series->busy = true;
    executor.at(when, [self = weak_from_this(), series] {
      const auto impl = self.lock();
      if (!impl) return;
      --impl->waiting;
      impl->enqueue(series);
    });
  }
};

EventRecorder::EventRecorder(api::RestClient& client, Executor& executor, EventRecorderOptions options)
    : impl_(std::make_shared<Impl>(client, executor, std::move(options))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::record(const ObjectRef& regarding, EventText text) { impl_->record(regarding, std::move(text)); }
void EventRecorder::when_written(std::function<void()> done) {
  impl_->on_idle = std::move(done);
  impl_->executor.post([self = impl_->weak_from_this()] {
    const auto impl = self.lock();
    if (!impl) return;
    impl->send();
    impl->report_when_idle();
  });
}
std::uint64_t EventRecorder::dropped() const { return impl_->dropped; }
std::uint64_t EventRecorder::superseded() const { return impl_->superseded; }

}  // namespace berth::kube
