#include "support/clock.hpp"

namespace pyaclnn {
namespace {

// Seconds east of UTC when the library was loaded. localtime_r takes a lock that a fork may catch
// in the hands of a thread that does not exist in the child, so it is asked only once.
int32_t g_seconds_east = 0;

__attribute__((constructor)) void ask_at_load() {
  time_t now = time(nullptr);
  tm local{};
  if (localtime_r(&now, &local) != nullptr) {
    g_seconds_east = static_cast<int32_t>(local.tm_gmtoff);
  }
}

char *digits(char *at, int64_t value, int count, char separator) {
  for (int i = count; i-- > 0; value /= 10) at[i] = static_cast<char>('0' + value % 10);
  at[count] = separator;
  return at + count + 1;
}

}  // namespace

Stamp::Stamp() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t seconds = static_cast<int64_t>(now.tv_sec) + g_seconds_east;
  const int64_t second = seconds % 86400;
  // Days since 0000-03-01, in eras of 400 years: leap days come last.
  const int64_t day = seconds / 86400 + 719468;
  const int64_t era = day / 146097, in_era = day % 146097;
  const int64_t year_of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
  const int64_t in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t march_month = (5 * in_year + 2) / 153;
  const int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  char *at = text;
  at = digits(at, year, 4, '-');
  at = digits(at, month, 2, '-');
  at = digits(at, in_year - (153 * march_month + 2) / 5 + 1, 2, '-');
  at = digits(at, second / 3600, 2, ':');
  at = digits(at, second / 60 % 60, 2, ':');
  at = digits(at, second % 60, 2, '.');
  at = digits(at, now.tv_nsec / 1000000, 3, '.');
  digits(at, now.tv_nsec / 1000 % 1000, 3, '\0');
}

}  // namespace pyaclnn
