#include "console/rights.h"

#include <deque>
#include <optional>
#include <utility>

namespace berth::console {

struct Rights::Impl : std::enable_shared_from_this<Rights::Impl> {
  struct Known {
    Right right;
    std::optional<Scope> scope;
    bool asked = false, asking = false;
    int unsure = 0;  // rounds without an answer, one after the other
  };
  // One round of questions about a resource.
  struct Round {
    serve::Caller caller;
    Known* known = nullptr;
    std::deque<std::string> waiting;  // namespaces
    std::size_t in_flight = 0;
    bool unsure = false;  // a question got no answer
    bool going_on = false;
    Scope scope;
  };

  Known& known_of(const Right& right) {
    auto& known = rights[right.resource];
    known.right = right;
    return known;
  }

  void ask(const serve::Caller& caller, Known& known) {
    known.asked = true;
    if (std::exchange(known.asking, true)) return;
    auto round = std::make_shared<Round>();
    round->caller = caller;
    round->known = &known;
    review(round, "", [this](const std::shared_ptr<Round>& r, bool allowed) {
      r->scope.all = allowed;
      if (!allowed && !r->unsure && r->known->right.namespaced) {
        auto names = namespaces();
        if (names.size() > kMaxAskedNamespaces) names.resize(kMaxAskedNamespaces);
        r->waiting.assign(std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
      }
      go_on(r);
    });
  }

  template <typename Then>
  void review(const std::shared_ptr<Round>& round, const std::string& ns, Then then) {
    serve::AccessAttributes attributes;
    attributes.verb = "list";
    attributes.resource = round->known->right.resource;
    attributes.ns = ns;
    ++round->in_flight;
    auth.authorize(round->caller, attributes,
                   [weak = weak_from_this(), round, then](const std::optional<http::HttpResponse>& refusal) {
                     const auto self = weak.lock();
                     if (!self) return;
                     --round->in_flight;
                     if (refusal && refusal->status != 403) round->unsure = true;
                     then(round, !refusal);
                   });
  }

  // Answers may come inside the call that asks: no recursion for each of thousands of namespaces.
  void go_on(const std::shared_ptr<Round>& round) {
    if (std::exchange(round->going_on, true)) return;
    while (!round->waiting.empty() && round->in_flight < kReviewsAtOnce) {
      const std::string ns = std::move(round->waiting.front());
      round->waiting.pop_front();
      review(round, ns, [this, ns](const std::shared_ptr<Round>& r, bool allowed) {
        if (allowed) r->scope.namespaces.insert(ns);
        go_on(r);
      });
    }
    round->going_on = false;
    if (round->waiting.empty() && round->in_flight == 0) end(*round);
  }

  // Without an answer the former rights stay for a while.
  void end(Round& round) {
    Known& known = *round.known;
    if (!std::exchange(known.asking, false)) return;
    if (round.unsure) {
      if (++known.unsure < kMaxUnsureRounds || !known.scope) return;
      round.scope = {};
    } else {
      known.unsure = 0;
    }
    if (known.scope == round.scope) return;
    known.scope = std::move(round.scope);
    changed();
  }

  Impl(serve::DelegatedAuth& a, std::function<std::vector<std::string>()> n, std::function<void()> c)
      : auth(a), namespaces(std::move(n)), changed(std::move(c)) {}

  serve::DelegatedAuth& auth;
  std::function<std::vector<std::string>()> namespaces;
  std::function<void()> changed;
  std::map<api::GroupVersionResource, Known> rights;
};

Rights::Rights(serve::DelegatedAuth& auth, std::function<std::vector<std::string>()> namespaces,
               std::function<void()> changed)
    : impl_(std::make_shared<Impl>(auth, std::move(namespaces), std::move(changed))) {}
Rights::~Rights() = default;

const Scope* Rights::find(const serve::Caller& caller, const Right& right) {
  auto& known = impl_->known_of(right);
  if (!known.asked) impl_->ask(caller, known);
  return known.scope ? &*known.scope : nullptr;
}

void Rights::ask_again(const serve::Caller& caller, bool all) {
  for (auto& [resource, known] : impl_->rights) {
    if (all || !known.scope || known.unsure > 0) impl_->ask(caller, known);
  }
}

void Rights::forget() {
  for (auto& [resource, known] : impl_->rights) {
    known.scope.reset();
    known.asked = known.asking;
  }
}

}  // namespace berth::console
