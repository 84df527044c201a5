#include "console/sessions.h"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/digest.h"
#include "console/replies.h"

namespace berth::console {
namespace {

constexpr std::size_t kSecretBytes = 32;

// Sessions are found by a hash, so that the time of a look-up tells nothing about the cookies of others.
std::string key_of(std::string_view cookie) { return sha256_digits(cookie, 64); }

// A new secret; "" when the system has no random numbers.
std::string make_secret() {
  unsigned char bytes[kSecretBytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return {};
  return base64url_encode({reinterpret_cast<const char*>(bytes), sizeof bytes});
}

// Tokens are visible ASCII without spaces; anything else could add lines to a request.
bool may_be_token(std::string_view token) {
  return !token.empty() && token.size() <= kMaxTokenBytes &&
         std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

http::HttpResponse login_again(std::string_view why) {
  return refusal(401, why.empty() ? "log in first" : "log in again: " + std::string(why));
}

http::HttpResponse as_refusal(const http::HttpResponse& from) {
  if (from.status == 401) return refusal(401, "the API server does not accept the token");
  if (from.status == 403) return refusal(403, "the API server does not allow this");
  return refusal(503, "the API server cannot be asked about the token; try again later");
}

}  // namespace

Sessions::Sessions(serve::DelegatedAuth& auth, Executor& executor, Callbacks callbacks)
    : auth_(auth), executor_(executor), callbacks_(std::move(callbacks)) {}

template <typename F>
void Sessions::authenticate(const std::string& token, F&& done) {
  http::HttpRequest request;
  request.headers.push_back({"Authorization", "Bearer " + token});
  auth_.authenticate(request,
                     lifetime_.guard([done = std::forward<F>(done)](auto caller) { done(std::move(caller)); }));
}

void Sessions::login(std::string token, std::function<void(tl::expected<std::string, http::HttpResponse>)> done) {
  if (!may_be_token(token)) return done(Refused(refusal(401, "this is no token")));
  authenticate(token, [this, token, done = std::move(done)](tl::expected<serve::Caller, http::HttpResponse> caller) {
    if (!caller) return done(Refused(as_refusal(caller.error())));
    const std::string cookie = make_secret();
    if (cookie.empty()) return done(Refused(refusal(500, "there are no random numbers")));
    make_room(caller->user.name);
    const Time now = executor_.now();
    auto session = std::make_shared<Session>(Rights(auth_, callbacks_.namespaces, callbacks_.rights_changed),
                                             std::move(*caller), token, now);
    session->created = session->used = session->reviewed = session->rights_asked = now;
    session->key = key_of(cookie);
    sessions_[session->key] = session;
    done(cookie);
  });
}

// Drops the sessions that were unused longest, so that a user who logs in again and again takes no place of others.
void Sessions::make_room(const std::string& user) {
  const auto drop_oldest = [&](auto&& counts, std::size_t limit) {
    std::vector<SessionPtr> found;
    for (const auto& [key, session] : sessions_) {
      if (counts(*session)) found.push_back(session);
    }
    if (found.size() < limit) return;
    const auto oldest = std::min_element(found.begin(), found.end(),
                                         [](const SessionPtr& a, const SessionPtr& b) { return a->used < b->used; });
    end(*oldest, SessionEnd::kSignedOut, "too many sessions; this one was unused for the longest time");
  };
  drop_oldest([&](const Session& s) { return s.caller.user.name == user; }, kMaxSessionsPerUser);
  drop_oldest([](const Session&) { return true; }, kMaxSessions);
}

SessionPtr Sessions::known(std::string_view cookie) const {
  if (cookie.empty()) return nullptr;
  const auto it = sessions_.find(key_of(cookie));
  return it == sessions_.end() ? nullptr : it->second;
}

std::optional<http::HttpResponse> Sessions::stranger(std::string_view cookie) const {
  return known(cookie) ? std::nullopt : std::optional(login_again(""));
}

void Sessions::find(std::string_view cookie, std::function<void(tl::expected<SessionPtr, http::HttpResponse>)> done) {
  SessionPtr session = known(cookie);
  if (!session) return done(Refused(login_again("")));
  session->used = executor_.now();
  if (!session->requests.take(session->used))
    return done(Refused(refusal(429, "too many requests in this session; try again in a few seconds")));
  review(session, [session, done = std::move(done)](std::optional<http::HttpResponse> refused) {
    if (refused) return done(Refused(std::move(*refused)));
    if (session->over) return done(Refused(login_again("the session has ended")));
    // Without an open page nobody has kept the rights up to date.
    if (session->streams == 0 && session->used - session->rights_asked >= kReviewAgain) {
      session->rights.forget();
      session->rights_asked = session->used;
    }
    done(session);
  });
}

// The cache of DelegatedAuth bounds how often the API server is asked.
void Sessions::review(const SessionPtr& session, Reviewed done) {
  if (executor_.now() - session->created >= kSessionLife) {
    end(session, SessionEnd::kExpired, "the session is too old");
    return done(login_again("the session is too old"));
  }
  authenticate(session->token, [this, session, done = std::move(done)](auto caller) {
    const Time now = executor_.now();
    if (caller) {
      session->reviewed = now;
      session->caller = std::move(*caller);
      return done(std::nullopt);
    }
    const bool unsure = caller.error().status != 401;
    if (unsure && now - session->reviewed < kUnreviewed) return done(as_refusal(caller.error()));
    end(session, SessionEnd::kExpired, "the API server does not accept the token any more");
    done(login_again("the API server does not accept the token any more"));
  });
}

void Sessions::logout(std::string_view cookie) {
  if (const SessionPtr session = known(cookie)) end(session, SessionEnd::kSignedOut, "signed out");
}

void Sessions::end(const SessionPtr& session, SessionEnd how, std::string why) {
  if (session->over) return;
  session->over = how;
  sessions_.erase(session->key);
  callbacks_.over(session, std::move(why));
}

void Sessions::upkeep() {
  const Time now = executor_.now();
  std::vector<SessionPtr> due;
  for (const auto& [key, session] : sessions_) {
    session->rights.ask_again(session->caller, false);
    const bool old = now - session->created >= kSessionLife;
    const bool review_due = session->streams > 0 && now - session->rights_asked >= kReviewAgain && !session->reviewing;
    if (old || review_due) due.push_back(session);
  }
  for (const SessionPtr& session : due) {
    session->reviewing = true;
    session->rights_asked = now;
    review(session, [session](const std::optional<http::HttpResponse>&) {
      session->reviewing = false;
      if (!session->over) session->rights.ask_again(session->caller, true);
    });
  }
}

void Sessions::ask_rights_again() {
  for (const auto& [key, session] : sessions_) {
    if (session->streams > 0) session->rights.ask_again(session->caller, true);
  }
}

}  // namespace berth::console
