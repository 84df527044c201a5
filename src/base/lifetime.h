// Callbacks that do nothing once their owner is gone.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace berth {

template <typename F>
class Guarded;

// Tells whether an owner is still there. Copies are about the same owner. Use them on the thread that destroys it; they
// may be made and destroyed on others.
class LifetimeWatch {
 public:
  bool alive() const { return *alive_; }
  // A callback that does nothing once the owner is gone. `callback` returns nothing.
  template <typename F>
  Guarded<F> guard(F callback) const {
    return {*this, std::move(callback)};
  }

 private:
  friend class Lifetime;
  explicit LifetimeWatch(std::shared_ptr<const bool> alive) : alive_(std::move(alive)) {}
  std::shared_ptr<const bool> alive_;
};

template <typename F>
class Guarded {
 public:
  Guarded(LifetimeWatch owner, F callback) : owner_(std::move(owner)), callback_(std::move(callback)) {}

  template <typename... Args>
    requires std::invocable<F&, Args...>
  void operator()(Args&&... args) {
    if (owner_.alive()) callback_(std::forward<Args>(args)...);
  }
  template <typename... Args>
    requires std::invocable<const F&, Args...>
  void operator()(Args&&... args) const {
    if (owner_.alive()) callback_(std::forward<Args>(args)...);
  }

 private:
  LifetimeWatch owner_;
  F callback_;
};

// A member of an object whose callbacks may come after it is gone. Make it the last member: then it ends first.
class Lifetime {
 public:
  Lifetime() = default;
  ~Lifetime() { end(); }
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  LifetimeWatch watch() const { return LifetimeWatch(alive_); }
  template <typename F>
  Guarded<F> guard(F callback) const {
    return watch().guard(std::move(callback));
  }
  // From now on the callbacks do nothing.
  void end() { *alive_ = false; }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth
