// A resource as its informer shows it, overlaid with our own writes that the informer has not seen yet. A controller
// that decides on this view never repeats its own action.
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

  // `object`: the server's answer to a write.
  void wrote(Json object);
  // Call it when the server answered that the object does not exist.
  void gone(std::string_view key, std::string_view uid);
  // `body`: the server's answer to a deletion. An object without grace period and finalizers is gone at once; another
  // one stays for a while with a deletion timestamp.
  void deleted(std::string_view key, std::string_view uid, Json body);

  JsonPtr get(std::string_view key) const;  // null when absent
  // The keys of objects that were written but not seen yet, in order. Drops the writes that were seen.
  std::vector<std::string> unseen();

 private:
  struct Entry {
    JsonPtr object;  // null: deleted
    std::uint64_t version = 0;
    std::string uid;
  };
  bool seen(std::string_view key, const Entry& entry) const;

  const kube::Informer& informer_;
  std::map<std::string, Entry, std::less<>> entries_;  // dropped by unseen() once they are seen
};

}  // namespace berth::cluster
