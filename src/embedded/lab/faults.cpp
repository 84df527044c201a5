#include "embedded/lab/faults.h"

#include <algorithm>
#include <utility>

#include "api/status.h"

namespace berth::lab {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::WatchEvent;

bool is_write(const RestRequest& request) {
  return request.verb != api::Verb::kGet && request.verb != api::Verb::kList && request.verb != api::Verb::kWatch;
}

RestResponse answer(int code, std::string_view reason, std::string_view message) {
  RestResponse response;
  response.code = code;
  response.body = api::make_status(code, reason, message);
  return response;
}

}  // namespace

std::uint64_t Random::next() {  // splitmix64
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

struct FaultyClient::Impl {
  Impl(api::RestClient& c, Executor& e, std::uint64_t seed, FaultRates r)
      : inner(c), executor(e), random(seed), rates(r) {}

  bool strikes(int per_mille) {
    const bool struck = random.chance(per_mille);
    faults += struck ? 1 : 0;
    return struck;
  }
  Duration delay() {
    return Duration(static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(rates.max_delay.count()) + 1)));
  }

  api::RestClient& inner;
  Executor& executor;
  Random random;
  FaultRates rates;
  std::function<bool(std::uint64_t)> on_write;
  std::uint64_t writes = 0, faults = 0;
  bool cut = false;
};

FaultyClient::FaultyClient(api::RestClient& inner, Executor& executor, std::uint64_t seed, FaultRates rates)
    : impl_(std::make_shared<Impl>(inner, executor, seed, rates)) {}
FaultyClient::~FaultyClient() { impl_->cut = true; }

void FaultyClient::set_rates(FaultRates rates) { impl_->rates = rates; }
void FaultyClient::on_write(std::function<bool(std::uint64_t)> handler) { impl_->on_write = std::move(handler); }
void FaultyClient::cut() { impl_->cut = true; }
std::uint64_t FaultyClient::faults() const { return impl_->faults; }

void FaultyClient::call(RestRequest request, std::function<void(RestResponse)> done) {
  if (impl_->rates.held_back == 0 || !impl_->strikes(impl_->rates.held_back))
    return send(std::move(request), std::move(done));
  impl_->executor.after(impl_->delay(), [this, impl = impl_, request = std::move(request), done = std::move(done)] {
    if (impl->cut) return;
    if (!request.not_sent_from || impl->executor.now() < request.not_sent_from()) return send(request, done);
    done(answer(0, "", "not sent"));
  });
}

void FaultyClient::send(RestRequest request, std::function<void(RestResponse)> done) {
  if (impl_->cut) return;
  if (is_write(request)) {
    ++impl_->writes;
    if (impl_->on_write && !impl_->on_write(impl_->writes)) return;
    if (impl_->cut) return;
  }
  const auto deliver = [impl = impl_, done = std::move(done)](RestResponse response, Duration delay) {
    if (impl->cut) return;  // its executor may be destroyed too
    impl->executor.after(delay, [impl, done, response = std::move(response)]() mutable {
      if (!impl->cut) done(std::move(response));
    });
  };
  auto& random = impl_->random;
  const auto& rates = impl_->rates;
  const Duration delay = impl_->strikes(rates.slow) ? impl_->delay() : Duration(0);
  if (impl_->strikes(rates.refused)) {
    return deliver(random.chance(500) ? answer(429, "TooManyRequests", "please try again later")
                                      : answer(500, "InternalError", "a fault"),
                   delay);
  }
  if (is_write(request) && impl_->strikes(rates.conflict)) {
    return deliver(answer(409, "Conflict", "the object has been modified"), delay);
  }
  const bool lost = impl_->strikes(rates.unknown_outcome);
  impl_->inner.call(std::move(request), [deliver, lost, delay](RestResponse response) {
    if (lost) {
      response = RestResponse();
      response.code = 0;
    }
    deliver(std::move(response), delay);
  });
}

namespace {

// One watch. Late events delay the events behind them, so their order is kept.
struct Stream : std::enable_shared_from_this<Stream> {
  std::shared_ptr<std::unique_ptr<api::WatchHandle>> upstream = std::make_shared<std::unique_ptr<api::WatchHandle>>();
  std::function<void(const WatchEvent&)> on_event;
  std::function<void()> on_end;
  bool over = false;
  Time last{};

  void push(Executor& executor, Time due, std::function<void()> action) {
    last = std::max({last, due, executor.now()});
    executor.at(last, [self = shared_from_this(), action = std::move(action)] {
      if (!self->over) action();
    });
  }
  void end() {
    if (std::exchange(over, true)) return;
    on_end();
  }
};

class StreamHandle final : public api::WatchHandle {
 public:
  explicit StreamHandle(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~StreamHandle() override {
    stream_->over = true;
    stream_->upstream->reset();
  }

 private:
  std::shared_ptr<Stream> stream_;
};

}  // namespace

std::unique_ptr<api::WatchHandle> FaultyClient::watch(RestRequest request,
                                                      std::function<void(const WatchEvent&)> on_event,
                                                      std::function<void()> on_end) {
  auto stream = std::make_shared<Stream>();
  stream->on_event = std::move(on_event);
  stream->on_end = std::move(on_end);
  auto handle = std::make_unique<StreamHandle>(stream);
  if (impl_->cut) return handle;
  if (request.send_initial_events && impl_->strikes(impl_->rates.refused)) {
    // A busy server (500), or a server that does not support streaming lists (422).
    const bool never = impl_->random.chance(500);
    const auto status =
        std::make_shared<const Json>(never ? api::make_status(422, "Invalid", "sendInitialEvents is forbidden")
                                           : api::make_status(500, "InternalError", "a fault"));
    stream->push(impl_->executor, impl_->executor.now(), [impl = impl_, s = stream.get(), status] {
      if (impl->cut) return;
      s->on_event({WatchEvent::Type::kError, status});
      s->end();
    });
    return handle;
  }
  const std::weak_ptr<Stream> weak = stream;
  const auto relay = [impl = impl_, weak](const WatchEvent& event) {
    const auto s = weak.lock();
    if (!s || s->over || impl->cut) return;
    const auto& rates = impl->rates;
    Time due = impl->executor.now();
    if (impl->strikes(rates.late)) due += impl->delay();
    const auto deliver = [impl, s = s.get(), event] {
      if (!impl->cut) s->on_event(event);
    };
    if (impl->strikes(rates.watch_expires)) {
      const auto expired = std::make_shared<const Json>(api::make_status(410, "Expired", "too old resource version"));
      s->push(impl->executor, due, [impl, s = s.get(), expired] {
        if (impl->cut) return;
        s->on_event({WatchEvent::Type::kError, expired});
        s->end();
      });
      return;
    }
    s->push(impl->executor, due, deliver);
    if (impl->strikes(rates.repeated)) s->push(impl->executor, due, deliver);
    if (impl->strikes(rates.watch_ends)) {
      s->push(impl->executor, due, [impl, s = s.get()] {
        if (!impl->cut) s->end();
      });
    }
  };
  const auto ended = [impl = impl_, weak] {
    const auto s = weak.lock();
    if (!s || s->over || impl->cut) return;
    s->push(impl->executor, impl->executor.now(), [impl, s = s.get()] {
      if (!impl->cut) s->end();
    });
  };
  *stream->upstream = impl_->inner.watch(std::move(request), relay, ended);
  return handle;
}

}  // namespace berth::lab
