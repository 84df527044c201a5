#include "kube/leader_election.h"

#include <optional>
#include <utility>

#include "api/resource_version.h"
#include "api/resources.h"
#include "api/status.h"
#include "base/log.h"
#include "base/random.h"
#include "kube/informer.h"

namespace berth::kube {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;

constexpr double kJitter = 1.2;  // a candidate waits at most 1.2 x retry_period

}  // namespace

Result<void> validate(const LeaderElectionOptions& o) {
  if (o.identity.empty()) return fail("leaderElection: the identity must not be empty");
  if (o.retry_period <= Duration::zero()) return fail("leaderElection.retryPeriod: must be greater than 0");
  if (in_seconds(o.renew_deadline) <= kJitter * in_seconds(o.retry_period))
    return fail("leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod");
  if (o.lease_duration <= o.renew_deadline)
    return fail("leaderElection.leaseDuration: must be greater than renewDeadline");
  return {};
}

// Candidate -> (holds the Lease) leader -> (not renewed in time, or another holds it) stopped. One request or timer
// is active at a time, and in addition the deadline timer while leading. A release waits for the answer to a write that
// is under way: its version of the Lease is the one to give back.
struct LeaderElector::Impl : std::enable_shared_from_this<LeaderElector::Impl> {
  Impl(api::RestClient& c, Executor& e, LeaderElectionOptions o, Handler h)
      : client(c), executor(e), options(std::move(o)), handler(std::move(h)), random(options.seed) {}

  template <typename F>
  auto guarded(F f) {
    return [weak = weak_from_this(), f = std::move(f)](auto&&... args) {
      if (const auto self = weak.lock(); self && !self->over) f(std::forward<decltype(args)>(args)...);
    };
  }
  RestRequest request(Verb verb) const {
    RestRequest r;
    r.verb = verb;
    r.resource = api::kLeases;
    r.ns = options.ns;
    if (verb != Verb::kCreate) r.name = options.name;
    return r;
  }

  // --- Watching, while another process leads.

  void watch() {
    InformerOptions watched;
    watched.ns = options.ns;
    watched.field_selector = "metadata.name=" + options.name;
    watched.seed = next_random(random);
    watcher.emplace(client, executor, api::kLeases, watched);
    watcher->on_change([this](const JsonPtr&, const JsonPtr& now) {
      if (over || leading || !now || version_of(*now) <= version_of(lease)) return;
      observe(*now);
      if (timer == 0) return;  // a request is under way
      again();                 // reads again at the new expiry
      if (!holder_of(lease).empty()) return;
      executor.cancel(timer);
      ask();
    });
    watcher->start();
  }

  static std::uint64_t version_of(const Json& object) {
    return api::version_number(string_at(object, {"metadata", "resourceVersion"}));
  }

  // --- Asking.

  void ask() {
    timer = 0;
    client.call(request(Verb::kGet), guarded([this](const RestResponse& response) { seen(response); }));
  }

  void seen(const RestResponse& response) {
    if (response.code == 404) {
      lease = JsonObject{{"apiVersion", "coordination.k8s.io/v1"},
                         {"kind", "Lease"},
                         {"metadata", JsonObject{{"name", options.name}, {"namespace", options.ns}}}};
      return write(Verb::kCreate);
    }
    if (!response.ok()) return failed("read", response);
    observe(response.body);
    const std::string present = holder_of(lease);
    const bool taken = !present.empty() && present != options.identity && executor.now() < expiry();
    if (!taken) return write(Verb::kUpdate);
    if (leading) return stop("somebody else took the lease");
    again();
  }

  // When the Lease may be taken over if it is not renewed before.
  Time expiry() const { return observed_at + std::chrono::seconds(int_at(lease, {"spec", "leaseDurationSeconds"})); }

  // Stores the Lease and, when its spec changed, the time: expiry() counts from when this process first saw the spec.
  void observe(const Json& object) {
    const Json* spec = find(object, "spec");
    const std::string state = spec ? canonical_json(*spec) : std::string();
    if (state != observed_state) {
      observed_state = state;
      observed_at = executor.now();
    }
    lease = object;
  }

  static std::string holder_of(const Json& object) {
    return std::string(string_at(object, {"spec", "holderIdentity"}));
  }

  // --- Writing.

  void write(Verb verb) {
    const std::string now = format_micro_time(executor.now());
    RestRequest r = request(verb);
    r.body = lease;
    const bool mine = holder_of(lease) == options.identity;
    Json& spec = ensure_path(r.body, {"spec"});
    if (!spec.is_object()) spec = JsonObject();
    JsonObject& fields = spec.as_object();
    if (!mine) {
      const std::int64_t transitions = int_at(lease, {"spec", "leaseTransitions"});
      fields["leaseTransitions"] = verb == Verb::kCreate ? 0 : transitions + 1;
      fields["acquireTime"] = now;
    }
    fields["holderIdentity"] = options.identity;
    fields["leaseDurationSeconds"] = std::chrono::ceil<std::chrono::seconds>(options.lease_duration).count();
    fields["renewTime"] = now;
    const Time asked_at = executor.now();
    writing = true;
    client.call(std::move(r), [self = shared_from_this(), asked_at](const RestResponse& response) {
      self->writing = false;
      if (self->released) return self->answered_late(response);
      if (!self->over) self->written(response, asked_at);
    });
  }

