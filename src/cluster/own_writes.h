// A resource as an informer shows it, and on top of it our own writes that the informer has not seen yet: who
// decides on this view never acts twice on what it did itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "kube/informer.h"

namespace berth::cluster {

class OwnWrites {
 public:
  explicit OwnWrites(const kube::Informer& informer) : informer_(informer) {}

  // An object as the server answered a write with it.
  void wrote(Json object);
  // The server said that the object is no more.
  void gone(std::string_view key, std::string_view uid);
  // What it answered to a deletion: an object without a grace period and without finalizers goes at once, another stays for a
  // while, marked.
  void deleted(std::string_view key, std::string_view uid, Json body);

  JsonPtr get(std::string_view key) const;  // null when absent
  // The keys of objects that were written and not seen yet, in order.
  std::vector<std::string> unseen();

 private:
  struct Entry {
    JsonPtr object;  // null: gone
    std::uint64_t version = 0;
    std::string uid;
  };
  bool seen(std::string_view key, const Entry& entry) const;

  const kube::Informer& informer_;
  std::map<std::string, Entry, std::less<>> entries_;  // dropped as soon as they are seen
};

}  // namespace berth::cluster
