#include "console/server.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "api/visibility/visibility.h"
#include "console/feeds.h"
#include "console/login_limits.h"
#include "console/questions.h"
#include "console/replies.h"
#include "console/request.h"
#include "console/sessions.h"
#include "console/static_files.h"
#include "console/stream.h"
#include "console/trials.h"

namespace berth::console {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(250);  // between the batches of changes
constexpr Duration kSecond = std::chrono::seconds(1);
constexpr Duration kPing = std::chrono::seconds(15);
constexpr Duration kUpkeep = std::chrono::seconds(5);
// How long a question waits for the first answer about the user's rights.
constexpr Duration kWaitForRights = std::chrono::seconds(5), kLookAgain = std::chrono::milliseconds(100);
constexpr std::size_t kMaxStreams = 500;  // of all sessions together

// A request in progress; it owns the stream that may follow. Destroyed when the client is gone.
struct Ongoing final : http::Exchange {
  std::shared_ptr<std::unique_ptr<Stream>> stream = std::make_shared<std::unique_ptr<Stream>>();
};

using Sink = std::shared_ptr<http::ResponseSink>;
using api::visibility::kExplanation, api::visibility::kPrediction;

void answer(const Sink& sink, http::HttpResponse response) {
  sink->respond([response = std::move(response)]() mutable { return std::move(response); });
}

std::int64_t millis(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// A time in a query: milliseconds since 1970, not negative; nullopt for anything else.
std::optional<Time> millis_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::int64_t kMost = 253'402'300'800'000;  // the year 10000
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMost) return std::nullopt;
  return Time(std::chrono::milliseconds(value));
}

}  // namespace

struct Console::Impl : std::enable_shared_from_this<Console::Impl> {
  explicit Impl(ConsoleParts p)
      : parts(std::move(p)),
        files(parts.files),
        feeds(parts.client, parts.executor, parts.read_path, parts.owners),
        questions(parts.client, parts.auth, feeds.pod_workloads(), parts.read_path),
        logins(parts.executor.now()),
        sessions(parts.auth, parts.executor,
                 {[this] { return feeds.namespaces(); }, [this] { pump_soon(); },
                  [this](const SessionPtr& session, const std::string& why) { session_over(session, why); }}) {}

  // --- Time.

  void every(Duration pause, void (Impl::*what)()) {
    parts.executor.after(pause, [weak = weak_from_this(), pause, what] {
      if (const auto self = weak.lock()) {
        (*self.*what)();
        self->every(pause, what);
      }
    });
  }

  void start() {
    feeds.on_new_namespace([this] { ask_rights = true; });
    feeds.start();
    every(kTick, &Impl::pump);
    every(kSecond, &Impl::every_second);
    every(kSampleEvery, &Impl::sample);
    every(kPing, &Impl::ping);
    every(kUpkeep, &Impl::upkeep);
  }

