// Removes a terminating namespace after all its objects are gone.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/apiserver/gc/turn.h"
#include "embedded/apiserver/requests/requests.h"

namespace berth::apiserver {

class NamespaceLifecycle {
 public:
  NamespaceLifecycle(Core& core, Requests& requests);

  void load();
  void on_change(const Change& change);

 private:
  // The remaining objects of a namespace, by resource.
  struct Content {
    std::map<std::string, std::size_t> objects;     // "pods.", "jobs.batch"
    std::map<std::string, std::size_t> finalizers;  // names of finalizers
    bool busy = false;                              // the store was overloaded: more objects are to be deleted
  };

  void work();
  bool settle(const std::string& name);  // false: try again later
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
