#include "support/free_port.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace berth::testing_support {
namespace {

constexpr int kFirst = 15000, kPorts = 15000;  // Linux gives clients ports from 32768 on

// The lock lasts as long as this process: the descriptor stays open.
bool reserve(int port) {
  const std::string file = "/tmp/berth_test_port_" + std::to_string(port);
  const int lock = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock < 0) return false;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
  ::close(lock);
  return false;
}

bool can_listen(int port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool free = ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  return free;
}

}  // namespace

std::uint16_t free_port() {
  static int next = static_cast<int>(::getpid()) * 16 % kPorts;
  for (int tried = 0; tried < kPorts; ++tried) {
    const int port = kFirst + next++ % kPorts;
    if (reserve(port) && can_listen(port)) return static_cast<std::uint16_t>(port);
  }
  throw std::runtime_error("no port from 15000 to 29999 of 127.0.0.1 is free");
}

}  // namespace berth::testing_support
