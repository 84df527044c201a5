// Replays a corpus through LLVMFuzzerTestOneInput: each file of the given folders, and a fixed set of mutations of
// each file.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      ++inputs;
      // Truncated inputs, and inputs with one changed byte: cheap mutations that find most off-by-one reads.
      for (std::size_t cut = 1; cut < bytes.size() && cut <= 4096; cut = cut * 3 / 2 + 1) {
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size() - cut);
        auto changed = bytes;
        changed[cut] ^= 0x5a;
        LLVMFuzzerTestOneInput(changed.data(), changed.size());
        inputs += 2;
      }
    }
  }
  std::printf("replayed %zu inputs\n", inputs);
  if (inputs == 0) {
    std::fprintf(stderr, "no corpus found: name its folder\n");
    return 1;
  }
  return 0;
}
