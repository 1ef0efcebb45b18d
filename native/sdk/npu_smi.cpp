// npu-smi in the forms that build scripts and Python packages read: which chip is there, and how
// many. The answers are those of the libraries beside it, so PYACLNN_PRODUCT and
// PYACLNN_DEVICE_COUNT count.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "pyaclnn/version.h"

namespace {

constexpr char kUsage[] =
    "Usage: npu-smi info                    a table of the devices\n"
    "       npu-smi info -l                 their numbers\n"
    "       npu-smi info -t board -i ID [-c 0]\n"
    "                                       the chip of one\n"
    "       npu-smi -v                      the version\n";

[[noreturn]] void fail(const char *what) {
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "npu-smi: %s: %s\n", what, text != nullptr ? text : "no text");
  std::exit(1);
}

[[noreturn]] void refuse(const char *what) {
  std::fprintf(stderr, "npu-smi of pyaclnn: %s\n%s", what, kUsage);
  std::exit(1);
}

// A SoC name is "Ascend" and a chip, or a family of chips, "_" and one of them.
struct Chip {
  char type[16] = "", name[64] = "", npu[64] = "";

  explicit Chip(const char *soc) {
    constexpr size_t kBrand = sizeof "Ascend" - 1;
    if (const char *bar = std::strchr(soc, '_'); bar != nullptr) {
      std::snprintf(name, sizeof name, "%.*s", static_cast<int>(bar - soc), soc);
      std::snprintf(npu, sizeof npu, "%s", bar + 1);
    } else {
      std::snprintf(type, sizeof type, "%.*s", static_cast<int>(kBrand), soc);
      std::snprintf(name, sizeof name, "%s", soc + kBrand);
    }
  }
};

const char *soc_name() {
  const char *soc = aclrtGetSocName();
  if (soc == nullptr) fail("aclrtGetSocName");
  return soc;
}

// Readers take words by their column: the name is the third of the seventh line.
void table(uint32_t count) {
  const char *line =
      "+---------------------------+---------------+-----------------------------------------------"
      "-----+\n";
  const char *thick =
      "+===========================+===============+==============================================="
      "=====+\n";
  const char *edge =
      "+-------------------------------------------------------------------------------------------"
      "-----+\n";
  std::printf("%s| npu-smi %-38s Version: %-38s |\n%s", edge, "pyaclnn " PYACLNN_VERSION,
              PYACLNN_VERSION, line);
  std::printf("| %-25s | %-13s | %-51s|\n", "NPU   Name", "Health",
              "Power(W)    Temp(C)           Hugepages-Usage(page)");
  std::printf("| %-25s | %-13s | %-51s|\n%s", "Chip", "Bus-Id",
              "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)", thick);
  for (uint32_t device = 0; device < count; ++device) {
    size_t unused = 0, total = 0;
    if (aclrtSetDevice(static_cast<int32_t>(device)) != 0 ||
        aclrtGetMemInfo(ACL_HBM_MEM, &unused, &total) != 0) {
      fail("aclrtGetMemInfo");
    }
    constexpr int kMega = 20;
    char name[64], memory[96];
    std::snprintf(name, sizeof name, "%-5u %s", device, soc_name() + sizeof "Ascend" - 1);
    std::snprintf(memory, sizeof memory, "0           0    / 0          %zu / %zu",
                  (total - unused) >> kMega, total >> kMega);
    std::printf("| %-25s | %-13s | %-51s|\n", name, "OK", "0.0         0                 0    / 0");
    std::printf("| %-25s | %-13s | %-51s|\n%s", "0", "CPU", memory, thick);
    aclrtResetDevice(static_cast<int32_t>(device));
  }
}

void field(const char *name, const char *value) { std::printf("\t%-30s : %s\n", name, value); }
void field(const char *name, uint32_t value) { std::printf("\t%-30s : %u\n", name, value); }

void list(uint32_t count) {
  field("Total Count", count);
  for (uint32_t device = 0; device < count; ++device) {
    std::printf("\n");
    field("NPU ID", device);
    field("Chip Count", 1);
  }
}

void board(uint32_t device) {
  const Chip chip(soc_name());
  field("NPU ID", device);
  field("Chip ID", uint32_t{0});
  if (chip.type[0] != '\0') field("Chip Type", chip.type);
  field("Chip Name", chip.name);
  if (chip.npu[0] != '\0') field("NPU Name", chip.npu);
  field("Chip Version", "pyaclnn " PYACLNN_VERSION);
}

uint32_t number(const char *text, uint32_t limit, const char *what) {
  char *end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || value >= limit) {
    std::fprintf(stderr, "npu-smi: %s %s: there are 0 .. %u\n", what, text, limit - 1);
    std::exit(1);
  }
  return static_cast<uint32_t>(value);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 2 && (std::strcmp(argv[1], "-v") == 0 || std::strcmp(argv[1], "--version") == 0)) {
    std::printf("npu-smi version: pyaclnn %s\n", PYACLNN_VERSION);
    return 0;
  }
  if (argc == 2 && (std::strcmp(argv[1], "-h") == 0 || std::strcmp(argv[1], "--help") == 0)) {
    std::printf("%s", kUsage);
    return 0;
  }
  if (argc < 2 || std::strcmp(argv[1], "info") != 0) refuse("unknown command");
  if (aclInit(nullptr) != 0) fail("aclInit");
  uint32_t count = 0;
  if (aclrtGetDeviceCount(&count) != 0) fail("aclrtGetDeviceCount");

  const char *type = nullptr, *device = nullptr;
  bool lists = false;
  for (int i = 2; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (std::strcmp(argv[i], "-l") == 0) {
      lists = true;
    } else if (std::strcmp(argv[i], "-t") == 0 && more) {
      type = argv[++i];
    } else if (std::strcmp(argv[i], "-i") == 0 && more) {
      device = argv[++i];
    } else if (std::strcmp(argv[i], "-c") == 0 && more) {
      number(argv[++i], 1, "chip");
    } else {
      refuse("unknown option");
    }
  }
  if (type != nullptr) {
    if (std::strcmp(type, "board") != 0) refuse("of -t only board is known");
    if (device == nullptr) refuse("-t board needs -i");
    board(number(device, count, "device"));
  } else if (lists) {
    list(count);
  } else {
    if (device != nullptr) refuse("-i needs -t board");
    table(count);
  }
  return 0;
}
