#include "kube/client.h"

#include <algorithm>
#include <utility>

#include "api/status.h"
#include "base/base64.h"
#include "base/lean_json.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "kube/credentials.h"
#include "kube/endpoint.h"
#include "kube/rest_path.h"
#include "kube/transport/transport.h"

namespace berth::kube {
namespace {

using api::RestRequest;
using api::RestResponse;
using api::Verb;
using api::WatchEvent;

constexpr Duration kFirstBackoff = std::chrono::milliseconds(200);
constexpr Duration kLongestBackoff = std::chrono::seconds(10);
constexpr Duration kLongestInBackground = std::chrono::seconds(2);
constexpr std::int64_t kLongestRetryAfter = 60;  // seconds; a server that asks for more is asked again after this
constexpr std::size_t kMaxAnswerBytes = 256u << 20;

bool reads(Verb verb) { return verb == Verb::kGet || verb == Verb::kList || verb == Verb::kWatch; }

RestResponse no_answer(const std::string& why, bool hopeless = false) {
  return {0, api::make_status(0, hopeless ? kHopeless : "", why), {}};
}

Result<Json> parse_body(const RestRequest& request, const HttpReply& reply, bool ok) {
  const JsonLimits limits{.max_bytes = kMaxAnswerBytes, .max_depth = 256};
  if (request.wants_metadata_only && ok) return parse_metadata(reply.body, limits);
  return request.wants_managed_fields ? parse_json(reply.body, limits) : parse_lean_json(reply.body, limits);
}

RestResponse to_response(const RestRequest& request, HttpReply reply) {
  RestResponse out;
  out.code = reply.status;
  out.warnings = std::move(reply.warnings);
  auto body = parse_body(request, reply, out.ok());
  if (body) {
    out.body = std::move(*body);
  } else if (out.ok()) {
    return no_answer("the server's answer is no JSON: " + body.error().message);
  } else {
    out.body = api::make_status(out.code, "", cut_text(reply.body, 1024));
  }
  return out;
}

std::optional<WatchEvent::Type> event_type(std::string_view text) {
  if (text == "ADDED") return WatchEvent::Type::kAdded;
  if (text == "MODIFIED") return WatchEvent::Type::kModified;
  if (text == "DELETED") return WatchEvent::Type::kDeleted;
  if (text == "BOOKMARK") return WatchEvent::Type::kBookmark;
  if (text == "ERROR") return WatchEvent::Type::kError;
  return std::nullopt;
}

WatchEvent error_event(int code, std::string_view reason, std::string_view message) {
  return {WatchEvent::Type::kError, std::make_shared<const Json>(api::make_status(code, reason, message))};
}

}  // namespace

bool only_informs(const RestRequest& request) {
  const std::string& resource = request.resource.resource;
  const bool of_queue = resource == "clusterqueues" || resource == "localqueues" || resource == "cohorts";
  return resource == "events" || (of_queue && request.subresource == "status" && !reads(request.verb));
}

struct Client::Impl : std::enable_shared_from_this<Client::Impl> {
  Impl(Executor& e, const Access& access, TransportOptions transport_options, std::string path, ClientOptions o)
      : executor(e),
        options(std::move(o)),
        prefix(std::move(path)),
        transport(e, std::move(transport_options)),
        credentials(e, access),
        rate(options.rate, e.now()),
        random(options.seed) {}

  struct Call {
    RestRequest request;
    std::function<void(RestResponse)> done;
    int tries = 0;
    Time since{};          // when it was asked for
    bool refused = false;  // the server answered 401 once
  };
  using CallPtr = std::shared_ptr<Call>;

  // Runs `task` on the executor when the rate allows, unless the client is gone by then.
  void when_allowed(std::function<void()> task) { later(rate.reserve(executor.now()), std::move(task)); }
  // Sends when the rate allows it; a background request waits until there is a token that no other request has
  // reserved. The status of a queue does not wait longer than kLongestInBackground: there are few queues, people look
  // at their numbers, and others wait for the token that it takes.
  void send_when_allowed(const CallPtr& call) {
    const Time now = executor.now();
    const bool background = options.background(call->request);
    const bool is_late = call->request.resource.resource != "events" && now - call->since >= kLongestInBackground;
    const Duration free = background ? rate.until_free(now) : Duration::zero();
    if (free > Duration::zero() && !is_late)
      return later(std::min(free, kLongestInBackground), [this, call] { send_when_allowed(call); });
    const Duration wait = rate.reserve(now);
    if (wait <= Duration::zero() || free > Duration::zero()) return send(call);
    later(wait, [this, call] { send(call); });
  }
  void later(Duration wait, std::function<void()> task) {
    auto guarded = [weak = weak_from_this(), task = std::move(task)] {
      if (weak.lock()) task();
    };
    if (wait <= Duration::zero()) {
      executor.post(std::move(guarded));
    } else {
      executor.after(wait, std::move(guarded));
    }
  }

  // Passes on the request with its User-Agent and Authorization headers, or an error when there are no credentials.
  void authorized(HttpRequest request, std::function<void(Result<HttpRequest>)> then) {
    credentials.get(
        [this, request = std::move(request), then = std::move(then)](const Result<Identity>& identity) mutable {
          if (!identity) return then(tl::unexpected(identity.error()));
          if (!tls || *tls != identity->tls) {
            auto context = make_client_context(identity->tls);
            if (!context) return then(tl::unexpected(context.error()));
            transport.use(std::move(*context));
            tls = identity->tls;
          }
          request.headers.emplace_back("User-Agent", options.user_agent);
          if (!identity->authorization.empty()) request.headers.emplace_back("Authorization", identity->authorization);
          then(std::move(request));
        });
  }

  // Posts the answer: callbacks must not run inside the caller's call.
  void refuse(const CallPtr& call, const std::string& why, bool hopeless) {
    later(Duration::zero(), [call, answer = no_answer(why, hopeless)] { call->done(answer); });
  }

  void send(const CallPtr& call) {
    const auto& deadline = call->request.not_sent_from;
    const std::optional<Time> not_sent_from = deadline ? std::optional(deadline()) : std::nullopt;
    if (not_sent_from && executor.now() >= *not_sent_from)
      return refuse(call, "not sent: it was too late for that", false);
    HttpRequest http = to_http(call->request, prefix);
    http.background = options.background(call->request);
    authorized(std::move(http), [this, call, not_sent_from](Result<HttpRequest> request) {
      if (!request) return refuse(call, request.error().message, true);
      ++call->tries;
      request->not_sent_from = not_sent_from;
      transport.call(std::move(*request), options.timeout,
                     [this, call](HttpReply reply) { answered(call, std::move(reply)); });
    });
  }

  void answered(const CallPtr& call, HttpReply reply) {
    reported(call->request, reply);
    if (const auto wait = try_again(*call, reply)) {
      log::debug("retrying a request to the API server",
                 {{"status", std::to_string(reply.status)}, {"error", reply.error}});
      return later(*wait, [this, call] { send(call); });
    }
    if (reply.status == 0) return call->done(no_answer(reply.error, reply.hopeless));
    call->done(to_response(call->request, std::move(reply)));
  }

  void reported(const RestRequest& request, const HttpReply& reply) {
    if (options.on_answer && (reply.status != 0 || reply.sent)) options.on_answer(request, reply.status);
  }

  // How long to wait before a retry; none: the answer is final.
  std::optional<Duration> try_again(Call& call, const HttpReply& reply) {
    const bool busy = reply.status == 429 || (reply.status == 503 && reply.retry_after_seconds);
    if (busy) rate.pushed_back(executor.now());
    if (call.tries >= options.max_tries) return std::nullopt;
    if (reply.status == 401 && !std::exchange(call.refused, true)) {
      credentials.refused();
      return Duration::zero();
    }
    if (busy && reply.retry_after_seconds)
      return jittered(std::chrono::seconds(std::min(*reply.retry_after_seconds, kLongestRetryAfter)));
    const bool not_taken = reply.status == 0 && !reply.hopeless && (!reply.sent || reads(call.request.verb));
    if (!busy && !not_taken) return std::nullopt;
    return jittered(std::min<Duration>(kLongestBackoff, kFirstBackoff * (1 << std::min(call.tries - 1, 10))));
  }

  // Between d and 1.5 d, so that clients that were refused together do not retry together.
  Duration jittered(Duration d) {
    const auto half = static_cast<std::uint64_t>(d.count() / 2);
    return d + Duration(static_cast<Duration::rep>(next_random(random) % (half + 1)));
  }

