// Callbacks that do nothing once their owner is gone.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace berth {

// A callback with the flag of its owner. Copies share the flag. The flag is read where the callback is called: call it
// on the thread that destroys the owner.
template <typename F>
class Guarded {
 public:
  Guarded(std::shared_ptr<const bool> alive, F callback) : alive_(std::move(alive)), callback_(std::move(callback)) {}

  template <typename... Args>
    requires std::invocable<F&, Args...>
  void operator()(Args&&... args) {
    if (*alive_) callback_(std::forward<Args>(args)...);
  }
  template <typename... Args>
    requires std::invocable<const F&, Args...>
  void operator()(Args&&... args) const {
    if (*alive_) callback_(std::forward<Args>(args)...);
  }

 private:
  std::shared_ptr<const bool> alive_;
  F callback_;
};

// A member of an object whose callbacks may come after it is gone. Make it the last member: then it ends first.
class Lifetime {
 public:
  Lifetime() = default;
  ~Lifetime() { end(); }
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  // `callback` returns nothing.
  template <typename F>
  Guarded<F> guard(F callback) const {
    return {alive_, std::move(callback)};
  }
  // From now on the callbacks do nothing.
  void end() { *alive_ = false; }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth
