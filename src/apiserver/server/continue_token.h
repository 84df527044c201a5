// The token between the pages of a list: the revision all pages show, and the key the next page begins after.
// The form is that of Kubernetes: base64url of {"v":"meta.k8s.io/v1","rv":7,"start":"name\u0000"}.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/storage/store.h"

namespace berth::apiserver {

struct ContinueToken {
  Revision revision = 0;  // -1: whatever is the newest (after the revision of the first page has expired)
  std::string after;      // the last item of the page before: "<namespace>/<name>"
};
std::string encode(const ContinueToken& token);
Result<ContinueToken> decode_continue(std::string_view text);

}  // namespace berth::apiserver
