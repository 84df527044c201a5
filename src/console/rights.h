// Which objects a user may list, by SubjectAccessReview: in all namespaces, or namespace by namespace. The answers are
// kept and asked again from time to time, because rights come and go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/rest.h"
#include "console/scope.h"
#include "serve/delegated_auth.h"

namespace berth::console {

// Bounds, for one user and one resource.
inline constexpr std::size_t kMaxAskedNamespaces = 2'000;  // in the order of their names; the user sees no others
inline constexpr std::size_t kReviewsAtOnce = 8;
// After so many rounds of questions without an answer the user has no right any more.
inline constexpr int kMaxUnsureRounds = 60;

// A kind of objects whose list a user must be allowed to read.
struct Right {
  api::GroupVersionResource resource;
  bool namespaced = false;
};

// Use it on the executor only.
class Rights {
 public:
  // `namespaces`: those to ask about when the user may not list in all. `changed` is called when an answer differs from
  // the one before, and for the first one. `auth` must outlive it.
  Rights(serve::DelegatedAuth& auth, std::function<std::vector<std::string>()> namespaces,
         std::function<void()> changed);
  Rights(Rights&&) noexcept = default;
  ~Rights();  // pending questions get no answer

  // What `caller` may list; null while nobody has answered yet. The first call asks.
  const Scope* find(const serve::Caller& caller, const Right& right);
  // Forgets the answers: the next find() asks anew.
  void forget();
  // Asks again what was asked before; with `all` false only what has got no answer. Call it every few seconds.
  void ask_again(const serve::Caller& caller, bool all);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::console
