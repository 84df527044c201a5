// Limits the requests that the handler works on at a time, and gives free turns to waiting connections in order, so
// that a connection with many requests does not block the others. From any thread.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>

namespace berth::http {

class Turns {
 public:
  enum class Kind { kRead, kWrite };
  static Kind kind_of(std::string_view method) {
    return method == "GET" || method == "HEAD" ? Kind::kRead : Kind::kWrite;
  }

  class Taker {
   public:
    virtual ~Taker() = default;
    // The taker now has a turn; it must give it back if it does not need it. Called on any thread; must not call
    // take() before it returns.
    virtual void on_turn(Kind kind) = 0;
  };

  Turns(int reads, int writes) : free_{reads, writes} {}

  // True: the turn is taken. False: on_turn() will be called, once. A taker may wait for only one turn of a kind at a
  // time.
  bool take(Kind kind, const std::shared_ptr<Taker>& taker);
  void give_back(Kind kind);

 private:
  static std::size_t index(Kind kind) { return kind == Kind::kRead ? 0 : 1; }

  std::mutex mutex_;
  std::array<int, 2> free_;
  std::array<std::deque<std::weak_ptr<Taker>>, 2> waiting_;  // at most one entry per connection and kind
};

}  // namespace berth::http
