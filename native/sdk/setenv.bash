# CANN's older name of set_env.sh, which some example scripts source.
. "$(dirname "${BASH_SOURCE[0]}")/../set_env.sh"
