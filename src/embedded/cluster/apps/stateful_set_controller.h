// The StatefulSet controller of the pretend cluster: keeps the numbered pods of each StatefulSet and writes its status.
// stateful_set_sync.h decides what to do. It makes no claims of storage: pods run without them.
#pragma once

#include <string>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/cluster/apps/stateful_set_sync.h"
#include "embedded/cluster/apps/writes.h"
#include "embedded/cluster/shared/looks.h"
#include "embedded/cluster/shared/own_writes.h"
#include "embedded/cluster/shared/owned_pods.h"
#include "kube/informer.h"

namespace berth::cluster {

class StatefulSetController {
 public:
  // All must outlive the controller. Tell it about each change of the three informers.
  StatefulSetController(api::RestClient& client, Executor& executor, const kube::Informer& sets,
                        const kube::Informer& pods, const kube::Informer& revisions);

  void set_changed(const JsonPtr& old, const JsonPtr& now);
  void pod_changed(const JsonPtr& old, const JsonPtr& now);
  void revision_changed(const JsonPtr& old, const JsonPtr& now);
  // Call it once, when all informers are synced: it does nothing before.
  void begin();

 private:
  void enqueue(const std::string& key);
  void enqueue_owner(const Json* object);
  void look(const std::string& key);
  bool adopt(const std::string& key, const Json& set);
  void change_pods(const std::string& key, const JsonPtr& set, StatefulSetStep step);
  void create_revision(const std::string& key, const JsonPtr& set, Json revision);
  void collided(const std::string& key, const JsonPtr& set, const Json& revision);

  const kube::Informer& sets_;
  Executor& executor_;
  OwnWrites set_writes_, pod_writes_, revision_writes_;
  OwnedPods owned_, owned_revisions_;
  Looks looks_;
  AppWrites writes_;
  bool ready_ = false;
};

}  // namespace berth::cluster
