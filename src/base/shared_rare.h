// As Rare, but copies share the value until one of them changes: for values that many copies have in common. Not for
// several threads at the same time.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace berth {

template <typename T>
class SharedRare {
 public:
  SharedRare() = default;
  SharedRare(std::nullopt_t) {}
  SharedRare(T value) : value_(std::make_shared<T>(std::move(value))) {}
  SharedRare(std::optional<T> value) : value_(value ? std::make_shared<T>(*std::move(value)) : nullptr) {}

  operator std::optional<T>() const { return value_ ? std::optional<T>(*value_) : std::nullopt; }

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  bool shares_with(const SharedRare& other) const { return value_ == other.value_; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  // A copy of its own.
  T& operator*() { return own(); }
  T* operator->() { return &own(); }
  T& emplace() { return *(value_ = std::make_shared<T>()); }
  void reset() { value_.reset(); }

  friend bool operator==(const SharedRare& a, const SharedRare& b) {
    return a.value_ == b.value_ || (a.value_ && b.value_ && *a.value_ == *b.value_);
  }
  friend bool operator==(const SharedRare& a, const T& b) { return a.value_ && *a.value_ == b; }
  friend bool operator==(const SharedRare& a, std::nullopt_t) { return !a.value_; }
  friend bool operator==(const SharedRare& a, const std::optional<T>& b) {
    return a.value_ && b ? *a.value_ == *b : !a.value_ == !b;
  }

 private:
  T& own() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

  std::shared_ptr<T> value_;
};

}  // namespace berth
