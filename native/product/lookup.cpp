// Which product is in force: by its key, or by a SoC name.
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>

#include "product/rows.hpp"
#include "support/env.hpp"
#include "support/text.hpp"

namespace pyaclnn {
namespace {

// The order of product_names().
const Product *const kRows[] = {&kAtlasA2, &kAtlasA3, &kAscend950, &kAtlas310P, &kAtlas910};

// SoC names by prefix, the longer before the shorter one it begins with.
struct SocFamily {
  const char *prefix;
  const char *endings;  // accepted endings, separated by spaces; "*": any
  const Product *row;
};
const SocFamily kFamilies[] = {
    {"Ascend910B", "1 2 2C 3 4 4-1", &kAtlasA2},
    {"Ascend910_93", "61 62 71 72 81 82 91 92", &kAtlasA3},
    {"Ascend950", "*", &kAscend950},
    {"Ascend310P", "1 3 5 7", &kAtlas310P},
    // Ascend910B without a digit is an old name of the training chip.
    {"Ascend910", "A B ProA ProB PremiumA", &kAtlas910},
};

bool ends_as(const char *ending, const char *endings) {
  if (std::strcmp(endings, "*") == 0) {
    for (const char *c = ending; *c != '\0'; ++c) {
      bool word = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
      if (!word && *c != '_' && *c != '-') return false;
    }
    return true;
  }
  size_t size = std::strlen(ending);
  for (const char *at = endings; *at != '\0';) {
    size_t n = std::strcspn(at, " ");
    if (n == size && std::memcmp(at, ending, n) == 0) return true;
    at += n;
    if (*at == ' ') ++at;
  }
  return false;
}

// What is in force; published as one pointer, so that a product and its SoC name never mix.
struct Choice {
  const Product *row;
  const char *soc;
};

// Never freed: readers may hold the old choice, and there are few changes in a process.
const Choice *choose(const char *name) {
  if (name == nullptr) return nullptr;
  const Product *row = nullptr;
  const char *soc = nullptr;
  for (const Product *each : kRows) {
    if (std::strcmp(each->key, name) == 0) {
      row = each;
      soc = each->soc;
    }
  }
  for (const SocFamily &family : kFamilies) {
    if (row != nullptr) break;
    size_t n = std::strlen(family.prefix);
    if (std::strncmp(name, family.prefix, n) == 0 && ends_as(name + n, family.endings)) {
      row = family.row;
      soc = strdup(name);
      if (soc == nullptr) return nullptr;
    }
  }
  return row != nullptr ? new (std::nothrow) Choice{row, soc} : nullptr;
}

const Choice *from_environment() {
  static const Choice *const once = choose(env().product != nullptr ? env().product : kAtlasA2.key);
  return once;
}

std::atomic<const Choice *> g_chosen{nullptr};

const Choice *current() {
  const Choice *chosen = g_chosen.load(std::memory_order_acquire);
  return chosen != nullptr ? chosen : from_environment();
}

}  // namespace

const Product *current_product() noexcept {
  const Choice *choice = current();
  return choice != nullptr ? choice->row : nullptr;
}

const char *current_soc() noexcept {
  const Choice *choice = current();
  return choice != nullptr ? choice->soc : nullptr;
}

bool set_product(const char *name) noexcept {
  const Choice *choice = choose(name);
  if (choice == nullptr) return false;
  g_chosen.store(choice, std::memory_order_release);
  return true;
}

const char *product_error() noexcept {
  if (current_product() != nullptr) return nullptr;
  // Whatever was set, the names that are accepted must still fit.
  static const Text text = Text() << "environment variable PYACLNN_PRODUCT is \""
                                  << std::string_view(env().product).substr(0, 64)
                                  << "\", must be one of " << product_names();
  return text.c_str();
}

const char *product_names() noexcept {
  return "atlas-a2, atlas-a3, ascend-950, atlas-310p, atlas-910, or a SoC name such as "
         "Ascend910B3, "
         "Ascend910_9391, Ascend950PR_9599, Ascend310P3, Ascend910A";
}

}  // namespace pyaclnn
