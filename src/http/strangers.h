// What a server keeps for requests of strangers: clients without valid credentials. Bounded per peer address and in
// all. From any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "http/limits.h"
#include "http/message.h"

namespace berth::http {

// What the head of a request counts, with what the server keeps beside it.
std::size_t stranger_bytes(const HttpRequest& head);

class Strangers : public std::enable_shared_from_this<Strangers> {
 public:
  // The bytes of one request; the destructor gives them back.
  class Share {
   public:
    Share(std::shared_ptr<Strangers> of, std::string peer) : of_(std::move(of)), peer_(std::move(peer)) {}
    ~Share() { of_->give_back(peer_, bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    // False: the limit is reached, and nothing was taken.
    bool take(std::size_t bytes);
    // For a response that waits to be sent. What is larger than kMaxStrangerResponseBytes has been authorized.
    bool take_response(std::size_t bytes) { return take(std::min(bytes, kMaxStrangerResponseBytes)); }

   private:
    const std::shared_ptr<Strangers> of_;
    const std::string peer_;
    std::size_t bytes_ = 0;
  };

  Strangers(std::size_t per_peer, std::size_t in_all) : per_peer_(per_peer), in_all_(in_all) {}

  std::shared_ptr<Share> share(std::string peer) {
    return std::make_shared<Share>(shared_from_this(), std::move(peer));
  }
  std::size_t bytes() const;

 private:
  bool take(const std::string& peer, std::size_t bytes);
  void give_back(const std::string& peer, std::size_t bytes);

  const std::size_t per_peer_, in_all_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::size_t> peers_;
  std::size_t taken_ = 0;
};

}  // namespace berth::http
