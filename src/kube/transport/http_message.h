// An HTTP request to the server and its reply, and the bounds of both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace berth::kube {

inline constexpr std::size_t kMaxHeaderBytes = 64u << 10;  // of one answer
inline constexpr std::size_t kMaxReplyBytes = 256u << 20;  // of one answer

struct HttpRequest {
  std::string method;
  std::string target;  // "/api/v1/nodes?limit=500"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::optional<Time> not_sent_from;  // refused instead of sent from this time on, by the system clock
  // Lets other requests go first, except every kBackgroundTurn-th time, and at most kMaxBackground are in flight.
  bool background = false;
};

struct HttpReply {
  int status = 0;         // 0: there is no answer
  std::string error;      // why there is no answer
  bool sent = false;      // without an answer: the server may have received the request
  bool hopeless = false;  // without an answer: a retry will not help, because the server cannot be trusted
  std::optional<std::int64_t> retry_after_seconds;
  std::vector<std::string> warnings;  // texts of Warning headers
  std::string body;
};

using ReplyHandler = std::function<void(HttpReply)>;

// A reply without an answer. `sent`: the server may have received the request.
HttpReply without_answer(std::string why, bool sent);
// Takes what a reply needs of a header of the answer. `name` may have any case.
void take_header(HttpReply& reply, std::string_view name, std::string_view value);
// "no answer within 30 s".
std::string overdue_text(Duration timeout);

}  // namespace berth::kube
