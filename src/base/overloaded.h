// Visits a std::variant with one lambda per alternative: std::visit(Overloaded{...}, variant).
#pragma once

namespace berth {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace berth
