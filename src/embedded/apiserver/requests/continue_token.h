// The continue token of a paged list: the revision that all pages show, and the key after which the next page begins.
// The format is that of Kubernetes: base64url of {"v":"meta.k8s.io/v1","rv":7,"start":"name\u0000"}.
#pragma once

#include <string>
#include <string_view>

#include "embedded/apiserver/storage/store.h"

namespace berth::apiserver {

struct ContinueToken {
  Revision revision = 0;  // -1: the latest revision (used after the first page's revision has expired)
  std::string after;      // the last item of the previous page: "<namespace>/<name>"
};
std::string encode(const ContinueToken& token);
Result<ContinueToken> decode_continue(std::string_view text);

}  // namespace berth::apiserver
