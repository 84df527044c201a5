// An optional for a large value that is seldom present: it has the size of a pointer. As with std::optional, copies
// are deep and comparisons compare the contents.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace berth {

template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(std::nullopt_t) {}
  Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Rare(std::optional<T> value) : value_(value ? std::make_unique<T>(*std::move(value)) : nullptr) {}
  Rare(const Rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) { return *this = Rare(other); }
  Rare& operator=(Rare&&) noexcept = default;
  ~Rare() = default;

  operator std::optional<T>() const { return value_ ? std::optional<T>(*value_) : std::nullopt; }

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T& emplace() { return *(value_ = std::make_unique<T>()); }
  void reset() { value_.reset(); }

  friend bool operator==(const Rare& a, const Rare& b) {
    return a.value_ && b.value_ ? *a == *b : !a.value_ == !b.value_;
  }
  friend bool operator==(const Rare& a, const T& b) { return a.value_ && *a == b; }
  friend bool operator==(const Rare& a, std::nullopt_t) { return !a.value_; }
  // Without this overload, std::optional's comparison with a value is chosen, for which two empty optionals differ.
  friend bool operator==(const Rare& a, const std::optional<T>& b) {
    return a.value_ && b ? *a == *b : !a.value_ == !b;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace berth
