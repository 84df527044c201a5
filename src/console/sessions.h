// Who is logged in. A session belongs to a cookie and holds the user's own token, in memory only. The token is reviewed
// again at least once a minute while it is used; when the API server does not accept it any more, the session ends.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/executor.h"
#include "base/lifetime.h"
#include "console/budget.h"
#include "console/rights.h"
#include "http/message.h"
#include "serve/delegated_auth.h"

namespace berth::console {

// Bounds.
inline constexpr std::size_t kMaxSessions = 1'000;        // a login above this ends the session that was unused longest
inline constexpr std::size_t kMaxSessionsPerUser = 20;    // as above, among the sessions of the user
inline constexpr std::size_t kMaxStreamsPerSession = 10;  // open pages
inline constexpr std::size_t kMaxTokenBytes = 8 * 1024;
inline constexpr BudgetRate kRequestsOfSession{100, 20};
inline constexpr Duration kSessionLife = std::chrono::hours(12);
inline constexpr Duration kReviewAgain = std::chrono::seconds(60);
// How long a session stays valid when the API server cannot be asked about its token.
inline constexpr Duration kUnreviewed = std::chrono::minutes(5);

enum class SessionEnd { kExpired, kSignedOut };

struct Session {
  Session(Rights r, serve::Caller c, std::string t, Time now)
      : rights(std::move(r)), caller(std::move(c)), token(std::move(t)), requests(kRequestsOfSession, now) {}
  Rights rights;
  serve::Caller caller;
  const std::string token;
  std::string key;  // in Sessions
  Budget requests;
  Time created{}, used{};
  Time reviewed{};      // the token
  Time rights_asked{};  // about all rights
  std::size_t streams = 0;
  bool reviewing = false;
  std::optional<SessionEnd> over;
};
using SessionPtr = std::shared_ptr<Session>;

// Use it on the executor only.
class Sessions {
 public:
  struct Callbacks {
    std::function<std::vector<std::string>()> namespaces;                  // to ask about
    std::function<void()> rights_changed;                                  // of some session
    std::function<void(const SessionPtr& session, std::string why)> over;  // a session has ended
  };
  // Both must outlive it.
  Sessions(serve::DelegatedAuth& auth, Executor& executor, Callbacks callbacks);

  using Refused = tl::unexpected<http::HttpResponse>;
  // Calls `done` with the cookie's value of a new session, or with the answer that refuses the token.
  void login(std::string token, std::function<void(tl::expected<std::string, http::HttpResponse>)> done);
  // The session of a cookie's value, when the API server still accepts its token.
  void find(std::string_view cookie, std::function<void(tl::expected<SessionPtr, http::HttpResponse>)> done);
  // Whether the cookie's value belongs to no session: then the answer that says so.
  std::optional<http::HttpResponse> stranger(std::string_view cookie) const;
  void logout(std::string_view cookie);
  // Reviews the tokens of sessions with open pages and ends sessions that are too old. Call it every few seconds.
  void upkeep();
  std::size_t size() const { return sessions_.size(); }
  // Asks for the rights of all sessions anew.
  void ask_rights_again();

 private:
  using Reviewed = std::function<void(std::optional<http::HttpResponse> refusal)>;
  SessionPtr known(std::string_view cookie) const;
  void review(const SessionPtr& session, Reviewed done);
  void make_room(const std::string& user);
  void end(const SessionPtr& session, SessionEnd how, std::string why);
  template <typename F>
  void authenticate(const std::string& token, F&& done);

  serve::DelegatedAuth& auth_;
  Executor& executor_;
  const Callbacks callbacks_;
  std::map<std::string, SessionPtr> sessions_;  // by the hash of the cookie's value
  Lifetime lifetime_;
};

}  // namespace berth::console
