#!/bin/sh
# Source this file to build and run programs against the CANN tree it lies in:
#
#     source /path/to/set_env.sh        (bash, zsh)
#     . /path/to/set_env.sh             (also dash and other POSIX shells on Linux)
#
# It may be sourced any number of times. A shell that neither tells where a sourced file is nor
# keeps it open under /proc must be in this directory when it sources the file.

_pyaclnn_file=
if [ -n "${BASH_VERSION-}" ]; then
  # eval: other shells must not even parse these expansions.
  eval '_pyaclnn_file=${BASH_SOURCE[0]}'
elif [ -n "${ZSH_VERSION-}" ]; then
  eval '_pyaclnn_file=${(%):-%x}'
elif [ -r /proc/self/stat ]; then
  # The file is open while it is read. The first word of stat is the number of this process, which
  # $$ is not in a subshell; where several such files are open, the innermost one comes last.
  read -r _pyaclnn_pid _pyaclnn_rest < /proc/self/stat
  for _pyaclnn_fd in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
    _pyaclnn_open=$(readlink "/proc/$_pyaclnn_pid/fd/$_pyaclnn_fd" 2> /dev/null) || continue
    case $_pyaclnn_open in
      */set_env.sh) _pyaclnn_file=$_pyaclnn_open ;;
    esac
  done
  unset _pyaclnn_pid _pyaclnn_rest _pyaclnn_fd _pyaclnn_open
fi

# The shell's own cd: no function, alias or CDPATH of the user has a say in where this is.
_pyaclnn_home=$(
  unset -f cd pwd 2> /dev/null || :
  CDPATH=
  case $_pyaclnn_file in
    */*) \cd -- "${_pyaclnn_file%/*}/" > /dev/null || exit 1 ;;
  esac
  \pwd -P
) || _pyaclnn_home=
unset _pyaclnn_file

if [ ! -f "$_pyaclnn_home/lib64/libopapi.so" ]; then
  echo "set_env.sh: no lib64/libopapi.so in '$_pyaclnn_home'; in this shell, change to the" \
    "directory of set_env.sh and source it as ./set_env.sh" >&2
  unset _pyaclnn_home
  # The status of the whole file, without ending a shell that sources it with set -e too early.
  return 1 2> /dev/null || exit 1
fi
case $_pyaclnn_home in
  *:*)
    echo "set_env.sh: '$_pyaclnn_home' contains a colon, which LD_LIBRARY_PATH cannot hold" >&2
    unset _pyaclnn_home
    return 1 2> /dev/null || exit 1
    ;;
esac

export ASCEND_TOOLKIT_HOME="$_pyaclnn_home"
export ASCEND_HOME_PATH="$_pyaclnn_home"
export ASCEND_OPP_PATH="$_pyaclnn_home/opp"
export ASCEND_AICPU_PATH="$_pyaclnn_home"
export TOOLCHAIN_HOME="$_pyaclnn_home/toolkit"
export ATB_HOME_PATH="$_pyaclnn_home"
# PyTorch's plug-in reads this one. With its own default an operator that fails on the thread of its
# task queue ends that queue, and later ones give wrong numbers without an exception.
export TASK_QUEUE_ENABLE="${TASK_QUEUE_ENABLE:-0}"

# To the front, once: an older entry is taken out, so that the tree sourced last is the one in use.
_pyaclnn_prepend() {
  eval "_pyaclnn_path=:\${$1-}:"
  while :; do
    case $_pyaclnn_path in
      *":$2:"*) _pyaclnn_path="${_pyaclnn_path%%":$2:"*}:${_pyaclnn_path#*":$2:"}" ;;
      *) break ;;
    esac
  done
  _pyaclnn_path=${_pyaclnn_path#:}
  _pyaclnn_path=$2:${_pyaclnn_path%:}
  eval "export $1=\${_pyaclnn_path%:}"
}
_pyaclnn_prepend LD_LIBRARY_PATH "$_pyaclnn_home/lib64"
_pyaclnn_prepend PATH "$_pyaclnn_home/bin"
_pyaclnn_prepend CMAKE_PREFIX_PATH "$_pyaclnn_home"
_pyaclnn_prepend PKG_CONFIG_PATH "$_pyaclnn_home/share/pkgconfig"
unset -f _pyaclnn_prepend
unset _pyaclnn_path _pyaclnn_home