  void written(const RestResponse& response, Time asked_at) {
    if (!response.ok()) return failed("renew", response);
    observe(response.body);
    renewed_at = asked_at;  // not later than the other candidates saw the renewal
    arm_deadline();
    if (!std::exchange(leading, true)) {
      watcher.reset();
      log::info("leading", {{"lease", options.name}, {"identity", options.identity}});
      handler.started();
      if (over) return;
    }
    again();
  }

  void failed(const char* what, const RestResponse& response) {
    if (response.code == 409) return again();  // another candidate was first
    log::warn("lease", {{"cannot", what},
                        {"code", std::to_string(response.code)},
                        {"why", std::string(api::status_message(response))}});
    again();
  }

  void again() {
    Duration wait = options.retry_period;
    if (!leading) {
      const auto spread = static_cast<std::uint64_t>(in_seconds(wait) * (kJitter - 1) * 1e6);
      wait += std::chrono::microseconds(next_random(random) % (spread + 1));
      const bool held = lease.is_object() && !holder_of(lease).empty();
      if (held && expiry() > executor.now()) wait = std::min(wait, expiry() - executor.now());
    }
    executor.cancel(timer);
    timer = executor.after(wait, guarded([this] { ask(); }));
  }

  // --- Ending.

  void arm_deadline() {
    executor.cancel(deadline);
    deadline = executor.at(renewed_at + options.renew_deadline,
                           guarded([this] { stop("the lease could not be renewed in time"); }));
  }

  void stop(const char* why) {
    over = true;
    leading = false;
    executor.cancel(timer);
    executor.cancel(deadline);
    handler.stopped("the lease " + options.ns + "/" + options.name + " is lost: " + why);
  }

  // The last write before release() is answered: the Lease may be held since, or in another version.
  void answered_late(const RestResponse& response) {
    if (response.ok()) {
      lease = response.body;
      return give_back();
    }
    client.call(request(Verb::kGet), [self = shared_from_this()](const RestResponse& read) {
      if (!read.ok() || holder_of(read.body) != self->options.identity) return self->released();
      self->lease = read.body;
      self->give_back();
    });
  }

  // Removes the holder and sets the shortest duration: the next candidate can take the Lease.
  void give_back() {
    RestRequest r = request(Verb::kUpdate);
    r.body = lease;
    JsonObject& spec = ensure_path(r.body, {"spec"}).as_object();
    spec.erase("holderIdentity");
    spec["leaseDurationSeconds"] = 1;
    spec["renewTime"] = format_micro_time(executor.now());
    client.call(std::move(r), [done = released](const RestResponse& response) {
      if (!response.ok())
        log::warn("lease", {{"cannot", "give back"}, {"why", std::string(api::status_message(response))}});
      done();
    });
  }

  api::RestClient& client;
  Executor& executor;
  LeaderElectionOptions options;
  Handler handler;
  std::uint64_t random;
  Json lease;                  // as last read
  std::string observed_state;  // spec of the Lease
  Time observed_at{};
  Time renewed_at{};
  bool leading = false;
  bool over = false;
  bool writing = false;            // a write has no answer yet
  std::function<void()> released;  // set by release(): what to call when the Lease is given back
  TimerId timer = 0, deadline = 0;
  std::optional<Informer> watcher;  // until it leads
};

LeaderElector::LeaderElector(api::RestClient& client, Executor& executor, LeaderElectionOptions options,
                             Handler handler)
    : impl_(std::make_shared<Impl>(client, executor, std::move(options), std::move(handler))) {}

LeaderElector::~LeaderElector() {
  impl_->over = true;
  impl_->executor.cancel(impl_->timer);
  impl_->executor.cancel(impl_->deadline);
}

void LeaderElector::start() {
  impl_->ask();
  impl_->watch();
}
bool LeaderElector::leading() const { return impl_->leading; }
Time LeaderElector::leads_until() const {
  // A clock before renewed_at was set back: it cannot tell the age of the renewal.
  const bool known = impl_->leading && impl_->executor.now() >= impl_->renewed_at;
  return known ? impl_->renewed_at + impl_->options.renew_deadline : Time::min();
}
std::string LeaderElector::holder() const { return Impl::holder_of(impl_->lease); }

void LeaderElector::release(std::function<void()> done) {
  impl_->over = true;
  impl_->executor.cancel(impl_->timer);
  impl_->executor.cancel(impl_->deadline);
  impl_->released = std::move(done);
  const bool led = std::exchange(impl_->leading, false);
  if (impl_->writing) return;  // answered_late() goes on
  if (!led) return impl_->released();
  impl_->give_back();
}

}  // namespace berth::kube