  Executor& executor;
  ClientOptions options;
  std::string prefix;
  std::optional<TlsIdentity> tls;  // in use by the transport
  Transport transport;
  Credentials credentials;
  RateLimit rate;
  std::uint64_t random;
};

namespace {

std::string proxy_authorization(const Endpoint& proxy) {
  return proxy.user_info.empty() ? std::string() : "Basic " + base64_encode(proxy.user_info);
}

}  // namespace

Result<std::unique_ptr<Client>> Client::make(Executor& executor, const Access& access, ClientOptions options) {
  const auto server = parse_endpoint(access.server);
  if (!server) return fail(access.origin + ": " + server.error().message);
  if (server->scheme != "https") return fail(access.origin + ": the server " + access.server + " must be https");
  TransportOptions transport;
  transport.host = server->host;
  transport.port = server->port;
  transport.server_name = access.tls_server_name;
  if (!access.proxy_url.empty()) {
    const auto proxy = parse_endpoint(access.proxy_url);
    if (!proxy) return fail(access.origin + ": proxy-url: " + proxy.error().message);
    transport.proxy_host = proxy->host;
    transport.proxy_port = proxy->port;
    transport.proxy_authorization = proxy_authorization(*proxy);
  }
  return std::unique_ptr<Client>(
      new Client(std::make_shared<Impl>(executor, access, std::move(transport), server->path, std::move(options))));
}

Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

void Client::get(std::string path, std::function<void(RestResponse)> done) {
  RestRequest request;
  request.path = std::move(path);
  call(std::move(request), std::move(done));
}

void Client::call(RestRequest request, std::function<void(RestResponse)> done) {
  auto call = std::make_shared<Impl::Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  call->since = impl_->executor.now();
  impl_->send_when_allowed(call);
}

namespace {

// A watch from its request to its end.
class Watch : public api::WatchHandle {
 public:
  struct State {
    std::function<void(const WatchEvent&)> on_event;
    std::function<void()> on_end;
    std::unique_ptr<Stream> stream;
    bool over = false;

    void report(const WatchEvent& event) {
      if (!over) on_event(event);
    }
    void end() {
      if (!std::exchange(over, true)) on_end();
    }
  };
  explicit Watch(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Watch() override {
    state_->over = true;
    state_->stream.reset();
  }

 private:
  std::shared_ptr<State> state_;
};

void on_line(Watch::State& state, std::string_view line) {
  auto json = parse_lean_json(line, {.max_bytes = kMaxLineBytes, .max_depth = 256});
  const auto type = json ? event_type(string_at(*json, {"type"})) : std::nullopt;
  Json* object = json && json->is_object() ? json->as_object().if_contains("object") : nullptr;
  if (!type || object == nullptr)
    return state.report(error_event(500, "InternalError", "an event of the watch cannot be read"));
  state.report({*type, std::make_shared<const Json>(std::move(*object))});
}

}  // namespace

std::unique_ptr<api::WatchHandle> Client::watch(RestRequest request, std::function<void(const WatchEvent&)> on_event,
                                                std::function<void()> on_end) {
  auto state = std::make_shared<Watch::State>();
  state->on_event = std::move(on_event);
  state->on_end = std::move(on_end);
  const std::weak_ptr<Watch::State> weak = state;
  request.verb = Verb::kWatch;
  const auto refused = [weak](int code, std::string_view reason, std::string_view message) {
    const auto s = weak.lock();
    if (!s) return;
    s->report(error_event(code, reason, message));
    s->end();
  };
  impl_->when_allowed([impl = impl_.get(), weak, refused, request = std::move(request)] {
    if (weak.expired()) return;
    impl->authorized(to_http(request, impl->prefix), [impl, weak, refused, request](Result<HttpRequest> http) {
      const auto s = weak.lock();
      if (!s || s->over) return;
      if (!http) return refused(0, "", http.error().message);
      Transport::StreamHandler handler;
      handler.on_head = [impl, refused, request](HttpReply reply) {
        impl->reported(request, reply);
        if (reply.status == 200) return;
        if (reply.status == 401) impl->credentials.refused();
        if (reply.status == 429) impl->rate.pushed_back(impl->executor.now());
        const RestResponse response =
            reply.status == 0 ? no_answer(reply.error) : to_response(request, std::move(reply));
        refused(response.code, api::status_reason(response), api::status_message(response));
      };
      handler.on_line = [weak](std::string_view line) {
        if (const auto state_now = weak.lock()) on_line(*state_now, line);
      };
      handler.on_end = [weak](const std::string&) {
        if (const auto state_now = weak.lock()) state_now->end();
      };
      s->stream = impl->transport.stream(std::move(*http), impl->options.watch_silence, std::move(handler));
    });
  });
  return std::make_unique<Watch>(std::move(state));
}

}  // namespace berth::kube
