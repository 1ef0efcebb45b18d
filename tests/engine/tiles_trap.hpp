// Runs the instructions of AMX on processors that have none: each raises SIGILL, is decoded, done
// by tiles_model.hpp, and passed over. So the object that is shipped can be run, not only its text.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include "tiles_model.hpp"

namespace tiles_trap {

inline int64_t trapped = 0;

// Registers in the order of their numbers in instructions.
inline constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                     REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15};

// C4, RXB and map, W vvvv L pp, opcode, ModRM, and for memory SIB and displacement. All of AMX's
// instructions are in map 2 with L = 0 and W = 0.
inline bool run(const uint8_t *code, greg_t *registers, int &length) {
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) return false;
  const int prefix = code[2] & 3, opcode = code[3], mod = code[4] >> 6, reg = code[4] >> 3 & 7;
  const int third = ~code[2] >> 3 & 15;  // vvvv
  const int high_base = ~code[1] >> 5 & 1, high_index = ~code[1] >> 6 & 1;
  const int rm = code[4] & 7;
  if (mod == 3) {
    length = 5;
    if (opcode == 0x5c && prefix == 2) {
      tiles_model::dot(reg, rm, third);
    } else if (opcode == 0x49 && prefix == 3 && rm == 0) {
      tiles_model::zero(reg);
    } else if (opcode == 0x49 && prefix == 0 && code[4] == 0xc0) {
      tiles_model::release();
    } else {
      return false;
    }
    return true;
  }
  length = 5;
  int64_t base = 0, index = 0;
  int number = rm;
  if (rm == 4) {
    const int sib = code[length++];
    number = sib & 7;
    const int index_number = (sib >> 3 & 7) | high_index << 3;
    if (index_number != 4) index = registers[kRegisters[index_number]] << (sib >> 6);
  }
  int64_t displacement = 0;
  if (mod == 1) {
    displacement = static_cast<int8_t>(code[length++]);
  } else if (mod == 2 || (mod == 0 && number == 5)) {
    int32_t word;
    std::memcpy(&word, code + length, 4);
    displacement = word;
    length += 4;
  }
  if (mod == 0 && number == 5) {
    // Without SIB counted from the next instruction.
    if (rm != 4) base = reinterpret_cast<int64_t>(code + length);
  } else {
    base = registers[kRegisters[number | high_base << 3]];
  }
  const int64_t at = base + displacement;
  if (opcode == 0x49 && prefix == 0 && reg == 0) {
    tiles_model::configure(reinterpret_cast<const void *>(at + index));
  } else if (opcode == 0x4b && prefix == 3 && rm == 4) {
    tiles_model::load(reg, reinterpret_cast<const void *>(at), index);
  } else if (opcode == 0x4b && prefix == 2 && rm == 4) {
    tiles_model::save(reg, reinterpret_cast<void *>(at), index);
  } else {
    return false;
  }
  return true;
}

inline void on_illegal(int signal_number, siginfo_t *, void *context) {
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  const auto *code = reinterpret_cast<const uint8_t *>(registers[REG_RIP]);
  int length = 0;
  if (!run(code, registers, length)) {
    signal(signal_number, SIG_DFL);  // and again, for good
    return;
  }
  registers[REG_RIP] += length;
  ++trapped;
}

inline void install() {
  struct sigaction action {};
  action.sa_sigaction = on_illegal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace tiles_trap
