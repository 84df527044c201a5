// Questions about what users may do, drawn from a seed: roles, users whom they are bound to, and requests that these
// users send. For a comparison of two API servers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace berth::e2e {

struct RbacUser {
  std::string name;  // "": without credentials
  std::vector<std::string> groups;
};

struct RbacQuestion {
  std::size_t user = 0;  // index in RbacTable::users
  std::string method, target, body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// What a client creates, in this order.
struct RbacObject {
  std::string path;  // of its collection
  Json object;
};

struct RbacTable {
  std::vector<RbacObject> objects;
  std::vector<RbacUser> users;
  std::vector<RbacQuestion> questions;
};

// No question changes what another one finds: writes are dry runs.
RbacTable make_rbac_table(std::uint64_t seed, std::size_t questions);

// For a message: "bob (a, b): GET /api/v1/pods".
std::string shown(const RbacTable& table, const RbacQuestion& question);

}  // namespace berth::e2e
