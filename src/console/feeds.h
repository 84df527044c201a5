// The collections and what fills them: informers that make rows of objects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest.h"
#include "base/executor.h"
#include "console/collection.h"
#include "console/rights.h"
#include "kube/informer.h"

namespace berth::console {

// A collection and who may see it: a user sees the rows that one of the rights covers.
struct Feed {
  explicit Feed(std::string name, std::vector<Right> r) : rows(std::move(name)), rights(std::move(r)) {}
  Collection rows;
  std::vector<Right> rights;
  std::string trouble;  // why the console itself cannot read the objects; "" when it can
};

// Use it on the executor only.
class Feeds {
 public:
  // Both must outlive it.
  Feeds(api::RestClient& client, Executor& executor);
  ~Feeds();

  void start();
  Feed* find(std::string_view name);  // null for unknown names
  // Namespaces with queues or workloads: those about which users without a right in all namespaces are asked.
  std::vector<std::string> namespaces();
  void forget_unused();
  void on_new_namespace(std::function<void()> handler) { new_namespace_ = std::move(handler); }

 private:
  Feed& add(std::string name, std::vector<Right> rights);
  void read(Feed& feed, const api::GroupVersionResource& resource, MakeRow make);

  api::RestClient& client_;
  Executor& executor_;
  std::map<std::string, std::unique_ptr<Feed>, std::less<>> feeds_;
  std::vector<std::unique_ptr<kube::Informer>> informers_;
  std::set<std::string, std::less<>> known_namespaces_;
  std::function<void()> new_namespace_;
};

}  // namespace berth::console
