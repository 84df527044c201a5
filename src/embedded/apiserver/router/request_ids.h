// Ids of requests and other random numbers of the router. They need to be unique, not unpredictable.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "embedded/apiserver/http/message.h"

namespace berth::apiserver::http {

// For use on any thread.
class RequestIds {
 public:
  explicit RequestIds(std::uint64_t seed);  // 0: a random seed from the operating system

  std::uint64_t next() const;
  std::string uuid() const;
  // The Audit-ID header of the request or, when it has none that is valid, a new UUID.
  std::string audit_id(const HttpRequest& request) const;

 private:
  std::uint64_t seed_;
  mutable std::atomic<std::uint64_t> drawn_{0};
};

}  // namespace berth::apiserver::http