  void pump() {
    feeds.tick();
    for (Stream* stream : open) stream->pump();
  }
  void pump_soon() {
    if (std::exchange(pumps_soon, true)) return;
    parts.executor.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->pumps_soon = false;
      self->pump();
    });
  }
  void every_second() { feeds.every_second(); }
  void sample() { feeds.sample(); }
  void ping() {
    for (Stream* stream : open) stream->ping();
    feeds.forget_unused();
  }
  void upkeep() {
    sessions.upkeep();
    if (std::exchange(ask_rights, false)) sessions.ask_rights_again();
  }

  void session_over(const SessionPtr& session, const std::string& why) {
    const char* reason = session->over == SessionEnd::kExpired ? "expired" : "signedOut";
    for (Stream* stream : open) {
      if (stream->session() == session) stream->end(reason, why);
    }
  }

  // --- Requests.

  void route(const ConsoleRequest& request, const Sink& sink, Ongoing& ongoing) {
    if (request.refused) return answer(sink, *request.refused);
    if (request.api() && request.http.body_too_large) return answer(sink, too_large());
    const std::string& path = request.target.path;
    if (path == "/healthz") return answer(sink, http::plain_text(200, "ok"));
    if (!request.api()) return sink->respond([page = files.answer(path, request.gzip)] { return page; });
    const bool post = request.method == "POST";
    if (path == kLoginPath && post) return login(request, sink);
    if (path == kLogoutPath && post) return logout(request, sink);
    with_session(request, sink, ongoing,
                 [this, path, post, query = request.target.query, body = request.http.body](
                     const SessionPtr& session, const Sink& to, std::unique_ptr<Stream>& stream) {
                   if (post && path == kTryPath) return try_one(session, body, to);
                   if (post) return path == kChangesPath ? change(session, body, to) : nothing_here(to);
                   if (path == "/api/session") return answer(to, json_reply(describe(*session)));
                   if (path == "/api/stream") return open_stream(session, query.get("collections"), to, stream);
                   ask(session, path, query, to);
                 });
  }

  // Before the body of a request is read.
  http::Handler::Verdict verdict_on(const ConsoleRequest& request) const {
    if (request.refused) return request.refused;
    if (request.target.path == kLoginPath)
      return logins.may(request.peer_address, parts.executor.now()) ? std::nullopt : std::optional(too_many_logins());
    const bool trial = request.target.path == kTryPath;
    if (!trial && request.target.path != kChangesPath) return std::nullopt;
    auto no = sessions.stranger(request.cookie);
    return no || trial ? no : no_changes();
  }

  http::Handler::Verdict no_changes() const {
    if (parts.allow_changes && parts.as_user) return std::nullopt;
    return refusal(403, "this console changes nothing; it was started without --allow-changes");
  }
  static http::HttpResponse too_many_logins() {
    return refusal(429, "too many attempts to log in; try again in a few seconds");
  }
  static http::HttpResponse too_large() { return refusal(413, "the request's body is too large"); }
  static void nothing_here(const Sink& sink) { answer(sink, refusal(404, "there is nothing at this path")); }

  void ask(const SessionPtr& session, const std::string& path, const http::Query& query, const Sink& sink) {
    const auto report = [sink](http::HttpResponse response) { answer(sink, std::move(response)); };
    if (path == "/api/object") return questions.object(session->caller, query, report);
    if (path == "/api/events") return questions.events(session->caller, query, report);
    if (path == "/api/pods") return questions.pods(session->caller, query, report);
    if (path == "/api/may" && parts.allow_changes) return questions.may_change(session->caller, query, report);
    if (path == "/api/explanation" && parts.read_path)
      return questions.about(kExplanation, session->caller, query, report);
    if (path == "/api/prediction" && parts.read_path)
      return questions.about(kPrediction, session->caller, query, report);
    if (path == "/api/history" && parts.history)
      return history(session, query, sink, parts.executor.now() + kWaitForRights);
    nothing_here(sink);
  }

  void history(const SessionPtr& session, const http::Query& query, const Sink& sink, Time until) {
    const auto from = millis_in(query.get("from")), to = millis_in(query.get("to"));
    if (!from || !to || *from > *to)
      return answer(sink, refusal(400, "from, to: expected milliseconds since 1970, in this order"));
    const Scope* scope = session->rights.find(session->caller, {api::kWorkloads, true});
    if (scope == nullptr) {
      if (parts.executor.now() >= until)
        return answer(sink, refusal(503, "the API server cannot be asked what you may see"));
      parts.executor.after(kLookAgain, [weak = weak_from_this(), session, query, sink, until] {
        if (const auto self = weak.lock()) self->history(session, query, sink, until);
      });
      return;
    }
    if (scope->nothing()) return answer(sink, refusal(403, "your roles do not allow you to list workloads"));
    HistoryQuestion question{*from, *to, std::string(query.get("cq")),
                             [may = *scope](std::string_view ns) { return may.covers(ns); }};
    parts.history(std::move(question), [sink](Result<Json> found) {
      answer(sink, found ? json_reply(*found) : refusal(503, found.error().message));
    });
  }

  void change(const SessionPtr& session, const std::string& body, const Sink& sink) {
    if (auto no = no_changes()) return answer(sink, std::move(*no));
    const auto parsed = parse_json(body);
    if (!parsed) return answer(sink, refusal(400, "the body is no JSON: " + parsed.error().message));
    auto change = read_change(*parsed);
    if (!change) return answer(sink, refusal(400, change.error().message));
    make_change(parts.as_user, session->token, std::move(*change),
                [sink](http::HttpResponse response) { answer(sink, std::move(response)); });
  }

  void try_one(const SessionPtr& session, const std::string& body, const Sink& sink) {
    if (!parts.as_user || !parts.read_path) return nothing_here(sink);
    const auto parsed = parse_json(body);
    if (!parsed) return answer(sink, refusal(400, "the body is no JSON: " + parsed.error().message));
    auto trial = read_trial(*parsed);
    if (!trial) return answer(sink, refusal(400, trial.error().message));
    try_job(parts.as_user, session->token, parts.read_path, std::move(*trial),
            [sink](http::HttpResponse response) { answer(sink, std::move(response)); });
  }

  // Calls `then` with the session, unless the client has gone by then.
  template <typename Then>
  void with_session(const ConsoleRequest& request, const Sink& sink, const Ongoing& ongoing, Then then) {
    sessions.find(request.cookie, [sink, then = std::move(then), stream = std::weak_ptr(ongoing.stream)](auto session) {
      const auto place = stream.lock();
      if (!place) return;
      if (!session) return answer(sink, std::move(session.error()));
      then(*session, sink, *place);
    });
  }

  void login(const ConsoleRequest& request, const Sink& sink) {
    const auto body = parse_json(request.http.body);
    if (!body) return answer(sink, refusal(400, "the body is no JSON: " + body.error().message));
    const std::string address = request.peer_address;
    if (!logins.take(address, parts.executor.now())) return answer(sink, too_many_logins());
    sessions.login(std::string(string_at(*body, {"token"})), [this, address, sink](auto cookie) {
      if (!cookie) return answer(sink, std::move(cookie.error()));
      logins.give_back(address, parts.executor.now());
      http::HttpResponse done = no_content();
      done.headers.push_back({"Set-Cookie", set_cookie(*cookie)});
      answer(sink, std::move(done));
    });
  }

  void logout(const ConsoleRequest& request, const Sink& sink) {
    sessions.logout(request.cookie);
    http::HttpResponse done = no_content();
    done.headers.push_back({"Set-Cookie", set_cookie("")});
    answer(sink, std::move(done));
  }

  Json describe(const Session& session) const {
    const auto& groups = session.caller.user.groups;
    return JsonObject{{"user", session.caller.user.name},
                      {"groups", JsonArray(groups.begin(), groups.end())},
                      {"allowChanges", parts.allow_changes},
                      {"version", parts.version},
                      {"explain", static_cast<bool>(parts.read_path)},
                      {"history", static_cast<bool>(parts.history)},
                      {"now", millis(parts.executor.now())}};
  }

  void open_stream(const SessionPtr& session, std::string_view names, const Sink& sink,
                   std::unique_ptr<Stream>& stream) {
    if (session->streams >= kMaxStreamsPerSession || open.size() >= kMaxStreams)
      return answer(sink, refusal(429, "too many pages are open"));
    std::vector<Feed*> wanted;
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(','), names.size());
      Feed* feed = feeds.find(names.substr(0, end));
      if (feed == nullptr)
        return answer(sink, refusal(400, "there is no collection \"" + std::string(names.substr(0, end)) + "\""));
      if (std::find(wanted.begin(), wanted.end(), feed) == wanted.end()) wanted.push_back(feed);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
    if (wanted.empty()) return answer(sink, refusal(400, "collections: expected names of collections"));
    stream = std::make_unique<Stream>(session, std::move(wanted), sink, open);
    stream->pump();
  }

  ConsoleParts parts;
  StaticFiles files;
  Feeds feeds;
  Questions questions;
  LoginLimits logins;
  std::set<Stream*> open;
  bool pumps_soon = false, ask_rights = false;
  Sessions sessions;
};

Console::Console(ConsoleParts parts) : impl_(std::make_shared<Impl>(std::move(parts))) {}
Console::~Console() = default;

void Console::start() { impl_->start(); }
void Console::stop() {
  for (Stream* stream : impl_->open) stream->end("stopping", "the console stops");
}

std::unique_ptr<http::Handler::Parsed> Console::parse(http::HttpRequest request) const {
  return read_request(std::move(request), impl_->parts.proxies);
}

void Console::admit(Parsed& request, std::function<void(Verdict)> done) {
  done(impl_->verdict_on(static_cast<const ConsoleRequest&>(request)));
}

std::unique_ptr<http::Exchange> Console::execute(std::unique_ptr<Parsed> request,
                                                 std::shared_ptr<http::ResponseSink> sink) {
  auto ongoing = std::make_unique<Ongoing>();
  impl_->route(static_cast<const ConsoleRequest&>(*request), sink, *ongoing);
  return ongoing;
}

http::HttpResponse Console::overloaded() const { return refusal(429, "too many requests are in flight"); }

}  // namespace berth::console
