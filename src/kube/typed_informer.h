// An informer whose objects are C++ values. The JSON of an object is kept only if InformerOptions::keep_objects says
// so.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/decoded_objects.h"
#include "kube/informer.h"

namespace berth::kube {

template <typename T>
class TypedInformer {
 public:
  using Ptr = typename DecodedObjects<T>::Ptr;
  using Decode = typename DecodedObjects<T>::Decode;
  // Called on the executor, one call at a time, after get() and all() have the change. `old` is null for an added
  // object, `now` is null for a deleted one.
  using Handler = std::function<void(const std::string& key, const Ptr& old, const Ptr& now)>;

  // `client`, `executor` and `reports`, which may be null, must outlive the informer.
  TypedInformer(api::RestClient& client, Executor& executor, api::GroupVersionResource resource,
                InformerOptions options, Decode decode, DecodeReports* reports = nullptr)
      : informer_(client, executor, std::move(resource), std::move(options)), objects_(std::move(decode), reports) {
    informer_.on_change([this](const JsonPtr& old, const JsonPtr& now) {
      const auto change = objects_.changed(old, now);
      if (!change) return;
      for (const auto& handler : handlers_) handler(change->key, change->old, change->now);
    });
  }

  void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }  // before the informer is started

  // By "namespace/name", or "name" for cluster-scoped objects; null when unknown or never readable.
  Ptr get(std::string_view key) const { return objects_.get(key); }
  const std::map<std::string, Ptr, std::less<>>& all() const { return objects_.all(); }

  Informer& informer() { return informer_; }
  const Informer& informer() const { return informer_; }
  const api::GroupVersionResource& resource() const { return informer_.resource(); }

 private:
  Informer informer_;
  DecodedObjects<T> objects_;
  std::vector<Handler> handlers_;
};

}  // namespace berth::kube
