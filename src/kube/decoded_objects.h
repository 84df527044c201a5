// The objects of one resource as C++ values: each version is decoded once, when it comes in.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta.h"
#include "base/json.h"
#include "base/result.h"

namespace berth::kube {

// Learns which objects cannot be decoded.
class DecodeReports {
 public:
  virtual ~DecodeReports() = default;
  // `why` names the field and what was expected.
  virtual void unreadable(const Json& object, const std::string& why) = 0;
  // The object can be decoded, or it is gone.
  virtual void readable(const Json& object) = 0;
};

// An object without content that has the metadata of `now`; nullopt when `now` is not being deleted.
std::optional<Json> leaving_object(const Json& now);

// An object that cannot be decoded counts as its last readable version with the present metadata, so that its deletion
// is seen. Without such a version it is unknown, or an object without content while it is being deleted.
template <typename T>
class DecodedObjects {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Decode = std::function<Result<T>(const Json& object)>;
  // `old` is null for an added object, `now` is null for a deleted one.
  struct Change {
    std::string key;
    Ptr old, now;
  };

  // `reports` may be null; otherwise it must outlive this object.
  explicit DecodedObjects(Decode decode, DecodeReports* reports = nullptr)
      : decode_(std::move(decode)), reports_(reports) {}

  // As an ObjectHandler gets it; of `old` only the identity is used. nullopt: no value changed, which for values that
  // can be compared includes an equal one.
  std::optional<Change> changed(const JsonPtr& old, const JsonPtr& now) {
    const std::string key = api::object_key(now ? *now : *old);
    const auto it = objects_.find(key);
    const Ptr before = it == objects_.end() ? nullptr : it->second;
    Ptr after = now ? value_of(*now, before) : nullptr;
    if (!now && reports_ != nullptr) reports_->readable(*old);
    if (!after && before) objects_.erase(it);
    if (!after && !before) return std::nullopt;
    if (after && before && equal(*after, *before)) return std::nullopt;
    if (after) objects_.insert_or_assign(key, after);
    return Change{key, before, std::move(after)};
  }

  // By "namespace/name", or "name" for cluster-scoped objects; null when unknown.
  Ptr get(std::string_view key) const {
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second;
  }
  const std::map<std::string, Ptr, std::less<>>& all() const { return objects_; }

 private:
  static bool equal(const T& a, const T& b) {
    if constexpr (std::equality_comparable<T>) {
      return a == b;
    } else {
      return false;
    }
  }

  Ptr value_of(const Json& now, const Ptr& before) {
    Result<T> value = decode_(now);
    if (reports_ != nullptr) value ? reports_->readable(now) : reports_->unreadable(now, value.error().message);
    if (!value) value = instead_of(now, before, std::move(value));
    return value ? std::make_shared<const T>(std::move(*value)) : nullptr;
  }

  Result<T> instead_of(const Json& now, const Ptr& before, Result<T> failure) {
    if constexpr (requires(T value) { value.meta = api::ObjectMeta(); }) {
      api::ObjectMeta meta = api::decode_meta(now);
      if (before && before->meta.uid == meta.uid) {
        T last = *before;
        last.meta = std::move(meta);
        return last;
      }
    }
    const auto leaving = leaving_object(now);
    return leaving ? decode_(*leaving) : failure;
  }

  Decode decode_;
  DecodeReports* reports_;
  std::map<std::string, Ptr, std::less<>> objects_;
};

}  // namespace berth::kube
