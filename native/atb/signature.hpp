// Which dtypes and formats go together: rows of data, matched by one function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace pyaclnn::atb {

class Facts;

// One combination, a word for every slot of an operation's definition, inputs ">" outputs:
//
//     "T T TZ TZ i4 > TZ TZ"
//
// h f16, b bf16, f f32, i8, i4 int32, u4 uint32, i64; T is h or b, I and S are i4 or u4, and a
// capital letter is the same type everywhere in the row; * is any type. Format ND; FRACTAL_NZ with
// a Z behind; * any. Slots that a parameter leaves out are skipped; - is a slot that this row never
// has.
class Signature {
 public:
  consteval Signature(const char *text) {
    const char *at = text;
    for (;;) {
      while (*at == ' ') ++at;
      if (*at == '\0') break;
      if (*at == '>') {
        if (outputs_ != kNone) throw "one > in a signature";
        outputs_ = count_;
        ++at;
        continue;
      }
      if (count_ == kMost) throw "a signature with too many words";
      words_[count_++] = read(&at);
    }
    if (outputs_ == kNone) throw "no > in a signature";
  }

  // How many tensors of the call fit, up to the first that does not.
  struct Fit {
    bool whole = false;
    size_t fitting = 0;
    bool output = false;  // where the first one stands that does not ...
    size_t place = 0;
    aclDataType dtype = ACL_DT_UNDEFINED;  // ... and what this row wants there;
    aclDataType other = ACL_DT_UNDEFINED;  // or this
    aclFormat format = ACL_FORMAT_ND;
  };
  Fit fit(const Facts &facts) const;

 private:
  static constexpr size_t kMost = 32;
  static constexpr uint8_t kNone = 255;
  struct Word {
    aclDataType first = ACL_DT_UNDEFINED, second = ACL_DT_UNDEFINED;
    char name = 0;  // of a type that is the same in the whole row
    bool nz = false, any = false;
  };

  static consteval Word read(const char **at) {
    Word word;
    const char *c = *at;
    switch (*c) {
      case 'h': word.first = ACL_FLOAT16; break;
      case 'b': word.first = ACL_BF16; break;
      case 'f': word.first = ACL_FLOAT; break;
      case 'i':
        ++c;
        if (*c == '8') {
          word.first = ACL_INT8;
        } else if (*c == '4') {
          word.first = ACL_INT32;
        } else if (*c == '6' && c[1] == '4') {
          word.first = ACL_INT64;
          ++c;
        } else {
          throw "no such integer type";
        }
        break;
      case 'u':
        ++c;
        if (*c != '4') throw "no such unsigned type";
        word.first = ACL_UINT32;
        break;
      case 'T':
        word.first = ACL_FLOAT16;
        word.second = ACL_BF16;
        word.name = *c;
        break;
      case 'I':
      case 'S':
        word.first = ACL_INT32;
        word.second = ACL_UINT32;
        word.name = *c;
        break;
      case '*': word.any = true; break;
      case '-': break;
      default: throw "no such type in a signature";
    }
    ++c;
    if (*c == 'Z') {
      word.nz = true;
      ++c;
    }
    if (*c != ' ' && *c != '\0' && *c != '>') throw "words of a signature need blanks";
    *at = c;
    return word;
  }

  Word words_[kMost] = {};
  uint8_t count_ = 0, outputs_ = kNone;
};

}  // namespace pyaclnn::atb
