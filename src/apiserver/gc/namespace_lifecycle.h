// A namespace that is deleted goes when all its content has gone.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
#pragma once

#include <map>
#include <set>
#include <string>

#include "apiserver/gc/turn.h"
#include "apiserver/server/requests.h"

namespace berth::apiserver {

class NamespaceLifecycle {
 public:
  NamespaceLifecycle(Core& core, Requests& requests);

  void load();
  void on_change(const Change& change);

 private:
  // What is left in a namespace, by resource.
  struct Content {
    std::map<std::string, std::size_t> objects;     // "pods.", "jobs.batch"
    std::map<std::string, std::size_t> finalizers;  // names of finalizers
    bool busy = false;                              // the disk did not keep up: more is to be deleted
  };

  void work();
  bool settle(const std::string& name);  // false: later again
  Content remove_content(const std::string& ns);
  bool finalize(const Json& object);
  bool report(const Json& object, const Content& content);
  void describe(Json& object, const Content& content) const;
  bool write(const Json& object, Json next);

  Core& core_;
  Requests& requests_;
  std::set<std::string> terminating_, queue_;
  Turn turn_;
};

}  // namespace berth::apiserver
