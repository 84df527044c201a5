// The writes of one controller of the group apps. Each is about one object of the controller, named by its key. When
// all writes of a key are answered, the controller looks at the object again; after a failure it waits first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest.h"
#include "base/executor.h"
#include "base/json.h"
#include "base/lifetime.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "kube/event_recorder.h"

namespace berth::cluster {

class AppWrites {
 public:
  using Done = std::function<void(const api::RestResponse& response)>;

  // `controller`: the name in events. `looks` must outlive this object.
  AppWrites(api::RestClient& client, Executor& executor, Looks& looks, std::string controller);

  // `seen` learns the result. `done` is called before the object of `key` is looked at again.
  // Creations that fail are retried only after a while, see may_create().
  void create(const std::string& key, const api::GroupVersionResource& resource, Json object, OwnWrites& seen,
              Done done = {});
  void update(const std::string& key, const api::GroupVersionResource& resource, Json object,
              std::string_view subresource, OwnWrites& seen, Done done = {});
  void patch(const std::string& key, const api::GroupVersionResource& resource, const Json& object, Json body,
             OwnWrites& seen);
  // Only the object with this UID.
  void remove(const std::string& key, const api::GroupVersionResource& resource, const Json& object, OwnWrites& seen,
              Done done = {});
  void get(const std::string& key, const api::GroupVersionResource& resource, const Json& object, Done done);

  // Whether creations for the key need not wait after a failure.
  bool may_create(const std::string& key) const;
  std::optional<Time> create_after(const std::string& key) const;
  // Why the last creation for the key failed; "" when it did not.
  std::string failure(const std::string& key) const;
  // Call it when the object of the key does not exist any more.
  void forget(const std::string& key);

  void record(const Json& about, std::string_view kind, bool warning, std::string reason, std::string note);

 private:
  struct Creations {
    int failed = 0;  // in a row
    Time after{};
    std::string why;
  };
  void send(const std::string& key, api::RestRequest request, std::function<bool(const api::RestResponse&)> done);
  void creation_failed(const std::string& key, const api::RestResponse& response);
  static api::RestRequest request(api::Verb verb, const api::GroupVersionResource& resource, const Json& object);

  api::RestClient& client_;
  Executor& executor_;
  Looks& looks_;
  std::string controller_;
  kube::EventRecorder recorder_;
  std::map<std::string, Creations, std::less<>> creations_;  // of keys whose last creation failed
  Lifetime lifetime_;
};

}  // namespace berth::cluster
